"""What an update costs between server and edge: bytes, and time on both sides."""

import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from benchmarks import followers, ours
from benchmarks.datasets import WHOLE, Dataset, Ids, fashion, glove, mdn
from benchmarks.metrics import timed
from benchmarks.report import Result, Row
from benchmarks.scale import scaled

TITLE = "deltas of 1,000 inserts: bytes against the whole, seconds to make and to apply"
# GloVe takes minutes to fetch and to read.
SETS = scaled((mdn, fashion, glove), smoke=(mdn,), small=(mdn, fashion))
BATCH = scaled(1000, smoke=100, small=300)
BATCHES = 10
COUNT = scaled(WHOLE, smoke=4_000, small=12_000)
DELETIONS = 0.3
GRAPH_BAR_KB = 60.0
MAKE_BAR_S = 1.4
APPLY_BAR_S = 0.2
# What the code of HNSW-Slim's authors sends for 1,000 inserts, measured by others. MDN's vectors
# were not measured: the least of all is taken.
PEER = "HNSW-Slim's code, quoted"
PEER_KB = {"mdn": 530.0, "fashion": 530.0, "glove": 924.0}


@dataclass(frozen=True)
class Update:
    """One batch: bytes of its delta by part, and CPU seconds."""

    nodes_before: int
    parts: dict[str, int]
    insert_s: float
    take_s: float
    apply_s: float
    apply_and_save_s: float  # by the clock

    @property
    def make_s(self) -> float:
        """What the server does."""
        return self.insert_s + self.take_s

    @property
    def graph_kb(self) -> float:
        """Links, levels and tombstones; neither vectors nor codes."""
        return (self.parts["graph"] + self.parts["nodes"]) / 1e3


def run() -> Result:
    """Vectors of three sets, and then documents in a whole index."""
    rows: list[Row] = []
    details: dict[str, object] = {}
    for load in SETS:
        more, details[load.__name__] = _engine(load().first(COUNT))
        rows += more
    documents, details["documents"] = followers.measure()
    return Result([*rows, *documents], details)


def _engine(data: Dataset) -> tuple[list[Row], dict[str, object]]:
    """Insert the last vectors batch by batch; the last batch deletes, too."""
    start = len(data.vectors) - (BATCHES + 1) * BATCH
    server = ours.build(
        data.vectors[:start], metric=data.metric, keep="all", graph="slim", keep_source=True
    )
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "edge"
        edge = ours.start_edge(server, path)
        late = ours.open_index(path)
        updates, deltas = [], []
        for batch in range(BATCHES + 1):
            first = start + batch * BATCH
            deleted = _deleted(first) if batch == BATCHES else None
            update, delta = _update(server, edge, data, first, deleted, path)
            updates.append(update)
            deltas.append(delta)
        whole = ours.save_for_edge(server, path)
        joined, joined_s = _catch_up(late, deltas, server)
    rows = _rows(data.name, updates, whole, joined)
    details = {
        "updates": [asdict(update) for update in updates],
        "whole_bytes": whole,
        "joined": joined,
        "sum": _sum(updates),
        "joined_apply_s": joined_s,
    }
    return rows, details


def _update(
    server: ours.Index,
    edge: ours.Index,
    data: Dataset,
    first: int,
    deleted: Ids | None,
    path: Path,
) -> tuple[Update, bytes]:
    nodes = len(server)
    taken: list[bytes] = []

    def insert() -> None:
        if deleted is not None:
            server.delete(deleted)
        server.add(data.vectors[first : first + BATCH])

    inserting = timed(insert)
    taking = timed(lambda: taken.append(server.take_delta()))
    (delta,) = taken
    applying = timed(lambda: edge.apply_delta(delta))
    saving = timed(lambda: ours.save_for_edge(edge, path))
    update = Update(
        nodes_before=nodes,
        parts=ours.delta_bytes(delta),
        insert_s=inserting.cpu,
        take_s=taking.cpu,
        apply_s=applying.cpu,
        apply_and_save_s=applying.wall + saving.wall,
    )
    return update, delta


def _catch_up(
    late: ours.Index, deltas: Sequence[bytes], server: ours.Index
) -> tuple[dict[str, int], float]:
    """Bring an edge that missed all batches up to date by one joined delta."""
    joined = ours.join_deltas(deltas)
    seconds = timed(lambda: late.apply_delta(joined)).cpu
    assert ours.saved_bytes(late) == ours.saved_bytes(server), "the edge differs from the server"
    return ours.delta_bytes(joined), seconds


def _rows(where: str, updates: Sequence[Update], whole: int, joined: dict[str, int]) -> list[Row]:
    """The worst of the batches without deletions is judged."""
    inserts, deleting = updates[:-1], updates[-1]
    worst = max(inserts, key=lambda update: update.graph_kb)
    graph = worst.graph_kb
    total = sum(_sum(updates).values())
    size = f"{where}, {inserts[0].nodes_before // 1000}-{inserts[-1].nodes_before // 1000}k nodes"
    return [
        Row(f"{size}: graph part, KB", graph, PEER_KB[where], PEER, bar=GRAPH_BAR_KB),
        *(Row(f"{where}: {part}, KB", count / 1e3) for part, count in worst.parts.items() if count),
        Row(f"{where}: delta, KB", sum(worst.parts.values()) / 1e3, whole / 1e3, "whole index"),
        Row(
            f"{where}: with 30 % deletions, graph part, KB",
            deleting.graph_kb,
            PEER_KB[where],
            PEER,
        ),
        Row(
            f"{where}: {len(updates)} batches joined, KB",
            sum(joined.values()) / 1e3,
            total / 1e3,
            "sum",
        ),
        Row(
            f"{where}: the same, graph part, KB",
            (joined["graph"] + joined["nodes"]) / 1e3,
            sum(update.graph_kb for update in updates),
            "sum",
        ),
        Row(
            f"{where}: insert, re-prune and delta, CPU s",
            max(update.make_s for update in inserts),
            bar=MAKE_BAR_S,
        ),
        Row(f"{where}: of it the delta, CPU s", max(update.take_s for update in inserts)),
        Row(
            f"{where}: apply, CPU s",
            max(update.apply_s for update in updates),
            bar=APPLY_BAR_S,
        ),
        Row(f"{where}: apply and save, s", min(update.apply_and_save_s for update in updates)),
        Row(f"{where}: with deletions, insert and delta, CPU s", deleting.make_s),
    ]


def _sum(updates: Sequence[Update]) -> dict[str, int]:
    parts = updates[0].parts
    return {part: sum(update.parts[part] for update in updates) for part in parts}


def _deleted(count: int) -> Ids:
    chosen = np.random.default_rng(0).choice(count, round(DELETIONS * BATCH), replace=False)
    return np.sort(chosen)
