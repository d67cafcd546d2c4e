"""faiss's product quantizer without a rotation, scanned: what must be looked at exactly then."""

import faiss

from benchmarks.datasets import Floats, Ids

MOST_TRAINED_ON = 20_000


def best_by_code(vectors: Floats, queries: Floats, code_bytes: int, best: int) -> Ids:
    """Return the `best` ids a query, nearest first by code."""
    # Small matrices: several threads only wait for each other.
    faiss.omp_set_num_threads(1)
    index = faiss.IndexPQ(vectors.shape[1], code_bytes, 8, faiss.METRIC_INNER_PRODUCT)
    index.pq.cp.min_points_per_centroid = 1
    index.train(vectors[:: -(-len(vectors) // MOST_TRAINED_ON)])
    index.add(vectors)
    ids: Ids = index.search(queries, best)[1]
    return ids
