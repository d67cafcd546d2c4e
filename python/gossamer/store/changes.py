"""From one catalogue to the next: sources replaced and removed, ids that only rise."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from gossamer.errors import Damaged, DuplicateId, InvalidArgument, UnknownId
from gossamer.records import MOST_HEADINGS, Span, Value
from gossamer.store.catalogue import SOURCES, Catalogue
from gossamer.store.columns import Ints, Schema, Table
from gossamer.store.content import canonical_order, canonical_words, place_texts, renumbered
from gossamer.store.records import ChunkedDocument, DocumentRecord, SourceRecord
from gossamer.store.verify import verify_tables

__all__ = ["Changes", "move_texts"]


class Changes:
    """What is to be different in the next catalogue. `finish` gives it."""

    def __init__(self, catalogue: Catalogue, next_chunk_id: int) -> None:
        self._old = catalogue
        self.next_chunk_id = next_chunk_id
        self._is_removed = np.zeros(catalogue.source_count, bool)
        self._times: dict[int, int] = {}
        self._versions: dict[int, int] = {}
        self._words = {word: number for number, word in enumerate(catalogue.words)}
        self._draft = _Draft(SOURCES)
        self._is_new: set[tuple[bool, str]] = set()
        self._merged: list[Table] = []

    @property
    def is_empty(self) -> bool:
        """Whether nothing was changed."""
        return not (self._is_new or self._times or self._is_removed.any())

    def replace_source(
        self, source: SourceRecord, documents: Sequence[ChunkedDocument] = ()
    ) -> Ints:
        """Put a source in, in place of the one of the same path or id; give its chunks' ids.

        Documents without chunks are left out: nothing of them can be found.
        """
        kept = [document for document in documents if len(document.spans)]
        for document in kept:
            _check_document(source, document)
        self._take_place_of(bool(source.root), source.path)
        first = self.next_chunk_id
        self._add_source(source, len(kept))
        for document in kept:
            self._add_document(document)
        return np.arange(first, self.next_chunk_id, dtype=np.int64)

    def merge(self, other: Catalogue, places: tuple[Ints, Ints] | None = None) -> None:
        """Put all sources of another catalogue in, in place of those of the same path or id.

        They keep their chunks' ids, which must be below `next_chunk_id` (set it) when `finish` is
        called, and free by then. `places` are segment and offset of the texts by row of the
        documents; None leaves them as `other` says.
        """
        tables = other.tables
        if places is not None:
            segments, offsets = (np.array(column, np.int64) for column in places)
            if not segments.shape == offsets.shape == (other.document_count,):
                raise InvalidArgument(
                    f"places are a segment and an offset for each of {other.document_count} "
                    f"documents, got {segments.shape} and {offsets.shape}"
                )
            tables = place_texts(other.with_away_texts().tables, segments, offsets)
        for is_file, path in zip((tables["root"] != 0).tolist(), other.paths, strict=True):
            self._take_place_of(is_file, path)
        numbers = np.asarray([self._word(word) for word in other.words], np.int64)
        self._merged.append(renumbered(tables, numbers))

    def touch(self, is_file: bool, path: str, mtime_ns: int, reader_version: int) -> None:
        """Note another time and reader of a source by its name; UnknownId if it is not there."""
        self.touch_source(self._row_of(is_file, path), mtime_ns, reader_version)

    def remove_named(self, is_file: bool, path: str) -> None:
        """Take a source of the old catalogue out by its name; UnknownId if it is not there."""
        self._is_removed[self._row_of(is_file, path)] = True

    def touch_source(self, row: int, mtime_ns: int, reader_version: int | None = None) -> None:
        """Note another time (and version of its reader) of a file whose content is the same."""
        self._times[row] = mtime_ns
        if reader_version is not None:
            self._versions[row] = reader_version

    def remove_sources(self, rows: Iterable[int]) -> None:
        """Take sources of the old catalogue out, by row."""
        self._is_removed[list(rows)] = True

    def finish(self) -> Catalogue:
        """Give the next catalogue; the old one is as it was."""
        old = self._old.tables
        for name, values in (("mtime_ns", self._times), ("reader_version", self._versions)):
            if values:
                column = old[name].copy()
                column[list(values)] = list(values.values())
                old = replace(old, columns={**old.columns, name: column})
        merged = old.take(np.nonzero(~self._is_removed)[0]).append(self._draft.to_table())
        for table in self._merged:
            merged = merged.append(table)
        words, tables = canonical_words(list(self._words), merged)
        paths = Catalogue(words, tables).paths
        tables = tables.take(canonical_order(paths, tables["root"]))
        verify_tables(tables, len(words), is_own=True)
        finished = Catalogue(words, tables)
        if len(ids := finished.chunk_ids) and ids[-1] >= self.next_chunk_id:
            raise Damaged(f"chunk {ids[-1]} is yet to come: the next one is {self.next_chunk_id}")
        return finished

    def _take_place_of(self, is_file: bool, path: str) -> None:
        """Remove the old source of this name; DuplicateId if there is a new one already."""
        if (is_file, path) in self._is_new:
            raise DuplicateId(f"{path!r} was given twice in one step; give it once")
        self._is_new.add((is_file, path))
        if (row := self._old.find(is_file, path)) is not None:
            self._is_removed[row] = True

    def _row_of(self, is_file: bool, path: str) -> int:
        if (row := self._old.find(is_file, path)) is None:
            raise UnknownId(f"{path!r} is not in the index, so it cannot be changed there")
        return row

    def _word(self, word: str) -> int:
        return self._words.setdefault(word, len(self._words))

    def _add_source(self, source: SourceRecord, document_count: int) -> None:
        self._draft.add(
            root=self._word(source.root),
            kind=self._word(source.kind),
            status=int(source.status),
            reason=self._word(source.reason),
            reader_version=source.reader_version,
            size=source.size,
            mtime_ns=source.mtime_ns,
            content_hash=np.uint64(source.content_hash).astype(np.int64).item(),
            documents=document_count,
            name=self._draft.add_bytes("name", _encode(source.name)),
        )

    def _add_document(self, document: ChunkedDocument) -> None:
        draft, record = self._draft.children["documents"], document.record
        start, end = record.title_span or (0, 0)
        metadata = dict(record.metadata)
        written = json.dumps(metadata, sort_keys=True, separators=(",", ":")) if metadata else ""
        draft.add(
            kind=self._word(record.kind),
            unit=self._word(record.unit),
            length=0 if record.is_verbatim else record.text_length,
            segment=record.segment,
            offset=record.offset,
            title_start=start,
            title_length=end - start,
            first_chunk=self.next_chunk_id,
            key=draft.add_bytes("key", _encode(record.key)),
            title=draft.add_bytes("title", _encode(record.title)),
            metadata=draft.add_bytes("metadata", written.encode("ascii")),
            places=_add_places(draft.children["places"], record),
            chunks=_add_chunks(draft.children["chunks"], document),
        )
        self.next_chunk_id += len(document.spans)


def move_texts(catalogue: Catalogue, rows: Ints, segment: int, offsets: Ints) -> Catalogue:
    """Give a catalogue whose documents in these rows have their text elsewhere."""
    documents = catalogue.tables.children["documents"]
    columns = dict(documents.columns)
    columns["segment"], columns["offset"] = columns["segment"].copy(), columns["offset"].copy()
    columns["segment"][rows], columns["offset"][rows] = segment, offsets
    children = {**catalogue.tables.children, "documents": replace(documents, columns=columns)}
    return Catalogue(catalogue.words, replace(catalogue.tables, children=children))


class _Draft:
    """A table in the making: lists in place of columns."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self.children = {name: _Draft(child) for name, child in schema.children}
        names = [column.name for column in schema.columns]
        self._columns: dict[str, list[int]] = {name: [] for name in (*names, *self.children)}
        self._content = bytearray()

    def add(self, **values: int) -> None:
        """Add a row; values of children are how many rows of theirs belong to it."""
        for name, column in self._columns.items():
            column.append(values[name])

    def add_bytes(self, name: str, text: bytes) -> int:
        """Add a text to a child of bytes; give its length, the value of that child's column."""
        self.children[name]._content += text
        return len(text)

    def to_table(self) -> Table:
        return Table(
            self._schema,
            {name: np.asarray(column, np.int64) for name, column in self._columns.items()},
            {name: child.to_table() for name, child in self.children.items()},
            np.frombuffer(bytes(self._content), np.uint8),
        )


def _add_places(draft: _Draft, record: DocumentRecord) -> int:
    before = 0
    for offset, number in record.places:
        draft.add(gap=offset - before, number=number)
        before = offset
    return len(record.places)


def _add_chunks(draft: _Draft, document: ChunkedDocument) -> int:
    before = 0
    above: tuple[Span, ...] = ()
    for span, check in zip(document.spans, document.checks, strict=True):
        shared = _shared_count(above, span.context)
        for start, end in span.context[shared:]:
            draft.children["headings"].add(before=span.start - end, length=end - start)
        draft.add(
            gap=span.start - before,
            length=span.end - span.start,
            shared=shared,
            check=int(check),
            headings=len(span.context) - shared,
        )
        before, above = span.end, span.context
    return len(document.spans)


def _shared_count(above: tuple[Span, ...], context: tuple[Span, ...]) -> int:
    shared = 0
    for one, other in zip(above, context, strict=False):
        if one != other:
            break
        shared += 1
    return shared


def _check_document(source: SourceRecord, document: ChunkedDocument) -> None:
    """Say what is wrong with a document before anything of it is taken in."""
    record, length = document.record, document.record.text_length
    if record.is_verbatim and length != source.size:
        raise InvalidArgument(
            f"{source.path}: a verbatim document has the {source.size} bytes of its file, "
            f"got text_length={length}"
        )
    if len(document.checks) != len(document.spans):
        raise InvalidArgument(
            f"{source.path}: {len(document.spans)} chunks need as many checks, "
            f"got {len(document.checks)}"
        )
    for span in document.spans:
        _check_spans(source, length, (span.start, span.end), *span.context)
        if len(span.context) > MOST_HEADINGS:
            raise InvalidArgument(f"{source.path}: a chunk stands under {MOST_HEADINGS} at most")
    if record.title_span is not None:
        _check_spans(source, length, record.title_span)
    offsets = [offset for offset, _ in record.places]
    _check_spans(source, length, *pairwise((0, *offsets, length)))
    if not all(number >= 0 for _, number in record.places):
        raise InvalidArgument(f"{source.path}: numbers of places are 0 or more")
    for key, value in record.metadata.items():
        if not (isinstance(key, str) and isinstance(value, Value)):
            raise InvalidArgument(
                f"{source.path}: metadata is text, numbers and booleans, got {key}={value!r}"
            )


def _check_spans(source: SourceRecord, length: int, *spans: Span) -> None:
    for start, end in spans:
        if not 0 <= start <= end <= length:
            raise InvalidArgument(
                f"{source.path}: {start} to {end} is not a span of a text of {length} bytes"
            )


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
