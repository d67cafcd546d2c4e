"""Two-level search with batching against exact-steered best-first, on the hub-pruned graph."""

from collections.abc import Callable
from typing import Any

from benchmarks import ours
from benchmarks.baselines import leann_design
from benchmarks.datasets import Dataset, mdn
from benchmarks.metrics import Point, cost_at
from benchmarks.report import Result, Row
from benchmarks.scale import scaled
from benchmarks.search_steps import (
    BATCHES,
    TARGET,
    as_saved,
    measure_batches,
    step_costs,
    two_level,
)
from benchmarks.text_sets import text_set
from gossamer import Effort

TITLE = "two-level search: vectors asked for at recall@3, against exact-steered best-first"
K = 3
QUERIES = scaled(1_000, smoke=50, small=200)
SETS = ("scifact", "hotpotqa", "cosqa", "mdn")
# Its chunks are cut to the model's length; some of mdn's, made elsewhere, are longer.
TIMED = "scifact"
REPETITIONS = scaled(3, smoke=1, small=1)
EFFORTS = (3, 4, 6, 8, 11, 16, 22, 32, 45, 64, 90, 128, 180, 256)
RATIOS = (0.05, 0.1, 0.15, 0.2, 0.3)
BAR = 1 / 3

# A strategy's settings, each a curve of its own; the cheapest at a recall counts.
SETTINGS: dict[str, list[Callable[[int], int | Effort]]] = {
    "best-first": [int],
    "two-level": [two_level(ratio, Effort().batch) for ratio in RATIOS],
    "lazy": [int],
    "walk": [lambda n: Effort(rerank=n, beam=256)],
}


def run() -> Result:
    """Strategies on one graph at the recalls that matter, then LEANN's steps on several sets."""
    whole = mdn().first(len(text_set("mdn").data.vectors))
    data = Dataset(whole.name, whole.vectors, whole.queries[:QUERIES], whole.truth[:QUERIES])
    index = ours.build(data.vectors, graph="hub")
    curves = strategy_curves(index, data)
    rows = [
        Row(
            f"{strategy}, recall {target:.2f}",
            cheapest(curves[strategy], target),
            cheapest(curves["best-first"], target),
            "best-first",
            BAR if strategy == "two-level" else None,
            by_ratio=True,
        )
        for strategy in ("two-level", "lazy", "walk")
        for target in (0.90, 0.95)
    ]
    details = {
        name: [[vars(point) for point in curve] for curve in family]
        for name, family in curves.items()
    }
    return Result(rows, details | steps())


def strategy_curves(index: ours.Index, data: Dataset) -> dict[str, list[list[Point]]]:
    """A curve for each setting of each strategy."""
    return {
        strategy: [
            ours.curve(
                index,
                data,
                K,
                EFFORTS,
                vectors=data.vectors,
                strategy=strategy,
                make_effort=make_effort,
            )
            for make_effort in settings
        ]
        for strategy, settings in SETTINGS.items()
    }


def steps() -> dict[str, Any]:
    """What each step costs on each set, and what the model takes for a batch in this run."""
    batch_seconds = measure_batches(text_set(TIMED).texts[: max(BATCHES)], REPETITIONS)
    found: dict[str, Any] = {}
    for name in SETS:
        data = text_set(name).data
        costs = as_saved(step_costs(leann_design.build(data.vectors), data, batch_seconds))
        found[name] = {"chunks": len(data.vectors), "queries": len(data.queries), "steps": costs}
    return {"target": TARGET, "batch_seconds": batch_seconds, "sets": found}


def cheapest(curves: list[list[Point]], target: float) -> float | None:
    """The lowest cost of a recall among several settings."""
    costs = [cost for curve in curves if (cost := cost_at(curve, target)) is not None]
    return min(costs, default=None)
