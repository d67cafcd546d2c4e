"""faiss's OPQ + PQ codes, scanned: what the codes of `keep="none"` are measured against.

All vectors here are of one length, so they are ranked by L2: with codes it finds more of the
nearest than the inner product does, by which the order of exact vectors would be the same.
"""

from pathlib import Path

import faiss
import numpy as np

from benchmarks.datasets import Floats, Ids, cache_folder, exact_nearest
from benchmarks.scale import scaled

# faiss's own number; a small run is content with fewer, for time.
ROTATIONS = scaled(50, smoke=1, small=3)

# From here on there are vectors enough to train 256 centers and a rotation (OPQ); below, 16
# centers make codes of the same size.
MANY = 5_000
# Training wants 39 vectors for each center; a smaller set is given again and again.
FOR_A_CENTER = 39
MOST_TRAINED_ON = 20_000


def best_by_code(vectors: Floats, queries: Floats, code_bytes: int, best: int, name: str) -> Ids:
    """Return the `best` ids a query, nearest first by code. Trains once; minutes the first time."""
    index = _load_or_train(vectors, code_bytes, name)
    _, ids = index.search(queries, best)
    return ids


def best_by_cosine(vectors: Floats, queries: Floats, code_bytes: int, best: int, name: str) -> Ids:
    """The same by the cosine to what each code decodes to, which faiss itself does not offer."""
    index = _load_or_train(vectors, code_bytes, name)
    decoded = index.reconstruct_n(0, index.ntotal)
    decoded /= np.linalg.norm(decoded, axis=1, keepdims=True)
    return exact_nearest(decoded, queries, best, "ip")


def answers_by_code(vectors: Floats, queries: Floats, code_bytes: int, k: int) -> Ids:
    """Give the k nearest of each query by code alone: the answer where nothing else is kept."""
    count, dim = vectors.shape
    is_large = count >= MANY
    kind = _kind(code_bytes) if is_large else f"PQ{2 * code_bytes}x4"
    index = faiss.index_factory(dim, kind, faiss.METRIC_L2)
    fewest = FOR_A_CENTER * (256 if is_large else 16)
    index.train(np.resize(vectors, (min(max(count, fewest), MOST_TRAINED_ON), dim)))
    index.add(vectors)
    _, ids = index.search(queries, k)
    return ids


def _load_or_train(vectors: Floats, code_bytes: int, name: str) -> faiss.Index:
    path = _cache_path(code_bytes, f"{name}-{len(vectors)}-{ROTATIONS}")
    if path.exists():
        return faiss.read_index(str(path))
    index = faiss.index_factory(vectors.shape[1], _kind(code_bytes), faiss.METRIC_L2)
    faiss.downcast_VectorTransform(index.chain.at(0)).niter = ROTATIONS
    # Small matrices: several threads only wait for each other.
    faiss.omp_set_num_threads(1)
    index.train(vectors)
    index.add(vectors)
    faiss.write_index(index, str(path))
    return index


def _kind(code_bytes: int) -> str:
    return f"OPQ{code_bytes},PQ{code_bytes}"


def _cache_path(code_bytes: int, name: str) -> Path:
    return cache_folder() / f"faiss-{faiss.__version__}-opq{code_bytes}-{name}.index"
