"""What pruning adds to a build."""

from benchmarks import our_graphs
from benchmarks.datasets import mdn
from benchmarks.report import Result, Row

TITLE = "small-world and hierarchical pruning, as a share of the build"
BAR = 0.03


def run() -> Result:
    """The graph and its pruning on one thread, CPU seconds, the best of three prunings."""
    building, pruning = our_graphs.build_and_prune(mdn().vectors)
    rows = [
        Row("pruning / (building + pruning)", pruning / (building + pruning), bar=BAR),
        Row("building the graph, s", building),
        Row("pruning it, s", pruning),
    ]
    return Result(rows)
