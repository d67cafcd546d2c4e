"""Exact search: every vector is kept and compared."""

import faiss

from benchmarks.datasets import Floats, Ids


class Exact:
    """faiss's flat index of f32 vectors, one thread."""

    name = "exact"

    def __init__(self, vectors: Floats) -> None:
        self._index = faiss.IndexFlatIP(vectors.shape[1])
        self._index.add(vectors)
        self.bytes_held = vectors.nbytes

    def search(self, queries: Floats, k: int) -> Ids:
        faiss.omp_set_num_threads(1)
        ids: Ids = self._index.search(queries, k)[1]
        return ids
