"""The chunk that stands at a line (or page, ...) of a source."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

import numpy as np

from gossamer.errors import InvalidArgument, UnknownId
from gossamer.files import absolute
from gossamer.query.passages import Passage, Passages
from gossamer.query.texts import TextSource
from gossamer.store import DocumentRecord, Snapshot

__all__ = ["passage_at"]

_PIECE_BYTES = 1 << 20
_NUMBER = re.compile("[0-9]{1,18}")


def passage_at(snapshot: Snapshot, passages: Passages, where: str) -> Passage:
    """Give the chunk that "PATH:LINE" stands in (or PATH:PAGE where a file has pages)."""
    path, _, number = where.rpartition(":")
    if not path or not _NUMBER.fullmatch(number):
        raise InvalidArgument(f"a place is PATH:LINE, such as notes.md:12, got {where!r}")
    catalogue = snapshot.catalogue
    row = catalogue.find_path(absolute(path))
    if row is None:
        row = catalogue.find_text(path)
    if row is None:
        row = catalogue.find(True, path)  # as it is called on a server of another system
    if row is None:
        raise UnknownId(f"{path} is not in the index")
    changed = f"the text of {path} has changed since it was indexed; add it again"
    with snapshot.explaining_damage():
        id = _chunk_at(snapshot, passages, row, int(number))
        if id is None:
            raise UnknownId(changed)
        try:
            return passages.get(id)
        except UnknownId:
            if snapshot.manifest.origin:
                raise
            raise UnknownId(changed) from None


def _chunk_at(snapshot: Snapshot, passages: Passages, source: int, number: int) -> int | None:
    """Give the last chunk of a source that begins at or before a line (page, ...).

    The first chunk where all begin behind it; None if it has none.
    """
    catalogue = snapshot.catalogue
    ids = catalogue.chunks_of(source)
    if not len(ids):
        return None
    starts, _ = catalogue.spans(ids)
    rows = catalogue.document_rows(ids)
    begins = np.zeros(len(ids), bool)
    for row in catalogue.documents_of(source):
        is_here = rows == row
        begins[is_here] = starts[is_here] < _offset_behind(snapshot, passages, source, row, number)
    (before,) = np.nonzero(begins)
    return int(ids[before[-1] if len(before) else 0])


def _offset_behind(
    snapshot: Snapshot, passages: Passages, source: int, row: int, number: int
) -> int:
    """Give where in a document's text the first line (page, ...) after this one begins."""
    document = snapshot.catalogue.document(row)
    if document.places:
        later = (offset for offset, place in document.places if place > number)
        return next(later, document.text_length)
    if number < 1:
        return 0
    if document.is_away:
        return _offset_behind_away(snapshot, passages, row, number)
    at = 0
    for piece in _pieces(snapshot, source, document):
        count = piece.count(b"\n")
        if count >= number:
            return at + _end_of_line(piece, number)
        number -= count
        at += len(piece)
    return document.text_length


def _offset_behind_away(snapshot: Snapshot, passages: Passages, row: int, number: int) -> int:
    """Find by halves, in a few requests, the first chunk that begins after this line."""
    catalogue = snapshot.catalogue
    ids = catalogue.chunks_in(row)
    behind = bisect_right(ids, number, key=lambda id: passages.hit(id).first)
    if behind == len(ids):
        return catalogue.document(row).text_length
    (start,), _ = catalogue.spans([ids[behind]])
    return int(start)


def _pieces(snapshot: Snapshot, row: int, document: DocumentRecord) -> Iterator[bytes]:
    """Give a document's text in pieces, as far as it can be read."""
    source, texts = snapshot.catalogue.source(row), TextSource(snapshot)
    for at in range(0, document.text_length, _PIECE_BYTES):
        need = {
            "path": source.path,
            "is_file": bool(source.root),
            "segment": document.segment,
            "offset": document.offset,
            "size": source.size,
            "modified": source.mtime_ns,
            "hash": source.content_hash,
            "spans": [(at, min(at + _PIECE_BYTES, document.text_length))],
        }
        (piece,) = texts.read([need])
        if piece is None:
            return
        yield piece


def _end_of_line(text: bytes, number: int) -> int:
    """Give where the line of this number ends, its end included; it must be there."""
    at = 0
    for _ in range(number):
        at = text.index(b"\n", at) + 1
    return at
