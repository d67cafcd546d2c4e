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
from numpy.typing import NDArray

from gossamer.files import make_private_folder, map_file

__all__ = ["BLOCK", "DATA", "MAP", "SparseFile", "taken_by"]

BLOCK = 1 << 10
DATA, MAP = "data", "blocks"
# Blocks that are here or not wanted are fetched too rather than to ask twice, if they are so few.
_GAP = 24
_MOST_RUN = 1024  # blocks of one request
_PAGE = 1 << 12  # what a disk gives to a file at least


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
        return [
            (first * BLOCK, min(end * BLOCK, self.size) - first * BLOCK)
            for first, end in _runs(wanted & (self._has == 0))
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


def taken_by(ranges: Iterable[tuple[int, int]]) -> int:
    """Give the bytes that ranges (from, how many) take on the disk, at most."""
    return sum(-(-(at + length) // _PAGE) - at // _PAGE for at, length in ranges) * _PAGE


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


def _runs(missing: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """Give neighbours together, as first and end; as many as there are runs, not blocks."""
    edges = np.flatnonzero(np.diff(missing, prepend=False, append=False)).tolist()
    first = last = 0
    for start, end in zip(edges[::2], edges[1::2], strict=True):
        if last and (start - last > _GAP or end - first > _MOST_RUN):
            yield from _pieces(first, last)
            last = 0
        first = first if last else start
        last = end
    yield from _pieces(first, last)


def _pieces(first: int, end: int) -> Iterator[tuple[int, int]]:
    for start in range(first, end, _MOST_RUN):
        yield start, min(start + _MOST_RUN, end)
