"""Independent pieces of work on a few threads, with progress, errors and Ctrl-C."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence

__all__ = ["run_each", "usable_cpus"]

_POLL_S = 0.05


def usable_cpus() -> int:
    """How many CPUs this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_each(
    work: Callable[[int], None],
    order: Sequence[int],
    threads: int,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Call `work` with each number of `order`, beginning in that order, on several threads.

    `progress` is called from the calling thread. The first error, or an interrupt, ends it as
    soon as the pieces in work are finished, and is raised.
    """
    if min(threads, len(order)) <= 1:
        for done, item in enumerate(order, start=1):
            work(item)
            if progress is not None:
                progress(done)
        return
    crew = _Crew(work, order)
    workers = [
        threading.Thread(target=crew.labour, name=f"gossamer-embed-{number}", daemon=True)
        for number in range(min(threads, len(order)))
    ]
    for worker in workers:
        worker.start()
    try:
        for worker in workers:
            while worker.is_alive():
                worker.join(_POLL_S)
                if progress is not None:
                    progress(crew.done)
    except BaseException:
        crew.stop()
        for worker in workers:
            worker.join()
        raise
    if crew.errors:
        raise crew.errors[0]


class _Crew:
    """What the threads of one job share."""

    def __init__(self, work: Callable[[int], None], order: Sequence[int]) -> None:
        self._work = work
        self._left = iter(order)
        self._lock = threading.Lock()
        self.done = 0
        self.errors: list[BaseException] = []

    def stop(self) -> None:
        with self._lock:
            self._left = iter(())

    def labour(self) -> None:
        while (item := self._take()) is not None:
            try:
                self._work(item)
            except BaseException as error:
                self.stop()
                self.errors.append(error)
                return
            with self._lock:
                self.done += 1

    def _take(self) -> int | None:
        with self._lock:
            return next(self._left, None)
