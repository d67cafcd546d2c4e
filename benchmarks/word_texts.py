"""Texts that are asked for words alone: no model, no folder of an index."""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gossamer import _core
from gossamer.records import ChunkSpan
from gossamer.store import Changes, ChunkedDocument, DocumentRecord, SourceRecord
from gossamer.store.codecs import QUICK
from gossamer.store.segments import NO_CODES, SegmentCatalogue, SegmentTexts


@dataclass(frozen=True)
class WordTexts:
    """A collection of chunks whose ids rise from 1, and the texts that are stored in it."""

    collection: _core.Collection
    stored: _core.TextStore

    def rank(self, question: str, n: int, threads: int = 0) -> list[int]:
        """Give the ids of the n best chunks by their words; 0 threads are as many as cores."""
        asked = question.encode()
        ids, *_ = _core.rank_words(self.collection, self.stored, asked, n, threads, None)
        return list(ids.tolist())


def collect_texts(texts: Iterable[bytes]) -> WordTexts:
    """Store texts, each as one chunk; those that are empty have none."""
    changes = _begin()
    for number, text in enumerate(texts):
        place = changes.add_text(text)
        record = DocumentRecord(len(text), "text", *place)
        spans = [ChunkSpan(0, len(text))] if text else []
        _put(changes, SourceRecord("", f"{number}", len(text), 0, 0), record, spans)
    return _finish(changes)


def collect_files(paths: Iterable[Path], chunk_bytes: int) -> WordTexts:
    """Leave files where they stand, in chunks of so many bytes."""
    changes = _begin()
    for path in paths:
        size = path.stat().st_size
        starts = range(0, size, chunk_bytes)
        spans = [ChunkSpan(start, min(start + chunk_bytes, size)) for start in starts]
        source = SourceRecord(path.parent.as_posix(), path.name, size, 0, 0)
        _put(changes, source, DocumentRecord(size, "text"), spans)
    return _finish(changes)


def _begin() -> Changes:
    numbers = itertools.count(1)
    nothing = SegmentCatalogue([], ())
    return Changes(nothing, 1, NO_CODES, lambda: next(numbers), _keep, codecs=QUICK)


def _keep(number: int, parts: _core.SegmentParts) -> _core.Segment:
    return _core.Segment(number, np.concatenate(parts.parts()), True, QUICK)


def _put(
    changes: Changes, source: SourceRecord, record: DocumentRecord, spans: Sequence[ChunkSpan]
) -> None:
    changes.replace_source(source, [ChunkedDocument(record, spans, [0] * len(spans))])


def _finish(changes: Changes) -> WordTexts:
    segments = changes.finish()
    return WordTexts(
        _core.Collection(_core.Catalogue(segments), [b"/"]), SegmentTexts(segments).core
    )
