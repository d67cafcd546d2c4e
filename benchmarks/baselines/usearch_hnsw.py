"""usearch's HNSW, with f32 vectors as the other rivals have."""

from pathlib import Path

import numpy as np
from usearch.index import Index

from benchmarks.baselines import GraphParameters
from benchmarks.datasets import Floats, Ids


class UsearchHnsw:
    """See `benchmarks.baselines.GraphRival`."""

    name = "usearch"

    def __init__(self, dim: int, parameters: GraphParameters) -> None:
        self._index = Index(
            ndim=dim,
            metric={"ip": "ip", "l2": "l2sq"}[parameters.metric],
            dtype="f32",
            connectivity=parameters.max_degree,
            expansion_add=parameters.build_effort,
        )

    def build(self, vectors: Floats, threads: int) -> None:
        self._index.add(np.arange(len(vectors)), vectors, threads=threads)

    def search(self, queries: Floats, k: int, effort: int) -> Ids:
        self._index.expansion_search = max(effort, k)
        return np.asarray(self._index.search(queries, k, threads=1).keys, dtype=np.int64)

    def save(self, path: Path) -> None:
        self._index.save(str(path))

    def load(self, path: Path) -> None:
        self._index.load(str(path))
