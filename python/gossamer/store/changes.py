"""What a commit changes: sources replaced and removed, ids that only rise."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gossamer import _core
from gossamer.errors import Damaged, DuplicateId, InvalidArgument, UnknownId
from gossamer.records import MOST_HEADINGS, Span, Value
from gossamer.store.catalogue import Catalogue, encode_name
from gossamer.store.codecs import BLOCK_BYTES, USUAL
from gossamer.store.columns import Ints
from gossamer.store.records import (
    AWAY,
    VERBATIM,
    ChunkedDocument,
    SourceRecord,
    Status,
)
from gossamer.store.segments import SegmentCatalogue, Stamp

__all__ = ["Changes", "counts_of"]

Codes = NDArray[np.uint8]

# A draft that is so large becomes a segment before the commit: its memory is bounded.
_MOST_CHUNKS = 1 << 15
_MOST_TEXT_BYTES = 1 << 25
_SOURCE_BYTES = 1 << 10  # that one counts for beside its text


class Changes:
    """What is to be different in the next state of an index.

    `next_number` gives the number of the next segment, `write` writes one and opens it.
    """

    def __init__(
        self,
        old: SegmentCatalogue,
        next_chunk_id: int,
        stamp: Stamp,
        next_number: Callable[[], int],
        write: Callable[[int, _core.SegmentParts], _core.Segment],
        *,
        codecs: _core.Codecs = USUAL,
        block_bytes: int = BLOCK_BYTES,
        from_nothing: bool = False,
    ) -> None:
        self._old = old
        self.is_from_nothing = from_nothing
        self.next_chunk_id = next_chunk_id
        self.stamp = stamp
        self.has_verbatim = False  # whether any text is to be read from a file
        self.counts: Counter[str] = Counter()  # by which those of the index change
        self.segments: list[_core.Segment] = []  # that are written already
        self._next_number = next_number
        self._write = write
        self._codecs, self._block_bytes = codecs, block_bytes
        self._removed: set[int] = set()
        self._times: dict[int, tuple[int, int]] = {}
        self._written: _core.Catalogue | None = None
        self._begin_draft()

    def _begin_draft(self) -> None:
        self.number = self._next_number()
        self._draft = _core.SegmentDraft(self.stamp, self._block_bytes, self._codecs)

    @property
    def has_codes(self) -> bool:
        """Whether chunks have their codes here, not in a file of vectors."""
        return self.stamp[0] > 0

    @property
    def is_empty(self) -> bool:
        """Whether nothing was changed."""
        return self._draft.is_empty and not (self.segments or self._times)

    def count(self, before: Mapping[str, int]) -> dict[str, int]:
        """Give what there is of everything afterwards, from what there was."""
        counts = Counter({} if self.is_from_nothing else before)
        counts.update(self.counts)
        return dict(counts)

    def add_text(self, text: bytes | Iterable[bytes]) -> tuple[int, int]:
        """Put a document's text in, whole or in pieces; give its segment and place there."""
        offset = self._draft.text_bytes
        for piece in (text,) if isinstance(text, bytes) else text:
            self._draft.add_text(piece)
        return self.number, offset

    def add_codes(self, ids: Ints, codes: Codes) -> None:
        """Give chunks of sources that were put in their codes."""
        self._draft.add_codes(ids.astype(np.uint64), codes)

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
        written = [self._document_tuple(document) for document in kept]
        self._draft.add(
            (
                encode_name(source.root),
                encode_name(source.name),
                encode_name(source.kind),
                encode_name(source.reason),
                int(source.status),
                source.reader_version,
                source.size,
                source.mtime_ns,
                source.content_hash,
                written,
            )
        )
        lengths = sum(document.record.text_length for document in kept)
        self._count(1, source.status, len(kept), self.next_chunk_id - first, lengths)
        return np.arange(first, self.next_chunk_id, dtype=np.int64)

    def merge(self, other: Catalogue, places: tuple[Ints, Ints] | None = None) -> None:
        """Put all sources of another catalogue in, in place of those of the same path or id.

        They keep their chunks' ids, which must be below `next_chunk_id` (set it) when `finish` is
        called, and free by then. `places` are segment and offset of the texts by row of the
        documents; None leaves them as `other` says.
        """
        segments, offsets = (np.array(column, np.int64) for column in (places or other.text_places))
        if not segments.shape == offsets.shape == (other.document_count,):
            raise InvalidArgument(
                f"places are a segment and an offset for each of {other.document_count} "
                f"documents, got {segments.shape} and {offsets.shape}"
            )
        here = segments[(segments != VERBATIM) & (segments != AWAY)]
        if len(here) and (here != self.number).any():
            raise InvalidArgument(f"texts are in segments that are not there: {np.unique(here)}")
        names = other.names
        if len(set(names)) < len(names):
            raise DuplicateId("a source was given twice in one step; give it once")
        for is_file, path in names:
            self._take_place_of(is_file, path)
        self._draft.add_all(other.listing, segments, offsets)
        self.has_verbatim |= bool((segments == VERBATIM).any())
        self.counts.update(counts_of(other))

    def take(
        self,
        other: Catalogue,
        text_of: Callable[[int], bytes | Iterable[bytes] | None],
        codes_of: Callable[[Ints], Codes] | None = None,
    ) -> None:
        """Do the same with a catalogue of any size, with its texts, and codes where there are any.

        `text_of` gives that of each document by row, one after the other; None leaves its place
        as `other` says. `codes_of` gives those of chunks by id.
        """
        lengths = other.text_lengths
        first, size = 0, 0
        for source in range(other.source_count):
            rows = other.documents_of(source)
            size += int(lengths[rows.start : rows.stop].sum()) + _SOURCE_BYTES
            if size > _MOST_TEXT_BYTES or source + 1 == other.source_count:
                ids = self._take_part(other, np.arange(first, source + 1), text_of)
                if codes_of is not None:
                    self.add_codes(ids, codes_of(ids))
                self.write_large()
                first, size = source + 1, 0

    def _take_part(
        self,
        other: Catalogue,
        sources: Ints,
        text_of: Callable[[int], bytes | Iterable[bytes] | None],
    ) -> Ints:
        part = other.part(sources)
        first = next((rows.start for rows in map(other.documents_of, sources.tolist()) if rows), 0)
        segments, offsets = (column.copy() for column in part.text_places)
        for row in range(part.document_count):
            if (text := text_of(first + row)) is not None:
                segments[row], offsets[row] = self.add_text(text)
        self.merge(part, (segments, offsets))
        return part.chunk_ids

    def adopt(self, other: SegmentCatalogue) -> None:
        """Put all of another index in as one segment, with texts and codes; nothing is embedded.

        Its sources take the place of those of the same path or id. Its chunks keep their ids if
        these are yet to come here; else all are raised until they are. InvalidArgument unless the
        codes of both are of one codebook.
        """
        if other.core.stamp != self.stamp:
            raise InvalidArgument(
                "the codes of the two indexes are of different codebooks; add the files instead"
            )
        ids = other.chunk_ids
        shift = max(0, self.next_chunk_id - int(ids[0])) if len(ids) else 0
        for is_file, path in other.names:
            self._take_place_of(is_file, path)
        every = list(range(len(other.segments)))
        packing = self._block_bytes, self._codecs
        parts = other.core.merge(every, self.stamp, None, False, *packing, shift)
        self._add_segment(self._next_number(), parts)
        if len(ids):
            self.next_chunk_id = int(ids[-1]) + shift + 1
        self.has_verbatim |= bool((other.text_places[0] == VERBATIM).any())
        self.counts.update(counts_of(other))

    def touch(self, is_file: bool, path: str, mtime_ns: int, reader_version: int) -> None:
        """Note another time and reader of a source by its name; UnknownId if it is not there."""
        self.touch_source(self._row_of(is_file, path), mtime_ns, reader_version)

    def remove_named(self, is_file: bool, path: str) -> None:
        """Take a source of the old state out by its name; UnknownId if it is not there."""
        self.remove_sources([self._row_of(is_file, path)])

    def touch_source(self, row: int, mtime_ns: int, reader_version: int | None = None) -> None:
        """Note another time (and version of its reader) of a file whose content is the same."""
        if reader_version is None:
            reader_version = self._old.source(row).reader_version
        self._times[row] = mtime_ns, reader_version

    def remove_sources(self, rows: Iterable[int]) -> None:
        """Take sources of the old state out, by row."""
        for row in rows:
            if row not in self._removed:
                self._removed.add(row)
                self._draft.remove(self._old.core, row)
                status, documents, chunks, length = self._old.core.tally(row)
                self._count(-1, Status(status), -documents, -chunks, -length)

    def write_large(self) -> None:
        """Write what there is as a segment if it is large; all its chunks have codes by now."""
        draft = self._draft
        if draft.chunk_count >= _MOST_CHUNKS or draft.text_bytes >= _MOST_TEXT_BYTES:
            self._add_segment(self.number, draft.finish())
            self._begin_draft()

    def _add_segment(self, number: int, parts: _core.SegmentParts) -> None:
        self.segments.append(self._write(number, parts))
        self._written = _core.Catalogue(self.segments)

    def finish(self) -> list[_core.Segment]:
        """Give the segments that the old state and these changes make, nothing of them merged."""
        for row, (mtime_ns, reader_version) in self._times.items():
            if row not in self._removed:
                self._draft.remove(self._old.core, row)
                self._draft.add_again(self._old.core, row, mtime_ns, reader_version)
        self._times = {}
        if not self._draft.is_empty:
            data = np.concatenate(self._draft.finish().parts())
            segment = _core.Segment(self.number, data, True, self._codecs)
            self.segments.append(segment)
            self._begin_draft()
        segments = [*self._old.segments, *self.segments]
        if self.segments:
            ids = _core.Catalogue(self.segments).ids()
            if len(ids) and ids.max() >= self.next_chunk_id:
                raise Damaged(
                    f"chunk {ids.max()} is yet to come: the next one is {self.next_chunk_id}"
                )
        return segments

    def _take_place_of(self, is_file: bool, path: str) -> None:
        """Remove the old source of this name; DuplicateId if there is a new one already."""
        name = encode_name(path)
        is_written = self._written is not None and self._written.find(is_file, name) is not None
        if is_written or self._draft.has(is_file, name):
            raise DuplicateId(f"{path!r} was given twice in one step; give it once")
        if (row := self._old.find(is_file, path)) is not None:
            self.remove_sources([row])

    def _row_of(self, is_file: bool, path: str) -> int:
        if (row := self._old.find(is_file, path)) is None:
            raise UnknownId(f"{path!r} is not in the index, so it cannot be changed there")
        return row

    def _document_tuple(self, document: ChunkedDocument) -> tuple[object, ...]:
        record, first = document.record, self.next_chunk_id
        metadata = dict(record.metadata)
        written = json.dumps(metadata, sort_keys=True, separators=(",", ":")) if metadata else ""
        self.next_chunk_id += len(document.spans)
        self.has_verbatim |= record.is_verbatim
        return (
            encode_name(record.kind),
            encode_name(record.unit),
            encode_name(record.key),
            encode_name(record.title),
            written.encode("ascii"),
            record.text_length,
            record.segment,
            record.offset,
            record.title_span or (0, 0),
            list(record.places),
            first,
            [
                (span.start, span.end, list(span.context), check)
                for span, check in zip(document.spans, document.checks, strict=True)
            ],
        )

    def _count(self, sources: int, status: Status, documents: int, chunks: int, text: int) -> None:
        self.counts["sources"] += sources
        self.counts[status.name.lower()] += sources
        self.counts["documents"] += documents
        self.counts["chunks"] += chunks
        self.counts["text_bytes"] += text


def counts_of(catalogue: Catalogue) -> dict[str, int]:
    """Give the numbers that a manifest says of its catalogue."""
    statuses = np.bincount(catalogue.tables["status"], minlength=len(Status)).tolist()
    return {
        "sources": catalogue.source_count,
        **{status.name.lower(): statuses[status] for status in Status},
        "documents": catalogue.document_count,
        "chunks": catalogue.chunk_count,
        "text_bytes": int(catalogue.text_lengths.sum()),
    }


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
