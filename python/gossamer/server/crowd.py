"""How many connections there are at once, and which of them goes when there are too many."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Protocol

__all__ = ["BACKLOG", "Crowd", "most_connections"]

# Connections that wait to be taken. The loop takes so many at once at most, and where it cannot it
# says so for each of them.
BACKLOG = 64
# Files of the index, of the model and of readers, and connections that are about to be closed.
_OTHER_FILES = 128
_LEAST, _MOST = 16, 1024
# Where the system has no bound on the files of a process.
_WITHOUT_BOUND = 512
# Connections that were refused and are read from for a moment: closed at once, some clients would
# see that their request was not read, and not the answer.
_MOST_REFUSED = 32
# What counts a second of waiting for a request that was begun, or for the first one. A second
# between two requests counts one: whoever was answered before is likelier to ask again.
_SLOW_COUNTS = 8.0


class Guest(Protocol):
    """What a crowd is made of."""

    def make_room(self) -> None:
        """Go, since another one comes."""


class Crowd:
    """Connections, at most so many. The one that has waited for its client for longest goes first.

    Who sends a request at once waits for nothing, so that no number of slow clients keeps it out.
    """

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._clock = clock
        self._inside: set[Guest] = set()
        # Since when each waits for its client, the longest first.
        self._slow: dict[Guest, float] = {}  # has begun to ask, or never asked
        self._idle: dict[Guest, float] = {}  # was answered
        self._refused: set[Guest] = set()

    def enter(self, guest: Guest) -> bool:
        """Take a connection in, in place of another one if need be; False if all are at work."""
        if len(self._inside) >= self._most:
            longest = self._find_longest()
            if longest is None:
                return False
            self.leave(longest)
            longest.make_room()
        self._inside.add(guest)
        self.wait(guest, is_idle=False)
        return True

    def wait(self, guest: Guest, *, is_idle: bool) -> None:
        """Note that a connection waits for its client from now on; idle is one without a wish."""
        self.work(guest)
        if guest in self._inside:
            (self._idle if is_idle else self._slow)[guest] = self._clock()

    def work(self, guest: Guest) -> None:
        """Note that a connection has a whole request to answer: it is not sent away."""
        self._slow.pop(guest, None)
        self._idle.pop(guest, None)

    def refuse(self, guest: Guest) -> bool:
        """Note one that did not come in; False if it must not even stay for a moment."""
        if len(self._refused) >= _MOST_REFUSED:
            return False
        self._refused.add(guest)
        return True

    def leave(self, guest: Guest) -> None:
        """Forget a connection."""
        self._inside.discard(guest)
        self._refused.discard(guest)
        self.work(guest)

    def _find_longest(self) -> Guest | None:
        slow, idle = next(iter(self._slow), None), next(iter(self._idle), None)
        if slow is None or idle is None:
            return slow or idle
        now = self._clock()
        is_slow = _SLOW_COUNTS * (now - self._slow[slow]) >= now - self._idle[idle]
        return slow if is_slow else idle


def most_connections() -> int:
    """Give how many connections this process can have.

    Each may need a file besides, which it sends or receives, and the index needs some.
    """
    if sys.platform == "win32":
        return _WITHOUT_BOUND
    import resource

    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return _MOST
    return max(_LEAST, min(_MOST, (files - BACKLOG - _OTHER_FILES) // 2))
