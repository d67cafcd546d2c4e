"""How long each stage of a query takes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["Stages"]


class Stages:
    """Milliseconds by stage, in the order in which they were first entered."""

    def __init__(self) -> None:
        self.ms: dict[str, float] = {}

    @contextmanager
    def time(self, name: str) -> Iterator[None]:
        """Add what happens inside to a stage."""
        self.ms.setdefault(name, 0.0)
        start = time.perf_counter()
        try:
            yield
        finally:
            self.ms[name] += (time.perf_counter() - start) * 1e3
