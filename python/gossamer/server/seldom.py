"""A filter of logs: the same complaint once in a while."""

from __future__ import annotations

import logging
import time

__all__ = ["Seldom"]

_SAID_EVERY_S = 10.0
_MOST_KEPT = 100


class Seldom(logging.Filter):
    """Lets the same complaint through once in a while: whoever causes it may do so for ever."""

    def __init__(self) -> None:
        super().__init__()
        self._next: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Say whether to log it; see logging."""
        now, said = time.monotonic(), str(record.msg)[:100]
        if now < self._next.get(said, 0.0):
            return False
        if len(self._next) > _MOST_KEPT:
            self._next.clear()
        self._next[said] = now + _SAID_EVERY_S
        return True
