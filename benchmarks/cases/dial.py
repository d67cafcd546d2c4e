"""Recall as the dial: what is asked for against what real queries get."""

from dataclasses import replace

from benchmarks import ours
from benchmarks.datasets import Dataset, mdn
from benchmarks.report import Result, Row

TITLE = "asked-for recall against reached recall on the real queries (difference)"
ASKED = (0.80, 0.85, 0.90, 0.95, 0.98)
BAR = 0.01


def run() -> Result:
    """Calibrated on the data alone, and on half of the queries; measured on the other half."""
    data = mdn()
    half = len(data.queries) // 2
    unseen = replace(data, queries=data.queries[half:], truth=data.truth[half:])
    alone = ours.build(data.vectors, calibrate=True)
    told = ours.build(data.vectors, calibrate=True, calibration_queries=data.queries[:half])
    rows = [row for k in (3, 10) for row in differences(alone, data, k, "from the data")]
    for graph in ("full", "slim"):
        stored = ours.build(data.vectors, keep="all", graph=graph, code_bytes=0, calibrate=True)
        rows += differences(stored, data, 10, f"from the data, stored, {graph}", "best-first")
    rows += [row for k in (3, 10) for row in differences(told, unseen, k, "from 500 queries")]
    return Result(rows)


def differences(
    index: ours.Index, data: Dataset, k: int, name: str, strategy: str = "scan"
) -> list[Row]:
    """Neither missed nor overpaid: the difference counts both ways."""
    curve = ours.dial_curve(index, data, k, ASKED, vectors=data.vectors, strategy=strategy)
    return [
        Row(
            f"recall@{k} {point.effort:.2f}, calibrated {name}",
            point.recall,
            point.effort,
            "asked for",
            BAR,
            value=abs(point.recall - point.effort),
        )
        for point in curve
    ]
