"""The container that all files of the engine are: a header, a table of sections, the sections."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from gossamer import _core
from gossamer.errors import Damaged, NotGossamer, Truncated, UnknownVersion

__all__ = ["MAGIC", "Container", "Section", "container_parts", "crc32c", "read_tag"]

Bytes = NDArray[np.uint8]

MAGIC = b"GOSSAMER"
_VERSION = 1
_HEADER = struct.Struct("<8sIIQI")  # magic, version, sections, length, checksum of the table
_HEADER_BYTES, _ENTRY_BYTES = 64, 32
_ENTRY = struct.Struct("<IIQQQ")  # kind, checksum, offset, length, 0
_ALIGNMENT = 64
_MOST_SECTIONS = 64


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a file."""

    kind: int
    bytes: Bytes


class Container:
    """A file of sections: its table is checked when it is opened, a section when it is read.

    NotGossamer, UnknownVersion, Truncated or Damaged for anything that is no such file.
    """

    def __init__(self, file: Bytes) -> None:
        self._file = file
        self._entries: dict[int, tuple[int, int, int]] = {}  # by kind: checksum, offset, length
        for kind, checksum, offset, length in _read_table(file):
            self._entries[kind] = (checksum, offset, length)

    def __len__(self) -> int:
        return len(self._file)

    @property
    def lengths(self) -> Mapping[int, int]:
        """Bytes of each section by its kind, in the order of the table."""
        return {kind: length for kind, (_, _, length) in self._entries.items()}

    def has(self, kind: int) -> bool:
        """Whether there is such a section."""
        return kind in self._entries

    def section(self, kind: int) -> Bytes:
        """Give the bytes of a section that must be there; Damaged if its checksum does not fit."""
        if kind not in self._entries:
            raise Damaged(f"the file has no section {kind}, which belongs there")
        checksum, offset, length = self._entries[kind]
        found = self._file[offset : offset + length]
        if crc32c(found) != checksum:
            raise Damaged(f"the checksum of section {kind} does not fit; copy the file again")
        return found


def container_parts(sections: Sequence[Section], least: int = 0) -> Iterator[Bytes | bytes]:
    """Give the parts of a file with these sections, in their order, of at least so many bytes."""
    table_end = _HEADER_BYTES + _ENTRY_BYTES * len(sections)
    table, at = bytearray(), table_end
    for section in sections:
        at += -at % _ALIGNMENT
        table += _ENTRY.pack(section.kind, crc32c(section.bytes), at, len(section.bytes), 0)
        at += len(section.bytes)
    length = max(at, least)
    head = _HEADER.pack(MAGIC, _VERSION, len(sections), length, crc32c(bytes(table)))
    head += crc32c(head).to_bytes(4, "little")
    yield head.ljust(_HEADER_BYTES, b"\0")
    yield bytes(table)
    at = table_end
    for section in sections:
        yield bytes(-at % _ALIGNMENT)
        yield section.bytes
        at += -at % _ALIGNMENT + len(section.bytes)
    if at < length:
        yield bytes(length - at)


def read_tag(file: BinaryIO) -> str:
    """Name what a file holds, by its header and table, which have a checksum of every section."""
    head = file.read(_HEADER_BYTES)
    count = int.from_bytes(head[12:16], "little")
    table = file.read(_ENTRY_BYTES * min(count, _MOST_SECTIONS))
    return blake2b(head + table, digest_size=16).hexdigest()


def crc32c(data: Bytes | bytes) -> int:
    """Give the checksum of a part of a file."""
    return _core.crc32c(np.frombuffer(data, np.uint8) if isinstance(data, bytes) else data)


def _read_table(file: Bytes) -> Iterator[tuple[int, int, int, int]]:
    """Give kind, checksum, offset and length of each section, all of it within bounds."""
    head = file[:_HEADER_BYTES].tobytes()
    if head[: len(MAGIC)] != MAGIC[: len(head)] or not head:
        raise NotGossamer("this is no Gossamer file")
    if len(head) < _HEADER_BYTES:
        raise Truncated(f"the file has {len(head)} bytes, fewer than its header")
    _, version, count, length, table_checksum = _HEADER.unpack_from(head)
    # As the engine does: a header of another version may be laid out in another way.
    if version != _VERSION:
        raise UnknownVersion(
            f"the file is of format version {version}, and this release reads {_VERSION}; "
            "use the release that wrote it, or a newer one"
        )
    if crc32c(head[: _HEADER.size]) != int.from_bytes(head[_HEADER.size :][:4], "little"):
        raise Damaged("the checksum of the header does not fit; copy the file again")
    if len(file) < length:
        raise Truncated(f"the file has {len(file)} of its {length} bytes; copy it again")
    table_end = _HEADER_BYTES + _ENTRY_BYTES * count
    if len(file) > length or count > _MOST_SECTIONS or table_end > length:
        raise Damaged("the parts of the file do not fit its length; copy it again")
    table = file[_HEADER_BYTES:table_end].tobytes()
    if crc32c(table) != table_checksum:
        raise Damaged("the checksum of the table of sections does not fit; copy the file again")
    kinds = set()
    for kind, checksum, offset, size, _ in _ENTRY.iter_unpack(table):
        if kind in kinds or offset % _ALIGNMENT or not table_end <= offset <= length - size:
            raise Damaged(f"section {kind} is there twice or lies outside of the file")
        kinds.add(kind)
        yield kind, checksum, offset, size
