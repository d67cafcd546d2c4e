"""faiss's NSG over flat f32 vectors: links chosen from a graph of nearest neighbors."""

from pathlib import Path

import faiss

from benchmarks.datasets import Floats, Ids
from benchmarks.metrics import Seconds, timed

# faiss's own defaults but for the degree, which its wiki gives as 32.
MAX_DEGREE = 32
FIRST_NEIGHBORS = 64


class FaissNsg:
    """See `benchmarks.baselines.GraphRival`.

    Always by L2: the sets that are searched by inner product here hold vectors of one length, for
    which the order is the same.
    """

    name = "faiss NSG"

    def __init__(self, dim: int) -> None:
        self._first = faiss.IndexNNDescentFlat(dim, FIRST_NEIGHBORS)
        self._index = faiss.IndexNSGFlat(dim, MAX_DEGREE)
        self.finding = self.choosing = Seconds(0, 0)

    def build(self, vectors: Floats, threads: int) -> None:
        """Find each vector's nearest by descent, then choose links among them."""
        faiss.omp_set_num_threads(threads)
        self.finding = timed(lambda: self._first.add(vectors))
        nearest = faiss.vector_to_array(self._first.nndescent.final_graph)
        graph = nearest.reshape(len(vectors), FIRST_NEIGHBORS).astype("int64")
        self.choosing = timed(lambda: self._index.build(vectors, graph))
        self._first.reset()

    def search(self, queries: Floats, k: int, effort: int) -> Ids:
        faiss.omp_set_num_threads(1)
        self._index.nsg.search_L = effort
        _, ids = self._index.search(queries, k)
        return ids

    def save(self, path: Path) -> None:
        faiss.write_index(self._index, str(path))

    def load(self, path: Path) -> None:
        self._index = faiss.read_index(str(path))
