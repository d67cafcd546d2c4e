"""faiss's PQ codes as the only thing that is kept: what is near by code is the answer."""

import faiss
import numpy as np

from benchmarks.datasets import Floats, Ids

# From here on there are vectors enough to train 256 centers and a rotation (OPQ); below, 16
# centers make codes of the same size.
MANY = 5_000
# Training wants 39 vectors for each center; a smaller set is given again and again.
FOR_A_CENTER = 39
MOST = 20_000


def best_by_codes(vectors: Floats, queries: Floats, code_bytes: int, k: int) -> Ids:
    """Give the k nearest of each query by code alone, all codes compared."""
    count, dim = vectors.shape
    is_large = count >= MANY
    kind = f"OPQ{code_bytes},PQ{code_bytes}" if is_large else f"PQ{2 * code_bytes}x4"
    index = faiss.index_factory(dim, kind, faiss.METRIC_INNER_PRODUCT)
    fewest = FOR_A_CENTER * (256 if is_large else 16)
    index.train(np.resize(vectors, (min(max(count, fewest), MOST), dim)))
    index.add(vectors)
    _, ids = index.search(queries, k)
    return ids
