"""What adding a chunk costs if no vectors are kept: LEANN's steps one by one, and ours."""

import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks import ours
from benchmarks.baselines.recomputed_insert import Inserted, RecomputedGraph, shared
from benchmarks.datasets import Dataset, Ids, mdn
from benchmarks.embedding_cost import chunk_cpu_ms
from benchmarks.metrics import recall
from benchmarks.report import Result, Row
from benchmarks.scale import scaled
from gossamer import Codebook

TITLE = "adding chunks where no vectors are kept: vectors asked for by one of them"
K = 3
CHUNKS = scaled(10**9, smoke=2_000, small=10_000)
# The chunks that come later are the nearest of so many queries: recall of these shows whether what
# was added is found, recall of others whether it did harm.
ANSWERED = scaled(200, smoke=10, small=60)
OTHERS = scaled(200, smoke=10, small=60)
AT_ONCE = 64
BEAM = 64
LOOKED_AT = 24
SEED = 6
# Measured by others with a stand-in for the model: 7,497 chunks, the package's default settings.
LEANN = "LEANN 0.3.8, quoted"
LEANN_ASKED = 2147.0


@dataclass(frozen=True)
class Step:
    """One way to add: what one chunk costs, and how well queries are answered afterwards."""

    name: str
    is_ours: bool
    asked: float
    cpu_ms: float | None  # of the insertion itself; None where it was run to be counted only
    search: str
    recall_added: float
    recall_others: float


@dataclass(frozen=True)
class Task:
    """What is there from the start, what comes later, and who asks for it."""

    data: Dataset
    later: Ids
    is_first: NDArray[np.bool_]
    codebook: Codebook

    def recalls(self, found: Ids) -> tuple[float, float]:
        """Of queries whose nearest were added, and of the others."""
        truth = self.data.truth
        return (
            recall(found[:ANSWERED], truth[:ANSWERED], K),
            recall(found[ANSWERED:], truth[ANSWERED:], K),
        )


def run() -> Result:
    """LEANN's steps are counted on a graph of faiss; ours are run."""
    task = _task()
    steps, parts = _leann_steps(task)
    steps += _our_steps(task)
    rows = [
        Row(f"vectors asked for, {step.name}", step.asked, LEANN_ASKED, LEANN)
        if step.is_ours
        else Row(f"vectors asked for, LEANN's design: {step.name}", step.asked)
        for step in steps
    ]
    details = {
        "chunks": int(task.is_first.sum()),
        "added": len(task.later),
        "queries": {"added": ANSWERED, "others": OTHERS},
        "at_once": AT_ONCE,
        "embedding_cpu_ms": chunk_cpu_ms(),
        "leann_released": LEANN_ASKED,
        "parts": parts,
        "steps": [asdict(step) for step in steps],
        "built_anew": _built_anew(task),
    }
    return Result(rows, details, {"order of chunks added": SEED})


def _task() -> Task:
    data = mdn().first(CHUNKS)
    count = ANSWERED + OTHERS
    data = Dataset(data.name, data.vectors, data.queries[:count], data.truth[:count])
    later = np.unique(data.truth[:ANSWERED, :K])
    is_first = np.ones(len(data.vectors), bool)
    is_first[later] = False
    codebook = ours.train_on(data.vectors[is_first])
    return Task(data, np.random.default_rng(SEED).permutation(later), is_first, codebook)


def _leann_steps(task: Task) -> tuple[list[Step], dict[str, float]]:
    """Every step of appendix B; naive and cached insertions make the same graph."""
    careful, careful_recalls = _insert_all(task, is_simple=False)
    simple, simple_recalls = _insert_all(task, is_simple=True)
    parts = {
        "walk": float(np.mean([one.found for one in careful])),
        "selecting": float(np.mean([one.selected for one in careful])),
        "linking back": float(np.mean([one.linked_back for one in careful])),
    }
    counted = {
        "naive": (sum(parts.values()), careful_recalls),
        "+ each vector once an insertion": (shared(careful, 1, task.later), careful_recalls),
        "+ links chosen by chance": (shared(simple, 1, task.later), simple_recalls),
        f"+ {AT_ONCE} at a time": (shared(simple, AT_ONCE, task.later), simple_recalls),
    }
    search = f"best-first, beam {BEAM}"
    steps = [
        Step(name, False, asked, None, search, *recalls)
        for name, (asked, recalls) in counted.items()
    ]
    return steps, parts


def _insert_all(task: Task, is_simple: bool) -> tuple[list[Inserted], tuple[float, float]]:
    graph = RecomputedGraph(task.data.vectors, task.later, threads=2)
    random = np.random.default_rng(SEED)
    inserted = [graph.insert(int(node), is_simple, random) for node in task.later]
    return inserted, task.recalls(graph.search(task.data.queries, K, BEAM))


def _our_steps(task: Task) -> list[Step]:
    """Each way begins with the same index."""
    ways = {
        "graph, one at a time": ("full", 1, True),
        f"graph, {AT_ONCE} at a time": ("full", AT_ONCE, True),
        "graph, links by codes alone": ("full", AT_ONCE, False),
        "codes alone (the default)": (None, AT_ONCE, True),
    }
    steps = []
    with tempfile.TemporaryDirectory() as folder:
        saved = {kind: Path(folder) / str(kind) for kind in ("full", None)}
        for kind, path in saved.items():
            ours.save(_build(task, kind, task.is_first), path)
        for name, (kind, at_once, is_answered) in ways.items():
            index = ours.open_index(saved[kind])
            asked, cpu_ms = ours.add_asking(
                index, task.later, task.data.vectors, at_once, is_answered=is_answered
            )
            search, recalls = _search(index, task, kind)
            steps.append(Step(name, True, asked, cpu_ms, search, *recalls))
    return steps


def _build(task: Task, kind: str | None, is_in: NDArray[np.bool_]) -> ours.Index:
    vectors = task.data.vectors[is_in]
    return ours.build(vectors, graph=kind, codebook=task.codebook, ids=np.flatnonzero(is_in))


def _search(index: ours.Index, task: Task, graph: str | None) -> tuple[str, tuple[float, float]]:
    """Search as the design does that the index stands for, always with the same effort."""
    strategy, effort = ("scan", LOOKED_AT) if graph is None else ("best-first", BEAM)
    data = task.data
    answer = ours.search(
        index, data.queries, K, vectors=data.vectors, strategy=strategy, effort=effort
    )
    name = f"scan, {LOOKED_AT} vectors" if graph is None else f"best-first, beam {BEAM}"
    return name, task.recalls(answer.ids)


def _built_anew(task: Task) -> list[dict[str, object]]:
    """The same searches where every chunk was there from the start."""
    none = np.empty(0, np.int64)
    graph = RecomputedGraph(task.data.vectors, none, threads=2)
    found = {"LEANN's design": task.recalls(graph.search(task.data.queries, K, BEAM))}
    for kind, name in (("full", "graph"), (None, "codes alone")):
        index = _build(task, kind, np.ones_like(task.is_first))
        found[name] = _search(index, task, kind)[1]
    return [
        {"name": name, "recall_added": recalls[0], "recall_others": recalls[1]}
        for name, recalls in found.items()
    ]
