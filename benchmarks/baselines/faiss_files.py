"""Files that faiss writes, counted by part."""

from pathlib import Path

import faiss

from benchmarks.baselines import faiss_pq
from benchmarks.baselines.faiss_ivf import LISTS_PER_ROOT, FaissIvf
from benchmarks.baselines.ivf_recompute import BYTES_OF_ID
from benchmarks.baselines.sizes import Parts, bytes_under, parts_of
from benchmarks.datasets import Floats

# However well codes are trained, they take the same bytes.
ROUNDS = 4


def inverted_lists(vectors: Floats, path: Path) -> Parts:
    """IVF with the vectors in its lists; a search on disk maps the same file."""
    FaissIvf(vectors).save(path)
    size = bytes_under(path)
    return parts_of(size, vectors=vectors.nbytes, graph=size - vectors.nbytes)


def recomputed_lists(count: int, dim: int) -> Parts:
    """IVF that keeps centroids and the ids in each list alone; there are fewer lists a chunk in
    a larger set, so this is worked out for all of it.
    """
    lists = round(LISTS_PER_ROOT * count**0.5)
    return {"graph": lists * dim * 4 + count * BYTES_OF_ID}


def product_codes(vectors: Floats, code_bytes: int, path: Path) -> Parts:
    """PQ codes that a search compares all of; `rest` is the codebook."""
    index = faiss_pq.coded(vectors, code_bytes, vectors[: faiss_pq.TRAINED_ON], ROUNDS)
    faiss.write_index(index, str(path))
    return parts_of(bytes_under(path), codes=len(vectors) * code_bytes)
