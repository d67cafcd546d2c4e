"""Vectors worth keeping before anything was asked: those of hubs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["HubVectors"]

# What was asked for lately gets the rest of the budget.
_HUB_SHARE = 0.5
_TRIM_AT = 2  # times the room


class HubVectors:
    """The most central of the vectors that pass by, as many as a budget allows.

    A chunk near the middle of all is among the nearest of many questions: a hub (Radovanović,
    Nanopoulos and Ivanović, 2010). The middle is that of the vectors seen so far.
    """

    def __init__(self, budget: int, dim: int) -> None:
        self._room = int(budget * _HUB_SHARE) // (2 * dim)
        self._sum = np.zeros(dim, np.float64)
        # In pieces, put together when there are too many: most pieces are a file's few chunks.
        self._ids = [np.zeros(0, np.int64)]
        self._vectors = [np.zeros((0, dim), np.float16)]
        self._count = 0

    def add(self, ids: NDArray[np.int64], vectors: NDArray[np.float32]) -> None:
        """Look at vectors; some of them are held."""
        self._sum += vectors.sum(axis=0, dtype=np.float64)
        self._ids.append(np.asarray(ids, np.int64))
        self._vectors.append(vectors.astype(np.float16))
        self._count += len(ids)
        if self._count > _TRIM_AT * self._room:
            self._trim()

    def best(self) -> tuple[NDArray[np.int64], NDArray[np.float16]]:
        """Give the most central ones, with their ids."""
        return self._trim()

    def _trim(self) -> tuple[NDArray[np.int64], NDArray[np.float16]]:
        ids, vectors = np.concatenate(self._ids), np.concatenate(self._vectors)
        central = vectors.astype(np.float32) @ self._sum.astype(np.float32)
        best = np.sort(np.argsort(-central, kind="stable")[: self._room])
        ids, vectors = ids[best], vectors[best]
        self._ids, self._vectors, self._count = [ids], [vectors], len(ids)
        return ids, vectors
