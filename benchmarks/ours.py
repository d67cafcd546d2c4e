"""What the benchmarks ask of the engine: one place to change when its API does.

Graphs put together from its parts are in `our_graphs.py`, builds out of a stream in `streams.py`.
"""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

import gossamer
from benchmarks.baselines import GraphParameters
from benchmarks.datasets import Dataset, Floats, Ids
from benchmarks.metrics import Point, Seconds, recall, timed
from gossamer import _core
from gossamer.files import map_file
from gossamer.vectors import deltas
from gossamer.vectors.model_pack import unpack_codebook

Index = gossamer.VectorIndex
SEED = 1
SECTIONS = (
    "",
    "meta",
    "codebook",
    "codes",
    "vectors",
    "hot nodes",
    "graph",
    "source graph",
    "ids",
    "deleted",
    "calibration",
)


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
    metric: str = "ip",
    keep: str = "none",
    code_bytes: int | None = None,
    graph: str | None = None,
    threads: int = 2,
    calibrate: bool = False,
    **options: Any,
) -> Index:
    """Build an index with the benchmarks' seed; the graph's parameters are the rivals'.

    Calibration is left out where a case sets the effort itself.
    """
    if graph is not None:
        rivals = GraphParameters()
        options.setdefault("max_degree", rivals.max_degree)
        options.setdefault("build_effort", rivals.build_effort)
    return Index.build(
        vectors,
        metric=metric,
        keep=keep,
        code_bytes=code_bytes,
        graph=graph,
        threads=threads,
        calibrate=calibrate,
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
    make_effort: Callable[[int], int | gossamer.Effort] = int,
    **options: Any,
) -> list[Point]:
    """Recall against vectors asked for, one point an effort.

    `make_effort` turns the number into a record where a strategy has more than one knob.
    """
    points = []
    for effort in efforts:
        options["effort"] = make_effort(effort)
        answer = search(index, data.queries, k, vectors=vectors, **options)
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
    """Directed links a node on the base layer."""
    return float(index.stats().mean_degree)


def add(index: Index, vectors: Floats) -> Seconds:
    """Insert; one thread."""
    return timed(lambda: index.add(vectors))


def save(index: Index, path: Path) -> int:
    """Write the index; returns the bytes of its file."""
    return index.save(path)


def open_index(path: Path) -> Index:
    """Open a saved index."""
    return Index.open(path)


def start_edge(server: Index, path: Path) -> Index:
    """Let a server record its changes, and give an index that can follow them."""
    server.track()
    save_for_edge(server, path)
    return open_index(path)


def save_for_edge(index: Index, path: Path) -> int:
    """Write what an edge holds: not the graph that the slim one was pruned from."""
    return index.save(path, with_source=False)


def saved_bytes(index: Index) -> bytes:
    """What `save_for_edge` writes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "edge"
        save_for_edge(index, path)
        return path.read_bytes()


def delta_bytes(delta: bytes) -> dict[str, int]:
    """Bytes of a delta by part: graph, nodes, codes, vectors."""
    return deltas.delta_bytes(delta)


def join_deltas(consecutive: Sequence[bytes]) -> bytes:
    """Make one delta of several."""
    return deltas.join_deltas(consecutive)


def counted_bytes(index: Index) -> int:
    """What an index says it takes in memory."""
    stats = index.stats()
    return stats.vectors_bytes + stats.graph_bytes + stats.source_graph_bytes + stats.ids_bytes


def section_bytes(path: Path) -> dict[str, int]:
    """Bytes of each section of a saved index, by the names of docs/format.md."""
    return {SECTIONS[kind]: length for kind, length, _ in _core.sections(map_file(path))}


@dataclass(frozen=True)
class Looked:
    """What one query looked at on average: vectors asked for, and those that were kept too."""

    ids: Ids
    asked: float
    looked_at: float
    cpu_ms: float


def look(index: Index, queries: Floats, k: int, vectors: Floats, **options: Any) -> Looked:
    """Search as `search` does, but leave hot vectors as they are."""
    results: list[gossamer.SearchResult] = []

    def ask() -> None:
        for start in range(0, len(queries), 250):
            session = index.session(queries[start : start + 250], k, threads=1, **options)
            session.run(lambda ids: vectors[ids])
            results.append(session.nearest())

    seconds = timed(ask)
    count = len(queries)
    return Looked(
        ids=np.concatenate([result.ids for result in results]),
        asked=sum(result.stats.vectors_asked for result in results) / count,
        looked_at=sum(result.stats.distances for result in results) / count,
        cpu_ms=1000 * seconds.cpu / count,
    )


def add_asking(
    index: Index, ids: Ids, vectors: Floats, at_once: int, is_answered: bool = True
) -> tuple[float, float]:
    """Add these rows of `vectors` under their numbers, some at a time.

    Gives the vectors asked for and the CPU milliseconds, both for one of them. Where nobody
    answers, the index links by what its codes stand for.
    """
    asked: list[int] = []

    def vectors_of(wanted: Ids) -> Floats:
        asked.append(len(wanted))
        return vectors[wanted]

    def work() -> None:
        for start in range(0, len(ids), at_once):
            some = ids[start : start + at_once]
            index.add(vectors[some], some, vectors_of=vectors_of if is_answered else None)

    seconds = timed(work)
    return sum(asked) / len(ids), 1000 * seconds.cpu / len(ids)


def shipped_codebook() -> tuple[gossamer.Codebook, Any]:
    """Give the codebook that ships with the default model, and its calibration."""
    data = resources.files("gossamer.models") / "data" / "minilm.codebook"
    return unpack_codebook(data.read_bytes())


def train_on(vectors: Floats, code_bytes: int = 32) -> gossamer.Codebook:
    """Train a codebook that several indexes share."""
    return gossamer.train_codebook(vectors, code_bytes, "ip", SEED, 2)
