"""faiss's HNSW over flat f32 vectors."""

from pathlib import Path

import faiss

from benchmarks.baselines import GraphParameters
from benchmarks.datasets import Floats, Ids


class FaissHnsw:
    """See `benchmarks.baselines.GraphRival`."""

    name = "faiss HNSW"

    def __init__(self, dim: int, parameters: GraphParameters) -> None:
        is_l2 = parameters.metric == "l2"
        metric = faiss.METRIC_L2 if is_l2 else faiss.METRIC_INNER_PRODUCT
        self._index = faiss.IndexHNSWFlat(dim, parameters.max_degree, metric)
        self._index.hnsw.efConstruction = parameters.build_effort

    def build(self, vectors: Floats, threads: int) -> None:
        faiss.omp_set_num_threads(threads)
        self._index.add(vectors)

    def search(self, queries: Floats, k: int, effort: int) -> Ids:
        faiss.omp_set_num_threads(1)
        self._index.hnsw.efSearch = effort
        _, ids = self._index.search(queries, k)
        return ids

    def save(self, path: Path) -> None:
        faiss.write_index(self._index, str(path))

    def load(self, path: Path) -> None:
        self._index = faiss.read_index(str(path))
