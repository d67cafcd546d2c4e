"""A build within a fifth of the memory: what it peaks at, and what its graph is worth."""

import tempfile
from pathlib import Path

from benchmarks import ours
from benchmarks.datasets import mdn
from benchmarks.metrics import Point, cost_at, in_child
from benchmarks.report import Result, Row

TITLE = "bounded build with 1/5 of the memory, against the unbounded one"
K = 3
EFFORTS = (3, 4, 6, 8, 11, 16, 22, 32, 45, 64, 90, 128)
SHARE = 5


def run() -> Result:
    """Both builds run in processes of their own and read the same stream."""
    data = mdn()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        whole = in_child("build_bounded", 0, folder / "whole")
        budget = whole["peak"] // SHARE
        bounded = in_child("build_bounded", budget, folder / "bounded")
        curves = {
            name: ours.curve(
                ours.open_index(folder / name),
                data,
                K,
                EFFORTS,
                vectors=data.vectors,
                strategy="best-first",
            )
            for name in ("whole", "bounded")
        }

    rows = [
        Row(
            "peak MB above the start",
            bounded["peak"] / 1e6,
            whole["peak"] / 1e6,
            "unbounded",
            bar=1 / SHARE,
            by_ratio=True,
        ),
        Row("largest loss of recall@3 at equal effort", largest_loss(curves), bar=0.05),
        Row("seconds", bounded["seconds"], whole["seconds"], "unbounded"),
    ]
    for target in (0.90, 0.95):
        asked, rival = (cost_at(curves[name], target) for name in ("bounded", "whole"))
        what = f"vectors at recall {target:.2f}"
        rows.append(Row(what, asked, rival, "unbounded", 1.05, by_ratio=True))
    details = {name: [vars(point) for point in curve] for name, curve in curves.items()}
    return Result(rows, {"curves": details, "whole": whole, "bounded": bounded})


def largest_loss(curves: dict[str, list[Point]]) -> float:
    """How far the bounded curve falls below the other one, as a share of it."""
    pairs = zip(curves["whole"], curves["bounded"], strict=True)
    return max(0.0, *((whole.recall - bounded.recall) / whole.recall for whole, bounded in pairs))
