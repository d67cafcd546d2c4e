"""faiss's inverted lists over flat f32 vectors (IVF)."""

from pathlib import Path
from typing import Any

import faiss
import numpy as np

from benchmarks.datasets import Floats, Ids

# faiss advises 4 to 16 times the root of the number of vectors; LEANN's paper took the root itself.
LISTS_PER_ROOT = 4


class FaissIvf:
    """Each vector is in the list of its nearest centroid; a search reads the nearest lists."""

    name = "faiss IVF"

    def __init__(self, vectors: Floats) -> None:
        self.lists = max(1, round(LISTS_PER_ROOT * len(vectors) ** 0.5))
        dim = vectors.shape[1]
        self._centroids: Any = faiss.IndexFlatIP(dim)
        self._index: Any = faiss.IndexIVFFlat(
            self._centroids, dim, self.lists, faiss.METRIC_INNER_PRODUCT
        )
        # k-means warns below 39 vectors a list; so many lists are what is wanted here.
        self._index.cp.min_points_per_centroid = 1
        faiss.omp_set_num_threads(1)
        self._index.train(vectors)
        self._index.add(vectors)

    def search(self, queries: Floats, k: int, effort: int) -> Ids:
        """Read the `effort` nearest lists (nprobe)."""
        faiss.omp_set_num_threads(1)
        self._index.nprobe = effort
        ids: Ids = self._index.search(queries, k)[1]
        return ids

    def members(self, query: Floats, effort: int) -> list[Ids]:
        """Give the ids in each list that a search for one query reads."""
        _, lists = self._centroids.search(query[None], effort)
        held = self._index.invlists
        return [
            faiss.rev_swig_ptr(held.get_ids(one), held.list_size(one)).astype(np.int64)
            for one in lists[0].tolist()
        ]

    def members_per_query(self, queries: Floats, effort: int) -> float:
        """Give how many vectors are in the lists that a search reads, on average."""
        held = self._index.invlists
        sizes = np.array([held.list_size(one) for one in range(self.lists)])
        _, lists = self._centroids.search(queries, effort)
        return float(sizes[lists].sum(axis=1).mean())

    def save(self, path: Path) -> None:
        faiss.write_index(self._index, str(path))
