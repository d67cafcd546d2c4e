"""Rows of texts that were embedded lately, within a budget of memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from threading import Lock

import numpy as np
from numpy.typing import NDArray

__all__ = ["RowMemory"]

Row = NDArray[np.float32]

_ENTRY_BYTES = 250  # beside the numbers: key, array, place in the order
_KEY_BYTES = 16


class RowMemory:
    """Remembers rows by their texts; those asked for longest ago go first. For any threads."""

    def __init__(self, dim: int, most_bytes: int) -> None:
        """Remember as many rows of this length as the budget takes; none with a budget of 0."""
        self._most = most_bytes // (4 * dim + _ENTRY_BYTES)
        self._rows: OrderedDict[bytes, Row] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._rows)

    def find(self, texts: Sequence[str]) -> dict[str, Row]:
        """Give the rows that are remembered, by text."""
        found: dict[str, Row] = {}
        if not self._most:
            return found
        keys = {text: _key_of(text) for text in texts}
        with self._lock:
            for text, key in keys.items():
                if (row := self._rows.get(key)) is not None:
                    self._rows.move_to_end(key)
                    found[text] = row
        return found

    def put(self, rows: Mapping[str, Row]) -> None:
        """Remember rows by text."""
        if not self._most:
            return
        keyed = {_key_of(text): row.copy() for text, row in rows.items()}
        with self._lock:
            self._rows.update(keyed)
            while len(self._rows) > self._most:
                self._rows.popitem(last=False)


def _key_of(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_KEY_BYTES).digest()
