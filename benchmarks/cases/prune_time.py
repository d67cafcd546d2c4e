"""What pruning adds to a build."""

from benchmarks import ours
from benchmarks.datasets import mdn
from benchmarks.report import Result, Row

TITLE = "small-world and hierarchical pruning, as a share of the build"
BAR = 0.03


def run() -> Result:
    """The stages of one build on one thread, read from its progress every 50 ms."""
    data = mdn()
    stages = ours.build_seconds(data.vectors, keep="all", graph="slim", threads=1)
    share = stages["pruning"] / (stages["graph"] + stages["pruning"])
    rows = [
        Row("pruning / (building + pruning)", share, bar=BAR),
        Row("building the graph, s", stages["graph"]),
        Row("pruning it, s", stages["pruning"]),
    ]
    return Result(rows, {"stages_s": stages})
