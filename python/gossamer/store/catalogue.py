"""The catalogue: every source, document and chunk of an index, in a few bytes each."""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from hashlib import blake2b
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gossamer import _core
from gossamer.errors import Damaged, UnknownId
from gossamer.properties import cached_property
from gossamer.records import Span, Value
from gossamer.store.codecs import TRAVEL
from gossamer.store.columns import Ints, Table, starts_of
from gossamer.store.hashes import HASH_BYTES
from gossamer.store.records import (
    AWAY,
    VERBATIM,
    ChunkPlace,
    DocumentRecord,
    SourceRecord,
    Status,
    path_of,
)

__all__ = [
    "Catalogue",
    "as_posix",
    "decode_metadata",
    "decode_name",
    "encode_name",
]


class Catalogue:
    """What an index holds. Never changed once made: `Changes` makes the next one.

    Sources and documents are numbered by row, in the order of their paths. Chunks are known by
    their ids, which are consecutive within a document and never given twice.
    """

    def __init__(self, listing: _core.SourceList) -> None:
        self._listing = listing

    @property
    def listing(self) -> _core.SourceList:
        """All of it in one piece, as the core has it."""
        return self._listing

    @cached_property
    def words(self) -> list[str]:
        """Roots, kinds, units and reasons, which the columns name by number."""
        return [decode_name(word) for word in self.listing.words]

    @cached_property
    def tables(self) -> Table:
        """All columns."""
        return Table.of(self.listing.tables())

    @property
    def _documents(self) -> Table:
        return self.tables.children["documents"]

    @property
    def _chunks(self) -> Table:
        return self._documents.children["chunks"]

    @classmethod
    def empty(cls) -> Catalogue:
        """Give the catalogue of an index that holds nothing."""
        return cls(_core.SourceList())

    @classmethod
    def open(cls, data: bytes, *, is_own: bool = False) -> Catalogue:
        """Read what `to_bytes` gave; NotGossamer, UnknownVersion or Damaged for anything else.

        One that was not made here may take 16 times its size, and its documents 256 MiB each.
        """
        catalogue = cls(_core.SourceList.read(data, is_own, TRAVEL))
        catalogue.words  # noqa: B018 - Damaged if they are no texts
        return catalogue

    def to_bytes(self) -> bytes:
        """Give the catalogue as bytes: the same ones for the same content in the same order."""
        return self.listing.pack(TRAVEL)

    def in_order(self) -> Catalogue:
        """Give the same content in the order of names, with the words that it needs."""
        return Catalogue(self.listing.take(self.listing.order()))

    def digest(self) -> bytes:
        """Give 16 bytes for what is indexed: the same whatever changes led to it.

        Where texts are kept is no part of it, nor how the catalogue is numbered and compressed.
        """
        digest = blake2b(digest_size=HASH_BYTES)
        self.listing.give_content(digest.update)
        return digest.digest()

    def part(self, rows: Ints) -> Catalogue:
        """Give a catalogue of these sources alone, in their order here."""
        return Catalogue(self.listing.take(np.unique(rows).astype(np.uint64)))

    def with_away_texts(self) -> Catalogue:
        """Give a catalogue of the same content whose texts are all away."""
        return Catalogue(self.listing.put_texts_away())

    def with_files_below(self, roots: Collection[str]) -> Catalogue:
        """Give a catalogue of the same content that reads no files but these, and those below them.

        Other texts that stand in files are away.
        """
        segments, offsets = self.text_places
        (rows,) = np.nonzero(segments == VERBATIM)
        is_away = np.zeros(len(segments), bool)
        is_away[rows] = ~self.are_below(self.source_rows[rows], roots)
        if not is_away.any():
            return self
        return Catalogue(self.listing.place_texts(np.where(is_away, AWAY, segments), offsets))

    def are_below(self, rows: Ints, roots: Collection[str]) -> NDArray[np.bool_]:
        """Say of sources whether they are one of these files, or below one of these folders."""
        prefixes = tuple(f"{root.rstrip('/')}/" for root in roots if os.path.isabs(root))
        # A text, whose root is "", is below none; nor is what would lead out again.
        are = [
            bool(word) and f"{word}/".startswith(prefixes) and ".." not in word.split("/")
            for word in self.words
        ]
        found: NDArray[np.bool_] = np.array(are, bool)[self.tables["root"][rows]]
        # A file that was added on its own has a folder for its root that was not.
        for place in np.flatnonzero(~found).tolist():
            row = int(rows[place])
            found[place] = bool(self.tables["root"][row]) and self.paths[row] in roots
        return found

    # Sources

    @property
    def source_count(self) -> int:
        """How many sources there are, skipped and failed ones included."""
        return len(self.tables)

    @cached_property
    def paths(self) -> list[str]:
        """The path of every source, or the id of a text, by row."""
        words = self.words
        roots = self.tables["root"].tolist()
        names = self.tables.texts("name")
        try:
            return [
                path_of(words[root], name.decode("utf-8", "surrogatepass"))
                for root, name in zip(roots, names, strict=True)
            ]
        except UnicodeDecodeError as error:
            raise Damaged(f"a path in the catalogue is no text: {error}") from None

    @property
    def names(self) -> list[tuple[bool, str]]:
        """What names every source, by row: whether it is a file, and its path or id."""
        return list(zip((self.tables["root"] != 0).tolist(), self.paths, strict=True))

    def find_path(self, path: str | PurePath) -> int | None:
        """Give the row of a file's source by its absolute path; None if it is not there."""
        return self._rows_of_files.get(as_posix(path))

    def find_text(self, id: str) -> int | None:
        """Give the row of a text's source by the id it was given; None if it is not there."""
        return self._rows_of_texts.get(id)

    def find(self, is_file: bool, path: str) -> int | None:
        """Give the row of a source by its path, just as it is kept, or id; None without one."""
        return (self._rows_of_files if is_file else self._rows_of_texts).get(path)

    def stat_of(self, row: int) -> tuple[int, int]:
        """Give the size and the time (ns) that a source's file had when it was read."""
        return self._stats[row]

    def source(self, row: int) -> SourceRecord:
        """Give all that is known of a source."""
        table, words = self.tables, self.words
        (name,) = table.texts("name", [row])
        return SourceRecord(
            root=words[table["root"][row]],
            name=decode_name(name),
            size=int(table["size"][row]),
            mtime_ns=int(table["mtime_ns"][row]),
            content_hash=int(table["content_hash"][row].astype(np.uint64)),
            kind=words[table["kind"][row]],
            status=Status(int(table["status"][row])),
            reason=words[table["reason"][row]],
            reader_version=int(table["reader_version"][row]),
        )

    def documents_of(self, row: int) -> range:
        """Give the rows of a source's documents."""
        start = int(self._first_documents[row])
        return range(start, start + int(self.tables["documents"][row]))

    def chunks_in(self, row: int) -> range:
        """Give the ids of a document's chunks."""
        first = int(self._documents["first_chunk"][row])
        return range(first, first + int(self._documents["chunks"][row]))

    def chunks_of(self, row: int) -> Ints:
        """Give the ids of a source's chunks."""
        ranges = [
            np.arange(ids.start, ids.stop) for ids in map(self.chunks_in, self.documents_of(row))
        ]
        return np.concatenate(ranges) if ranges else np.zeros(0, np.int64)

    @property
    def source_bytes(self) -> int:
        """How many bytes the indexed files have, and the texts that programs gave."""
        return int(self.tables["size"][self.tables["status"] == Status.INDEXED].sum())

    # Documents

    @property
    def document_count(self) -> int:
        """How many documents there are."""
        return len(self._documents)

    @cached_property
    def source_rows(self) -> Ints:
        """The row of the source of every document."""
        return np.repeat(np.arange(len(self.tables)), self.tables["documents"])

    def source_row(self, document: int) -> int:
        """Give the row of the source of a document."""
        return int(self.source_rows[document])

    @cached_property
    def text_lengths(self) -> Ints:
        """The bytes of text of every document."""
        return self.listing.text_lengths()

    @property
    def text_places(self) -> tuple[Ints, Ints]:
        """Where the text of every document is: segment, VERBATIM or AWAY, and offset there."""
        return self._documents["segment"], self._documents["offset"]

    def document(self, row: int) -> DocumentRecord:
        """Give all that is known of a document."""
        table, words = self._documents, self.words
        key, title, metadata = (
            table.texts(name, [row])[0] for name in ("key", "title", "metadata")
        )
        start, length = int(table["title_start"][row]), int(table["title_length"][row])
        return DocumentRecord(
            text_length=int(self.text_lengths[row]),
            kind=words[table["kind"][row]],
            segment=int(table["segment"][row]),
            offset=int(table["offset"][row]),
            key=decode_name(key),
            title=decode_name(title),
            title_span=(start, start + length) if length else None,
            unit=words[table["unit"][row]],
            places=self._places(row),
            metadata=decode_metadata(metadata),
        )

    def metadata(self) -> list[dict[str, Value]]:
        """Give the metadata of every document, for filters; equal ones may be one object."""
        texts = self._documents.texts("metadata")
        known = {text: decode_metadata(text) for text in set(texts)}
        return [known[text] for text in texts]

    # Chunks

    @property
    def chunk_count(self) -> int:
        """How many chunks there are."""
        return len(self._chunks)

    @cached_property
    def chunk_ids(self) -> Ints:
        """The ids of all chunks, rising."""
        order = self._by_chunk
        counts = self._documents["chunks"][order]
        shifts = self._documents["first_chunk"][order] - starts_of(counts)
        return np.repeat(shifts, counts) + np.arange(len(self._chunks))

    def document_rows(self, ids: ArrayLike) -> Ints:
        """Give the row of the document of each chunk; UnknownId if there is no such chunk."""
        wanted = np.asarray(ids, np.int64)
        firsts = self._documents["first_chunk"]
        if not len(firsts):
            if wanted.size:
                raise UnknownId(f"there is no chunk {wanted.flat[0]}; search again for present ids")
            return wanted
        order = self._by_chunk
        rows = order[np.maximum(np.searchsorted(firsts[order], wanted, "right") - 1, 0)]
        within = wanted - firsts[rows]
        is_gone = (within < 0) | (within >= self._documents["chunks"][rows])
        if is_gone.any():
            raise UnknownId(f"there is no chunk {wanted[is_gone][0]}; search again for present ids")
        return rows

    def spans(self, ids: ArrayLike) -> tuple[Ints, Ints]:
        """Give where each chunk starts and ends in the text of its document."""
        rows = self._chunk_rows(ids)
        ends = self._chunk_ends[rows]
        return ends - self._chunks["length"][rows], ends

    def checks(self, ids: ArrayLike) -> NDArray[np.uint32]:
        """Give the check of each chunk's embedded text."""
        return self._chunks["check"][self._chunk_rows(ids)].astype(np.uint32)

    def contexts(self, ids: ArrayLike) -> list[tuple[Span, ...]]:
        """Give the headings that each chunk stands under, outermost first, as spans."""
        documents = self.document_rows(ids)
        rows = self._chunk_rows(ids)
        contexts: list[tuple[Span, ...]] = [()] * len(rows)
        for document in np.unique(documents).tolist():
            (places,) = np.nonzero(documents == document)
            found = self._contexts_within(document, rows[places])
            for place, context in zip(places.tolist(), found, strict=True):
                contexts[place] = context
        return contexts

    def locate(self, ids: ArrayLike) -> list[ChunkPlace]:
        """Give where each chunk stands, all that is known of it; UnknownId if there is none."""
        rows, (starts, ends) = self.document_rows(ids), self.spans(ids)
        columns = (column.tolist() for column in (rows, starts, ends, self.checks(ids)))
        return [
            ChunkPlace(row, (start, end), check, context)
            for row, start, end, check, context in zip(*columns, self.contexts(ids), strict=True)
        ]

    # Derived, when first needed

    @cached_property
    def _rows_of_files(self) -> dict[str, int]:
        return {path: row for row, (is_file, path) in enumerate(self.names) if is_file}

    @cached_property
    def _rows_of_texts(self) -> dict[str, int]:
        return {path: row for row, (is_file, path) in enumerate(self.names) if not is_file}

    @cached_property
    def _stats(self) -> list[tuple[int, int]]:
        sizes, times = self.tables["size"].tolist(), self.tables["mtime_ns"].tolist()
        return list(zip(sizes, times, strict=True))

    @cached_property
    def _first_documents(self) -> Ints:
        return starts_of(self.tables["documents"])

    @cached_property
    def _by_chunk(self) -> Ints:
        return np.argsort(self._documents["first_chunk"], kind="stable")

    @cached_property
    def _first_rows(self) -> Ints:
        return starts_of(self._documents["chunks"])

    @cached_property
    def _chunk_ends(self) -> Ints:
        ends: Ints = np.cumsum(self._chunks["gap"] + self._chunks["length"])
        counts = self._documents["chunks"]
        ends -= np.repeat(np.concatenate([[0], ends])[starts_of(counts)], counts)
        return ends

    @cached_property
    def _first_headings(self) -> Ints:
        return starts_of(self._chunks["headings"])

    @cached_property
    def _first_places(self) -> Ints:
        return starts_of(self._documents["places"])

    def _chunk_rows(self, ids: ArrayLike) -> Ints:
        documents = self.document_rows(ids)
        within = np.asarray(ids, np.int64) - self._documents["first_chunk"][documents]
        return self._first_rows[documents] + within

    def _contexts_within(self, document: int, rows: Ints) -> list[tuple[Span, ...]]:
        """Give the headings of chunks of one document.

        A chunk writes down what it does not share with the one before: the heading of a level is
        that of the last chunk, itself included, that wrote one of that level down.
        """
        first = int(self._first_rows[document])
        upto = slice(first, int(rows.max()) + 1)
        shared, added = self._chunks["shared"][upto], self._chunks["headings"][upto]
        depths = shared + added
        chunks = np.arange(len(shared))
        headings = self._chunks.children["headings"]
        spans: list[list[Span]] = [[] for _ in rows]
        for level in range(int(depths[rows - first].max())):
            writes = (shared <= level) & (level < depths)
            last = np.maximum.accumulate(np.where(writes, chunks, -1))
            deep = np.nonzero(depths[rows - first] > level)[0]
            writer = last[rows[deep] - first]
            which = self._first_headings[first + writer] + level - shared[writer]
            starts = self._chunk_ends[first + writer] - self._chunks["length"][first + writer]
            ends = starts - headings["before"][which]
            begins = ends - headings["length"][which]
            for place, begin, end in zip(deep, begins.tolist(), ends.tolist(), strict=True):
                spans[place].append((begin, end))
        return [tuple(context) for context in spans]

    def _places(self, row: int) -> tuple[tuple[int, int], ...]:
        start = self._first_places[row]
        which = slice(start, start + self._documents["places"][row])
        table = self._documents.children["places"]
        offsets = np.cumsum(table["gap"][which]).tolist()
        return tuple(zip(offsets, table["number"][which].tolist(), strict=True))


def as_posix(path: str | PurePath) -> str:
    """Give a path as the catalogue writes it, with "/" between its parts."""
    is_plain = isinstance(path, str) and os.sep == "/"
    return str(path) if is_plain else PurePath(path).as_posix()


def encode_name(text: str) -> bytes:
    """Give a name as the catalogue keeps it; names of files may be no proper text."""
    return text.encode("utf-8", "surrogatepass")


def decode_name(text: bytes) -> str:
    """Read what `encode_name` gave; Damaged for anything else."""
    try:
        return text.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise Damaged(f"a name in the catalogue is no text: {error}") from None


def decode_metadata(text: bytes) -> dict[str, Value]:
    """Read the metadata of a document; Damaged if it is none."""
    if not text:
        return {}
    try:
        metadata: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Damaged(f"metadata in the catalogue is no JSON: {error}") from None
    if not isinstance(metadata, dict):
        raise Damaged("metadata in the catalogue is no object")
    if not all(isinstance(value, Value) for value in metadata.values()):
        raise Damaged("metadata in the catalogue holds more than text and numbers")
    return metadata
