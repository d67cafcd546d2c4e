"""Two-level search with batching against exact-steered best-first, on the hub-pruned graph."""

from collections.abc import Callable

from benchmarks import ours
from benchmarks.datasets import mdn
from benchmarks.metrics import Point, cost_at
from benchmarks.report import Result, Row
from gossamer import Effort

TITLE = "two-level search: vectors asked for at recall@3, against exact-steered best-first"
K = 3
EFFORTS = (3, 4, 6, 8, 11, 16, 22, 32, 45, 64, 90, 128, 180, 256)
RATIOS = (0.1, 0.15, 0.2, 0.3)
BAR = 1 / 3

# A strategy's settings, each a curve of its own; the cheapest at a recall counts.
SETTINGS: dict[str, list[Callable[[int], int | Effort]]] = {
    "best-first": [int],
    "two-level": [lambda n, ratio=ratio: Effort(beam=n, ratio=ratio) for ratio in RATIOS],
    "lazy": [int],
    "walk": [lambda n: Effort(rerank=n, beam=256)],
}


def run() -> Result:
    """Strategies on one graph, at the recalls that matter."""
    data = mdn()
    index = ours.build(data.vectors, graph="hub")
    curves = {
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
    return Result(rows, details)


def cheapest(curves: list[list[Point]], target: float) -> float | None:
    """The lowest cost of a recall among several settings."""
    costs = [cost for curve in curves if (cost := cost_at(curve, target)) is not None]
    return min(costs, default=None)
