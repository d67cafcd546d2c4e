"""Inserting a thousand vectors into a small and a large index."""

from benchmarks import ours
from benchmarks.datasets import mdn
from benchmarks.report import Result, Row

TITLE = 'insert 1,000 vectors (keep "all", slim graph), one thread, re-prune included'
ADDED = 1000
SIZES = SMALL, LARGE = 15_000, 60_000


def run() -> Result:
    """The re-prune must not grow with the index: 15,000 against 60,000 nodes.

    It is what an insert into a slim graph, which keeps the full one as its source, takes longer
    than an insert into the full one alone.
    """
    taken = {(size, graph): insert(size, graph) for size in SIZES for graph in ("full", "slim")}
    small_prune_s, prune_s = (taken[size, "slim"] - taken[size, "full"] for size in SIZES)
    rows = [
        Row(f"ms an insert into {LARGE:,}", 1000 * taken[LARGE, "slim"] / ADDED, bar=1.2),
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
    return Result(rows, {f"{graph} {size}": cpu_s for (size, graph), cpu_s in taken.items()})


def insert(size: int, graph: str) -> float:
    """CPU seconds of inserting the next thousand into an index of the first `size` vectors."""
    vectors = mdn().vectors
    index = ours.build(vectors[:size], keep="all", graph=graph, keep_source=graph == "slim")
    return ours.add(index, vectors[size : size + ADDED]).cpu
