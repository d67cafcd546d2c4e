"""Work done ahead of time in a thread, so that the next step never waits for it."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

__all__ = ["work_ahead"]

A = TypeVar("A")
B = TypeVar("B")


def work_ahead(
    items: Iterable[A], work: Callable[[A], B], weigh: Callable[[B], int], most: int
) -> Iterator[B]:
    """Give `work(item)` of each item in order, computed ahead while results weigh less than `most`.

    What `work` raises is raised here, in its turn. Leaving early stops the thread.
    """
    done = _Queue[B](most)

    def run() -> None:
        try:
            for item in items:
                result = work(item)
                if not done.put(result, weigh(result)):
                    return
            done.end(None)
        except BaseException as error:
            done.end(error)

    worker = threading.Thread(target=run, name="gossamer-ahead", daemon=True)
    worker.start()
    try:
        yield from done
    finally:
        done.stop()
        worker.join()


class _Queue(Generic[B]):
    """Results on their way from one thread to another, bounded by their weight.

    A result that weighs more than all may is let in alone.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._weight = 0
        self._results: deque[tuple[B, int]] = deque()
        self._error: BaseException | None = None
        self._is_ended = self._is_stopped = False
        self._changed = threading.Condition()

    def put(self, result: B, weight: int) -> bool:
        """Add a result once there is room; False if nobody wants it any more."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_stopped or self._has_room(weight))
            self._results.append((result, weight))
            self._weight += weight
            self._changed.notify_all()
            return not self._is_stopped

    def end(self, error: BaseException | None) -> None:
        """Say that no more results come, and why if that was not foreseen."""
        with self._changed:
            self._is_ended, self._error = True, error
            self._changed.notify_all()

    def stop(self) -> None:
        """Say that no more results are wanted."""
        with self._changed:
            self._is_stopped = True
            self._changed.notify_all()

    def __iter__(self) -> Iterator[B]:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._results or self._is_ended)
                if not self._results:
                    break
                result, weight = self._results.popleft()
                self._weight -= weight
                self._changed.notify_all()
            yield result
        if self._error is not None:
            raise self._error

    def _has_room(self, weight: int) -> bool:
        return not self._results or self._weight + weight <= self._most
