"""What the graph takes, in memory and on disk, against hnswlib's."""

import tempfile
from pathlib import Path

from benchmarks import ours
from benchmarks.baselines import GraphParameters
from benchmarks.baselines.hnswlib_hnsw import HnswlibHnsw
from benchmarks.datasets import mdn
from benchmarks.metrics import in_child, recall, smallest_effort
from benchmarks.report import Result, Row

TITLE = "graph bytes a node, slim graph against hnswlib M=30 (true RSS, file)"
K = 10


def run() -> Result:
    """Ours is what an index takes more with a graph than without; hnswlib's, beyond vectors."""
    data = mdn()
    nodes = len(data.vectors)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        slim = ours.build(data.vectors, graph="slim")
        with_graph = ours.save(slim, folder / "slim")
        without = ours.save(ours.build(data.vectors), folder / "codes")
        rival = HnswlibHnsw(data.vectors.shape[1], GraphParameters())
        rival.build(data.vectors, threads=2)
        rival.save(folder / "hnswlib")
        rival_disk = ((folder / "hnswlib").stat().st_size - data.vectors.nbytes) / nodes

        resident = in_child("search_ours", folder / "slim")["grown"]
        rival_memory = in_child("load_hnswlib", folder / "hnswlib")["grown"] - data.vectors.nbytes

    counted = slim.stats().graph_bytes / nodes
    memory, disk = resident / nodes, (with_graph - without) / nodes
    rival_memory /= nodes
    reach = effort_for_recall(0.95)
    rows = [
        Row("in memory, counted", counted, rival_disk, "hnswlib, links only", 1 / 8, by_ratio=True),
        Row("in memory, RSS", memory, rival_disk, "hnswlib, links only", 1 / 8, by_ratio=True),
        Row("in memory, RSS", memory, rival_memory, "hnswlib, true RSS"),
        Row("on disk", disk, rival_disk, "hnswlib", 1 / 25, by_ratio=True),
        Row("links a node", ours.links_per_node(slim)),
        Row('effort for recall@10 0.95, keep "all"', reach, bar=1000),
    ]
    return Result(rows, {"index_stats": str(slim.stats())})


def effort_for_recall(target: float) -> int | None:
    """The effort with which the slim graph over stored vectors reaches a recall."""
    data = mdn()
    index = ours.build(data.vectors, keep="all", graph="slim")

    def recall_at(effort: int) -> float:
        answer = ours.search(index, data.queries, K, strategy="best-first", effort=effort)
        return recall(answer.ids, data.truth, K)

    return smallest_effort(recall_at, target, K, 1000)
