"""Inserting a thousand vectors into a small and a large index."""

from benchmarks import ours
from benchmarks.datasets import mdn
from benchmarks.report import Result, Row

TITLE = 'insert 1,000 vectors (keep "all", slim graph), one thread, re-prune included'
ADDED = 1000
SMALL, LARGE = 15_000, 60_000


def run() -> Result:
    """The re-prune must not grow with the index: 15,000 against 60,000 nodes."""
    vectors = mdn().vectors
    taken = {}
    for size in (SMALL, LARGE):
        index = ours.build(vectors[:size], keep="all", graph="slim")
        taken[size] = ours.add(index, vectors[size : size + ADDED])
    seconds, prune_s = taken[LARGE]
    _, small_prune_s = taken[SMALL]
    rows = [
        Row(f"ms an insert into {LARGE:,}", 1000 * seconds.cpu / ADDED, bar=1.2),
        Row(f"re-prune, s, {LARGE:,} nodes", prune_s, bar=0.15),
        Row(
            f"re-prune, s, against {SMALL:,} nodes",
            prune_s,
            small_prune_s,
            "quarter the nodes",
            bar=1.5,
            by_ratio=True,
        ),
    ]
    return Result(rows, {str(size): [vars(s), prune] for size, (s, prune) in taken.items()})
