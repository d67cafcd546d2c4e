"""How many links each node of an index has: a reader of the graph section of docs/format.md.

The engine tells the mean alone. What is counted here must have that mean, which checks the reader
and what the format says of itself.
"""

import struct

import numpy as np
from numpy.typing import NDArray

from benchmarks import ours

GRAPH = ours.SECTIONS.index("graph")
LONGEST_WORD = 12
DEGREE, FIRST, LATER, OWNER, ONE_DEGREE, ONE_FIRST, ONE_LATER, MEMBER = range(8)


def out_degrees(index: ours.Index) -> NDArray[np.int64]:
    """Links of each node on the base layer, in the order of nodes."""
    bits = _Bits(_graph_section(ours.saved_bytes(index)))
    nodes, _, _, _ = (bits.varint() for _ in range(4))
    bits.read_codes()
    mutual = _mutual_degrees(bits, nodes)
    return mutual + _one_way_degrees(bits, nodes)


def _graph_section(file: bytes) -> bytes:
    (count,) = struct.unpack_from("<I", file, 12)
    for place in range(64, 64 + 32 * count, 32):
        kind, _, start, length = struct.unpack_from("<IIQQ", file, place)
        if kind == GRAPH:
            return file[start : start + length]
    raise ValueError("the index has no graph")


def _mutual_degrees(bits: "_Bits", nodes: int) -> NDArray[np.int64]:
    """Links whose ends link to each other: they stand at one end and count at both."""
    owned = np.zeros(nodes, np.int64)
    others: list[int] = []
    for node in range(nodes):
        owned[node] = degree = bits.symbol(DEGREE)
        if degree:
            other = node + 1 + bits.value(FIRST)
            others.append(other)
            for _ in range(degree - 1):
                other += 1 + bits.value(LATER)
                others.append(other)
    return owned + np.bincount(others, minlength=nodes)


def _one_way_degrees(bits: "_Bits", nodes: int) -> NDArray[np.int64]:
    degrees = np.zeros(nodes, np.int64)
    owner = -1
    for _ in range(bits.varint()):
        owner += 1 + bits.value(OWNER)
        degrees[owner] = degree = bits.symbol(ONE_DEGREE) + 1
        bits.value(ONE_FIRST)
        for _ in range(degree - 1):
            bits.value(ONE_LATER)
    return degrees


class _Bits:
    """A stream of bits, lowest first, and the Huffman codes that were read from it."""

    def __init__(self, packed: bytes) -> None:
        self._packed = packed + bytes(8)
        self._at = 0
        self._tables: list[list[tuple[int, int]]] = []

    def read_codes(self) -> None:
        """Read the eight codes at the start of a layer."""
        for _ in range(MEMBER + 1):
            lengths = [self._take(4) for _ in range(self._take(9))]
            self._tables.append(_word_table(lengths))

    def varint(self) -> int:
        """Read a number in groups of 7 bits."""
        value = shift = 0
        while True:
            group = self._take(8)
            value |= (group & 0x7F) << shift
            if group < 0x80:
                return value
            shift += 7

    def symbol(self, code: int) -> int:
        """Read a symbol of a code."""
        symbol, length = self._tables[code][self._peek() & ((1 << LONGEST_WORD) - 1)]
        self._at += length
        return symbol

    def value(self, code: int) -> int:
        """Read a number whose length in bits is a symbol of a code."""
        width = self.symbol(code)
        return (1 << width) + self._take(width) - 1

    def _take(self, count: int) -> int:
        taken = self._peek() & ((1 << count) - 1)
        self._at += count
        return taken

    def _peek(self) -> int:
        byte = self._at >> 3
        return int.from_bytes(self._packed[byte : byte + 8], "little") >> (self._at & 7)


def _word_table(lengths: list[int]) -> list[tuple[int, int]]:
    """Symbol and length of the code word that some bits, lowest first, begin with."""
    table = [(0, 0)] * (1 << LONGEST_WORD)
    word = 0
    for length in range(1, LONGEST_WORD + 1):
        word <<= 1
        for symbol in (one for one, its in enumerate(lengths) if its == length):
            low_first = int(f"{word:0{length}b}"[::-1], 2)
            table[low_first :: 1 << length] = [(symbol, length)] * (1 << (LONGEST_WORD - length))
            word += 1
    return table
