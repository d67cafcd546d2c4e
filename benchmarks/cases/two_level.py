"""Two-level search with batching against exact-steered best-first, on the hub-pruned graph."""

from benchmarks import ours
from benchmarks.datasets import mdn
from benchmarks.metrics import cost_at
from benchmarks.report import Result, Row

TITLE = "two-level search: vectors asked for at recall@3, against exact-steered best-first"
K = 3
EFFORTS = (3, 4, 6, 8, 11, 16, 22, 32, 45, 64, 90, 128, 180, 256)
BAR = 1 / 3
SHOWN = ("two-level", "lazy", "walk")


def run() -> Result:
    """Strategies on one graph, at the recalls that matter."""
    data = mdn()
    index = ours.build(data.vectors, graph="hub")
    curves = {
        strategy: ours.curve(index, data, K, EFFORTS, vectors=data.vectors, strategy=strategy)
        for strategy in ("best-first", *SHOWN)
    }
    rows = []
    for strategy in SHOWN:
        for target in (0.90, 0.95):
            asked, rival = cost_at(curves[strategy], target), cost_at(curves["best-first"], target)
            rows.append(
                Row(
                    f"{strategy}, recall {target:.2f}",
                    asked,
                    rival,
                    "best-first",
                    BAR if strategy == "two-level" else None,
                    by_ratio=True,
                )
            )
    details = {name: [vars(point) for point in curve] for name, curve in curves.items()}
    return Result(rows, details)
