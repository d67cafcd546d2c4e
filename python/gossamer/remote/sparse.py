"""A file of which some blocks are here: as long as the whole, with holes for the rest.

Beside it stands a file with a byte for each block, written after the block itself: what a killed
process left is either whole or not believed. Several processes may fill one file, as each byte of
it is the same whoever fetched it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from io import FileIO
from pathlib import Path

import numpy as np

from gossamer.files import make_private_folder, map_file

__all__ = ["BLOCK", "DATA", "MAP", "SparseFile"]

BLOCK = 1 << 12
DATA, MAP = "data", "blocks"
# Blocks that are here already are fetched again rather than to ask twice, if they are so few.
_GAP = 3
_MOST_RUN = 256  # blocks of one request


class SparseFile:
    """The blocks of one file that are here. Not for several threads at a time."""

    def __init__(self, folder: Path, size: int) -> None:
        """Open the file in a folder, or make it; OSError if the disk cannot."""
        make_private_folder(folder)
        self.folder = folder
        self.size = size
        count = -(-size // BLOCK)
        self._data = _open(folder / DATA, size)
        self._map = _open(folder / MAP, count)
        self._has = np.zeros(count, np.uint8)
        self._look()
        os.utime(folder / MAP)  # used last now
        self.bytes = map_file(folder / DATA, follow=False)

    @property
    def bytes_here(self) -> int:
        """Bytes of the blocks that are here."""
        return min(int(self._has.sum()) * BLOCK, self.size)

    def missing(self, ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        """Give what has to be fetched so that these ranges (from, how many) are here: the same."""
        wanted = np.zeros(len(self._has), bool)
        for at, length in ranges:
            if length:
                wanted[at // BLOCK : -(-(at + length) // BLOCK)] = True
        if (wanted & (self._has == 0)).any():
            self._look()  # another process may have fetched some
        (blocks,) = np.nonzero(wanted & (self._has == 0))
        return [
            (first * BLOCK, min(end * BLOCK, self.size) - first * BLOCK)
            for first, end in _runs(blocks.tolist())
        ]

    def put(self, at: int, data: bytes) -> None:
        """Keep what was fetched, of whole blocks."""
        _write(self._data, at, data)
        first, end = at // BLOCK, -(-(at + len(data)) // BLOCK)
        _write(self._map, first, b"\1" * (end - first))
        self._has[first:end] = 1

    def forget(self) -> None:
        """Believe none of it any more, in any process that opens it from now on."""
        _write(self._map, 0, bytes(len(self._has)))
        self._has[:] = 0

    def __del__(self) -> None:
        for name in ("_data", "_map"):
            if (file := getattr(self, name, None)) is not None:
                file.close()

    def _look(self) -> None:
        self._map.seek(0)
        noted = np.frombuffer(self._map.read(len(self._has)), np.uint8)
        self._has[: len(noted)] = noted == 1


def _write(file: FileIO, at: int, data: bytes) -> None:
    file.seek(at)
    left = memoryview(data)
    while left:  # a disk that becomes full takes a part first
        left = left[file.write(left) :]


def _open(path: Path, size: int) -> FileIO:
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    file = FileIO(os.open(path, flags, 0o600), "r+")
    if os.fstat(file.fileno()).st_size != size:
        file.truncate(size)
    return file


def _runs(blocks: list[int]) -> Iterator[tuple[int, int]]:
    """Give neighbours together, as first and end."""
    if not blocks:
        return
    first = last = blocks[0]
    for block in blocks[1:]:
        if block - last - 1 > _GAP or block - first >= _MOST_RUN:
            yield first, last + 1
            first = block
        last = block
    yield first, last + 1
