"""How long an HNSW takes to build on two threads, against faiss and the others."""

from benchmarks import ours
from benchmarks.baselines import GraphParameters, graph_rivals
from benchmarks.datasets import mdn
from benchmarks.metrics import Seconds, timed
from benchmarks.report import Result, Row
from benchmarks.scale import scaled

TITLE = 'build, keep "all", two threads (M=30, efC=128), seconds on the clock'
THREADS = 2
REPETITIONS = scaled(2, smoke=1)
BAR = 1.2


def run() -> Result:
    """Everyone in turns, the best of two."""
    data = mdn()
    taken: dict[str, list[Seconds]] = {}
    for _ in range(REPETITIONS):
        _, seconds = ours.timed_build(data.vectors, keep="all", graph="full", threads=THREADS)
        taken.setdefault("gossamer", []).append(seconds)
        for rival in graph_rivals(data.vectors.shape[1], GraphParameters()):
            seconds = timed(lambda rival=rival: rival.build(data.vectors, THREADS))
            taken.setdefault(rival.name, []).append(seconds)

    best = {name: min(run.wall for run in runs) for name, runs in taken.items()}
    mine = best.pop("gossamer")
    rows = [
        Row(
            "whole build",
            mine,
            seconds,
            name,
            BAR if name == "faiss HNSW" else None,
            by_ratio=True,
        )
        for name, seconds in best.items()
    ]
    return Result(rows, {name: [vars(run) for run in runs] for name, runs in taken.items()})
