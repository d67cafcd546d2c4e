"""IVF-recompute, as EdgeRAG does it: centroids are kept, the chunks of a list embedded again."""

import numpy as np

from benchmarks.baselines.faiss_ivf import FaissIvf
from benchmarks.datasets import Floats, Ids

BYTES_OF_ID = 4


class IvfRecompute:
    """Finds what `FaissIvf` finds; every chunk in a list that is read costs an embedding."""

    name = "IVF-recompute"

    def __init__(self, index: FaissIvf, count: int, dim: int) -> None:
        self._index = index
        self.lists = index.lists
        self.bytes_held = index.lists * dim * 4 + count * BYTES_OF_ID

    def search(self, queries: Floats, k: int, effort: int) -> tuple[Ids, float]:
        """Give the nearest, and how many chunks were embedded for a query on average."""
        embedded = self._index.members_per_query(queries, effort)
        return self._index.search(queries, k, effort), embedded

    def wanted(self, query: Floats, effort: int) -> Ids:
        """Give what one query has embedded: all of it is known at once, so it is one round."""
        return np.concatenate(self._index.members(query, effort))
