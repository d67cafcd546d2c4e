"""The text store: texts that are in no file of the user's, compressed, with random access.

A segment is one stream of text, cut into blocks of equal length that are compressed each for
itself. Segments are never changed: what is new goes to a new one.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gossamer.errors import Damaged, NotGossamer, UnknownVersion
from gossamer.files import make_file, map_file
from gossamer.store.codecs import learn
from gossamer.text.zstd import ZstdDict, ZstdError, compress, decompress_exactly

__all__ = ["Packing", "Texts", "TextsWriter"]

_MAGIC = b"GSMTEXTS"
_VERSION = 1
_HEADER = struct.Struct("<8sIIII")  # magic, version, block bytes, dictionary bytes, packed ones
_TRAILER = struct.Struct("<QII")  # bytes of text, blocks, checksum of all but the blocks
_MOST_BLOCK_BYTES = 1 << 20
_MOST_DICTIONARY_BYTES = 1 << 20
# A dictionary pays once there is a megabyte of text; it is learnt from the first four.
_LEARN_LEAST, _LEARN_MOST = 1 << 20, 1 << 22
_CACHED_BLOCKS = 16


@dataclass(frozen=True, slots=True)
class Packing:
    """How the text of a segment is cut and compressed."""

    block_bytes: int = 1 << 17
    level: int = 12
    has_dictionary: bool = True


class TextsWriter:
    """A segment in the making; `close` it before it is read."""

    def __init__(self, path: Path, packing: Packing | None = None) -> None:
        self._packing = packing or Packing()
        make_file(path, is_new=True)
        self._file = open(path, "r+b")  # noqa: SIM115 - closed by close() or abandon()
        self._pending = bytearray()
        self._dictionary: ZstdDict | None = None
        self._has_begun = False
        self._head = b""
        self._table: list[tuple[int, int]] = []
        self._length = 0

    def add(self, text: bytes | Iterable[bytes]) -> int:
        """Add a text, whole or in pieces; give the offset in the segment that it is read at."""
        offset = self._length
        for piece in (text,) if isinstance(text, bytes) else text:
            self._pending += piece
            self._length += len(piece)
            if self._has_begun or len(self._pending) >= _LEARN_MOST:
                self._write_blocks(self._packing.block_bytes)
        return offset

    def close(self) -> None:
        """Write what is left and make sure that it is on the disk."""
        self._write_blocks(1)
        table = np.asarray(self._table, "<u4").reshape(-1, 2).tobytes()
        trailer = _TRAILER.pack(self._length, len(self._table), 0)[:-4]
        checksum = zlib.crc32(self._head + table + trailer)
        self._file.write(table + trailer + checksum.to_bytes(4, "little"))
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()

    def abandon(self) -> None:
        """Close the file without finishing it."""
        self._file.close()

    def _write_blocks(self, least: int) -> None:
        """Write blocks for as long as at least so many bytes wait."""
        if not self._has_begun:
            self._begin()
        at, size = 0, self._packing.block_bytes
        while len(self._pending) - at >= least:
            block = bytes(self._pending[at : at + size])
            packed = _pack(block, self._dictionary, self._packing.level)
            self._table.append((len(packed), zlib.crc32(packed)))
            self._file.write(packed)
            at += size
        del self._pending[:at]

    def _begin(self) -> None:
        is_learning = self._packing.has_dictionary and len(self._pending) >= _LEARN_LEAST
        dictionary = learn(bytes(self._pending[:_LEARN_MOST])) if is_learning else b""
        packed = compress(dictionary, 19) if dictionary else b""
        self._dictionary = ZstdDict(dictionary) if dictionary else None
        sizes = (self._packing.block_bytes, len(dictionary), len(packed))
        self._head = _HEADER.pack(_MAGIC, _VERSION, *sizes) + packed
        self._file.write(self._head)
        self._has_begun = True


class Texts:
    """The segments of an index, open for reading."""

    def __init__(self, segments: Mapping[int, Path]) -> None:
        self._segments = {number: _Segment(path) for number, path in segments.items()}
        segments_by_number = self._segments
        # Not a method of ours: the circle would keep files mapped until it is collected.
        self._block = lru_cache(_CACHED_BLOCKS)(
            lambda segment, block: segments_by_number[segment].block(block)
        )

    @property
    def lengths(self) -> dict[int, int]:
        """Bytes of text of each segment."""
        return {number: segment.length for number, segment in self._segments.items()}

    def read(self, segment: int, start: int, end: int) -> bytes:
        """Give the text from start to end of a segment; Damaged if it is not there."""
        # Not joined: for a moment there would be two of it.
        text = BytesIO()
        for piece in self.pieces(segment, start, end):
            text.write(piece)
        return text.getvalue()

    def pieces(self, segment: int, start: int, end: int) -> Iterator[bytes]:
        """Give the same text block by block."""
        if segment not in self._segments or not (
            0 <= start <= end <= self._segments[segment].length
        ):
            raise Damaged(f"there is no text {start} to {end} in segment {segment}")
        size = self._segments[segment].block_bytes
        for block in range(start // size, -(-end // size)):
            text = self._block(segment, block)
            yield text[max(start - block * size, 0) : end - block * size]


class _Segment:
    """One file: its table is checked when it is opened, a block when it is read."""

    def __init__(self, path: Path) -> None:
        self._name = path.name
        self._data = map_file(path, follow=False)
        if len(self._data) < _HEADER.size + _TRAILER.size:
            raise Damaged(f"{self._name} is too short for a text segment")
        magic, version, self.block_bytes, size, packed = _HEADER.unpack_from(self._data.data)
        self.length, self.block_count, checksum = _TRAILER.unpack_from(
            self._data.data, len(self._data) - _TRAILER.size
        )
        if magic != _MAGIC:
            raise NotGossamer(f"{self._name} is no text segment")
        if version != _VERSION:
            raise UnknownVersion(
                f"{self._name} is of version {version}, and this release reads {_VERSION}; "
                "use the release that wrote it, or a newer one"
            )
        head_end = _HEADER.size + packed
        table_start = len(self._data) - _TRAILER.size - 8 * self.block_count
        if not (
            0 < self.block_bytes <= _MOST_BLOCK_BYTES
            and size <= _MOST_DICTIONARY_BYTES
            and head_end <= table_start
            and self.block_count == -(-self.length // self.block_bytes)
        ):
            raise Damaged(f"{self._name} has parts that do not fit together")
        tail = self._data[table_start:-4].tobytes()
        if zlib.crc32(self._data[:head_end].tobytes() + tail) != checksum:
            raise Damaged(f"the checksum of {self._name} does not fit")
        self._table = np.frombuffer(tail, "<u4", 2 * self.block_count).reshape(-1, 2)
        ends = head_end + np.cumsum(self._table[:, 0], dtype=np.int64)
        if self.block_count and ends[-1] != table_start:
            raise Damaged(f"{self._name} has blocks that do not fit its length")
        self._ends: NDArray[np.int64] = ends
        self._dictionary = self._open_dictionary(size, packed)

    def block(self, number: int) -> bytes:
        """Give the text of a block; Damaged if its checksum does not fit."""
        end = int(self._ends[number])
        packed_bytes, checksum = self._table[number].tolist()
        packed = self._data[end - packed_bytes : end].tobytes()
        if zlib.crc32(packed) != checksum:
            raise Damaged(
                f"block {number} of {self._name} is damaged; take the folder from a backup, or "
                "remove the files it came from and add them again"
            )
        size = min(self.block_bytes, self.length - number * self.block_bytes)
        try:
            return decompress_exactly(packed, size, self._dictionary)
        except ZstdError as error:
            raise Damaged(f"block {number} of {self._name} does not unpack: {error}") from None

    def _open_dictionary(self, size: int, packed: int) -> ZstdDict | None:
        if not size:
            return None
        data = self._data[_HEADER.size : _HEADER.size + packed].tobytes()
        try:
            return ZstdDict(decompress_exactly(data, size))
        except (ZstdError, ValueError) as error:
            raise Damaged(f"the dictionary of {self._name} does not unpack: {error}") from None


def _pack(text: bytes, dictionary: ZstdDict | None, level: int) -> bytes:
    return compress(text, level, zstd_dict=dictionary and dictionary.as_digested_dict)
