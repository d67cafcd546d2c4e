"""The words of all chunks as postings: which chunks hold a term, and how often.

Readers fetch the heads, the blocks that may hold the terms of a question, and their postings:
a few kilobytes of many megabytes.
"""

from __future__ import annotations

import struct
from array import array
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import count

import numpy as np
from numpy.typing import NDArray

from gossamer import _core
from gossamer.errors import Damaged, NotGossamer, UnknownVersion
from gossamer.single.container import crc32c

__all__ = ["WordsReader", "WordsWriter"]

Ints = NDArray[np.int64]

_MAGIC = b"GSMWORDS"
_VERSION = 1
# Magic, version, chunks, terms, blocks, bytes of postings, bytes of heads and their checksum.
_HEADER = struct.Struct("<8sIIIIQII")
_HEAD = struct.Struct("<IIQ")  # offset of the block, its checksum, offset of its first postings
_BLOCK_TERMS = 128
_MOST_VARINT_BYTES = 5


class WordsWriter:
    """Takes the texts of chunks in, in any order, and gives their words as bytes.

    What is held meanwhile is eight bytes for each word of each chunk.
    """

    def __init__(self) -> None:
        self._numbers_of: defaultdict[str, int] = defaultdict(count().__next__)
        self._terms, self._counts = array("I"), array("I")
        self._chunks, self._lengths = array("I"), array("I")

    def add(self, chunk: int, spans: Sequence[bytes]) -> None:
        """Count the words of a chunk: of its title, if it is near, and of itself."""
        found: Counter[str] = Counter()
        for text in spans:
            found.update(_core.spaced_terms(text).split(" "))
        found.pop("", None)
        self._terms.extend(map(self._numbers_of.__getitem__, found))
        self._counts.extend(found.values())
        self._chunks.append(chunk)
        self._lengths.append(len(found))

    def to_bytes(self, chunk_count: int, numbers: Ints | None = None) -> bytes:
        """Give the words of so many chunks; `numbers` say what a chunk is called from now on."""
        terms = [term.encode("utf-8", "surrogatepass") for term in self._numbers_of]
        order = sorted(range(len(terms)), key=terms.__getitem__)
        ranks = np.empty(len(terms), np.int64)
        ranks[order] = np.arange(len(terms))
        ranked = ranks[np.frombuffer(self._terms, np.uint32)] if terms else np.zeros(0, np.int64)
        chunks = _as_ints(self._chunks) if numbers is None else numbers[_as_ints(self._chunks)]
        chunks = np.repeat(chunks, _as_ints(self._lengths))
        by_term = np.argsort(ranked * max(chunk_count, 1) + chunks)
        ranked, chunks = ranked[by_term], chunks[by_term]
        counts = _as_ints(self._counts)[by_term]
        postings, ends = _pack_postings(ranked, chunks, counts, len(terms))
        holding = np.bincount(ranked, minlength=len(terms))
        blocks, heads = _pack_blocks([terms[i] for i in order], holding, postings, ends)
        header = _HEADER.pack(
            *(_MAGIC, _VERSION, chunk_count, len(terms), -(-len(terms) // _BLOCK_TERMS)),
            *(len(postings), len(heads), crc32c(heads)),
        )
        return b"".join((header, heads, blocks, postings.tobytes()))


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


def _as_ints(values: array[int]) -> Ints:
    if not values:
        return np.zeros(0, np.int64)
    return np.frombuffer(values, np.uint32).astype(np.int64)


def _pack_postings(
    ranked: Ints, chunks: Ints, counts: Ints, term_count: int
) -> tuple[NDArray[np.uint8], Ints]:
    """Give all postings as bytes, and where those of each term end."""
    before = np.empty_like(chunks)
    before[1:] = chunks[:-1]
    is_first = np.ones(len(ranked), bool)
    is_first[1:] = ranked[1:] != ranked[:-1]
    before[is_first] = -1
    is_many = counts > 1
    # A number for each chunk, and one more where it holds the term several times.
    places = np.arange(len(chunks)) + np.cumsum(is_many) - is_many
    values = np.empty(len(chunks) + int(is_many.sum()), np.int64)
    values[places] = (chunks - before - 1) * 2 + is_many
    values[places[is_many] + 1] = counts[is_many] - 2
    packed, sizes = _pack_varints(values)
    ends = np.cumsum(sizes)
    holding = np.bincount(ranked, minlength=term_count)
    last = np.cumsum(holding) - 1  # of each term, among the chunks
    return packed, ends[places[last] + is_many[last]] if len(last) else last


def _pack_varints(values: Ints) -> tuple[NDArray[np.uint8], Ints]:
    """Give numbers in groups of 7 bits, lowest first, and how many bytes each takes."""
    sizes = np.ones(len(values), np.int64)
    for bits in range(7, 7 * _MOST_VARINT_BYTES, 7):
        sizes += values >> bits > 0
    starts = np.cumsum(sizes) - sizes
    packed = np.empty(int(sizes.sum()), np.uint8)
    for place in range(_MOST_VARINT_BYTES):
        is_there = sizes > place
        goes_on = (sizes[is_there] > place + 1).astype(np.int64) << 7
        packed[starts[is_there] + place] = (values[is_there] >> 7 * place & 127) | goes_on
    return packed, sizes


def _pack_blocks(
    terms: list[bytes], holding: Ints, postings: NDArray[np.uint8], ends: Ints
) -> tuple[bytes, bytes]:
    """Give the blocks of terms, and the table that says where each begins."""
    blocks, heads = bytearray(), bytearray()
    counts, behind = holding.tolist(), ends.tolist()
    at = 0
    for start in range(0, len(terms), _BLOCK_TERMS):
        block, before, first_at = bytearray(), b"", at
        for place in range(start, min(start + _BLOCK_TERMS, len(terms))):
            term, end = terms[place], behind[place]
            shared = _shared(before, term)
            block += _packed(shared) + _packed(len(term) - shared) + term[shared:]
            block += _packed(counts[place]) + _packed(end - at)
            block += _core.crc32c(postings[at:end]).to_bytes(4, "little")
            before, at = term, end
        heads += _HEAD.pack(len(blocks), crc32c(bytes(block)), first_at)
        heads += _packed(len(terms[start])) + terms[start]
        blocks += block
    return bytes(blocks), bytes(heads)


def _shared(before: bytes, term: bytes) -> int:
    """Count the bytes that two terms begin with alike."""
    for place, (one, other) in enumerate(zip(before, term, strict=False)):
        if one != other:
            return place
    return min(len(before), len(term))


def _packed(value: int) -> bytes:
    if value < 128:
        return value.to_bytes(1, "little")
    packed = bytearray()
    while value > 127:
        packed.append(value & 127 | 128)
        value >>= 7
    packed.append(value)
    return bytes(packed)


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
