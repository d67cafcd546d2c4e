"""faiss's product quantization without a rotation: codes are scanned, no vector is looked at.

Ranked by L2, as `faiss_opq` says why.
"""

from pathlib import Path

import faiss
import numpy as np

from benchmarks.datasets import Floats, Ids, cache_folder

# What LEANN's design holds of a chunk, codes and links together, or more.
CODE_BYTES = 64
TRAINED_ON = 10_000
# Where codes are only ranked, to tell how many vectors must be looked at.
MOST_TRAINED_ON = 20_000
CENTROIDS = 256


class FaissPq:
    """Trains once and is kept for later runs (minutes the first time); one thread."""

    name = "faiss PQ"

    def __init__(self, vectors: Floats, name: str) -> None:
        path = _cache_path(f"{name}-{len(vectors)}")
        if not path.exists():
            sample = vectors[:: max(1, len(vectors) // TRAINED_ON)]
            faiss.write_index(coded(vectors, CODE_BYTES, sample), str(path))
        self._index = faiss.read_index(str(path))

    def search(self, queries: Floats, k: int) -> Ids:
        faiss.omp_set_num_threads(1)
        ids: Ids = self._index.search(queries, k)[1]
        return ids


def best_by_code(vectors: Floats, queries: Floats, code_bytes: int, best: int) -> Ids:
    """Return the `best` ids a query, nearest first by code."""
    index = coded(vectors, code_bytes, vectors[:: -(-len(vectors) // MOST_TRAINED_ON)])
    ids: Ids = index.search(queries, best)[1]
    return ids


def coded(
    vectors: Floats, code_bytes: int, sample: Floats, rounds: int | None = None
) -> faiss.Index:
    """Give an index of codes trained on a sample, by so many rounds if not by faiss's default."""
    # Small matrices: several threads only wait for each other.
    faiss.omp_set_num_threads(1)
    index = faiss.IndexPQ(vectors.shape[1], code_bytes, 8, faiss.METRIC_L2)
    index.pq.cp.min_points_per_centroid = 1
    if rounds is not None:
        index.pq.cp.niter = rounds
    # It wants as many as it has centroids; there are fewer in the smallest runs only.
    index.train(np.resize(sample, (max(len(sample), CENTROIDS), sample.shape[1])))
    index.add(vectors)
    return index


def _cache_path(name: str) -> Path:
    return cache_folder() / f"faiss-{faiss.__version__}-pq{CODE_BYTES}-l2-{name}.index"
