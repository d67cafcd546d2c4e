"""The server that an index follows, during a search: what is not here is asked for there.

How fast it answers, and how fast this machine embeds, is learnt while the process lives.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from gossamer.errors import GossamerError, UnknownId
from gossamer.files import make_file
from gossamer.records import RemoteChunk
from gossamer.store import Snapshot
from gossamer.store.trust import accepted_servers
from gossamer.sync.client import MOST_VECTORS, Client, Origin
from gossamer.sync.following import SYNC, UNANSWERED, following_of

__all__ = ["ServerChunks", "Speeds", "remote_chunks_of"]

Floats = NDArray[np.float32]
Ids = NDArray[np.int64]
Mask = NDArray[np.bool_]
T = TypeVar("T")

# A search waits no longer for an answer, and for a connection.
_TIMEOUT_S, _CONNECT_S = 10.0, 2.0
_DEAD_S = 30.0  # a server that did not answer is not asked again for so long
# A file says so to processes to come, for so long: none of them waits just to learn how fast the
# server is.
_UNANSWERED_S = 600.0
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
        self._has_answered = False
        self._dead_until = 0.0
        self._why_dead = ""

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
            self._learn(count, seconds)
            self._has_answered = True
            self._dead_until = 0.0

    def gave_up(self, count: int, seconds: float) -> None:
        """Learn from a request that nobody waited for any longer: it takes as long at least."""
        with self._lock:
            self._learn(count, seconds)
            self._has_answered = False

    def failed(self, why: str) -> None:
        """Note that the server did not answer; it is left alone for a while."""
        with self._lock:
            self._dead_until = self._clock() + _DEAD_S
            self._why_dead = why

    @property
    def why_dead(self) -> str:
        """Why the server is left alone; "" if it is not."""
        with self._lock:
            return self._why_dead if self._clock() < self._dead_until else ""

    @property
    def has_answered(self) -> bool:
        """Whether the server has answered this process, at least of late."""
        with self._lock:
            return self._has_answered

    def _learn(self, count: int, seconds: float) -> None:
        if self._clock() - self._learnt_at > _FORGET_S:
            self._sums[:] = 0
        new = (1, count, seconds, count * count, count * seconds)
        self._sums = _FADE * self._sums + np.asarray(new, float)
        self._learnt_at = self._clock()

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
    """What a process keeps of one index of a server."""

    client: Client
    speeds: Speeds = field(default_factory=Speeds)


_known: dict[tuple[str, ...], _Known] = {}
_lock = threading.Lock()


def remote_chunks_of(snapshot: Snapshot) -> ServerChunks | None:
    """Give the server that an index follows, for one search; None if it follows none.

    None also where the index is not trusted, or the folder names another server than somebody on
    this machine did.
    """
    folder, manifest = snapshot.folder, snapshot.manifest
    following = following_of(folder, manifest) if snapshot.is_trusted else None
    if following is None:
        return None
    if following.url != manifest.origin.get("url") and (
        following.url not in accepted_servers(folder)
    ):
        return None
    origin = {name: str(manifest.origin.get(name, "")) for name in ("index", "epoch")}
    url, token = following.url, following.token
    key = (url, token, *origin.values())
    with _lock:
        known = _known.get(key)
        if known is None:
            known = _Known(Client(url, token, timeout_s=_TIMEOUT_S, connect_s=_CONNECT_S))
            _known[key] = known
    marker = folder / SYNC / UNANSWERED
    return ServerChunks(known.client, known.speeds, manifest.model.dim, marker, origin)


class ServerChunks:
    """An `RemoteChunks` that asks a server over HTTP."""

    def __init__(
        self, client: Client, speeds: Speeds, dim: int, marker: Path, origin: Origin | None = None
    ) -> None:
        self._marker = marker
        self._origin = origin or {}
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
        is_had = np.zeros(len(ids), bool)
        rows = [np.zeros((0, self._dim), np.float32)]
        for at in range(0, len(ids), MOST_VECTORS):
            some = ids[at : at + MOST_VECTORS]
            found = self._ask(partial(self._client.vectors, some, self._dim, self._origin))
            if found is None:
                return is_had, np.concatenate(rows)
            is_had[at : at + len(some)] = found[0]
            rows.append(found[1])
        self._speeds.answered(len(ids), time.perf_counter() - start)
        return is_had, np.concatenate(rows)

    def chunks(self, ids: Ids) -> list[RemoteChunk | None]:
        """Give the text of each chunk; None for one that cannot be had."""
        found = self._ask(lambda: self._client.chunks(ids.tolist(), self._origin))
        return [None] * len(ids) if found is None else found

    def context(self, id: int, margin: int) -> tuple[str, str] | None:
        """Give up to `margin` bytes of text before and after a chunk; None if it has none."""
        return self._ask(lambda: self._client.context(id, margin, self._origin))

    def share(self, count: int) -> int:
        """Say how many of `count` chunks that could be embedded here are better asked for."""
        if self.is_away or (not self._speeds.has_answered and _is_recent(self._marker)):
            return 0
        return self._speeds.share(count)

    def embedded_here(self, count: int, seconds: float) -> None:
        """Learn how fast this machine embeds."""
        self._speeds.embedded_here(count, seconds)

    def gave_up(self, count: int, seconds: float) -> None:
        """Learn that a request for so many chunks was not waited for any longer."""
        self._speeds.gave_up(count, seconds)
        self._mark()

    def _ask(self, request: Callable[[], T]) -> T | None:
        """Ask, unless the server is known not to answer; None if it does not."""
        if why := self._speeds.why_dead:
            self._note(why)
            return None
        try:
            found = request()
        except UnknownId:
            return None
        except GossamerError as error:
            self._speeds.failed(str(error))
            self._note(str(error))
            self._mark()
            return None
        with suppress(OSError):
            self._marker.unlink(missing_ok=True)
        return found

    def _mark(self) -> None:
        """Tell processes to come that the server did not answer."""
        with suppress(OSError):
            if not self._marker.parent.is_symlink():
                make_file(self._marker)
                os.utime(self._marker, follow_symlinks=False)

    def _note(self, note: str) -> None:
        if note not in self._notes:
            self._notes.append(note)


def _is_recent(marker: Path) -> bool:
    """Whether a file was touched in the last minutes; clocks that went back count as well."""
    try:
        return abs(time.time() - marker.stat().st_mtime) < _UNANSWERED_S
    except OSError:
        return False
