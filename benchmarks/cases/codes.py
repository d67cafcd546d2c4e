"""How many vectors a scan of codes must ask for, against faiss's OPQ at the same bytes."""

import tempfile
from pathlib import Path

from benchmarks import ours
from benchmarks.baselines import faiss_opq
from benchmarks.datasets import Dataset, Ids, mdn
from benchmarks.metrics import recall, smallest_effort, vectors_for_recall
from benchmarks.report import Result, Row
from benchmarks.scale import scaled

TITLE = 'keep "none", scan: vectors asked for per query at recall@3'
BARS = {32: {0.90: 18, 0.95: 30}, 16: {0.90: 67, 0.95: 125}}
# Training faiss's rotation takes half a minute for each size.
SIZES = scaled((32, 16), smoke=(32,), small=(32,))
K = 3
# Not how faiss ranks, but what its codes would allow where all vectors are of one length.
BY_COSINE = "faiss OPQ, by cosine"
EFFORTS = (3, 5, 8, 12, 18, 25, 35, 50, 75, 100, 150, 200)


def run() -> Result:
    """32 and 16 bytes."""
    data = mdn()
    rows: list[Row] = []
    details = {}
    for code_bytes in SIZES:
        index, seconds = ours.timed_build(data.vectors, code_bytes=code_bytes)
        rival, by_cosine = (
            rank(data.vectors, data.queries, code_bytes, 1000, data.name)
            for rank in (faiss_opq.best_by_code, faiss_opq.best_by_cosine)
        )
        for target, bar in BARS[code_bytes].items():
            what = f"{code_bytes} B codes, recall {target:.2f}"
            rows += compare(index, data, rival, what, target, bar)
            rows.append(Row(what, rows[-1].ours, _needed(by_cosine, data, target), BY_COSINE))
        rows.append(Row(f"{code_bytes} B: train and encode, CPU seconds", seconds.cpu, bar=60))
        vector_bytes = data.vectors.nbytes / len(data.vectors)
        whole = file_bytes(index) / len(data.vectors)
        rows.append(Row(f"{code_bytes} B: whole file, B a vector", whole, vector_bytes, "vectors"))
        details[f"curve_{code_bytes}"] = [
            (point.cost, point.recall)
            for point in ours.curve(index, data, K, EFFORTS, vectors=data.vectors, strategy="scan")
        ]
        details[f"rival_curve_{code_bytes}"] = [
            (effort, recall_of_first(rival, data, effort)) for effort in EFFORTS
        ]
    return Result(rows, details)


def file_bytes(index: ours.Index) -> int:
    """Bytes of the index as a file: codes, codebook, calibration."""
    with tempfile.TemporaryDirectory() as folder:
        return ours.save(index, Path(folder) / "index")


def compare(
    index: ours.Index, data: Dataset, rival: Ids, what: str, target: float, bar: float
) -> list[Row]:
    """One recall of one code size: against the bar, and against what faiss needs in this run."""

    def recall_at(effort: int) -> float:
        answer = ours.search(
            index, data.queries, K, vectors=data.vectors, strategy="scan", effort=effort
        )
        return recall(answer.ids, data.truth, K)

    asked = smallest_effort(recall_at, target, K, 1000)
    return [
        Row(what, asked, bar=bar),
        Row(what, asked, _needed(rival, data, target), "faiss OPQ", bar=1.0, by_ratio=True),
    ]


def _needed(ranked: Ids, data: Dataset, target: float) -> int | None:
    return vectors_for_recall(ranked, data.truth, K, target)


def recall_of_first(ranked: Ids, data: Dataset, count: int) -> float:
    """Recall@3 after looking at the first `count` exactly."""
    is_true = (ranked[:, :count, None] == data.truth[:, None, :K]).any(axis=2)
    return float(is_true.sum(axis=1).mean() / K)
