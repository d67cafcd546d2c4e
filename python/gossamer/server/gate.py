"""Work in threads: so much at once, so much waiting, and a clear no to more."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from gossamer.server.errors import Busy

__all__ = ["Gate"]

T = TypeVar("T")


class Gate:
    """Runs work of one kind in a few threads."""

    def __init__(self, name: str, at_once: int, waiting: int) -> None:
        self._name = name
        self._most = at_once + waiting
        self._executor = ThreadPoolExecutor(at_once, thread_name_prefix=f"gossamer-{name}")
        self._lock = threading.Lock()
        self._inside = 0

    @property
    def inside(self) -> int:
        """How many pieces of work run or wait."""
        return self._inside

    def submit(self, work: Callable[[], T]) -> Future[T]:
        """Begin work as soon as there is a thread; Busy if too much waits already."""
        with self._lock:
            if self._inside >= self._most:
                raise Busy(f"{self._inside} {self._name} wait already; ask again in a moment")
            self._inside += 1
        try:
            future = self._executor.submit(work)
        except RuntimeError:
            self._leave()
            raise Busy("the server is shutting down") from None
        future.add_done_callback(lambda _: self._leave())
        return future

    async def run(self, work: Callable[[], T]) -> T:
        """Do work and give what it gives; Busy if too much waits already."""
        return await asyncio.wrap_future(self.submit(work))

    def close(self) -> None:
        """Wait for the work in hand; what waits is not begun."""
        self._executor.shutdown(wait=True, cancel_futures=True)

    def _leave(self) -> None:
        with self._lock:
            self._inside -= 1
