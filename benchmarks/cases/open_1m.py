"""Opening an index of a million vectors."""

import statistics
import tempfile
from pathlib import Path

from benchmarks import ours
from benchmarks.datasets import synthetic
from benchmarks.metrics import in_child
from benchmarks.report import Result, Row

TITLE = 'open an index of 1,000,000 vectors (keep "all", slim graph, 96-d synthetic)'
COUNT = 1_000_000
DIM = 96


def run() -> Result:
    """Five fresh processes each open it; the median counts."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "million"
        # A quick graph: how good it is does not change how it opens.
        options = {"max_degree": 12, "build_effort": 32}
        index = ours.build(synthetic(COUNT, DIM), keep="all", graph="slim", **options)
        size = ours.save(index, path)
        del index
        opened = [in_child("open_ours", path) for _ in range(5)]

    seconds = statistics.median(one["seconds"] for one in opened)
    grown = statistics.median(one["grown"] for one in opened)
    rows = [
        Row("milliseconds to open", 1000 * seconds, bar=50),
        Row("RSS grows by MB", grown / 1e6, bar=50),
        Row("file, MB", size / 1e6),
    ]
    return Result(rows, {"opened": opened})
