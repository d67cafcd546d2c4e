"""Words as postings, read from docs/format.md alone: what the core is compared with."""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterator

from gossamer.errors import Damaged, NotGossamer, UnknownVersion
from gossamer.single.container import crc32c

_MAGIC = b"GSMWORDS"
_VERSION = 2
# Magic, version, chunks, terms, blocks, bytes of postings, bytes of heads and their checksum.
_HEADER = struct.Struct("<8sIIIIQII")
_HEAD = struct.Struct("<IIQ")  # offset of the block, its checksum, offset of its first postings
_BLOCK_TERMS = 128
_MOST_VARINT_BYTES = 5


class WordsReader:
    """Words as a writer gave them; what is read is checked."""

    def __init__(self, data: bytes) -> None:
        if data[: len(_MAGIC)] != _MAGIC:
            raise NotGossamer("this is no section of words")
        if len(data) < _HEADER.size:
            raise Damaged("the words are too short for their header")
        _, version, self.chunks, self.terms, blocks, size, heads, checksum = _HEADER.unpack_from(
            data
        )
        if version != _VERSION:
            raise UnknownVersion(f"the words are of version {version}, not {_VERSION}")
        self._heads_end = _HEADER.size + heads
        self._postings_at = len(data) - size
        table = data[_HEADER.size : self._heads_end]
        if self._heads_end > self._postings_at or crc32c(table) != checksum:
            raise Damaged("the heads of the words do not fit")
        if blocks != -(-self.terms // _BLOCK_TERMS):
            raise Damaged("the words have another number of blocks than of terms")
        self._data = data
        self._heads = _unpack_heads(table, blocks)
        self._firsts = [first for *_, first in self._heads]

    def find(self, term: str) -> dict[int, int]:
        """Give how often each chunk holds a term; nothing if none does."""
        wanted = term.encode("utf-8", "surrogatepass")
        place = bisect_right(self._firsts, wanted) - 1
        for found, holding, postings in self._block(place) if place >= 0 else ():
            if found == wanted:
                return _unpack_postings(postings, holding, self.chunks)
        return {}

    def __iter__(self) -> Iterator[str]:
        """Give every term, in the order of bytes."""
        for place in range(len(self._heads)):
            for term, _, _ in self._block(place):
                yield term.decode("utf-8", "surrogatepass")

    def _block(self, place: int) -> Iterator[tuple[bytes, int, bytes]]:
        """Give each term of a block, how many chunks hold it, and its postings."""
        offset, checksum, at, _ = self._heads[place]
        is_last = place + 1 == len(self._heads)
        end = self._postings_at if is_last else self._heads_end + self._heads[place + 1][0]
        block = self._data[self._heads_end + offset : end]
        if crc32c(block) != checksum:
            raise Damaged(f"block {place} of the words is damaged")
        term, position = b"", 0
        for _ in range(min(_BLOCK_TERMS, self.terms - place * _BLOCK_TERMS)):
            shared, position = _varint(block, position)
            length, position = _varint(block, position)
            term = term[:shared] + block[position : position + length]
            holding, position = _varint(block, position + length)
            size, position = _varint(block, position)
            start = self._postings_at + at
            postings = self._data[start : start + size]
            if crc32c(postings) != int.from_bytes(block[position : position + 4], "little"):
                raise Damaged(f"the postings of {term!r} are damaged")
            yield term, holding, postings
            position, at = position + 4, at + size


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Read a number; give it, and where the next one begins."""
    value = 0
    for place, byte in enumerate(data[at : at + _MOST_VARINT_BYTES]):
        value |= (byte & 127) << 7 * place
        if byte < 128:
            return value, at + place + 1
    raise Damaged("a number of the words does not end")


def _unpack_heads(table: bytes, blocks: int) -> list[tuple[int, int, int, bytes]]:
    heads, at = [], 0
    for _ in range(blocks):
        if at + _HEAD.size > len(table):
            raise Damaged("the heads of the words are cut off")
        offset, checksum, first_at = _HEAD.unpack_from(table, at)
        length, at = _varint(table, at + _HEAD.size)
        heads.append((offset, checksum, first_at, table[at : at + length]))
        at += length
    return heads


def _unpack_postings(postings: bytes, holding: int, chunks: int) -> dict[int, int]:
    found: dict[int, int] = {}
    chunk, at = -1, 0
    for _ in range(holding):
        value, at = _varint(postings, at)
        chunk += (value >> 1) + 1
        times = 1
        if value & 1:
            more, at = _varint(postings, at)
            times = more + 2
        if chunk >= chunks:
            raise Damaged("the words name a chunk that is not there")
        found[chunk] = times
    return found
