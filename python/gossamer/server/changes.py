"""Changes of the index, one after the other, each going on whether or not its client stays."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from gossamer.errors import Cancelled, Locked
from gossamer.server.errors import Busy
from gossamer.server.gate import Gate
from gossamer.update.report import UpdateProgress, Watcher

__all__ = ["Change", "ChangeQueue", "Joint"]

T = TypeVar("T")
G = TypeVar("G")
Given = TypeVar("Given", contravariant=True)
Result = TypeVar("Result", covariant=True)

_LOG = logging.getLogger("gossamer.server")
_NEWS_EVERY_S = 0.1
# Longer than a process that waits for the lock of an index waits before it looks again.
_GAP_S, _GAP_EVERY_S = 0.06, 1.0


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

    def finish(self, result: T | BaseException) -> None:
        """Keep what it gave, or what it raised."""
        if isinstance(result, BaseException):
            self.result.set_exception(result)
        else:
            self.result.set_result(result)
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


class Joint(Protocol[Given, Result]):
    """Changes of one kind, of which those that wait together can be made as one."""

    def fits(self, waiting: Sequence[Given], given: Given) -> bool:
        """Say whether a change may be made together with those that wait."""
        ...

    def make(self, given: Sequence[Given], watch: Watcher) -> Sequence[Result | Exception]:
        """Make changes as one; give what each gives, or why it failed alone."""
        ...


@dataclass(eq=False)
class _Turn:
    """Changes that are made together: one, or several of a kind."""

    joint: Joint[Any, Any]
    parts: list[tuple[Any, Change[Any]]]  # what was given, and who waits for it
    done: Future[None] | None = None
    has_begun: bool = False


@dataclass(frozen=True)
class _Alone(Generic[T]):
    """A change that is made for itself."""

    work: Callable[[Watcher], T]

    def fits(self, waiting: Sequence[None], given: None) -> bool:  # noqa: ARG002
        return False

    def make(self, given: Sequence[None], watch: Watcher) -> Sequence[T]:  # noqa: ARG002
        return [self.work(watch)]


class ChangeQueue:
    """Does changes one at a time, in the order in which they came.

    Each costs a commit, whose price hardly depends on how much it holds: those of one kind that
    wait one behind the other are made as one.
    """

    def __init__(self, waiting: int, wait_s: float) -> None:
        self._most = 1 + waiting
        # Turns are never more than changes, which are counted here.
        self._gate = Gate("changes", 1, waiting)
        self._wait_s = wait_s
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._waiting = 0
        self._last: _Turn | None = None
        self._gap_at = time.monotonic()

    @property
    def waiting(self) -> int:
        """How many changes run or wait."""
        return self._waiting

    def submit(self, work: Callable[[Watcher], T]) -> Change[T]:
        """Begin a change once those before it are done; Busy if too many wait.

        It ends as Locked if its turn does not come in time, with nothing done.
        """
        return self.submit_to(_Alone(work), None)

    def submit_to(self, joint: Joint[G, T], given: G) -> Change[T]:
        """Begin a change likewise, together with those of its kind that it fits to.

        Only the last in the queue are joined: no change overtakes another.
        """
        change: Change[T] = Change()
        with self._lock:
            if self._waiting >= self._most:
                raise Busy(f"{self._waiting} changes wait already; ask again in a moment")
            turn = self._last
            is_joined = (
                turn is not None
                and turn.joint is joint
                and not turn.has_begun
                and joint.fits([part for part, _ in turn.parts], given)
            )
            if turn is None or not is_joined:
                turn = _Turn(joint, [])
                turn.done = self._gate.submit(partial(self._run, turn))
                turn.done.add_done_callback(partial(self._after, turn))
                self._last = turn
            turn.parts.append((given, change))
            self._waiting += 1
        change.result.add_done_callback(lambda _: self._leave())
        asyncio.get_running_loop().call_later(self._wait_s, self._give_up, turn, change)
        return change

    def submit_with(self, aside: Path, work: Callable[[Watcher], T]) -> Change[T]:
        """Begin a change that needs a file, which is deleted when it is over, or is refused."""
        try:
            change = self.submit(work)
        except BaseException:
            aside.unlink(missing_ok=True)
            raise
        change.result.add_done_callback(lambda _: aside.unlink(missing_ok=True))
        return change

    async def run(self, work: Callable[[Watcher], T]) -> T:
        """Do a change and give what it gives. It goes on if nobody waits for it any more."""
        return await self.wait(self.submit(work))

    async def wait(self, change: Change[T]) -> T:
        """Give what a change gives. It goes on if nobody waits for it any more."""
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

    def close(self, patience_s: float) -> bool:
        """Stop, and wait so long until that is done; say whether it is."""
        self.stop()
        return self._gate.close(patience_s)

    def _run(self, turn: _Turn) -> None:
        with self._lock:
            turn.has_begun = True
            given, changes = [part for part, _ in turn.parts], [change for _, change in turn.parts]
            turn.parts = []  # what was given may be large, and a turn is remembered for a while
        if not changes:
            return

        def watch(progress: UpdateProgress) -> None:
            self._check_stop()
            for change in changes:
                change.tell(progress)

        try:
            watch(UpdateProgress("looking"))
            results = turn.joint.make(given, watch)
        except BaseException as error:
            results = [error] * len(changes)
        for change, result in zip(changes, results, strict=True):
            change.finish(result)
        self._let_others()

    def _let_others(self) -> None:
        """Leave a gap now and then: other processes look only so often whether they may begin."""
        now = time.monotonic()
        if not self._waiting:
            self._gap_at = now
        elif now - self._gap_at > _GAP_EVERY_S:
            time.sleep(_GAP_S)
            self._gap_at = time.monotonic()

    def _after(self, turn: _Turn, done: Future[None]) -> None:
        """Tell those whose turn will never come, since the queue was closed."""
        if done.cancelled():
            for _, change in turn.parts:
                change.finish(_stopped())

    def _give_up(self, turn: _Turn, change: Change[T]) -> None:
        """End a change whose turn did not come in time."""
        with self._lock:
            if turn.has_begun or change.result.done():
                return
            turn.parts = [part for part in turn.parts if part[1] is not change]
            is_last = not turn.parts
            if is_last:
                turn.has_begun = True  # so that nobody joins it
        change.finish(Locked("other changes of the index are in hand for long; try again later"))
        if is_last and turn.done is not None:
            turn.done.cancel()

    def _check_stop(self) -> None:
        if self._stop.is_set():
            raise _stopped()

    def _leave(self) -> None:
        with self._lock:
            self._waiting -= 1


def _stopped() -> Cancelled:
    return Cancelled(
        "the server is shutting down; ask again when it is back, and what was embedded is not "
        "embedded again"
    )


def _log_failure(result: Future[T]) -> None:
    if (error := result.exception()) is not None:
        _LOG.warning("a change whose client has gone failed", exc_info=error)


def _look_at(result: asyncio.Future[T]) -> None:
    """Look at an error that nobody may wait for, of which the loop would complain."""
    if not result.cancelled():
        result.exception()
