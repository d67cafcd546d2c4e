"""faiss's PQ fast-scan: 4-bit codes in registers, the fastest scan there is at equal bytes."""

import faiss

from benchmarks.datasets import Floats


class FaissFastScan:
    """`code_bytes` bytes a vector, one thread."""

    name = "faiss fast-scan"

    def __init__(self, vectors: Floats, code_bytes: int, train_count: int = 20_000) -> None:
        faiss.omp_set_num_threads(1)
        self._index = faiss.IndexPQFastScan(
            vectors.shape[1], 2 * code_bytes, 4, faiss.METRIC_INNER_PRODUCT
        )
        self._index.train(vectors[:train_count])
        self._index.add(vectors)

    def search(self, query: Floats, best: int) -> None:
        self._index.search(query[None], best)
