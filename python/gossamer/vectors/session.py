"""`SearchSession`: a search in progress, and what goes into one and comes out of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gossamer import _core
from gossamer.errors import InvalidArgument
from gossamer.vectors.arrays import as_count, as_number, as_supplied
from gossamer.vectors.records import Effort, SearchResult, SearchStats

__all__ = [
    "SearchSession",
    "Supplied",
    "VectorsOf",
    "as_answer",
    "join_results",
    "to_core_effort",
]


@dataclass(frozen=True)
class Supplied:
    """Vectors of which some are not to be had: `missing` says which, a boolean for each row.

    What stands in the row of a missing vector does not matter.
    """

    vectors: ArrayLike
    missing: ArrayLike


# Gives the vectors of ids, one row each, in the same order; as Supplied if some cannot be had.
VectorsOf = Callable[[NDArray[np.int64]], ArrayLike | Supplied]


class SearchSession:
    """A search in progress, for full control over where vectors come from.

    Ask `wanted()` for ids, `supply()` their vectors, and repeat until nothing is wanted; then
    `nearest()` gives the hits. `VectorIndex.search` is this loop.
    """

    def __init__(
        self, core: _core.SearchBatch, queries: NDArray[np.float32], is_single: bool
    ) -> None:
        self._core = core
        self._queries, self._dim = queries.shape
        self._is_single = is_single
        self._fetch_s = 0.0

    def wanted(self) -> NDArray[np.int64]:
        """Ids whose vectors must be supplied next; empty once the search is over."""
        return self._core.wanted().astype(np.int64)

    def supply(self, vectors: ArrayLike, missing: ArrayLike | None = None) -> None:
        """Supply the vectors of `wanted()`, one row each, in the same order.

        `missing` says, by a boolean for each, which of them cannot be had (a file that changed):
        they are never returned, others are asked for in their place, and what stands in their rows
        does not matter.
        """
        given = vectors if missing is None else Supplied(vectors, missing)
        self._core.supply(*as_answer(given, self._core.wanted().size, self._dim))

    def run(self, vectors_of: VectorsOf) -> None:
        """Supply what is wanted, round after round, until the search is over."""
        while (ids := self.wanted()).size:
            start = time.perf_counter()
            answer = as_answer(vectors_of(ids), len(ids), self._dim)
            self._fetch_s += time.perf_counter() - start
            self._core.supply(*answer)

    def nearest(self) -> SearchResult:
        """Give the hits: all of them once nothing is wanted, the best so far before.

        Of several queries, one that has fewer hits than another ends with id -1 and infinity.
        """
        found, distances = self._core.nearest()
        ids = found.astype(np.int64)
        if self._is_single:
            return SearchResult(ids[0], distances[0], self.stats())
        return SearchResult(ids, distances, self.stats())

    def stats(self) -> SearchStats:
        """Say what the search has done so far."""
        counters = self._core.counters()
        return SearchStats(
            queries=self._queries,
            strategy=self._core.strategy.name.replace("_", "-"),
            effort=_effort_of(self._core.effort),
            rounds=counters.rounds,
            vectors_asked=counters.vectors_asked,
            vectors_fetched=counters.vectors_fetched,
            distances=counters.distances,
            codes_touched=counters.codes_touched,
            hops=counters.hops,
            find_s=counters.find_s,
            fetch_s=self._fetch_s,
            rank_s=counters.rank_s,
        )


def as_answer(
    given: ArrayLike | Supplied, count: int, dim: int
) -> tuple[NDArray[np.float32], NDArray[np.bool_] | None]:
    """Vectors that were asked for, as the core takes them: rows, and which of them are missing."""
    if not isinstance(given, Supplied):
        return as_supplied(given, count, dim), None
    missing = np.asarray(given.missing)
    if missing.dtype != np.bool_ or missing.shape != (count,):
        raise InvalidArgument(
            f"missing must be a boolean for each of {count} wanted ids, "
            f"not {missing.dtype} of shape {missing.shape}"
        )
    return as_supplied(given.vectors, count, dim), np.ascontiguousarray(missing)


def to_core_effort(effort: int | Effort | None) -> _core.Effort | None:
    """Check an effort and turn it into the core's; None leaves the choice to the recall."""
    if effort is None:
        return None
    core = _core.Effort()
    if isinstance(effort, Effort):
        core.rerank = as_count(effort.rerank, "effort.rerank")
        core.margin = as_number(effort.margin, "effort.margin")
        core.beam = as_count(effort.beam, "effort.beam")
        core.ratio = as_number(effort.ratio, "effort.ratio", least=0, most=1)
        core.batch = as_count(effort.batch, "effort.batch")
    else:
        core.rerank = core.beam = as_count(effort, "effort", least=1)
    return core


def join_results(parts: list[SearchResult]) -> SearchResult:
    """Put the results of consecutive queries together."""
    first = parts[0].stats
    names = {field.name for field in fields(SearchStats)} - {"strategy", "effort"}
    totals = {name: sum(getattr(part.stats, name) for part in parts) for name in names}
    return SearchResult(
        np.concatenate([part.ids for part in parts]),
        np.concatenate([part.distances for part in parts]),
        SearchStats(strategy=first.strategy, effort=first.effort, **totals),
    )


def _effort_of(core: _core.Effort) -> Effort:
    return Effort(core.rerank, core.margin, core.beam, core.ratio, core.batch)
