"""Drive a search by hand: the core says which vectors it wants, the host brings them."""

import numpy as np

import gossamer

random = np.random.default_rng(0)
vectors = random.standard_normal((2000, 64), dtype=np.float32)
index = gossamer.VectorIndex.build(vectors, metric="ip", keep="none", seed=1)

session = index.session(vectors[7], 3, recall=0.95)
while (wanted := session.wanted()).size:
    print("asked for", wanted.size, "vectors")
    session.supply(vectors[wanted])

hits = session.nearest()
print("nearest:", hits.ids, hits.distances)
