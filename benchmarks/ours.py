"""Every call the benchmarks make into Gossamer: one place to change when its API does."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import gossamer
from benchmarks.baselines import GraphParameters
from benchmarks.datasets import Dataset, Floats, Ids
from benchmarks.metrics import Point, Seconds, recall, timed

Index = gossamer.VectorIndex
SEED = 1


@dataclass(frozen=True)
class Answer:
    """Ids found, and what one query cost on average."""

    ids: Ids
    vectors_asked: float
    codes_touched: float
    rounds: float
    scan_s: float


def build(
    vectors: Floats,
    *,
    keep: str = "none",
    code_bytes: int = 32,
    graph: str | None = None,
    threads: int = 2,
    **options: Any,
) -> Index:
    """Build an index with the benchmarks' seed; the graph's parameters are the rivals'."""
    if graph is not None:
        rivals = GraphParameters()
        options.setdefault("max_degree", rivals.max_degree)
        options.setdefault("build_effort", rivals.build_effort)
    return Index.build(
        vectors,
        metric="ip",
        keep=keep,
        code_bytes=code_bytes,
        graph=graph,
        threads=threads,
        seed=SEED,
        **options,
    )


def timed_build(vectors: Floats, **options: Any) -> tuple[Index, Seconds]:
    """Build, and say how long it took."""
    built: list[Index] = []
    seconds = timed(lambda: built.append(build(vectors, **options)))
    return built[0], seconds


def search(
    index: Index, queries: Floats, k: int, *, vectors: Floats | None = None, **options: Any
) -> Answer:
    """Search on one thread. `vectors` answers what an index without vectors asks for."""
    if vectors is not None:
        options["vectors_of"] = lambda ids: vectors[ids]
    found = index.search(queries, k, threads=1, **options)
    count = len(queries)
    return Answer(
        ids=found.ids,
        vectors_asked=found.stats.vectors_asked / count,
        codes_touched=found.stats.codes_touched / count,
        rounds=found.stats.rounds / count,
        scan_s=found.stats.find_s / count,
    )


def curve(
    index: Index,
    data: Dataset,
    k: int,
    efforts: Sequence[int],
    *,
    vectors: Floats | None = None,
    **options: Any,
) -> list[Point]:
    """Recall against vectors asked for, one point an effort."""
    points = []
    for effort in efforts:
        answer = search(index, data.queries, k, vectors=vectors, effort=effort, **options)
        points.append(Point(effort, recall(answer.ids, data.truth, k), answer.vectors_asked))
    return points


def dial_curve(
    index: Index, data: Dataset, k: int, asked: Sequence[float], **options: Any
) -> list[Point]:
    """Recall reached against vectors asked for, one point an asked-for recall."""
    points = []
    for target in asked:
        answer = search(index, data.queries, k, recall=target, **options)
        points.append(Point(target, recall(answer.ids, data.truth, k), answer.vectors_asked))
    return points


def links_per_node(index: Index) -> float:
    """Directed links of all layers, divided by nodes."""
    stats = index.stats()
    return float(stats.links / stats.nodes)


def build_seconds(index: Index) -> dict[str, float]:
    """Seconds by stage of the build that made this index."""
    return dict(index.stats().build_s)


def add(index: Index, vectors: Floats) -> tuple[Seconds, float]:
    """Insert on one thread. Returns the time of it all, and the re-prune's part in seconds."""
    seconds = timed(lambda: index.add(vectors, threads=1))
    return seconds, float(index.stats().update_s["prune"])


def save(index: Index, path: Path) -> int:
    """Write the index; returns the bytes of its file."""
    index.save(path)
    return path.stat().st_size


def open_index(path: Path) -> Index:
    """Open a saved index."""
    return Index.open(path)


class Stream:
    """Vectors in parts of half precision, as a build that must not hold them all sees them."""

    def __init__(self, parts: Sequence[Path], batch: int = 2048) -> None:
        self._parts = [np.load(part, mmap_mode="r", allow_pickle=False) for part in parts]
        self._starts = np.cumsum([0] + [len(part) for part in self._parts])
        self._batch = batch

    def __len__(self) -> int:
        return int(self._starts[-1])

    def __iter__(self) -> Iterator[Floats]:
        for part in self._parts:
            for start in range(0, len(part), self._batch):
                yield np.asarray(part[start : start + self._batch], dtype=np.float32)

    def __call__(self, ids: Ids) -> Floats:
        rows = np.empty((len(ids), self._parts[0].shape[1]), dtype=np.float32)
        owners = np.searchsorted(self._starts, ids, side="right") - 1
        for owner in np.unique(owners):
            mine = owners == owner
            rows[mine] = self._parts[owner][ids[mine] - self._starts[owner]]
        return rows


def build_bounded(stream: Stream, memory: int | None) -> Index:
    """Build a full graph out of a stream, within `memory` bytes if given."""
    return build(stream, graph="full", memory=memory, vectors_of=stream)
