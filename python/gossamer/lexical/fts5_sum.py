"""The checksum of the lexical index, in a file beside it: SQLite keeps none of its own."""

from __future__ import annotations

import json
import os
import sys
import zlib
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Lock

from gossamer.errors import Damaged
from gossamer.files import open_regular, write_file

__all__ = ["WordsSum", "crc_of_words", "read_sum", "sum_of", "write_sum"]

_BLOCK = 1 << 20
_MOST_BYTES = 4096


@dataclass(frozen=True, slots=True)
class WordsSum:
    """What the file was when it was committed."""

    generation: int
    size: int
    pages: tuple[int, int, int]  # how many, of what size, how many of them free
    # CRC-32 of all bytes. It tells damage, at a sixth of the time of a hash; what somebody else
    # wrote on purpose no checksum would tell that stands beside it.
    crc: int

    @property
    def facts(self) -> tuple[int, int, tuple[int, int, int]]:
        """What can be compared without reading the file."""
        return self.generation, self.size, self.pages


def sum_of(words: Path) -> Path:
    """Give where the checksum of a lexical index stands."""
    return words.with_suffix(".sum")


def write_sum(words: Path, noted: WordsSum) -> None:
    """Write the checksum, at once or not at all; OSError if the disk refuses."""
    write_file(sum_of(words), [json.dumps(asdict(noted)).encode("ascii") + b"\n"])


def read_sum(words: Path) -> WordsSum | None:
    """Read the checksum; None if there is none, or it makes no sense."""
    try:
        with open_regular(sum_of(words), follow=False) as file:
            values = json.loads(file.read(_MOST_BYTES))
        return WordsSum(values["generation"], values["size"], tuple(values["pages"]), values["crc"])
    except (FileNotFoundError, Damaged, ValueError, TypeError, KeyError, RecursionError):
        return None


def crc_of_words(words: Path) -> tuple[int, int]:
    """Give the size and the checksum of a lexical index; OSError if it cannot be read."""
    if sys.platform == "win32":
        with open(words, "rb") as file:
            return _crc_of(lambda _: file.read(_BLOCK))
    with _KEPT_LOCK:
        handle = _keep_open(words)
        # By place, not by the handle's own position, which forked processes share.
        return _crc_of(lambda start: os.pread(handle, _BLOCK, start))


# Closing any handle of a file takes away all locks that its process holds on it (POSIX), and SQLite
# would not know: another process could change what is being read here, or take back what is being
# written. So one handle of each file stays open until another file has its place.
_KEPT: dict[Path, int] = {}
_KEPT_LOCK = Lock()


def _keep_open(words: Path) -> int:
    path = words.absolute()
    known = _KEPT.get(path)
    if known is not None:
        if os.path.samestat(os.fstat(known), os.stat(path)):
            return known
        os.close(_KEPT.pop(path))  # the file was deleted: its locks matter to nobody
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    _KEPT[path] = handle
    return handle


def _crc_of(read_from: Callable[[int], bytes]) -> tuple[int, int]:
    crc = size = 0
    while block := read_from(size):
        crc = zlib.crc32(block, crc)
        size += len(block)
    return size, crc
