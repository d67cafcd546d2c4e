"""The server that an index follows, during a search: what is not here is asked for there.

How fast it answers, and how fast this machine embeds, is learnt while the process lives.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from gossamer.errors import GossamerError, UnknownId
from gossamer.store import Manifest
from gossamer.sync.client import Client
from gossamer.sync.following import SYNC, following_of
from gossamer.sync.records import AwayChunk

__all__ = ["ServerElsewhere", "Speeds", "elsewhere_of"]

Floats = NDArray[np.float32]
Ids = NDArray[np.int64]
Mask = NDArray[np.bool_]
T = TypeVar("T")

# A search waits no longer for an answer, and for a connection.
_TIMEOUT_S, _CONNECT_S = 10.0, 2.0
_DEAD_S = 30.0  # a server that did not answer is not asked again for so long
# A file says so to processes to come, for so long: none of them waits just to learn how fast the
# server is.
_UNANSWERED, _UNANSWERED_S = "unanswered", 600.0
_FORGET_S = 120.0  # after so long a server's speed is learnt anew
_FIRST_SHARE = 8  # of a round: the first time one chunk in so many is asked for, to learn
_FADE = 0.8  # what an older measurement still counts


class Speeds:
    """How fast a server gives vectors and how fast they are made here; for all threads.

    A request takes a time of its own and a time for each vector: a line through the latest
    requests, older ones counting less and less.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._here_s = 0.0  # for a chunk; 0 while it is unknown
        self._sums = np.zeros(5)  # weights, counts, seconds, squared counts, their products
        self._learnt_at = 0.0
        self._dead_until = 0.0

    def share(self, count: int) -> int:
        """Say how many of `count` chunks to ask for, so that both sides finish about together."""
        with self._lock:
            now = self._clock()
            if count <= 0 or now < self._dead_until:
                return 0
            if not self._here_s or not self._sums[0] or now - self._learnt_at > _FORGET_S:
                return -(-count // _FIRST_SHARE)
            start_s, each_s = self._line()
            share = (self._here_s * count - start_s) / (self._here_s + each_s)
            return int(min(max(share, 0), count))

    def embedded_here(self, count: int, seconds: float) -> None:
        """Learn from chunks that were embedded here."""
        if count > 0 and seconds > 0:
            with self._lock:
                each = seconds / count
                self._here_s = each + _FADE * (self._here_s - each) if self._here_s else each

    def answered(self, count: int, seconds: float) -> None:
        """Learn from a request that was answered."""
        with self._lock:
            if self._clock() - self._learnt_at > _FORGET_S:
                self._sums[:] = 0
            new = (1, count, seconds, count * count, count * seconds)
            self._sums = _FADE * self._sums + np.asarray(new, float)
            self._learnt_at = self._clock()
            self._dead_until = 0.0

    def failed(self) -> None:
        """Note that the server did not answer; it is left alone for a while."""
        with self._lock:
            self._dead_until = self._clock() + _DEAD_S

    @property
    def is_dead(self) -> bool:
        """Whether the server did not answer a moment ago."""
        with self._lock:
            return self._clock() < self._dead_until

    @property
    def has_answered(self) -> bool:
        """Whether the server has answered this process."""
        with self._lock:
            return bool(self._sums[0])

    def _line(self) -> tuple[float, float]:
        """Give the seconds of a request, and those of a vector in it."""
        weight, counts, seconds, squares, products = self._sums.tolist()
        spread = weight * squares - counts * counts
        if spread <= 1e-9 * weight * squares:
            return 0.0, seconds / counts  # requests of one size: no telling what is what
        each = max((weight * products - counts * seconds) / spread, 0.0)
        return max((seconds - each * counts) / weight, 0.0), each


@dataclass
class _Known:
    """What a process keeps of one server."""

    client: Client
    speeds: Speeds = field(default_factory=Speeds)


_known: dict[tuple[str, str], _Known] = {}
_lock = threading.Lock()


def elsewhere_of(folder: Path, manifest: Manifest) -> ServerElsewhere | None:
    """Give the server that an index follows, for one search; None if it follows none."""
    following = following_of(folder, manifest)
    if following is None:
        return None
    key = (following.url, following.token)
    with _lock:
        known = _known.get(key)
        if known is None:
            known = _Known(Client(*key, timeout_s=_TIMEOUT_S, connect_s=_CONNECT_S))
            _known[key] = known
    marker = folder / SYNC / _UNANSWERED
    return ServerElsewhere(known.client, known.speeds, manifest.model.dim, marker)


class ServerElsewhere:
    """An `Elsewhere` that asks a server over HTTP."""

    def __init__(self, client: Client, speeds: Speeds, dim: int, marker: Path) -> None:
        self._marker = marker
        self._client = client
        self._speeds = speeds
        self._dim = dim
        self._notes: list[str] = []

    @property
    def is_away(self) -> bool:
        """Whether a request of this search was not answered."""
        return bool(self._notes)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the person who asked should know."""
        return tuple(self._notes)

    def vectors(self, ids: Ids) -> tuple[Mask, Floats]:
        """Say which of the chunks' vectors could be had, and give those, a row each."""
        start = time.perf_counter()
        found = self._ask(lambda: self._client.vectors(ids, self._dim))
        if found is None:
            return np.zeros(len(ids), bool), np.zeros((0, self._dim), np.float32)
        self._speeds.answered(len(ids), time.perf_counter() - start)
        return found

    def chunks(self, ids: Ids) -> list[AwayChunk | None]:
        """Give the text of each chunk; None for one that cannot be had."""
        found = self._ask(lambda: self._client.chunks(ids.tolist()))
        return [None] * len(ids) if found is None else found

    def context(self, id: int, margin: int) -> tuple[str, str] | None:
        """Give up to `margin` bytes of text before and after a chunk; None if it has none."""
        return self._ask(lambda: self._client.context(id, margin))

    def share(self, count: int) -> int:
        """Say how many of `count` chunks that could be embedded here are better asked for."""
        if self.is_away or (not self._speeds.has_answered and _is_recent(self._marker)):
            return 0
        return self._speeds.share(count)

    def embedded_here(self, count: int, seconds: float) -> None:
        """Learn how fast this machine embeds."""
        self._speeds.embedded_here(count, seconds)

    def _ask(self, request: Callable[[], T]) -> T | None:
        """Ask, unless the server is known not to answer; None if it does not."""
        if self._speeds.is_dead:
            self._note(f"the server at {self._client.url} did not answer a moment ago")
            return None
        try:
            found = request()
        except UnknownId:
            return None
        except GossamerError as error:
            self._speeds.failed()
            self._note(str(error))
            with suppress(OSError):
                self._marker.touch()
            return None
        with suppress(OSError):
            self._marker.unlink(missing_ok=True)
        return found

    def _note(self, what: str) -> None:
        note = f"{what}; answered from what is here"
        if note not in self._notes:
            self._notes.append(note)


def _is_recent(marker: Path) -> bool:
    """Whether a file was touched in the last minutes; clocks that went back count as well."""
    try:
        return abs(time.time() - marker.stat().st_mtime) < _UNANSWERED_S
    except OSError:
        return False
