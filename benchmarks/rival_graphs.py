"""What rivals' saved graphs hold, read from their files."""

from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import faiss
import numpy as np

from benchmarks.baselines.faiss_nsg import MAX_DEGREE as NSG_DEGREE
from benchmarks.datasets import Dataset

HNSWLIB_HEADER_BYTES = 96
VAMANA_HEADER_BYTES = 1024
SVS = "scalable-vs"


def versions() -> dict[str, str]:
    """The version of what only these cases compare, if it is installed."""
    try:
        return {SVS: version(SVS)}
    except PackageNotFoundError:
        return {}


def bytes_of(path: Path) -> int:
    """Bytes of a file, or of all files in a folder."""
    if path.is_file():
        return path.stat().st_size
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())


def memory_of(name: str, disk: float) -> float:
    """Bytes a node of the links in memory. All but NSG hold their lists there as they save them.

    Locks, tables of names and what the allocator adds are left out.
    """
    return 4.0 * NSG_DEGREE if name == "faiss NSG" else disk


def links_of(name: str, path: Path, data: Dataset) -> float | None:
    """Mean links a node on the base layer of what was saved; None if it cannot be told."""
    read = READERS.get(name)
    return None if read is None else read(path, data)


def _hnswlib(path: Path, data: Dataset) -> float:
    """Each record of the base layer begins with its number of links."""
    record_bytes = int(np.fromfile(path, dtype=np.uint64, count=4)[3])
    records = np.fromfile(
        path, dtype=np.uint8, offset=HNSWLIB_HEADER_BYTES, count=record_bytes * len(data.vectors)
    ).reshape(-1, record_bytes)
    return float(records[:, :2].copy().view(np.uint16).mean())


def _faiss_hnsw(path: Path, data: Dataset) -> float:
    """Slots of the base layer come first in each node's; empty ones hold -1."""
    index = faiss.read_index(str(path))
    slots = faiss.vector_to_array(index.hnsw.neighbors)
    starts = faiss.vector_to_array(index.hnsw.offsets)[:-1].astype(np.int64)
    base = slots[starts[:, None] + np.arange(index.hnsw.nb_neighbors(0))]
    return float((base >= 0).sum() / len(data.vectors))


def _faiss_nsg(path: Path, data: Dataset) -> float:
    """Beside the vectors its file holds four bytes a link and four that end a list."""
    graph_bytes = path.stat().st_size - data.vectors.nbytes
    return graph_bytes / len(data.vectors) / 4 - 1


def _vamana(path: Path, data: Dataset) -> float:
    """Each row is a count of links and as many slots as there can be."""
    (file,) = (path / "graph").glob("*.svs")
    rows = np.fromfile(file, dtype=np.uint32, offset=VAMANA_HEADER_BYTES)
    return float(rows.reshape(len(data.vectors), -1)[:, 0].mean())


READERS: dict[str, Callable[[Path, Dataset], float]] = {
    "hnswlib": _hnswlib,
    "faiss HNSW": _faiss_hnsw,
    "faiss NSG": _faiss_nsg,
    "SVS Vamana": _vamana,
}
