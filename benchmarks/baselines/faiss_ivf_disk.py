"""faiss's inverted lists in a file that is mapped, not read (its OnDiskInvertedLists)."""

from pathlib import Path

import faiss

from benchmarks.baselines.faiss_ivf import FaissIvf


class FaissIvfDisk(FaissIvf):
    """A saved `FaissIvf`, searched where it lies; the system may keep pages of it in memory."""

    name = "faiss IVF on disk"

    def __init__(self, path: Path) -> None:
        self._index = faiss.read_index(str(path), faiss.IO_FLAG_MMAP)
        self._centroids = faiss.downcast_index(self._index.quantizer)
        self.lists = self._index.nlist
