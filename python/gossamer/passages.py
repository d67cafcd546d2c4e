"""The text of chunks, out of the user's own files, the text store or a server, never a wrong one.

A chunk is a few bytes that point into a document. What stands there is read anew each time and
compared with the chunk's check; where it is not what was indexed there is no passage, and the
source is stale until the next `add`, or `pull` where the index follows a server.
"""

from __future__ import annotations

import os
import stat
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from gossamer.chunking import embedded_text
from gossamer.errors import GossamerError, UnknownId, Unreachable
from gossamer.query.elsewhere import Elsewhere
from gossamer.records import Span
from gossamer.store import DocumentRecord, Snapshot, SourceRecord, check_of
from gossamer.store.indexed import open_indexed, read_at
from gossamer.store.records import ChunkPlace
from gossamer.sync.records import AwayChunk

__all__ = ["Passage", "Passages", "context_line"]

# How much of a file's path tells what the file is about.
_PATH_PARTS = 3
_PIECE_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk with its text: what it says, and what was embedded."""

    id: int
    source: SourceRecord
    document: DocumentRecord
    title: str
    start: int
    end: int
    body: str
    embedded: str
    place: Span | None = None  # first and last line, where the text is not here to count them


def context_line(name: str, title: str) -> str:
    """Give the line that is embedded before every chunk of a document.

    `name` is the path below the folder that was added; texts that programs give have none ("").
    """
    return title or "/".join(PurePosixPath(name).parts[-_PATH_PARTS:])


class Passages:
    """Reads chunks of one snapshot and remembers which sources are stale."""

    def __init__(self, snapshot: Snapshot, elsewhere: Elsewhere | None = None) -> None:
        self._snapshot = snapshot
        self._elsewhere = elsewhere
        self.stale_rows: set[int] = set()
        self._fresh: dict[str, bool] = {}  # files of stored texts that were looked at
        self._places: dict[int, ChunkPlace] = {}  # of chunks that were asked for
        self._records: dict[int, tuple[SourceRecord, DocumentRecord]] = {}  # by row of document

    @property
    def folder(self) -> Path:
        """The index folder."""
        return self._snapshot.folder

    @property
    def is_trusted(self) -> bool:
        """Whether the index was made or accepted on this machine."""
        return self._snapshot.is_trusted

    @property
    def is_following(self) -> bool:
        """Whether the index follows a server: its sources are files there, not here."""
        return bool(self._snapshot.manifest.origin)

    @property
    def stale_paths(self) -> tuple[str, ...]:
        """The sources whose text was found not to be what was indexed."""
        catalogue = self._snapshot.catalogue
        return tuple(sorted(catalogue.source(row).path for row in self.stale_rows))

    @property
    def stale_documents(self) -> NDArray[np.bool_]:
        """Whether each document belongs to such a source."""
        return np.isin(self._snapshot.catalogue.source_rows, list(self.stale_rows))

    def note_unreadable(self, paths: Sequence[str]) -> None:
        """Take files for stale that are gone or too short, as a pass over them found."""
        rows = (self._snapshot.catalogue.find_path(path) for path in paths)
        self.stale_rows.update(row for row in rows if row is not None)

    def are_away(self, ids: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Say of each chunk whether its text is kept by the server alone."""
        rows = [place.document for place in self._locate(ids)]
        # In the order of rows: what stands together is read together.
        is_away = {row: self._record(row)[1].is_away for row in sorted(set(rows))}
        return np.array([is_away[row] for row in rows], bool)

    def _locate(self, ids: NDArray[np.int64]) -> list[ChunkPlace]:
        """Give where chunks stand; UnknownId if there is no such chunk."""
        known = self._places
        unknown = [id for id in ids.tolist() if id not in known]
        if unknown:
            places = self._snapshot.catalogue.locate(np.array(unknown, np.int64))
            known.update(zip(unknown, places, strict=True))
        return [known[id] for id in ids.tolist()]

    def _record(self, row: int) -> tuple[SourceRecord, DocumentRecord]:
        """Give what is known of a document and its source."""
        known = self._records.get(row)
        if known is None:
            catalogue = self._snapshot.catalogue
            source = catalogue.source(catalogue.source_row(row))
            known = self._records[row] = (source, catalogue.document(row))
        return known

    def read(self, ids: NDArray[np.int64]) -> list[Passage | None]:
        """Give the passage of each chunk; None where its text is no longer what was indexed.

        Those that are away come in one request; None also where the server does not answer.
        """
        passages = self._read_here(ids)
        (away,) = np.nonzero(self.are_away(ids))
        if len(away):
            for place, passage in zip(away.tolist(), self._read_away(ids[away]), strict=True):
                passages[place] = passage
        return passages

    def cannot_read(self, id: int) -> GossamerError:
        """Give the error that says why there is no passage of a chunk."""
        if self.is_unread(id):
            return self._snapshot.refusal(f"the file that chunk {id} stands in is not read")
        if not self.is_following:
            return UnknownId(f"the text of chunk {id} is not what was indexed; add it again")
        if self.is_out_of_reach(id):
            notes = () if self._elsewhere is None else self._elsewhere.notes
            said = "; ".join(notes) or "the server that has it cannot be asked"
            return Unreachable(f"the text of chunk {id} is not kept here, and {said}")
        return UnknownId(f"the text of chunk {id} has changed since the last `gossamer pull`")

    def is_unread(self, id: int) -> bool:
        """Whether the text of a chunk is in a place that an untrusted index names."""
        is_away = bool(self.are_away(np.array([id], np.int64))[0])
        return is_away and not self._snapshot.is_trusted

    def is_out_of_reach(self, id: int) -> bool:
        """Whether the text of a chunk is away, and the server too."""
        is_server_away = self._elsewhere is None or self._elsewhere.is_away
        return is_server_away and bool(self.are_away(np.array([id], np.int64))[0])

    def without_text(self, id: int) -> Passage:
        """Give what is known here of a chunk whose text is out of reach: it has no text."""
        (place,) = self._locate(np.array([id], np.int64))
        source, document = self._record(place.document)
        start, end = place.span
        return Passage(id, source, document, document.title, start, end, "", "", (0, 0))

    def _read_here(self, ids: NDArray[np.int64]) -> list[Passage | None]:
        """Give the passages of chunks whose text is in a file or in the text store."""
        places = self._locate(ids)
        by_document: dict[int, list[int]] = {}
        for number, (place, is_away) in enumerate(zip(places, self.are_away(ids), strict=True)):
            if not is_away:
                by_document.setdefault(place.document, []).append(number)
        passages: list[Passage | None] = [None] * len(ids)
        # Document by document, so that each file is opened once.
        for row, numbers in sorted(by_document.items()):
            found = self._read_document(row, [places[number] for number in numbers])
            for number, text in zip(numbers, found, strict=True):
                place = places[number]
                if text is not None and check_of(text.embedded) == place.check:
                    passages[number] = Passage(
                        int(ids[number]),
                        text.source,
                        text.document,
                        text.title,
                        *place.span,
                        text.body,
                        text.embedded,
                    )
                else:
                    self.stale_rows.add(self._snapshot.catalogue.source_row(row))
        return passages

    def _read_away(self, ids: NDArray[np.int64]) -> list[Passage | None]:
        """Ask the server for chunks; what it has not, or not as it was indexed, is stale."""
        if self._elsewhere is None:
            return [None] * len(ids)
        catalogue = self._snapshot.catalogue
        found = self._elsewhere.chunks(ids)
        passages: list[Passage | None] = []
        for id, place, chunk in zip(ids.tolist(), self._locate(ids), found, strict=True):
            known = self.without_text(id)
            is_right = chunk is not None and _is_indexed(chunk, known, place.check)
            passages.append(_with_text(known, chunk) if chunk is not None and is_right else None)
            if not is_right and not self._elsewhere.is_away:
                self.stale_rows.add(catalogue.source_row(place.document))
        return passages

    def place_of(self, passage: Passage) -> Span:
        """Give the first and last line (or page, ...) that a passage stands on."""
        places = passage.document.places
        if places:
            offsets = [offset for offset, _ in places]
            return tuple(  # type: ignore[return-value]
                places[max(bisect_right(offsets, at) - 1, 0)][1]
                for at in (passage.start, max(passage.end - 1, passage.start))
            )
        if passage.place is not None:
            return passage.place
        with _TextReader(self._snapshot, passage.source, passage.document) as text:
            first = 1 + sum(piece.count(b"\n") for piece in text.pieces(0, passage.start))
            inside = text.read(passage.start, passage.end) or b""
        return first, first + inside.count(b"\n")

    def at_place(self, row: int, number: int) -> Passage | None:
        """Give the last chunk of a source that begins at or before a line (page, ...).

        The first chunk where all begin behind it; None if its text is not what was indexed, or
        Unreachable if a server has it that does not answer.
        """
        catalogue = self._snapshot.catalogue
        ids = catalogue.chunks_of(row)
        if not len(ids):
            return None
        starts, _ = catalogue.spans(ids)
        rows = catalogue.document_rows(ids)
        begins = np.zeros(len(ids), bool)
        for document_row in catalogue.documents_of(row):
            is_here = rows == document_row
            begins[is_here] = starts[is_here] < self._offset_behind(row, document_row, number)
        (before,) = np.nonzero(begins)
        chosen = before[-1] if len(before) else 0
        (passage,) = self.read(ids[chosen : chosen + 1])
        if passage is None and self.is_following:
            raise self.cannot_read(int(ids[chosen]))
        return passage

    def text_around(self, passage: Passage, margin: int) -> tuple[str, str]:
        """Give up to `margin` bytes of text before and after a passage."""
        if passage.document.is_away:
            found = self._elsewhere and self._elsewhere.context(passage.id, margin)
            if not found:
                raise self.cannot_read(passage.id)
            return found
        with _TextReader(self._snapshot, passage.source, passage.document) as text:
            before = text.read(max(0, passage.start - margin), passage.start) or b""
            end = max(passage.end, min(_body_length(passage.document), passage.end + margin))
            after = text.read(passage.end, end) or b""
        return before.decode("utf-8", "ignore"), after.decode("utf-8", "ignore")

    def _offset_behind(self, source_row: int, row: int, number: int) -> int:
        """Give where in a document's text the first line (page, ...) after this one begins."""
        document = self._snapshot.catalogue.document(row)
        if document.places:
            later = (offset for offset, place in document.places if place > number)
            return next(later, document.text_length)
        if number < 1:
            return 0
        if document.is_away:
            return self._offset_behind_away(row, number)
        source = self._snapshot.catalogue.source(source_row)
        with _TextReader(self._snapshot, source, document) as text:
            at = 0
            for piece in text.pieces(0, document.text_length):
                count = piece.count(b"\n")
                if count >= number:
                    return at + _end_of_line(piece, number)
                number -= count
                at += len(piece)
        return document.text_length

    def _offset_behind_away(self, row: int, number: int) -> int:
        """Find by halves, in a few requests, the first chunk that begins after this line."""
        catalogue = self._snapshot.catalogue
        ids = catalogue.chunks_in(row)

        def first_line(id: int) -> int:
            (passage,) = self.read(np.array([id], np.int64))
            if passage is None:
                raise self.cannot_read(id)
            return self.place_of(passage)[0]

        behind = bisect_right(ids, number, key=first_line)
        if behind == len(ids):
            return catalogue.document(row).text_length
        (start,), _ = catalogue.spans([ids[behind]])
        return int(start)

    def _read_document(self, row: int, places: Sequence[ChunkPlace]) -> list[_Text | None]:
        source, document = self._record(row)
        with _TextReader(self._snapshot, source, document) as text:
            title = _title_of(document, text.read)
            if title is None or not self._is_source_fresh(source, document):
                return [None] * len(places)
            line = context_line(source.name if source.root else "", title)
            return [
                _read_chunk(text.read, source, document, title, line, place.span, place.context)
                for place in places
            ]

    def _is_source_fresh(self, source: SourceRecord, document: DocumentRecord) -> bool:
        """Say whether a file whose text is stored is still the one it was taken from.

        Verbatim text is compared itself. With `store_text` files may move or go: what was
        indexed stands. Those of a server, or of an untrusted index, are not on this disk.
        """
        keeps_text = self.is_following or self._snapshot.manifest.settings.store_text
        is_alone = keeps_text or not self._snapshot.may_look_at(source.path)
        if document.is_verbatim or not source.root or is_alone:
            return True
        known = self._fresh.get(source.path)
        if known is None:
            known = self._fresh[source.path] = _is_same_file(source)
        return known


@dataclass(frozen=True, slots=True)
class _Text:
    source: SourceRecord
    document: DocumentRecord
    title: str
    body: str
    embedded: str


def _is_indexed(chunk: AwayChunk, known: Passage, check: int) -> bool:
    """Whether a text from the server is what was indexed, and what is shown of it a part of it."""
    length = len(chunk.body.encode("utf-8", "surrogatepass"))
    return (
        chunk.id == known.id
        and check_of(chunk.embedded) == check
        and chunk.embedded.endswith(chunk.body)
        and length == known.end - known.start
    )


def _with_text(known: Passage, chunk: AwayChunk) -> Passage:
    return replace(
        known,
        title=known.title or chunk.title,
        body=chunk.body,
        embedded=chunk.embedded,
        place=(chunk.first, chunk.last),
    )


_Read = Callable[[int, int], bytes | None]


def _title_of(document: DocumentRecord, read: _Read) -> str | None:
    """Give the title; None where the text that holds it is gone."""
    if document.title_span is None:
        return document.title
    found = read(*document.title_span)
    return None if found is None else found.decode("utf-8", "replace")


def _body_length(document: DocumentRecord) -> int:
    """Give the length of the text without the title that is kept behind it."""
    span = document.title_span
    if span is None or document.is_verbatim or span[1] < document.text_length:
        return document.text_length
    return span[0]


def _read_chunk(
    read: _Read,
    source: SourceRecord,
    document: DocumentRecord,
    title: str,
    line: str,
    span: Span,
    context: Sequence[Span],
) -> _Text | None:
    pieces = [read(*piece) for piece in (*context, span)]
    try:
        texts = [piece.decode("utf-8") for piece in pieces if piece is not None]
    except UnicodeDecodeError:
        return None
    if len(texts) < len(pieces):
        return None
    *headings, body = texts
    return _Text(source, document, title, body, embedded_text(line, headings, body))


def _end_of_line(text: bytes, number: int) -> int:
    """Give where the line of this number ends, its end included; it must be there."""
    at = 0
    for _ in range(number):
        at = text.index(b"\n", at) + 1
    return at


def _is_same_file(source: SourceRecord) -> bool:
    """Compare size and time, and where the time is another the content."""
    try:
        status = os.stat(source.path)
        if not stat.S_ISREG(status.st_mode) or status.st_size != source.size:
            return False
        if status.st_mtime_ns == source.mtime_ns:
            return True
        with open_indexed(source) as file:
            return file is not None
    except (OSError, ValueError):
        return False


class _TextReader:
    """Reads spans of one document's text; a span that is not there gives None."""

    def __init__(self, snapshot: Snapshot, source: SourceRecord, document: DocumentRecord) -> None:
        self._snapshot = snapshot
        self._document = document
        self._source = source
        self._opened = ExitStack()
        self._file: BinaryIO | None = None

    def __enter__(self) -> _TextReader:
        if self._document.is_verbatim:
            self._file = self._opened.enter_context(open_indexed(self._source))
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    def pieces(self, start: int, end: int) -> Iterator[bytes]:
        """Give a span in pieces, as far as it can be read."""
        for at in range(start, end, _PIECE_BYTES):
            piece = self.read(at, min(at + _PIECE_BYTES, end))
            if piece is None:
                return
            yield piece

    def read(self, start: int, end: int) -> bytes | None:
        if not self._document.is_verbatim:
            offset = self._document.offset
            return self._snapshot.texts.read(self._document.segment, offset + start, offset + end)
        return None if self._file is None else read_at(self._file, start, end)
