"""Segments: the files that hold what is indexed, and the catalogue over all of them.

The core reads and writes them; here are records in place of its tuples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePath

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gossamer import _core
from gossamer.errors import UnknownId
from gossamer.properties import cached_property
from gossamer.records import Span
from gossamer.store.catalogue import (
    Catalogue,
    as_posix,
    decode_metadata,
    decode_name,
    encode_name,
)
from gossamer.store.columns import Ints
from gossamer.store.records import (
    AWAY,
    ChunkPlace,
    DocumentRecord,
    SourceRecord,
    Status,
    is_at_or_below,
)
from gossamer.vectors.codes import Codebook

__all__ = [
    "NO_CODES",
    "SegmentCatalogue",
    "SegmentTexts",
    "Stamp",
    "stamp_of",
]

_PIECE_BYTES = 1 << 20

Stamp = tuple[int, int]  # what codes are: how long, and the fingerprint of what made them
NO_CODES: Stamp = (0, 0)
# Fewer are looked up one by one.
_MANY = 4096


def stamp_of(codebook: Codebook) -> Stamp:
    """Give what the codes that a codebook makes are known by."""
    return codebook.code_bytes, codebook.fingerprint


class SegmentTexts:
    """The texts of segments, by the number of their file."""

    def __init__(self, segments: Sequence[_core.Segment | _core.OldTexts]) -> None:
        self.core = _core.TextStore(list(segments))
        # Damaged if there is no text from start to end of a segment.
        self.read: Callable[[int, int, int], bytes] = self.core.read

    @property
    def lengths(self) -> dict[int, int]:
        """Bytes of text of each segment."""
        return self.core.lengths

    def bring(self, spans: Iterable[tuple[int, int, int]]) -> None:
        """Have these texts (segment, start, end) at hand that are read next: they are."""

    def pieces(self, segment: int, start: int, end: int) -> Iterator[bytes]:
        """Give the same text piece by piece."""
        for at in range(start, end, _PIECE_BYTES):
            yield self.read(segment, at, min(at + _PIECE_BYTES, end))


class SegmentCatalogue(Catalogue):
    """The catalogue of an index folder: looked up in its segments, a part of them at a time.

    Rows number sources and documents segment by segment. What asks for whole columns reads all.
    `roots` are the folders whose files may be read: other texts that stand in files are away.
    """

    def __init__(self, segments: Sequence[_core.Segment], roots: Sequence[str]) -> None:
        self.segments = list(segments)
        self.core = _core.Catalogue(self.segments)
        self._roots = tuple(roots)

    @cached_property
    def listing(self) -> _core.SourceList:
        """All of it in one piece."""
        return Catalogue(self.core.listing()).with_files_below(self._roots).listing

    def to_bytes(self) -> bytes:
        """Give the catalogue as bytes: the same ones for the same content."""
        return self.in_order().to_bytes()

    @property
    def source_count(self) -> int:
        """How many sources there are, skipped and failed ones included."""
        return self.core.counts[0]

    @property
    def source_bytes(self) -> int:
        """How many bytes the indexed files have, and the texts that programs gave."""
        rows = range(self.source_count)
        return sum(self.core.stat(row)[0] for row in rows if self._is_indexed(row))

    def _is_indexed(self, row: int) -> bool:
        return self.core.tally(row)[0] == Status.INDEXED

    @property
    def document_count(self) -> int:
        """How many documents there are."""
        return self.core.counts[1]

    @property
    def chunk_count(self) -> int:
        """How many chunks there are."""
        return self.core.counts[2]

    @cached_property
    def chunk_ids(self) -> Ints:
        """The ids of all chunks, rising."""
        return np.sort(self.core.ids().astype(np.int64))

    def find_path(self, path: str | PurePath) -> int | None:
        """Give the row of a file's source by its absolute path; None if it is not there."""
        return self.find(True, as_posix(path))

    def find_text(self, id: str) -> int | None:
        """Give the row of a text's source by the id it was given; None if it is not there."""
        return self.find(False, id)

    def find(self, is_file: bool, path: str) -> int | None:
        """Give the row of a source by its path, just as it is kept, or id; None without one."""
        return self.core.find(is_file, encode_name(path))

    def files_below(self, path: PurePath) -> list[int]:
        """Give the row of a file, and those of all files below a folder."""
        return self.core.files_below(encode_name(path.as_posix()))

    def stat_of(self, row: int) -> tuple[int, int]:
        """Give the size and the time (ns) that a source's file had when it was read."""
        size, mtime_ns, _ = self.core.stat(row)
        return size, mtime_ns

    def source(self, row: int) -> SourceRecord:
        """Give all that is known of a source."""
        root, name, kind, reason, status, version, size, mtime_ns, content = self.core.source(row)
        return SourceRecord(
            root=decode_name(root),
            name=decode_name(name),
            size=size,
            mtime_ns=mtime_ns,
            content_hash=content,
            kind=decode_name(kind),
            status=Status(status),
            reason=decode_name(reason),
            reader_version=version,
        )

    def documents_of(self, row: int) -> range:
        """Give the rows of a source's documents."""
        return range(*self.core.documents_of(row))

    def source_row(self, document: int) -> int:
        """Give the row of the source of a document."""
        return self.core.source_of(document)

    def chunks_in(self, row: int) -> range:
        """Give the ids of a document's chunks."""
        *_, first, count = self.core.document(row)
        return range(first, first + count)

    def document(self, row: int) -> DocumentRecord:
        """Give all that is known of a document."""
        kind, unit, key, title, metadata, length, segment, offset, span, places, _, _ = (
            self.core.document(row)
        )
        record = DocumentRecord(
            text_length=length,
            kind=decode_name(kind),
            segment=segment,
            offset=offset,
            key=decode_name(key),
            title=decode_name(title),
            title_span=span if span[0] < span[1] else None,
            unit=decode_name(unit),
            places=tuple(places),
            metadata=decode_metadata(metadata),
        )
        if record.is_verbatim and not self._may_read(self.source(self.source_row(row))):
            return replace(record, segment=AWAY, offset=0)
        return record

    def _are_many(self, ids: Ints) -> bool:
        """Whether whole columns are better than one lookup after the other."""
        return ids.size > _MANY and 8 * ids.size > self.chunk_count

    def document_rows(self, ids: ArrayLike) -> Ints:
        """Give the row of the document of each chunk; UnknownId if there is no such chunk."""
        wanted = np.asarray(ids, np.int64)
        if self._are_many(wanted):
            return super().document_rows(wanted)
        return self.core.document_rows(_as_ids(wanted))

    def spans(self, ids: ArrayLike) -> tuple[Ints, Ints]:
        """Give where each chunk starts and ends in the text of its document."""
        wanted = np.asarray(ids, np.int64)
        if self._are_many(wanted):
            return super().spans(wanted)
        _, starts, ends, _, _ = self.core.locate(_as_ids(wanted))
        return starts, ends

    def checks(self, ids: ArrayLike) -> NDArray[np.uint32]:
        """Give the check of each chunk's embedded text."""
        wanted = np.asarray(ids, np.int64)
        if self._are_many(wanted):
            return super().checks(wanted)
        _, _, _, checks, _ = self.core.locate(_as_ids(wanted))
        return checks.astype(np.uint32)

    def contexts(self, ids: ArrayLike) -> list[tuple[Span, ...]]:
        """Give the headings that each chunk stands under, outermost first, as spans."""
        *_, found = self.core.locate(_as_ids(np.asarray(ids, np.int64)))
        return [tuple(context) for context in found]

    def locate(self, ids: ArrayLike) -> list[ChunkPlace]:
        """Give where each chunk stands, all that is known of it; UnknownId if there is none."""
        *columns, contexts = self.core.locate(_as_ids(np.asarray(ids, np.int64)))
        rows = zip(*(column.tolist() for column in columns), contexts, strict=True)
        return [
            ChunkPlace(row, (start, end), check, tuple(context))
            for row, start, end, check, context in rows
        ]

    def _may_read(self, source: SourceRecord) -> bool:
        """Whether a file is one of the roots, or below one; a text is no file."""
        return bool(source.root) and is_at_or_below(source.path, self._roots)


def _as_ids(ids: Ints) -> NDArray[np.uint64]:
    if ids.size and (least := ids.min()) < 0:
        raise UnknownId(f"there is no chunk {least}; search again for present ids")
    return ids.astype(np.uint64)
