"""Keep an index up to date: insert, delete, compact, with all vectors kept."""

import numpy as np

import gossamer

random = np.random.default_rng(0)
vectors = random.standard_normal((2000, 64), dtype=np.float32)

index = gossamer.VectorIndex.build(vectors[:1500], metric="l2", keep="all", graph="slim", seed=1)
index.add(vectors[1500:])
index.delete(np.arange(100))
index.compact()

hits = index.search(vectors[1999], 3)
print("nearest to the last vector:", hits.ids)
