"""The container that all files of the engine are: a header, a table of sections, the sections."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gossamer import _core
from gossamer._core import Container

__all__ = ["MAGIC", "Container", "Section", "container_parts", "crc32c", "read_tag", "sections_of"]

Bytes = NDArray[np.uint8]

MAGIC = b"GOSSAMER"
_HEADER_BYTES, _ENTRY_BYTES = 64, 32
_MOST_SECTIONS = 64


class Section(NamedTuple):
    """A part of a file."""

    kind: int
    bytes: Bytes


def sections_of(container: Container, kinds: Sequence[int]) -> list[Section]:
    """Give the sections of these kinds that a file has, in this order, compared with checksums."""
    return [Section(kind, container.section(kind)) for kind in kinds if container.has(kind)]


def container_parts(sections: Sequence[Section], least: int = 0) -> list[Bytes]:
    """Give the parts of a file with these sections, in their order, of at least so many bytes."""
    return _core.container_parts(sections, least)


def read_tag(file: BinaryIO) -> str:
    """Name what a file holds, by its header and table, which have a checksum of every section."""
    head = file.read(_HEADER_BYTES)
    count = int.from_bytes(head[12:16], "little")
    table = file.read(_ENTRY_BYTES * min(count, _MOST_SECTIONS))
    return blake2b(head + table, digest_size=16).hexdigest()


def crc32c(data: Bytes | bytes) -> int:
    """Give the checksum of a part of a file."""
    return _core.crc32c(np.frombuffer(data, np.uint8) if isinstance(data, bytes) else data)
