"""Vectors of chunks, for a round of a search: at hand, from the server, or embedded again."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from threading import Thread

import numpy as np
from numpy.typing import NDArray

from gossamer.embed import Embedder
from gossamer.passages import Passages
from gossamer.query.elsewhere import Elsewhere
from gossamer.store import HotVectors
from gossamer.store.journal import as_kept
from gossamer.vectors.session import Supplied

__all__ = ["ChunkVectors"]

Floats = NDArray[np.float32]
Ids = NDArray[np.int64]
Mask = NDArray[np.bool_]

# A server that was to save time is waited for no longer than embedding would take, or this long.
_PATIENCE_S = 1.0
# One that alone has what is wanted gives up itself long before this.
_MOST_PATIENCE_S = 20.0
# Of what a round wants: if more cannot be had, a search goes on for what happens to be at hand.
_MUCH = 0.5


_Answer = Future[tuple[Mask, Floats]]


@dataclass(slots=True)
class ChunkVectors:
    """Gets vectors for one search, and counts where they came from."""

    passages: Passages
    embedder: Callable[[], Embedder]
    hot: HotVectors | None
    elsewhere: Elsewhere | None
    embedded: int = 0
    cached: int = 0
    asked: int = 0  # that came from the server
    out_of_reach: int = 0  # that only a server has which did not answer
    is_cut_off: bool = False  # whether so many were in a round that going on makes no sense
    _embed_s: float = 0.0
    _is_slow: bool = False  # whether the server was waited for in vain

    def of(self, ids: Ids) -> Supplied:
        """Give the vectors of chunks; missing are those whose text is not what was indexed.

        What the cache lacks and is not here to be embedded is asked of the server, in one request;
        so is a share of the rest, while the others are embedded here.
        """
        vectors = np.zeros((len(ids), self.embedder().dim), np.float32)
        is_had = np.zeros(len(ids), bool)
        if self.hot is not None:
            is_had, vectors[is_had] = self.hot.get(ids)
        self.cached += int(is_had.sum())
        is_away = self.passages.are_away(ids)
        is_asked = self._choose_asked(~is_had, is_away)
        if self.elsewhere is None or not is_asked.any():
            is_had |= self._embed(ids, vectors, ~(is_had | is_away))
        else:
            answer = _ask(self.elsewhere, ids[is_asked])
            is_had |= self._embed(ids, vectors, ~(is_had | is_asked))
            is_had |= self._take(ids, vectors, is_asked, answer, (is_asked & is_away).any())
            is_had |= self._embed(ids, vectors, ~(is_had | is_away) & is_asked)
        self._note_out_of_reach(~is_had & is_away)
        return Supplied(vectors, ~is_had)

    def _choose_asked(self, is_wanted: Mask, is_away: Mask) -> Mask:
        is_asked = is_wanted & is_away
        (here,) = np.nonzero(is_wanted & ~is_away)
        if self.elsewhere is not None and len(here) and not self._is_slow:
            share = min(max(self.elsewhere.share(len(here)), 0), len(here))
            is_asked[here[len(here) - share :]] = True
        return is_asked

    def _embed(self, ids: Ids, vectors: Floats, is_chosen: Mask) -> Mask:
        """Embed chunks from their text; give which of them could be read."""
        is_read = is_chosen.copy()
        passages = self.passages.read(ids[is_chosen])
        is_read[is_chosen] = [passage is not None for passage in passages]
        texts = [passage.embedded for passage in passages if passage is not None]
        if texts:
            start = time.perf_counter()
            # Rounded like those that are kept: whether one was at hand makes no difference to a
            # hit.
            vectors[is_read] = as_kept(self.embedder().embed(texts))
            seconds = time.perf_counter() - start
            self._embed_s += seconds
            if self.elsewhere is not None:
                self.elsewhere.embedded_here(len(texts), seconds)
            if self.hot is not None:
                self.hot.put(ids[is_read], vectors[is_read])
        self.embedded += len(texts)
        return is_read

    def _take(
        self, ids: Ids, vectors: Floats, is_asked: Mask, answer: _Answer, must_wait: np.bool_
    ) -> Mask:
        """Take what the server gives; a row that is no vector was not given."""
        is_taken = is_asked.copy()
        count, each_s = int(is_asked.sum()), self._embed_s / max(self.embedded, 1)
        patience_s = _MOST_PATIENCE_S if must_wait else max(_PATIENCE_S, each_s * count)
        start = time.perf_counter()
        try:
            is_given, rows = answer.result(patience_s)
        except TimeoutError:
            self._is_slow = True
            if self.elsewhere is not None:
                self.elsewhere.gave_up(count, time.perf_counter() - start)
            return np.zeros(len(ids), bool)
        if rows.shape != (is_given.sum(), vectors.shape[1]):
            is_given, rows = np.zeros(len(is_given), bool), vectors[:0]
        is_taken[is_asked] = is_given
        rows = as_kept(rows)
        is_finite = np.isfinite(rows).all(axis=1)
        is_taken[is_taken] = is_finite
        vectors[is_taken] = rows[is_finite]
        if self.hot is not None and is_taken.any():
            self.hot.put(ids[is_taken], vectors[is_taken])
        self.asked += int(is_taken.sum())
        return is_taken

    def _note_out_of_reach(self, is_missing: Mask) -> None:
        if self.elsewhere is None or self.elsewhere.is_away:
            count = int(is_missing.sum())
            self.out_of_reach += count
            self.is_cut_off |= count > _MUCH * len(is_missing)


def _ask(elsewhere: Elsewhere, ids: Ids) -> _Answer:
    """Ask in a thread that nobody has to wait for, not even at the end of the process."""
    answer: _Answer = Future()

    def ask() -> None:
        try:
            answer.set_result(elsewhere.vectors(ids))
        except BaseException as error:
            answer.set_exception(error)

    Thread(target=ask, name="gossamer-vectors", daemon=True).start()
    return answer
