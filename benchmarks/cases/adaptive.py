"""The adaptive stop against a fixed number of vectors, at equal recall."""

from benchmarks import ours
from benchmarks.datasets import mdn
from benchmarks.metrics import cost_at
from benchmarks.report import Result, Row

TITLE = "adaptive stop: vectors asked for, against a fixed R at equal recall@3"
K = 3
FIXED = (3, 4, 5, 6, 8, 10, 12, 15, 18, 22, 27, 33, 40, 50, 65, 85, 110, 150, 200)
ASKED = (0.85, 0.90, 0.95, 0.98)
BAR = 0.8


def run() -> Result:
    """Ask for a recall, see what is reached, and what a fixed R costs there."""
    data = mdn()
    index = ours.build(data.vectors, calibrate=True)
    options = {"vectors": data.vectors, "strategy": "scan"}
    fixed = ours.curve(index, data, K, FIXED, **options)
    adaptive = ours.dial_curve(index, data, K, ASKED, **options)

    rows = []
    for point in adaptive:
        rival = cost_at(fixed, point.recall)
        rows.append(
            Row(
                f"recall {point.recall:.3f} (asked for {point.effort:.2f})",
                ours=point.cost,
                rival=rival,
                rival_name="fixed R",
                bar=BAR,
                by_ratio=True,
            )
        )
    details = {name: [vars(p) for p in c] for name, c in (("fixed", fixed), ("dial", adaptive))}
    return Result(rows, details)
