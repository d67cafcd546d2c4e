"""faiss's product quantization alone: codes are scanned, and nothing is embedded again."""

from pathlib import Path

import faiss
import numpy as np

from benchmarks.datasets import Floats, Ids, cache_folder

# What LEANN's design holds of a chunk, codes and links together, or more.
CODE_BYTES = 64
TRAINED_ON = 10_000
CENTROIDS = 256


class FaissPq:
    """Trains once and is kept for later runs (minutes the first time); one thread."""

    name = "faiss PQ"

    def __init__(self, vectors: Floats, name: str) -> None:
        path = _cache_path(f"{name}-{len(vectors)}")
        if not path.exists():
            _train(vectors, path)
        self._index = faiss.read_index(str(path))

    def search(self, queries: Floats, k: int) -> Ids:
        faiss.omp_set_num_threads(1)
        ids: Ids = self._index.search(queries, k)[1]
        return ids


def _train(vectors: Floats, path: Path) -> None:
    # Small matrices: several threads only wait for each other.
    faiss.omp_set_num_threads(1)
    index = faiss.IndexPQ(vectors.shape[1], CODE_BYTES, 8, faiss.METRIC_INNER_PRODUCT)
    index.pq.cp.min_points_per_centroid = 1
    sample = vectors[:: max(1, len(vectors) // TRAINED_ON)]
    # It wants as many as it has centroids; there are fewer in the smallest runs only.
    index.train(np.resize(sample, (max(len(sample), CENTROIDS), sample.shape[1])))
    index.add(vectors)
    faiss.write_index(index, str(path))


def _cache_path(name: str) -> Path:
    return cache_folder() / f"faiss-{faiss.__version__}-pq{CODE_BYTES}-{name}.index"
