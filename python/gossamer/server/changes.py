"""Changes of the index, one after the other, each going on whether or not its client stays."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from typing import Generic, TypeVar

from gossamer.errors import Cancelled, Locked
from gossamer.server.gate import Gate
from gossamer.update.report import UpdateProgress, Watcher

__all__ = ["Change", "ChangeQueue"]

T = TypeVar("T")

_LOG = logging.getLogger("gossamer.server")
_NEWS_EVERY_S = 0.1


class Change(Generic[T]):
    """A change that waits, runs or is done. Made within the loop that waits for it."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._has_news = asyncio.Event()
        self._told_at = 0.0
        self.progress = UpdateProgress("waiting")
        self.result: Future[T] = Future()

    def tell(self, progress: UpdateProgress) -> None:
        """Note how far it is; from any thread, and not oftener than anybody reads."""
        now = time.monotonic()
        if progress.phase != self.progress.phase or now > self._told_at:
            self._told_at = now + _NEWS_EVERY_S
            self.progress = replace(progress)
            self._wake()

    def finish(self, work: Callable[[], T]) -> None:
        """Do the work, and keep what it gives or raises."""
        try:
            self.result.set_result(work())
        except BaseException as error:
            self.result.set_exception(error)
        self._wake()

    def leave(self) -> None:
        """Let it go on alone; should it fail, the log says so."""
        self.result.add_done_callback(_log_failure)

    async def news(self, most_s: float) -> bool:
        """Wait until there is something new, for so long at most; say whether there is."""
        with suppress(TimeoutError):
            async with asyncio.timeout(most_s):
                await self._has_news.wait()
        was_new = self._has_news.is_set()
        self._has_news.clear()
        return was_new

    def _wake(self) -> None:
        # Nobody waits in a loop that is closed.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._has_news.set)


class ChangeQueue:
    """Does changes one at a time, in the order in which they came."""

    def __init__(self, waiting: int, wait_s: float) -> None:
        self._gate = Gate("changes", 1, waiting)
        self._wait_s = wait_s
        self._stop = threading.Event()

    @property
    def waiting(self) -> int:
        """How many changes run or wait."""
        return self._gate.inside

    def submit(self, work: Callable[[Watcher], T]) -> Change[T]:
        """Begin a change once those before it are done; Busy if too many wait.

        It ends as Locked if its turn does not come in time, with nothing done.
        """
        change: Change[T] = Change()

        def watch(progress: UpdateProgress) -> None:
            self._check_stop()
            change.tell(progress)

        def run() -> T:
            self._check_stop()
            change.tell(UpdateProgress("looking"))
            return work(watch)

        turn = self._gate.submit(lambda: change.finish(run))
        turn.add_done_callback(lambda done: self._give_up(change) if done.cancelled() else None)
        # Does nothing to one that has begun.
        asyncio.get_running_loop().call_later(self._wait_s, turn.cancel)
        return change

    async def run(self, work: Callable[[Watcher], T]) -> T:
        """Do a change and give what it gives. It goes on if nobody waits for it any more."""
        change = self.submit(work)
        result = asyncio.wrap_future(change.result)
        result.add_done_callback(_look_at)
        try:
            return await asyncio.shield(result)
        except asyncio.CancelledError:
            change.leave()
            raise

    def stop(self) -> None:
        """End the change in hand at the next safe point, and begin no other.

        What it has embedded is kept for when it is repeated.
        """
        self._stop.set()

    def close(self) -> None:
        """Stop, and wait until that is done."""
        self.stop()
        self._gate.close()

    def _check_stop(self) -> None:
        if self._stop.is_set():
            raise Cancelled(
                "the server is shutting down; ask again when it is back, and what was embedded "
                "is not embedded again"
            )

    def _give_up(self, change: Change[T]) -> None:
        def refuse() -> T:
            self._check_stop()
            raise Locked("other changes of the index are in hand for long; try again later")

        change.finish(refuse)


def _log_failure(result: Future[T]) -> None:
    if (error := result.exception()) is not None:
        _LOG.warning("a change whose client has gone failed", exc_info=error)


def _look_at(result: asyncio.Future[T]) -> None:
    """Look at an error that nobody may wait for, of which the loop would complain."""
    if not result.cancelled():
        result.exception()
