"""A hundred updates in a row: what becomes of memory, recall and speed."""

import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from benchmarks import ours
from benchmarks.churn import Churn
from benchmarks.datasets import WHOLE, Dataset, Ids, exact_nearest, mdn
from benchmarks.metrics import in_child
from benchmarks.report import Result, Row
from benchmarks.scale import scaled
from benchmarks.speed import Curves, as_saved, measure, our_search, qps_at

TITLE = "100 updates of 1 % with 30 % deletions (HNSW-Slim's table 5), slim f16"
DELETIONS = 0.3
K = 10
EFFORTS = (14, 20, 28, 40, 56, 80, 112, 160, 240)
TARGETS = (0.90, 0.95, 0.99)
FIXED_EFFORT = 56
REPETITIONS = scaled(5, 1)
# On the way: every so many batches, and only around the recall that is judged.
EVERY = 10
EFFORTS_ON_THE_WAY = (28, 40, 56, 80)
REPETITIONS_ON_THE_WAY = scaled(3, 1)
SMALL_COUNT = 4000
FRAGMENTED_BAR = 10.0
SPEED_BAR = 0.9
RECALL_BAR = 0.99


@dataclass(frozen=True)
class Look:
    """The updated index after some batches, beside one that was built from the same vectors."""

    batch: int
    count: int
    graph_bytes: float  # a node
    packed_bytes: float  # a node; the same graph saved and opened again
    fresh_bytes: float  # a node; of the index that was built
    edge_bytes: float  # a node; of an edge that followed by deltas
    recalls: dict[str, float]  # at the fixed effort
    qps: dict[str, float | None]  # at the first target that is judged

    @property
    def fragmented(self) -> float:
        """Percent of memory that packing anew would save."""
        return 100 * (self.graph_bytes / self.packed_bytes - 1)

    @property
    def edge_fragmented(self) -> float:
        """The same of the edge."""
        return 100 * (self.edge_bytes / self.packed_bytes - 1)


def run() -> Result:
    """The updated index, one updated without deletions, and one built from the same vectors."""
    data = mdn().first(scaled(WHOLE, smoke=SMALL_COUNT))
    looks, index = _follow(data)
    undeleted = _without_deletions(data)
    fresh = _fresh(data, np.arange(len(data.vectors)))
    contenders = {"updated": index, "no deletions": undeleted, "fresh": fresh}
    curves = _curves(data, contenders, EFFORTS, REPETITIONS)
    memory = in_child("update_long", DELETIONS, len(data.vectors))["looks"]
    rows = [*_memory_rows(looks, memory), *_recall_rows(looks[-1]), *_speed_rows(curves)]
    return Result(
        rows,
        {
            "looks": [asdict(look) for look in looks],
            "memory": memory,
            "qps": as_saved(curves),
        },
    )


def _memory_rows(looks: Sequence[Look], memory: Sequence[dict[str, float]]) -> list[Row]:
    last = looks[-1]
    worst = max(look.fragmented for look in looks)
    edge_worst = max(look.edge_fragmented for look in looks)
    # The first look comes after what every update needs has been set up.
    overheads = [look["grown"] / look["counted"] for look in memory]
    return [
        Row("fragmentation after the last batch, %", last.fragmented, bar=FRAGMENTED_BAR),
        Row("fragmentation, the worst of all looks, %", worst, bar=FRAGMENTED_BAR),
        Row("fragmentation of an edge after the last, %", last.edge_fragmented, bar=FRAGMENTED_BAR),
        Row("fragmentation of an edge, the worst, %", edge_worst, bar=FRAGMENTED_BAR),
        Row("graph B a node, packed", last.packed_bytes, last.fresh_bytes, "built anew"),
        Row("RSS against bytes counted, last look", overheads[-1], overheads[0], "first look"),
        Row("RSS grown, MB", memory[-1]["grown"] / 1e6),
    ]


def _recall_rows(last: Look) -> list[Row]:
    return [
        Row(
            f"recall@10 at effort {FIXED_EFFORT}",
            last.recalls["updated"],
            last.recalls["fresh"],
            "built anew",
            bar=RECALL_BAR,
            at_least=True,
            by_ratio=True,
        )
    ]


def _speed_rows(curves: Curves) -> list[Row]:
    rows = []
    for target in TARGETS:
        speeds = {name: qps_at(curve, target) for name, curve in curves.items()}
        rows += [
            Row(
                f"QPS at recall {target:.2f}",
                speeds["updated"],
                speeds[rival],
                said,
                bar=SPEED_BAR,
                at_least=True,
                by_ratio=True,
            )
            for rival, said in (("no deletions", "no deletions"), ("fresh", "built anew"))
        ]
    return rows


def _follow(data: Dataset) -> tuple[list[Look], ours.Index]:
    """Update, send each delta to an edge, and look every few batches."""
    churn = Churn(data.vectors, DELETIONS)
    looks = []
    with tempfile.TemporaryDirectory() as name:
        edge = ours.start_edge(churn.index, Path(name) / "edge")
        for batch in churn.run():
            edge.apply_delta(churn.index.take_delta())
            if batch.number % EVERY == 0:
                looks.append(_look(batch.number, data, churn, edge, Path(name)))
    return looks, churn.index


def _look(number: int, data: Dataset, churn: Churn, edge: ours.Index, folder: Path) -> Look:
    present = np.sort(churn.present)
    packed, followed = folder / "packed", folder / "followed"
    ours.save_for_edge(churn.index, packed)
    ours.save_for_edge(edge, followed)
    assert packed.read_bytes() == followed.read_bytes(), f"the edge differs at batch {number}"
    here = _part(data, present)
    fresh = _fresh(data, present)
    contenders = {"updated": churn.index, "fresh": fresh}
    curves = _curves(here, contenders, EFFORTS_ON_THE_WAY, REPETITIONS_ON_THE_WAY)
    reached = {
        name: next(point.recall for point in curve if point.effort == FIXED_EFFORT)
        for name, curve in curves.items()
    }
    return Look(
        batch=number,
        count=len(present),
        graph_bytes=_graph_bytes(churn.index),
        packed_bytes=_graph_bytes(ours.open_index(packed)),
        fresh_bytes=_graph_bytes(fresh),
        edge_bytes=_graph_bytes(edge),
        recalls=reached,
        qps={name: qps_at(curve, TARGETS[1]) for name, curve in curves.items()},
    )


def _without_deletions(data: Dataset) -> ours.Index:
    churn = Churn(data.vectors, 0.0)
    for _ in churn.run():
        pass
    return churn.index


def _fresh(data: Dataset, present: Ids) -> ours.Index:
    return ours.build(data.vectors[present], keep="all", graph="slim", ids=present)


def _curves(
    data: Dataset, indexes: dict[str, ours.Index], efforts: Sequence[int], repetitions: int
) -> Curves:
    searches = {name: our_search(index, data, K) for name, index in indexes.items()}
    return measure(searches, data, K, efforts, repetitions)


def _part(data: Dataset, present: Ids) -> Dataset:
    """The same queries, and the nearest among those that are there, by their ids."""
    vectors = data.vectors[present]
    truth = present[exact_nearest(vectors, data.queries, K, data.metric)]
    return Dataset(data.name, vectors, data.queries, truth, data.metric)


def _graph_bytes(index: ours.Index) -> float:
    stats = index.stats()
    return stats.graph_bytes / stats.count
