"""faiss's OPQ + PQ codes, scanned: what the codes of `keep="none"` are measured against."""

from pathlib import Path

import faiss

from benchmarks.datasets import Floats, Ids, cache_folder


def best_by_code(vectors: Floats, queries: Floats, code_bytes: int, best: int, name: str) -> Ids:
    """Return the `best` ids a query, nearest first by code. Trains once; minutes the first time."""
    index = _load_or_train(vectors, code_bytes, name)
    _, ids = index.search(queries, best)
    return ids


def _load_or_train(vectors: Floats, code_bytes: int, name: str) -> faiss.Index:
    path = _cache_path(code_bytes, f"{name}-{len(vectors)}")
    if path.exists():
        return faiss.read_index(str(path))
    description = f"OPQ{code_bytes},PQ{code_bytes}"
    index = faiss.index_factory(vectors.shape[1], description, faiss.METRIC_INNER_PRODUCT)
    index.train(vectors)
    index.add(vectors)
    faiss.write_index(index, str(path))
    return index


def _cache_path(code_bytes: int, name: str) -> Path:
    return cache_folder() / f"faiss-{faiss.__version__}-opq{code_bytes}-{name}.index"
