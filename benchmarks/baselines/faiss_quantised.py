"""faiss's HNSW over codes in place of vectors: 8 bits a number (SQ8) or product codes (PQ)."""

import faiss

from benchmarks.baselines import GraphParameters
from benchmarks.baselines.faiss_hnsw import FaissHnsw
from benchmarks.datasets import Floats

# Numbers that share a byte of a product code: what keeps recall useful on long vectors.
NUMBERS_A_BYTE = 4
TRAINED = 10_000


class FaissQuantised(FaissHnsw):
    """See `benchmarks.baselines.GraphRival`; trained on the first vectors.

    Product codes are compared by L2: the sets that are searched by inner product here hold vectors
    of one length, and faiss finds far more of their nearest that way.
    """

    def __init__(self, dim: int, parameters: GraphParameters, kind: str) -> None:
        self.name = f"faiss HNSW {kind}"
        is_l2 = parameters.metric == "l2"
        metric = faiss.METRIC_L2 if is_l2 else faiss.METRIC_INNER_PRODUCT
        degree = parameters.max_degree
        if kind == "SQ8":
            self.code_bytes, self.codebook_bytes = dim, 8 * dim
            bits = faiss.ScalarQuantizer.QT_8bit
            self._index = faiss.IndexHNSWSQ(dim, bits, degree, metric)
        else:
            self.code_bytes, self.codebook_bytes = dim // NUMBERS_A_BYTE, 4 * 256 * dim
            self._index = faiss.IndexHNSWPQ(dim, self.code_bytes, degree, 8)
        self._index.hnsw.efConstruction = parameters.build_effort

    def build(self, vectors: Floats, threads: int) -> None:
        faiss.omp_set_num_threads(threads)
        self._index.train(vectors[:TRAINED])
        super().build(vectors, threads)
