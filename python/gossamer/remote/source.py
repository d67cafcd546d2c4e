"""The bytes of a file at an address, as if they were here: fetched before they are read."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from io import BytesIO
from pathlib import Path
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from gossamer.errors import NotGossamer, TooLarge
from gossamer.io_errors import explaining
from gossamer.remote import cache
from gossamer.remote.ranges import Part, RemoteFile
from gossamer.remote.sparse import BLOCK, SparseFile, taken_by
from gossamer.single.container import MAGIC, read_tag

__all__ = ["RemoteBytes"]

# Header and table of sections, which have a checksum of every section: they name the file.
_HEAD = 64 + 64 * 32
_FIRST = 1 << 16  # of a file that was never asked for: mostly all that opening reads first
_AT_ONCE = 4  # requests
_MOST_SIZE = 1 << 36


class RemoteBytes:
    """A file of which parts are here; for any number of threads."""

    def __init__(self, url: str) -> None:
        """Ask for its beginning. NotGossamer, TooLarge, or what `RemoteFile` raises."""
        self.address = url  # what stands behind a question mark may be a key
        self.file = RemoteFile(url)
        self.url = self.file.shown
        part = self.file.begin(_HEAD if cache.is_known(url) else _FIRST)
        if not part.data.startswith(MAGIC):
            raise NotGossamer(f"{self.url} is no index; give a file that `gossamer export` wrote")
        if part.size > _MOST_SIZE:
            raise TooLarge(f"{self.url} has {part.size:,} bytes; {_MOST_SIZE:,} are the most")
        self._tag = _tag_of(part)
        self._versions = {part.version}
        self._lock = Lock()
        folder = cache.folder_of(url, self._tag)
        cache.sweep(url, folder)
        with explaining(folder, "keep what was fetched in"):
            self._sparse = SparseFile(folder, part.size)
            cache.make_room(folder, max(0, len(part.data) - self._sparse.bytes_here))
            self._compare(part.data[:_HEAD])
        self.is_whole = len(part.data) == part.size > _FIRST
        self._keep(0, part.data)

    @property
    def folder(self) -> Path:
        """Where they are kept."""
        return self._sparse.folder

    @property
    def size(self) -> int:
        """Of the whole file."""
        return self._sparse.size

    @property
    def view(self) -> NDArray[np.uint8]:
        """The whole file; only what was brought may be looked at."""
        return self._sparse.bytes

    @property
    def bytes_here(self) -> int:
        """Bytes that are kept."""
        return self._sparse.bytes_here

    def bring(self, ranges: Iterable[tuple[int, int]]) -> None:
        """Fetch what is not here of ranges, each from a place on and so many bytes."""
        with self._lock:
            missing = self._sparse.missing(ranges)
            if not missing:
                return
            with explaining(self._sparse.folder, "keep what was fetched in"):
                cache.make_room(self._sparse.folder, taken_by(missing))
            with ThreadPoolExecutor(min(_AT_ONCE, len(missing))) as pool:
                parts = pool.map(lambda one: self.file.read(one[0], one[1], self.size), missing)
                for (at, _), part in zip(missing, parts, strict=True):
                    self._check_version(part.version)
                    self._keep(at, part.data)

    def read(self, at: int, length: int) -> bytes:
        """Give a range of the file."""
        self.bring([(at, length)])
        return self.view[at : at + length].tobytes()

    def drop(self) -> None:
        """Forget all that is kept of the file."""
        with self._lock:
            self._sparse.forget()
            cache.remove(self._sparse.folder)

    def _compare(self, head: bytes) -> None:
        """Believe nothing that was kept, if its beginning is not that of the file."""
        if not self._sparse.missing([(0, len(head))]) and self.read(0, len(head)) != head:
            self._sparse.forget()

    def _keep(self, at: int, data: bytes) -> None:
        """Keep whole blocks, and the last one of the file."""
        end = at + len(data)
        if end < self.size:
            end = end // BLOCK * BLOCK
        if end > at:
            with explaining(self._sparse.folder, "keep what was fetched in"):
                self._sparse.put(at, data[: end - at])

    def _check_version(self, version: str) -> None:
        """Raise Changed for another file; hosts of one file may each give it another version."""
        if version in self._versions:
            return
        part = self.file.read(0, min(_HEAD, self.size), self.size)
        if _tag_of(part) != self._tag:
            raise self.file.changed()
        self._versions |= {version, part.version}


def _tag_of(part: Part) -> str:
    """Name a file by what it holds."""
    named = f"{read_tag(BytesIO(part.data))} {part.size}"
    return blake2b(named.encode("ascii"), digest_size=16).hexdigest()
