"""Vectors of chunks, for a round of a search: at hand, from the server, or embedded again."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import replace
from enum import IntEnum
from threading import Thread

import numpy as np
from numpy.typing import NDArray

from gossamer.embed.tokens import TextVectors, token_embedder
from gossamer.model import IndexModel
from gossamer.query.remote import RemoteChunks
from gossamer.store import HotVectors
from gossamer.store.journal import as_kept

__all__ = ["VectorSource"]

Floats = NDArray[np.float32]
Ids = NDArray[np.int64]
Mask = NDArray[np.bool_]
States = NDArray[np.uint8]

# A server that was to save time is waited for no longer than embedding would take, or this long.
_PATIENCE_S = 1.0
# One that alone has what is wanted gives up itself long before this.
_MOST_PATIENCE_S = 20.0

_Answer = Future[tuple[Mask, Floats]]


class State(IntEnum):
    """What is said of a vector, in the numbers of the core."""

    GIVEN = 0
    EMBED = 1  # from its text, which the core asks for
    MISSING = 2
    OUT_OF_REACH = 3  # only a server has it, which did not answer


class VectorSource:
    """Gets vectors for one search, and counts where they came from."""

    def __init__(
        self,
        dim: int,
        model: IndexModel,
        hot: HotVectors | None,
        remote: RemoteChunks | None,
    ) -> None:
        self.embedded = 0
        self.cached = 0
        self.asked = 0  # that came from the server
        self._dim = dim
        self._model = model
        self._hot = hot
        self._remote = remote
        self._embed_s = 0.0
        self._is_slow = False  # whether the server was waited for in vain

    def find(self, ids: Ids, is_away: bool, with_tokens: bool) -> tuple[States, Floats]:
        """Give the vectors that are at hand; where texts are away, those of the server.

        `with_tokens`: a vector alone is not enough, so that texts that are here are embedded.
        """
        rows = np.zeros((len(ids), self._dim), np.float32)
        if is_away:
            return self._find_away(ids, rows), rows
        states = np.full(len(ids), State.EMBED, np.uint8)
        if self._hot is not None and not with_tokens:
            is_here, rows[is_here] = self._hot.get(ids)
            states[is_here] = State.GIVEN
            self.cached += int(is_here.sum())
        return states, rows

    def embed(self, ids: Ids, texts: Sequence[str]) -> Floats:
        """Give the vectors of chunks by their texts; the server makes a share of them."""
        rows = np.zeros((len(ids), self._dim), np.float32)
        first = len(ids) - self._share(len(ids))
        is_left = np.arange(len(ids)) >= first
        if self._remote is None or first == len(ids):
            self._embed(ids, texts, rows, ~is_left)
            return rows
        answer = _ask(self._remote, ids[is_left])
        self._embed(ids, texts, rows, ~is_left)
        is_left &= ~self._take(ids, rows, is_left, answer, must_wait=False)
        self._embed(ids, texts, rows, is_left)
        return rows

    def embed_tokens(self, ids: Ids, texts: Sequence[str]) -> TextVectors:
        """Give the vectors of chunks by their texts, and those of their tokens."""
        embedder = token_embedder(self._model.embedder)
        assert embedder is not None, "the tokens of the question came from it"
        made = embedder.embed_tokens(texts)
        made = replace(made, rows=as_kept(made.rows))
        self.embedded += len(ids)
        if self._hot is not None:  # for questions by meaning alone
            self._hot.put(ids, made.rows)
        return made

    def _find_away(self, ids: Ids, rows: Floats) -> States:
        if self._remote is None:
            return np.full(len(ids), State.OUT_OF_REACH, np.uint8)
        answer = _ask(self._remote, ids)
        is_had = self._take(ids, rows, np.ones(len(ids), bool), answer, must_wait=True)
        lost = State.OUT_OF_REACH if self._remote.is_away else State.MISSING
        return np.where(is_had, State.GIVEN, lost).astype(np.uint8)

    def _share(self, count: int) -> int:
        if self._remote is None or self._is_slow:
            return 0
        return min(max(self._remote.share(count), 0), count)

    def _embed(self, ids: Ids, texts: Sequence[str], rows: Floats, is_chosen: Mask) -> None:
        (chosen,) = np.nonzero(is_chosen)
        if not len(chosen):
            return
        start = time.perf_counter()
        # Rounded like those that are kept: whether one was at hand makes no difference to a hit.
        rows[chosen] = as_kept(self._model.embedder.embed([texts[i] for i in chosen.tolist()]))
        seconds = time.perf_counter() - start
        self._embed_s += seconds
        self.embedded += len(chosen)
        if self._remote is not None:
            self._remote.embedded_here(len(chosen), seconds)
        if self._hot is not None:
            self._hot.put(ids[chosen], rows[chosen])

    def _take(
        self, ids: Ids, rows: Floats, is_asked: Mask, answer: _Answer, *, must_wait: bool
    ) -> Mask:
        """Take what the server gives; a row that is no vector was not given."""
        assert self._remote is not None
        is_taken = is_asked.copy()
        count, each_s = int(is_asked.sum()), self._embed_s / max(self.embedded, 1)
        patience_s = _MOST_PATIENCE_S if must_wait else max(_PATIENCE_S, each_s * count)
        start = time.perf_counter()
        try:
            is_given, given = answer.result(patience_s)
        except TimeoutError:
            self._is_slow = True
            self._remote.gave_up(count, time.perf_counter() - start)
            return np.zeros(len(ids), bool)
        if given.shape != (is_given.sum(), self._dim):
            is_given, given = np.zeros(len(is_given), bool), rows[:0]
        is_taken[is_asked] = is_given
        given = as_kept(given)
        is_finite = np.isfinite(given).all(axis=1)
        is_taken[is_taken] = is_finite
        rows[is_taken] = given[is_finite]
        if self._hot is not None and is_taken.any():
            self._hot.put(ids[is_taken], rows[is_taken])
        self.asked += int(is_taken.sum())
        return is_taken


def _ask(remote: RemoteChunks, ids: Ids) -> _Answer:
    """Ask in a thread that nobody has to wait for, not even at the end of the process."""
    answer: _Answer = Future()

    def ask() -> None:
        try:
            answer.set_result(remote.vectors(ids))
        except BaseException as error:
            answer.set_exception(error)

    Thread(target=ask, name="gossamer-vectors", daemon=True).start()
    return answer
