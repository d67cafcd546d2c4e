"""Gossamer's stored mode as ann-benchmarks runs it: a graph over kept vectors, one query a call.

This file stands in ann-benchmarks as `ann_benchmarks/algorithms/gossamer/module.py`.
"""

import numpy as np
import numpy.typing as npt

import gossamer

from ..base.module import BaseANN

METRICS = {"angular": "cosine", "euclidean": "l2"}

Floats = npt.NDArray[np.float32]
Ids = npt.NDArray[np.int64]


class Gossamer(BaseANN):
    """An index that keeps all vectors; `parameters` are options of `VectorIndex.build`.

    graph ("slim" or "full"), scalar ("f16", "f32", "i8": what a number of a vector is kept as),
    max_degree and build_effort.
    """

    def __init__(self, metric: str, parameters: dict[str, object]) -> None:
        if metric not in METRICS:
            raise NotImplementedError(f"Gossamer knows {', '.join(METRICS)}, not {metric}")
        self._metric = METRICS[metric]
        self._parameters = parameters
        self._effort = 0

    def fit(self, X: Floats) -> None:  # noqa: N803 - the harness's name
        """Build the index; threads as many as the harness leaves."""
        self._index = gossamer.VectorIndex.build(
            X, metric=self._metric, keep="all", calibrate=False, **self._parameters
        )

    def set_query_arguments(self, effort: int) -> None:
        """Set how many candidates a walk keeps; elsewhere called ef."""
        self._effort = effort

    def query(self, q: Floats, n: int) -> Ids:
        """Give the n nearest of one query, on one thread."""
        return self._search(q, n, threads=1)

    def batch_query(self, X: Floats, n: int) -> None:  # noqa: N803
        """Search for all queries at once, on all threads; `get_batch_results` gives what came."""
        self.res = self._search(X, n, threads=0)

    def get_memory_usage(self) -> float:
        """Give what the index itself takes, in kilobytes."""
        stats = self._index.stats()
        return (stats.vectors_bytes + stats.graph_bytes + stats.ids_bytes) / 1024

    def __str__(self) -> str:
        settings = ", ".join(f"{name}={value}" for name, value in self._parameters.items())
        return f"Gossamer({settings}, effort={self._effort})"

    def _search(self, queries: Floats, n: int, threads: int) -> Ids:
        found = self._index.search(
            queries, n, strategy="best-first", effort=max(self._effort, n), threads=threads
        )
        return found.ids
