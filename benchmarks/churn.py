"""An index under a long run of updates, as in appendix F of HNSW-Slim's paper."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from benchmarks import ours
from benchmarks.datasets import Floats, Ids

SHARE_OF_BATCH = 100  # a batch inserts one vector in so many
START = 0.3  # this part of the vectors is there before the first batch


@dataclass(frozen=True)
class Batch:
    """What one update did."""

    number: int  # from 1
    deleted: Ids
    added: Ids


class Churn:
    """A slim index that grows by updates until it holds all vectors.

    A batch inserts one vector in a hundred of the set. For each insertion one that was there is
    deleted with the probability `deletions`; deleted ones wait and are inserted again at last.
    It takes 70 batches without deletions and 100 with 30 %.
    """

    def __init__(self, vectors: Floats, deletions: float, seed: int = 0) -> None:
        self._random = np.random.default_rng(seed)
        self._vectors = vectors
        self._inserted = len(vectors) // SHARE_OF_BATCH
        self._deleted = round(self._inserted * deletions)
        grown = self._inserted - self._deleted
        self.batches = round((1 - START) * len(vectors) / grown)
        order = self._random.permutation(len(vectors))
        start = len(vectors) - self.batches * grown
        self.present = order[:start]
        self._waiting = deque(order[start:].tolist())
        self.index = ours.build(
            vectors[self.present], keep="all", graph="slim", keep_source=True, ids=self.present
        )

    def run(self) -> Iterator[Batch]:
        """Update batch by batch."""
        for number in range(1, self.batches + 1):
            places = self._random.permutation(len(self.present))[: self._deleted]
            deleted = self.present[places]
            self._waiting.extend(deleted.tolist())
            added = np.array([self._waiting.popleft() for _ in range(self._inserted)])
            self.index.delete(deleted)
            self.index.add(self._vectors[added], ids=added)
            self.present = np.concatenate([np.delete(self.present, places), added])
            yield Batch(number, deleted, added)
