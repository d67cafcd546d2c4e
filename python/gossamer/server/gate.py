"""Work in threads: so much at once, so much waiting, and a clear no to more."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from gossamer.server.errors import Busy

__all__ = ["Gate"]

T = TypeVar("T")


class Gate:
    """Runs work of one kind in a few threads.

    They are daemons, unlike those of an executor: work that never ends, such as a search that
    someone made to be slow, must not keep the process from ending.
    """

    def __init__(self, name: str, at_once: int, waiting: int) -> None:
        self._name = name
        self._at_once = at_once
        self._most = at_once + waiting
        self._changed = threading.Condition()
        self._waiting: deque[tuple[Future[Any], Callable[[], Any]]] = deque()
        self._threads = 0
        self._idle = 0
        self._inside = 0
        self._is_closed = False

    @property
    def inside(self) -> int:
        """How many pieces of work run or wait."""
        return self._inside

    def submit(self, work: Callable[[], T]) -> Future[T]:
        """Begin work as soon as there is a thread; Busy if too much waits already."""
        future: Future[T] = Future()
        with self._changed:
            if self._is_closed:
                raise Busy("the server is shutting down")
            if self._inside >= self._most:
                raise Busy(f"{self._inside} {self._name} wait already; ask again in a moment")
            self._inside += 1
            self._waiting.append((future, work))
            if len(self._waiting) > self._idle and self._threads < self._at_once:
                self._threads += 1
                name = f"gossamer-{self._name}-{self._threads}"
                threading.Thread(target=self._work, name=name, daemon=True).start()
            self._changed.notify()
        future.add_done_callback(lambda _: self._leave())
        return future

    async def run(self, work: Callable[[], T]) -> T:
        """Do work and give what it gives; Busy if too much waits already."""
        return await asyncio.wrap_future(self.submit(work))

    def close(self, patience_s: float) -> bool:
        """Begin nothing more, and wait so long for the work in hand; say whether all is done."""
        until = time.monotonic() + patience_s
        with self._changed:
            self._is_closed = True
            given_up = [future for future, _ in self._waiting]
            self._changed.notify_all()
        for future in given_up:
            future.cancel()
        with self._changed:
            return self._changed.wait_for(
                lambda: not self._inside, max(0.0, until - time.monotonic())
            )

    def _work(self) -> None:
        while (taken := self._take()) is not None:
            future, work = taken
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(work())
            except BaseException as error:
                future.set_exception(error)
            # What it held must not stay here until the next one.
            del taken, future, work

    def _take(self) -> tuple[Future[Any], Callable[[], Any]] | None:
        with self._changed:
            self._idle += 1
            self._changed.wait_for(lambda: self._waiting or self._is_closed)
            self._idle -= 1
            return self._waiting.popleft() if self._waiting else None

    def _leave(self) -> None:
        with self._changed:
            self._inside -= 1
            self._changed.notify_all()
