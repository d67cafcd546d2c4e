"""Catalogues as bytes, read and written from docs/format.md alone: what the core is compared with.

Nothing is verified here, so that catalogues can be made that cannot be.

A row of a table may own rows of another one: a source has documents, a document chunks, a name
letters. The column of that name says how many, and the child's rows stand in the parent's order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gossamer.errors import Damaged
from gossamer.text.zstd import ZstdError, compress, decompress_exactly

Ints = NDArray[np.int64]

_LEVEL = 9  # every commit writes it all: 19 takes 13 times as long and saves 2 %
_RAW, _ZSTD = 0, 1
# What a table may unpack to: hostile bytes must not fill the memory. Writers pad up to it. Own
# tables of earlier releases were padded for a larger ratio.
_MOST_BASE = 1 << 24
_MOST_RATIO, _MOST_OWN_RATIO = 16, 256


@dataclass(frozen=True, slots=True)
class Column:
    """How a column of numbers is written.

    `after` names a column: what is written is the distance from the row before plus that column
    of the row before (from the row before alone if it is ""). `is_signed` is for numbers that may
    be below zero. `width` is for hashes: so many bytes each, as they are.
    """

    name: str
    after: str | None = None
    is_signed: bool = False
    width: int = 0


@dataclass(frozen=True, slots=True)
class Schema:
    """The columns of a table, and the tables that its rows own rows of."""

    columns: tuple[Column, ...] = ()
    children: tuple[tuple[str, Schema], ...] = ()
    is_bytes: bool = False  # one column of bytes: texts, end to end
    cost: int = 1  # of memory that a byte of these takes once it is read


@dataclass(slots=True)
class Table:
    """Columns of one length, and child tables. Never changed once made."""

    schema: Schema
    columns: dict[str, Ints] = field(default_factory=dict)
    children: dict[str, Table] = field(default_factory=dict)
    content: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8))
    # Where each row's texts begin, by child; found when first asked for.
    _starts: dict[str, Ints] = field(default_factory=dict, init=False, repr=False, compare=False)

    @classmethod
    def empty(cls, schema: Schema) -> Table:
        """Give a table without rows."""
        names = [column.name for column in schema.columns] + [name for name, _ in schema.children]
        return cls(
            schema,
            {name: np.zeros(0, np.int64) for name in names},
            {name: cls.empty(child) for name, child in schema.children},
        )

    def __len__(self) -> int:
        return len(self.content) if self.schema.is_bytes else len(next(iter(self.columns.values())))

    def __getitem__(self, name: str) -> Ints:
        return self.columns[name]

    def take(self, rows: Ints) -> Table:
        """Give these rows, in this order, and all they own."""
        if self.schema.is_bytes:
            return Table(self.schema, content=self.content[rows])
        children = {}
        for name, child in self.children.items():
            counts = self.columns[name]
            children[name] = child.take(_ranges(starts_of(counts)[rows], counts[rows]))
        return Table(self.schema, {n: c[rows] for n, c in self.columns.items()}, children)

    def append(self, other: Table) -> Table:
        """Give the rows of this table and then those of the other one."""
        return Table(
            self.schema,
            {n: np.concatenate([c, other.columns[n]]) for n, c in self.columns.items()},
            {name: child.append(other.children[name]) for name, child in self.children.items()},
            np.concatenate([self.content, other.content]),
        )

    def texts(self, name: str, rows: Sequence[int] | None = None) -> list[bytes]:
        """Give the texts that these rows, or all of them, own in a child of bytes."""
        lengths, content = self.columns[name], self.children[name].content
        if name not in self._starts:
            self._starts[name] = starts_of(lengths)
        starts = self._starts[name]
        if rows is None:
            whole = content.tobytes()
            ends = (starts + lengths).tolist()
            return [whole[a:b] for a, b in zip(starts.tolist(), ends, strict=True)]
        return [content[starts[row] : starts[row] + lengths[row]].tobytes() for row in rows]


def starts_of(counts: Ints) -> Ints:
    """Give where the children of each row begin, the rows' counts being these."""
    starts = np.cumsum(counts)
    starts -= counts
    return starts


def pack_table(table: Table, *, is_padded: bool = True) -> bytes:
    """Write a table as bytes: its length, its columns, its children."""
    parts = [len(table).to_bytes(8, "little")]
    unpacked = _pack_into(parts, table)
    packed = b"".join(parts)
    least = (unpacked - _MOST_BASE) // _MOST_RATIO + 1 if is_padded else 0
    return packed + bytes(max(0, least - len(packed)))


def unpack_table(data: bytes, schema: Schema, *, is_own: bool = False) -> Table:
    """Read what `pack_table` wrote; Damaged for anything else.

    Nothing is believed of the numbers themselves, save that counts of children are not negative
    and fit the children. A table that is not our own may take 16 times its size and 16 MiB.
    """
    reader = _Reader(data, _MOST_BASE + (_MOST_OWN_RATIO if is_own else _MOST_RATIO) * len(data))
    return _unpack(reader, reader.number(8), schema)


def _ranges(starts: Ints, counts: Ints) -> Ints:
    """Give starts[0], starts[0] + 1, ... as many as counts[0], and so on."""
    shifts = starts - starts_of(counts)
    return np.repeat(shifts, counts) + np.arange(counts.sum(), dtype=np.int64)


def _pack_into(parts: list[bytes], table: Table) -> int:
    """Write columns and children; give the bytes they take in memory."""
    if table.schema.is_bytes:
        parts.append(_pack_plane(table.content.tobytes()))
        return table.schema.cost * len(table)
    unpacked = 0
    for column in _columns_in_order(table.schema):
        parts.append(_pack_column(_distances(table, column), column))
        unpacked += 8 * len(table)
    return unpacked + sum(_pack_into(parts, table.children[n]) for n, _ in table.schema.children)


def _unpack(reader: _Reader, count: int, schema: Schema) -> Table:
    if schema.is_bytes:
        reader.spend(schema.cost * count)
        return Table(schema, content=np.frombuffer(reader.plane(count), np.uint8))
    table = Table(schema)
    for column in _columns_in_order(schema):
        table.columns[column.name] = reader.column(count, column)
    for column in _columns_in_order(schema):
        _undo_distances(table, column)
    for name, child in schema.children:
        counts = table.columns[name]
        # The sum of counts below 2^40 each cannot wrap around for as many as memory can hold.
        if len(counts) and not (counts.min() >= 0 and counts.max() < 1 << 40):
            raise Damaged(f"the catalogue says it has {counts.min()} to {counts.max()} {name}")
        table.children[name] = _unpack(reader, int(counts.sum()), child)
    return table


def _columns_in_order(schema: Schema) -> list[Column]:
    return [*schema.columns, *(Column(name) for name, _ in schema.children)]


def _distances(table: Table, column: Column) -> Ints:
    values = table.columns[column.name]
    if column.after is None or not len(values):
        return values
    expected = values[:-1] + (table.columns[column.after][:-1] if column.after else 0)
    return np.concatenate([values[:1], values[1:] - expected])


def _undo_distances(table: Table, column: Column) -> None:
    values = table.columns[column.name]
    if column.after is None or not len(values):
        return
    if column.after:
        values = values + np.concatenate([[0], table.columns[column.after][:-1]])
    table.columns[column.name] = np.cumsum(values)


def _pack_column(values: Ints, column: Column) -> bytes:
    """Write byte planes, the lowest bytes of all numbers first: each plane is alike in itself."""
    if column.width:
        return values.astype(f"<u{column.width}").tobytes()
    if column.is_signed or column.after is not None:
        values = (values << 1) ^ (values >> 63)
    bits = values.view(np.uint64)
    width = (int(bits.max()).bit_length() + 7) // 8 if len(bits) else 0
    rows = bits.astype("<u8").view(np.uint8).reshape(-1, 8)
    planes = (_pack_plane(rows[:, plane].tobytes()) for plane in range(width))
    return bytes([width]) + b"".join(planes)


def _pack_plane(plane: bytes) -> bytes:
    packed = compress(plane, _LEVEL)
    method, stored = (_ZSTD, packed) if len(packed) < len(plane) else (_RAW, plane)
    return bytes([method]) + len(stored).to_bytes(5, "little") + stored


class _Reader:
    """Bytes that are taken from the front, and how much memory they may still fill."""

    def __init__(self, data: bytes, most: int) -> None:
        self._data = data
        self._at = 0
        self._most = most

    def take(self, count: int) -> bytes:
        if count > len(self._data) - self._at:
            raise Damaged("the catalogue ends too early")
        self._at += count
        return self._data[self._at - count : self._at]

    def number(self, width: int) -> int:
        return int.from_bytes(self.take(width), "little")

    def spend(self, count: int) -> None:
        self._most -= count
        if self._most < 0:
            raise Damaged("the catalogue says it holds more than its bytes can")

    def plane(self, count: int) -> bytes:
        method, stored = self.number(1), self.number(5)
        data = self.take(stored)
        if method == _RAW and stored == count:
            return data
        if method != _ZSTD:
            raise Damaged(f"the catalogue has {stored} bytes where {count} belong")
        try:
            return decompress_exactly(data, count)
        except ZstdError as error:
            raise Damaged(f"a column of the catalogue does not unpack: {error}") from None

    def column(self, count: int, column: Column) -> Ints:
        self.spend(8 * count)
        if column.width:
            raw = self.take(count * column.width)
            return np.frombuffer(raw, f"<u{column.width}").astype(np.uint64).view(np.int64)
        width = self.number(1)
        if width > 8:
            raise Damaged(f"the catalogue has numbers of {width} bytes; 8 are the most")
        rows = np.zeros((count, 8), np.uint8)
        for plane in range(width):
            rows[:, plane] = np.frombuffer(self.plane(count), np.uint8)
        bits = rows.view("<u8").reshape(-1).astype(np.uint64)
        if column.is_signed or column.after is not None:
            bits = (bits >> np.uint64(1)) ^ (~(bits & np.uint64(1)) + np.uint64(1))
        return bits.view(np.int64)


_MAGIC = b"GSMCATAL"
_VERSION = 1

_BYTES = Schema(is_bytes=True)
_JSON = Schema(is_bytes=True, cost=8)
WORDS = Schema(children=(("word", Schema(is_bytes=True, cost=4)),))
_HEADINGS = Schema((Column("before", is_signed=True), Column("length")))
_CHUNKS = Schema(
    # `gap` is from the end of the chunk before; `shared` the headings both stand under.
    (Column("gap", is_signed=True), Column("length"), Column("shared"), Column("check", width=4)),
    (("headings", _HEADINGS),),
)
_PLACES = Schema((Column("gap"), Column("number", after="")))
_DOCUMENTS = Schema(
    (
        Column("kind"),
        Column("unit"),
        Column("length"),  # 0 for verbatim documents: it is their file's
        Column("segment"),
        Column("offset", after="length"),
        Column("title_start"),
        Column("title_length"),
        Column("first_chunk", after="chunks"),
    ),
    (
        ("key", _BYTES),
        ("title", _BYTES),
        ("metadata", _JSON),
        ("places", _PLACES),
        ("chunks", _CHUNKS),
    ),
)
SOURCES = Schema(
    (
        Column("root"),
        Column("kind"),
        Column("status"),
        Column("reason"),
        Column("reader_version"),
        Column("size"),
        Column("mtime_ns", after=""),
        Column("content_hash", width=8),
    ),
    (("name", _BYTES), ("documents", _DOCUMENTS)),
)


def read_catalogue(data: bytes) -> tuple[list[bytes], Table]:
    """Give the words and the tables of a catalogue."""
    assert data[:12] == _MAGIC + _VERSION.to_bytes(4, "little")
    end = 20 + int.from_bytes(data[12:20], "little")
    words = unpack_table(data[20:end], WORDS, is_own=True).texts("word")
    return words, unpack_table(data[end:], SOURCES, is_own=True)


def write_catalogue(words: list[bytes], tables: Table, *, is_padded: bool = True) -> bytes:
    """Give a catalogue as bytes."""
    packed = pack_table(words_table(words), is_padded=is_padded)
    head = _MAGIC + _VERSION.to_bytes(4, "little") + len(packed).to_bytes(8, "little")
    return head + packed + pack_table(tables, is_padded=is_padded)


def words_table(words: list[bytes]) -> Table:
    """Give the table of words."""
    table = Table(WORDS, {"word": np.asarray([len(word) for word in words], np.int64)})
    table.children["word"] = Table(
        WORDS.children[0][1], content=np.frombuffer(b"".join(words), np.uint8)
    )
    return table
