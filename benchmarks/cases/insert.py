"""Inserting a thousand vectors into a small and a large index."""

from benchmarks import ours
from benchmarks.datasets import mdn
from benchmarks.report import Result, Row
from benchmarks.scale import scaled

TITLE = 'insert 1,000 vectors (keep "all", slim graph), one thread, re-prune included'
ADDED = 1000
SIZES = SMALL, LARGE = scaled((15_000, 60_000), smoke=(700, 2_800), small=(2_200, 8_800))


def run() -> Result:
    """The re-prune must not grow with the index: 15,000 against 60,000 nodes."""
    taken = {size: insert(size) for size in SIZES}
    insert_s, prune_s = taken[LARGE]
    rows = [
        Row(f"ms an insert into {LARGE:,}", 1000 * insert_s / ADDED, bar=1.2),
        Row(f"re-prune, s, {LARGE:,} nodes", prune_s, bar=0.15),
        Row(
            f"re-prune, s, against {SMALL:,} nodes",
            prune_s,
            taken[SMALL][1],
            "quarter the nodes",
            bar=1.5,
            by_ratio=True,
        ),
    ]
    return Result(rows, {str(size): seconds for size, seconds in taken.items()})


def insert(size: int) -> tuple[float, float]:
    """Insert the next thousand into an index of the first `size` vectors.

    Gives the CPU seconds of it all, and the seconds of following the unpruned graph.
    """
    vectors = mdn().vectors
    index = ours.build(vectors[:size], keep="all", graph="slim", keep_source=True)
    seconds = ours.add(index, vectors[size : size + ADDED]).cpu
    return seconds, index.stats().prune_s
