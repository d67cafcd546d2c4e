"""Where all chunks of an index stand, laid out for a pass over their texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gossamer.lexical import Buffer, Files, Spans
from gossamer.store import Catalogue, Snapshot
from gossamer.store.records import AWAY, VERBATIM

__all__ = ["ChunkLayout", "counted_spans"]

Ints = NDArray[np.int64]

# Stored text that is unpacked at one time by one thread.
_BUFFER_BYTES = 1 << 20
_NEAR_BYTES = 1 << 16


class ChunkLayout:
    """The chunks of a snapshot by number: their place among all ids, which rise."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def __len__(self) -> int:
        return self._snapshot.catalogue.chunk_count

    # A question by meaning alone needs none of these.

    @cached_property
    def ids(self) -> Ints:
        """The ids of all chunks, rising."""
        return self._snapshot.catalogue.chunk_ids

    @cached_property
    def document_rows(self) -> Ints:
        """The row of the document of each chunk."""
        return self._snapshot.catalogue.document_rows(self.ids)

    @cached_property
    def _counted(self) -> tuple[Ints, Ints, Ints]:
        return counted_spans(self._snapshot.catalogue)

    @property
    def has_away_texts(self) -> bool:
        """Whether texts are kept by a server alone, so that a pass leaves them out."""
        segments, _ = self._snapshot.catalogue.text_places
        return bool((segments == AWAY).any())

    def numbers_of(self, is_allowed: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Turn an answer for each document into one for each chunk."""
        return is_allowed[self.document_rows]

    @cached_property
    def files(self) -> Files:
        """The chunks whose text is in the user's own files."""
        catalogue = self._snapshot.catalogue
        numbers, starts, ends = self._counted
        rows = self.document_rows[numbers]
        (spans,) = np.nonzero(catalogue.text_places[0][rows] == VERBATIM)
        rows = rows[spans]
        # Chunks of a document follow each other, and a file holds one document as it stands.
        is_first = np.ones(len(rows), bool)
        is_first[1:] = rows[1:] != rows[:-1]
        (firsts,) = np.nonzero(is_first)
        sources = catalogue.source_rows[rows[firsts]].tolist()
        paths = catalogue.paths
        return Files(
            [paths[source] for source in sources],
            np.append(firsts, len(rows)),
            Spans(starts[spans], ends[spans], numbers[spans]),
        )

    def buffers(self) -> Iterator[Callable[[], Buffer]]:
        """Give the chunks whose text is stored, in pieces, each as a function that reads it."""
        numbers, starts, ends = self._counted
        rows = self.document_rows[numbers]
        segments, offsets = (column[rows] for column in self._snapshot.catalogue.text_places)
        for segment in np.unique(segments[(segments != VERBATIM) & (segments != AWAY)]).tolist():
            (spans,) = np.nonzero(segments == segment)
            here = spans[np.argsort(offsets[spans], kind="stable")]
            begins, stops = offsets[here] + starts[here], offsets[here] + ends[here]
            yield from self._pieces(segment, begins, stops, numbers[here])

    def _pieces(
        self, segment: int, starts: Ints, ends: Ints, numbers: Ints
    ) -> Iterator[Callable[[], Buffer]]:
        # Where one chunk ends and the next begins: the spans of a chunk stay together.
        piece_of = np.maximum.accumulate(ends) // _BUFFER_BYTES
        is_bound = (np.diff(piece_of) > 0) & (np.diff(numbers) != 0)
        bounds = [0, *(np.flatnonzero(is_bound) + 1).tolist(), len(starts)]
        for first, last in pairwise(bounds):
            here = slice(first, last)
            yield partial(self._buffer, segment, starts[here], ends[here], numbers[here])

    def _buffer(self, segment: int, starts: Ints, ends: Ints, numbers: Ints) -> Buffer:
        begin = int(starts.min())
        text = self._snapshot.texts.read(segment, begin, int(ends.max()))
        return Buffer(text, Spans(starts - begin, ends - begin, numbers))


def counted_spans(catalogue: Catalogue) -> tuple[Ints, Ints, Ints]:
    """Give number, start and end of every span to count: of each chunk its title and itself.

    A title far off is left out: it would have to be read for its own sake.
    """
    ids = catalogue.chunk_ids
    rows = catalogue.document_rows(ids)
    starts, ends = catalogue.spans(ids)
    numbers = np.arange(len(ids))
    titles = [column[rows] for column in catalogue.title_spans]
    is_near = (titles[0] < titles[1]) & (np.abs(titles[0] - starts) < _NEAR_BYTES)
    joined = np.concatenate([numbers[is_near], numbers])
    order = np.argsort(joined, kind="stable")
    return (
        joined[order],
        np.concatenate([titles[0][is_near], starts])[order],
        np.concatenate([titles[1][is_near], ends])[order],
    )
