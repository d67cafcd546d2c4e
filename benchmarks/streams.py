"""Vectors that stream by, and builds that never hold them all."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import ours
from benchmarks.baselines import GraphParameters
from benchmarks.datasets import Floats, Ids


class Stream:
    """Vectors in parts of half precision, as a build that must not hold them all sees them.

    It ends after `most` vectors, or with the last part.
    """

    def __init__(self, parts: Sequence[Path], most: int, batch: int = 2048) -> None:
        self._parts = parts
        shapes = [np.load(part, mmap_mode="r", allow_pickle=False).shape for part in parts]
        self._starts = np.minimum(np.cumsum([0] + [count for count, _ in shapes]), most)
        self._dim = shapes[0][1]
        self._batch = batch

    def _open(self, part: int) -> Any:
        """Map a part anew each time: pages of a file that is let go do not count as memory."""
        whole = np.load(self._parts[part], mmap_mode="r", allow_pickle=False)
        return whole[: self._starts[part + 1] - self._starts[part]]

    def batches(self) -> Iterator[Floats]:
        """All vectors in order; may be called again."""
        for part in map(self._open, range(len(self._parts))):
            for start in range(0, len(part), self._batch):
                yield np.asarray(part[start : start + self._batch], dtype=np.float32)

    def vectors_of(self, ids: Ids) -> Floats:
        """Return the vectors of some ids."""
        rows = np.empty((len(ids), self._dim), dtype=np.float32)
        owners = np.searchsorted(self._starts, ids, side="right") - 1
        for owner in np.unique(owners):
            mine = owners == owner
            rows[mine] = self._open(int(owner))[ids[mine] - self._starts[owner]]
        return rows


def build_bounded(stream: Stream, memory: int | None) -> ours.Index:
    """Build a hub graph out of a stream, within `memory` bytes if given."""
    if memory is None:
        return ours.build(np.concatenate(list(stream.batches())), graph="hub")
    return ours.Index.build(
        stream.batches,
        metric="ip",
        graph="hub",
        memory_budget=memory,
        vectors_of=stream.vectors_of,
        threads=2,
        seed=ours.SEED,
        max_degree=GraphParameters().max_degree,
        build_effort=GraphParameters().build_effort,
    )
