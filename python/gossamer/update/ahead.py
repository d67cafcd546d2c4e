"""Work done ahead of time in a thread, so that the next step never waits for it."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

__all__ = ["work_ahead"]

A = TypeVar("A")
B = TypeVar("B")

_POLL_S = 0.1


def work_ahead(items: Iterable[A], work: Callable[[A], B], most: int) -> Iterator[B]:
    """Give `work(item)` of each item in order, computed up to `most` items ahead.

    What `work` raises is raised here, in its turn. Leaving early stops the thread.
    """
    done: queue.Queue[tuple[B | None, BaseException | None]] = queue.Queue(maxsize=most)
    stop = threading.Event()

    def put(result: tuple[B | None, BaseException | None]) -> None:
        while not stop.is_set():
            try:
                return done.put(result, timeout=_POLL_S)
            except queue.Full:
                continue

    def run() -> None:
        try:
            for item in items:
                if stop.is_set():
                    return
                put((work(item), None))
            put((None, StopIteration()))
        except BaseException as error:
            put((None, error))

    worker = threading.Thread(target=run, name="gossamer-ahead", daemon=True)
    worker.start()
    try:
        while True:
            result, error = done.get()
            if isinstance(error, StopIteration):
                return
            if error is not None:
                raise error
            yield result  # type: ignore[misc]
    finally:
        stop.set()
        worker.join()
