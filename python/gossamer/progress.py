"""Long jobs of the core, with a progress callback and Ctrl-C."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from gossamer import _core

__all__ = ["ProgressCallback", "run_with_progress", "silent"]

# Called with what is being done, how many steps are done and how many there are (0: unknown).
ProgressCallback = Callable[[str, int, int], None]

_POLL_S = 0.05
T = TypeVar("T")


def silent(*_: object) -> None:
    """Take the reports of a job that nobody wants to hear of."""


def run_with_progress(job: Callable[[_core.Progress], T], callback: ProgressCallback | None) -> T:
    """Run `job` in a thread and report how far it is; an interrupt cancels it and is raised.

    The core never calls up: it counts its steps, and this loop reads the counters.
    """
    progress = _core.Progress()
    results: list[T] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            results.append(job(progress))
        except BaseException as error:
            errors.append(error)

    worker = threading.Thread(target=work, name="gossamer-job", daemon=True)
    worker.start()
    try:
        is_over = False
        while not is_over:  # so the last report is of the end, however short the job was
            worker.join(_POLL_S)
            is_over = not worker.is_alive()
            if callback is not None:
                callback(progress.phase, progress.done, progress.total)
    except BaseException:
        progress.cancel()
        worker.join()
        raise
    if errors:
        raise errors[0]
    return results[0]
