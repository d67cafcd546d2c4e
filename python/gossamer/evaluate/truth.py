"""Exact search: the vectors of chunks, embedded once, and which are truly nearest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gossamer.embed import Embedder
from gossamer.evaluate.questions import Question
from gossamer.progress import ProgressCallback
from gossamer.query.passages import Passages
from gossamer.store import Snapshot

__all__ = ["Truth", "VectorTable"]

Floats = NDArray[np.float32]
Halves = NDArray[np.float16]
Ids = NDArray[np.int64]

_AT_ONCE = 256
# Chunks that say the same are as near as each other, up to rounding.
_ROUNDING = 1e-5


class VectorTable:
    """Vectors of chunks by id, in memory alone; half precision, as an update keeps them."""

    def __init__(self, ids: Ids, halves: Halves) -> None:
        self.ids = ids  # rising
        self._halves = halves

    @classmethod
    def read(
        cls,
        snapshot: Snapshot,
        embedder: Embedder,
        most: int,
        random: np.random.Generator,
        report: ProgressCallback,
    ) -> VectorTable:
        """Embed the chunks whose text can be read: `most` of them at random, or all (0)."""
        ids = snapshot.catalogue.chunk_ids
        if most and len(ids) > most:
            ids = np.sort(random.choice(ids, most, replace=False))
        assert snapshot.vectors is not None
        if snapshot.vectors.stats().keep == "all":
            return cls(ids, snapshot.vectors.vectors(ids).astype(np.float16))
        halves = np.empty((len(ids), embedder.dim), np.float16)
        is_read = np.zeros(len(ids), bool)
        for start in range(0, len(ids), _AT_ONCE):
            report("embedding", start, len(ids))
            here = slice(start, start + _AT_ONCE)
            passages = Passages(snapshot).read(ids[here])
            is_read[here] = [passage is not None for passage in passages]
            texts = [passage.embedded for passage in passages if passage is not None]
            halves[here][is_read[here]] = embedder.embed(texts)
        return cls(ids[is_read], halves[is_read])

    def vectors_of(self, ids: Ids) -> Floats:
        """Give vectors of chunks of the table."""
        return self._halves[np.searchsorted(self.ids, ids)].astype(np.float32)

    def scores(self, vectors: Floats) -> Floats:
        """Give the inner product of each vector (row) with each chunk (column)."""
        scores = np.empty((len(vectors), len(self.ids)), np.float32)
        for start in range(0, len(self.ids), _AT_ONCE):
            here = slice(start, start + _AT_ONCE)
            scores[:, here] = vectors @ self._halves[here].astype(np.float32).T
        return scores


class Truth:
    """How near every chunk of a table is to every question."""

    def __init__(
        self, table: VectorTable, questions: Sequence[Question], vectors: Floats, k: int
    ) -> None:
        self.questions = questions
        self.vectors = vectors
        self.k = k
        self._ids = table.ids
        self._scores = table.scores(vectors)
        for number, question in enumerate(questions):
            # A question is nearest to where it stands: that says nothing.
            self._scores[number, self._ids == question.made_from] = -np.inf

    def allowed(self, number: int, chunks: int) -> Ids | None:
        """Give the chunks that may answer a question; None if all of the index's may."""
        is_allowed = self._scores[number] > -np.inf
        count = int(is_allowed.sum())
        return None if count == chunks else self._ids[is_allowed]

    def share_found(self, number: int, found: Ids) -> float:
        """Give the share of the k nearest that were found; as near counts as the same."""
        scores = self._scores[number]
        k = min(self.k, int((scores > -np.inf).sum()))
        if not k:
            return 1.0
        least = np.partition(scores, len(scores) - k)[len(scores) - k] - _ROUNDING
        return float((scores[np.searchsorted(self._ids, found)] >= least).sum()) / k
