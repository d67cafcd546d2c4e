"""Recall against queries a second: contenders taken in turns in one process."""

from collections.abc import Callable, Mapping, Sequence

from benchmarks import ours
from benchmarks.datasets import Dataset, Ids
from benchmarks.metrics import Point, best_times, cost_at, recall

# Finds the nearest of all queries with an effort.
Search = Callable[[int], Ids]
Curves = dict[str, list[Point]]


def our_search(index: ours.Index, data: Dataset, k: int) -> Search:
    """Search an index of ours that keeps all vectors, on one thread."""
    return lambda effort: (
        ours.search(index, data.queries, k, strategy="best-first", effort=effort).ids
    )


def measure(
    searches: Mapping[str, Search], data: Dataset, k: int, efforts: Sequence[int], repetitions: int
) -> Curves:
    """Give a curve each: recall and CPU seconds a query, the best of some repetitions."""
    settings = [(name, effort) for name in searches for effort in efforts]
    times = best_times(
        [lambda name=name, effort=effort: searches[name](effort) for name, effort in settings],
        repetitions,
    )
    curves: Curves = {name: [] for name in searches}
    for (name, effort), seconds in zip(settings, times, strict=True):
        reached = recall(searches[name](effort), data.truth, k)
        curves[name].append(Point(effort, reached, seconds.cpu / len(data.queries)))
    return curves


def qps_at(curve: Sequence[Point], target: float) -> float | None:
    """Queries a second at a recall; None if it is not reached."""
    seconds = cost_at(curve, target)
    return None if seconds is None else 1 / seconds


def as_saved(curves: Curves) -> dict[str, list[tuple[float, float, float]]]:
    """Effort, recall and queries a second, for a result's file."""
    return {
        name: [(point.effort, point.recall, 1 / point.cost) for point in curve]
        for name, curve in curves.items()
    }
