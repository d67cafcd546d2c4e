"""One query over a million codes of 32 bytes, one thread, against faiss's PQ fast-scan."""

from benchmarks import ours
from benchmarks.baselines.faiss_fastscan import FaissFastScan
from benchmarks.datasets import synthetic
from benchmarks.metrics import best_times
from benchmarks.report import Result, Row
from benchmarks.scale import scaled

TITLE = "scan of a million codes of 32 B (a small run: 250,000), one query, one thread"
COUNT = scaled(1_000_000, smoke=20_000, small=250_000)
DIM = 128
CODE_BYTES = 32
BEST = 30
REPETITIONS = 20
BAR = 2.0


def run() -> Result:
    """Tables, scan and selection of the best 30; exact distances are not part of it."""
    vectors = synthetic(COUNT, DIM)
    queries = synthetic(REPETITIONS, DIM, seed=1)
    index = ours.build(vectors, code_bytes=CODE_BYTES)
    rival = FaissFastScan(vectors, CODE_BYTES)

    scans = []
    rivals = []
    for query in queries:
        answer = ours.search(index, query[None], 3, vectors=vectors, strategy="scan", effort=BEST)
        scans.append(answer.scan_s)
        (seconds,) = best_times([lambda query=query: rival.search(query, BEST)], 1)
        rivals.append(seconds.wall)

    mine, theirs = 1000 * min(scans), 1000 * min(rivals)
    gigabytes = COUNT * CODE_BYTES / 1e6
    rows = [
        Row("milliseconds", mine, theirs, rival.name, BAR, by_ratio=True),
        Row("GB/s", gigabytes / mine, gigabytes / theirs, rival.name),
    ]
    return Result(rows, {"ours_s": scans, "rival_s": rivals})
