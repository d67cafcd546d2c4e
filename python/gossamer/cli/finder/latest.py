"""A thread that does the last thing it was asked to, and leaves out what came before."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import Condition, Thread
from typing import Generic, TypeVar

__all__ = ["Latest"]

T = TypeVar("T")
_MOST_WAIT_S = 0.2  # for work that goes on when all is to end


class Latest(Generic[T]):
    """Works once nothing new was asked for a while; what is asked meanwhile replaces what waits."""

    def __init__(self, work: Callable[[T], None], pause_s: float) -> None:
        """Start; `work` must not fail."""
        self._work = work
        self._pause_s = pause_s
        self._changed = Condition()
        self._waiting: list[T] = []  # at most one
        self._count = 0  # of all that was asked
        self._is_closed = False
        self._thread = Thread(target=self._run, name="gossamer-finder", daemon=True)
        self._thread.start()

    def ask(self, what: T) -> None:
        """Have this done, in place of what waits."""
        with self._changed:
            self._waiting = [what]
            self._count += 1
            self._changed.notify()

    def close(self) -> bool:
        """Do nothing more; say whether what was being done has ended, after a little while."""
        with self._changed:
            self._is_closed = True
            self._changed.notify()
        self._thread.join(_MOST_WAIT_S)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while (what := self._next()) is not None:
            self._work(what[0])

    def _next(self) -> list[T] | None:
        """Wait for something to do, and then for quiet; None at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._is_closed)
            while not self._is_closed and self._changed.wait_for(
                partial(self._has_changed, self._count), self._pause_s
            ):
                pass
            what, self._waiting = self._waiting, []
            return None if self._is_closed else what

    def _has_changed(self, count: int) -> bool:
        return self._count != count or self._is_closed
