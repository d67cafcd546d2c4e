"""Files to documents: one module for each format, found by the kind of the file.

A module of this package that reads a kind (the table is in formats.py) has one function
`read(path, data, limits)`: the documents in `data`, the bytes of the file at `path`. It raises
`Unreadable` with a reason that a user understands. Text is UTF-8 and its places rise.
"""

from __future__ import annotations

import importlib
import os
import stat
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol

from gossamer.errors import LeftOut, Unavailable, Unreadable
from gossamer.readers.formats import HEAD_BYTES, kind_of, module_of, reason_to_skip
from gossamer.readers.limits import Limits
from gossamer.records import Document

__all__ = [
    "READER_VERSION",
    "Limits",
    "Loaded",
    "Reader",
    "kind_of",
    "load_bytes",
    "read_data",
    "read_file",
]

# Raised whenever the same bytes give other documents than before, or are cut into other chunks.
READER_VERSION = 3
_BLOCK = 1 << 20


class Loaded(NamedTuple):
    """The bytes of a file, and the time it had when they were read."""

    data: bytes
    mtime_ns: int


class Reader(Protocol):
    """What a module gives for the kinds of files it reads."""

    def read(self, path: Path, data: bytes, limits: Limits) -> list[Document]:
        """Give the documents in `data`; Unreadable where there is none."""
        ...


def read_file(path: Path, limits: Limits | None = None) -> list[Document]:
    """Read a file into documents, at least one; Unreadable says why there is none.

    No bytes, however damaged or hostile, give any other exception.
    """
    limits = limits or Limits()
    return read_data(path, load_bytes(path, limits).data, limits)


def load_bytes(path: Path, limits: Limits) -> Loaded:
    """Give the bytes of a file that is to be read; LeftOut or Unreadable for any other.

    Unavailable where the disk does not give them now, whatever is in them.
    """
    if (reason := reason_to_skip(path, limits)) is not None:
        raise LeftOut(reason)
    return _bytes_of(path, limits.max_file_bytes)


def read_data(path: Path, data: bytes, limits: Limits | None = None) -> list[Document]:
    """Read the bytes of a file that are at hand; `path` says what they are and is not opened."""
    limits = limits or Limits()
    if not data:
        raise LeftOut("the file is empty")
    kind = kind_of(path, data[:HEAD_BYTES])
    if kind is None:
        raise LeftOut("binary file of an unknown kind")
    try:
        reader: Reader = importlib.import_module(f"gossamer.readers.{module_of(kind)}")
        documents = reader.read(path, data, limits)
    except Unreadable:
        raise
    except RecursionError:
        raise Unreadable(f"nested too deeply to be read as {kind}") from None
    except MemoryError:
        raise Unreadable(f"too large to be read as {kind} with the memory there is") from None
    except Exception as error:
        # Whatever a parser trips over is the file's fault to the user: it is left out, and why.
        raise Unreadable(f"cannot be read as {kind}: {_words_of(error)}") from error
    return _within(documents, limits)


def _bytes_of(path: Path, most: int) -> Loaded:
    """Read a regular file, and never more than `most` bytes even if it grows meanwhile."""
    try:
        # Opening a pipe or a device could wait for ever or do something: look first.
        _check_is_file(os.stat(path), most)
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        with open(os.open(path, flags), "rb") as file:
            status = os.fstat(file.fileno())
            _check_is_file(status, most)
            data = _read_at_most(file, status.st_size, most + 1)
    except FileNotFoundError:
        raise Unavailable("the file is gone") from None
    except PermissionError:
        raise Unavailable("no permission to read the file") from None
    except (OSError, ValueError) as error:
        raise Unavailable(f"the file cannot be read: {_words_of(error)}") from error
    if len(data) > most:
        raise Unreadable(_too_big(len(data), most))
    # The time from before the bytes: what is written meanwhile makes it another one.
    return Loaded(data, status.st_mtime_ns)


def _read_at_most(file: BinaryIO, size: int, most: int) -> bytes:
    """Read a file, in as much memory as it takes and not as much as it might.

    It may grow meanwhile, and some systems say nothing of the size of files that they make up.
    """
    pieces, left = [file.read(size)], most - size
    while left > 0 and (piece := file.read(min(left, _BLOCK))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def _check_is_file(status: os.stat_result, most: int) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise Unreadable("not a regular file (a folder, pipe, socket or device)")
    if status.st_size > most:
        raise Unreadable(_too_big(status.st_size, most))


def _within(documents: list[Document], limits: Limits) -> list[Document]:
    """Leave out documents without text, and refuse more than the limits allow."""
    documents = [document for document in documents if document.text and document.text.strip()]
    if not documents:
        raise LeftOut("holds no text")
    if len(documents) > limits.max_documents:
        raise Unreadable(
            f"holds {len(documents):,} documents, more than the {limits.max_documents:,} allowed"
        )
    total = sum(len(document.text) for document in documents)
    if total > limits.max_text_bytes:
        raise Unreadable(_too_big(total, limits.max_text_bytes))
    return documents


def _too_big(size: int, most: int) -> str:
    return f"too big: {size / 1e6:,.1f} MB where at most {most / 1e6:,.1f} MB are read"


def _words_of(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error)[:200] or type(error).__name__
