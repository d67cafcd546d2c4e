"""hnswlib's HNSW."""

from pathlib import Path

import hnswlib
import numpy as np

from benchmarks.baselines import GraphParameters
from benchmarks.datasets import Floats, Ids


class HnswlibHnsw:
    """See `benchmarks.baselines.GraphRival`."""

    name = "hnswlib"

    def __init__(self, dim: int, parameters: GraphParameters) -> None:
        self._index = hnswlib.Index(space=parameters.metric, dim=dim)
        self._parameters = parameters

    def build(self, vectors: Floats, threads: int) -> None:
        self._index.init_index(
            max_elements=len(vectors),
            M=self._parameters.max_degree,
            ef_construction=self._parameters.build_effort,
            random_seed=100,
        )
        self._index.add_items(vectors, num_threads=threads)

    def search(self, queries: Floats, k: int, effort: int) -> Ids:
        self._index.set_ef(max(effort, k))
        ids, _ = self._index.knn_query(queries, k=k, num_threads=1)
        return ids.astype(np.int64)

    def save(self, path: Path) -> None:
        self._index.save_index(str(path))

    def load(self, path: Path) -> None:
        self._index.load_index(str(path))
