"""Files that texts are read from in place: only while they hold what was indexed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from gossamer.errors import Damaged
from gossamer.files import open_regular
from gossamer.store.hashes import hash_of_start

__all__ = ["open_indexed", "read_at"]

# Files that are not read again to be compared, while the system says that they are as they were.
_MOST_KNOWN = 4096
_hashes: dict[tuple[int, ...], int] = {}


@contextmanager
def open_indexed(path: str, size: int, content_hash: int) -> Iterator[BinaryIO | None]:
    """Open a file if it begins with just what was indexed, by size and hash; None for any other.

    What was put behind that since is not looked at: logs and chats grow, and what was indexed of
    them stands. A file in its place that was never indexed is not shown, whatever the index says
    of chunks in it.
    """
    try:
        file = open_regular(path, follow=True)
    except (OSError, ValueError, Damaged):
        yield None
        return
    with file:
        yield file if _is_indexed(file, size, content_hash) else None


def read_at(file: BinaryIO, start: int, end: int) -> bytes | None:
    """Give a span of a file; None if it is not all there."""
    try:
        file.seek(start)
        found = file.read(end - start)
    except OSError:
        return None
    return found if len(found) == end - start else None


def _is_indexed(file: BinaryIO, size: int, content_hash: int) -> bool:
    status = os.fstat(file.fileno())
    if status.st_size < size:
        return False
    # The time of a change cannot be set back, unlike that of the content.
    times = (status.st_mtime_ns, status.st_ctime_ns)
    facts = (status.st_dev, status.st_ino, status.st_size, *times, size)
    if facts not in _hashes:
        if len(_hashes) >= _MOST_KNOWN:
            _hashes.clear()
        try:
            _hashes[facts] = hash_of_start(file, size)
        except OSError:
            return False
    return _hashes[facts] == content_hash
