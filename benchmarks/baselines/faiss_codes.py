"""faiss's OPQ + PQ codes as the only thing that is kept: what is near by code is the answer."""

import faiss

from benchmarks.datasets import Floats, Ids

# Fewer vectors than this cannot train 256 centers: 16 centers make codes of the same size.
FEWEST = 512
MOST_TRAINED = 20_000


def best_by_codes(vectors: Floats, queries: Floats, code_bytes: int, k: int) -> Ids:
    """Give the k nearest of each query by code alone, all codes compared."""
    dim = vectors.shape[1]
    is_large = len(vectors) >= FEWEST
    parts, bits = (code_bytes, 8) if is_large else (2 * code_bytes, 4)
    codes = faiss.IndexPQ(dim, parts, bits, faiss.METRIC_INNER_PRODUCT)
    rotation = faiss.OPQMatrix(dim, parts)
    trainer = faiss.ProductQuantizer(dim, parts, bits)
    for quantizer in (codes.pq, trainer):
        quantizer.cp.min_points_per_centroid = 1  # it warns about small sets otherwise
    rotation.pq = trainer
    index = faiss.IndexPreTransform(rotation, codes)
    faiss.omp_set_num_threads(2)
    index.train(vectors[:MOST_TRAINED])
    index.add(vectors)
    _, ids = index.search(queries, k)
    return ids
