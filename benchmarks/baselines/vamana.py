"""Vamana, DiskANN's graph, as Intel's Scalable Vector Search builds it over f32 vectors."""

from pathlib import Path

import numpy as np
import svs

from benchmarks.baselines import GraphParameters
from benchmarks.datasets import Floats, Ids

# Its own defaults for the degree and for alpha (1.2 by L2, 0.95 by inner product).
MAX_DEGREE = 32
METRICS = {"ip": svs.DistanceType.MIP, "l2": svs.DistanceType.L2}


class Vamana:
    """See `benchmarks.baselines.GraphRival`. What it saves is a folder."""

    name = "SVS Vamana"

    def __init__(self, parameters: GraphParameters) -> None:
        self._metric = METRICS[parameters.metric]
        self._parameters = svs.VamanaBuildParameters(
            graph_max_degree=MAX_DEGREE, window_size=parameters.build_effort
        )

    def build(self, vectors: Floats, threads: int) -> None:
        self._index = svs.Vamana.build(self._parameters, vectors, self._metric, num_threads=threads)
        self._index.num_threads = 1

    def search(self, queries: Floats, k: int, effort: int) -> Ids:
        self._index.search_window_size = max(effort, k)
        ids, _ = self._index.search(queries, k)
        return ids.astype(np.int64)

    def save(self, path: Path) -> None:
        path.mkdir()
        self._index.save(*(str(path / part) for part in ("config", "graph", "data")))

    def load(self, path: Path) -> None:
        config, graph, data = (str(path / part) for part in ("config", "graph", "data"))
        self._index = svs.Vamana(
            config, svs.GraphLoader(graph), svs.VectorDataLoader(data), self._metric, num_threads=1
        )
