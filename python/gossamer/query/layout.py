"""Where all chunks of an index stand, laid out for a pass over their texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gossamer.lexical import Buffer, Files, Spans
from gossamer.store import Snapshot
from gossamer.store.records import VERBATIM

__all__ = ["ChunkLayout"]

Ints = NDArray[np.int64]

# Stored text that is unpacked at one time by one thread.
_BUFFER_BYTES = 1 << 20


class ChunkLayout:
    """The chunks of a snapshot by number: their place among all ids, which rise."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        catalogue = snapshot.catalogue
        self.ids: Ints = catalogue.chunk_ids
        self.document_rows: Ints = catalogue.document_rows(self.ids)
        self._starts, self._ends = catalogue.spans(self.ids)
        self._segments, self._offsets = catalogue.text_places

    def numbers_of(self, is_allowed: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Turn an answer for each document into one for each chunk."""
        return is_allowed[self.document_rows]

    @cached_property
    def files(self) -> Files:
        """The chunks whose text is in the user's own files."""
        (numbers,) = np.nonzero(self._segments[self.document_rows] == VERBATIM)
        rows = self.document_rows[numbers]
        # Chunks of a document follow each other, and a file holds one document as it stands.
        is_first = np.ones(len(rows), bool)
        is_first[1:] = rows[1:] != rows[:-1]
        (firsts,) = np.nonzero(is_first)
        catalogue = self._snapshot.catalogue
        sources = catalogue.source_rows[rows[firsts]].tolist()
        paths = catalogue.paths
        return Files(
            [paths[source] for source in sources],
            np.append(firsts, len(rows)),
            Spans(self._starts[numbers], self._ends[numbers], numbers),
        )

    def buffers(self) -> Iterator[Callable[[], Buffer]]:
        """Give the chunks whose text is stored, in pieces, each as a function that reads it."""
        segments = self._segments[self.document_rows]
        for segment in np.unique(segments[segments != VERBATIM]).tolist():
            (numbers,) = np.nonzero(segments == segment)
            offsets = self._offsets[self.document_rows[numbers]]
            starts, ends = offsets + self._starts[numbers], offsets + self._ends[numbers]
            order = np.argsort(starts, kind="stable")
            yield from self._pieces(segment, starts[order], ends[order], numbers[order])

    def _pieces(
        self, segment: int, starts: Ints, ends: Ints, numbers: Ints
    ) -> Iterator[Callable[[], Buffer]]:
        piece_of = starts // _BUFFER_BYTES
        bounds = [0, *(np.flatnonzero(np.diff(piece_of)) + 1).tolist(), len(starts)]
        for first, last in pairwise(bounds):
            here = slice(first, last)
            yield partial(self._buffer, segment, starts[here], ends[here], numbers[here])

    def _buffer(self, segment: int, starts: Ints, ends: Ints, numbers: Ints) -> Buffer:
        begin = int(starts[0])
        text = self._snapshot.texts.read(segment, begin, int(ends.max()))
        return Buffer(text, Spans(starts - begin, ends - begin, numbers))
