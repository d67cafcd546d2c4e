"""Vectors of texts that were embedded lately, within a budget of memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from threading import Lock

import numpy as np
from numpy.typing import NDArray

__all__ = ["Embedded", "VectorMemory"]

Rows = NDArray[np.float32]

_ENTRY_BYTES = 250  # beside the numbers: key, arrays, place in the order
_KEY_BYTES = 16


def _no_rows() -> Rows:
    return np.zeros((0, 0), np.float32)


def _no_starts() -> NDArray[np.uint32]:
    return np.zeros(0, np.uint32)


@dataclass(frozen=True, slots=True)
class Embedded:
    """The vector of a text; those of its tokens where they were asked for."""

    row: Rows
    tokens: Rows = field(default_factory=_no_rows)
    starts: NDArray[np.uint32] = field(default_factory=_no_starts)  # of a question's tokens

    @property
    def bytes(self) -> int:
        """What it takes of the budget."""
        return self.row.nbytes + self.tokens.nbytes + _ENTRY_BYTES


class VectorMemory:
    """Remembers vectors by their texts; those asked for longest ago go first. For any threads."""

    def __init__(self, most_bytes: int) -> None:
        """Remember as much as the budget takes; nothing with a budget of 0."""
        self._most_bytes = most_bytes
        self._bytes = 0
        self._entries: OrderedDict[bytes, Embedded] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def find(self, texts: Sequence[str], *, with_tokens: bool) -> dict[str, Embedded]:
        """Give what is remembered, by text; without those whose tokens are wanted and not known."""
        found: dict[str, Embedded] = {}
        if not self._entries:
            return found
        keys = {text: _key_of(text) for text in texts}
        with self._lock:
            for text, key in keys.items():
                entry = self._entries.get(key)
                if entry is not None and (len(entry.tokens) or not with_tokens):
                    self._entries.move_to_end(key)
                    found[text] = entry
        return found

    def put(self, made: Mapping[str, Embedded]) -> None:
        """Remember vectors by text."""
        if not self._most_bytes:
            return
        keyed = {
            _key_of(text): Embedded(one.row.copy(), one.tokens.copy()) for text, one in made.items()
        }
        with self._lock:
            for key, entry in keyed.items():
                before = self._entries.pop(key, None)
                self._bytes += entry.bytes - (0 if before is None else before.bytes)
                self._entries[key] = entry
            while self._bytes > self._most_bytes:
                _, oldest = self._entries.popitem(last=False)
                self._bytes -= oldest.bytes


def _key_of(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_KEY_BYTES).digest()
