"""Collections of texts without vectors, stored or in files, for tests that look for words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from store_states import NOTHING, changes_to, finish

from gossamer import _core
from gossamer.filters import combine
from gossamer.records import ChunkSpan, Span
from gossamer.store import Changes, ChunkedDocument, DocumentRecord, SourceRecord
from gossamer.store.records import VERBATIM
from gossamer.store.segments import SegmentTexts


@dataclass(frozen=True)
class Text:
    """A document: stored, unless it has a path."""

    content: bytes
    path: Path | None = None
    spans: Sequence[Span] = ()  # of its chunks; without any it is one, unless it is empty
    title: Span | None = None

    @property
    def chunks(self) -> Sequence[Span]:
        return self.spans or [(0, len(self.content))][: len(self.content)]

    @property
    def length(self) -> int:
        """What was indexed may have been longer than what is there."""
        return max([len(self.content), *(end for _, end in self.chunks)])


class Ranking(NamedTuple):
    """What a pass gives."""

    ids: NDArray[np.uint64]
    scores: NDArray[np.float32]
    terms: list[str]
    chunks_with: list[int]
    chunks: int
    bytes_read: int
    unreadable: list[int]  # rows of sources

    @property
    def numbers(self) -> list[int]:
        """Places of the chunks among all that were given."""
        return [id - 1 for id in self.ids.tolist()]


class TextCollection:
    """Texts of some segments; ids of chunks rise from 1, documents have their place as `number`."""

    def __init__(self, *segments: Sequence[bytes | Text]) -> None:
        state, next_chunk_id, number = NOTHING, 1, 0
        for texts in segments:
            changes = changes_to(state, next_chunk_id)
            for text in texts:
                _add(changes, Text(text) if isinstance(text, bytes) else text, number)
                number += 1
            state, next_chunk_id = finish(changes), changes.next_chunk_id
        self.core = _core.Collection(state.core, [b"/"])
        self.texts = SegmentTexts(state.segments).core

    def rank(
        self, question: str, n: int = 100, *, threads: int = 0, where: str | None = None
    ) -> Ranking:
        """Ask for words; `where` is a filter."""
        condition = combine(where)
        found = _core.rank_words(
            self.core,
            self.texts,
            question.encode("utf-8", "replace"),
            n,
            threads,
            condition and condition.key.encode(),
        )
        return Ranking(*found)


def write_files(folder: Path, texts: Sequence[bytes]) -> list[Text]:
    """Give texts as files, each as one chunk."""
    files = [Text(text, folder / f"{i}.txt") for i, text in enumerate(texts)]
    for file in files:
        file.path.write_bytes(file.content)
    return files


def _add(changes: Changes, text: Text, number: int) -> None:
    if text.path is None:
        source = SourceRecord("", f"text {number}", len(text.content), 0, 0)
        segment, offset = changes.add_text(text.content)
    else:
        root, name = text.path.parent.as_posix(), text.path.name
        source = SourceRecord(root, name, text.length, 0, 0)
        segment, offset = VERBATIM, 0
    record = DocumentRecord(
        text.length, "text", segment, offset, title_span=text.title, metadata={"number": number}
    )
    spans = [ChunkSpan(*span) for span in text.chunks]
    changes.replace_source(source, [ChunkedDocument(record, spans, [0] * len(spans))])
