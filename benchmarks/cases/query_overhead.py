"""What a question costs besides the encoder: warm, by CPU time, and from a new process.

The encoder is a stand-in: vectors that `line_vectors` made are looked up in a file, and the CPU
time of that is taken off. Files, chunks, codes, their codebook and the questions' vectors are those
of the default model, and about as many chunks are asked for as with its own vectors.

Two threads that count words side by side take more CPU time than in turns, so what all threads take
depends on who else uses the cores. Runs are compared by what is asked of one thread.
"""

import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from statistics import mean, median
from typing import Any
from unittest.mock import patch

from benchmarks import folders
from benchmarks.cases.query_cost import QUESTIONS as TYPED
from benchmarks.datasets import REPOSITORY, cache_folder
from benchmarks.indexes import create_index, open_index
from benchmarks.line_vectors import LineVectors
from benchmarks.metrics import Seconds
from benchmarks.report import Result, Row
from benchmarks.retrieval import data_folder, records
from benchmarks.scale import SCALE, scaled
from benchmarks.vector_table import VectorTable, save_table
from gossamer.embed import load_embedder
from gossamer.index import Index
from gossamer.query.results import Explanation
from gossamer.store.manifest import VERSION
from gossamer.vectors.vector_index import VectorIndex

TITLE = "a question to mdn besides the encoder, which a table stands in for"
SENTENCES = scaled(25, smoke=4, small=12)
ROUNDS = scaled(3, smoke=1)
COLD_REPETITIONS = scaled(10, smoke=2, small=5)
COLD_QUESTION = TYPED[0]
FILES = ["web/api/*"]  # more than a third of the chunks
numbers = count(1)


def _filter(number: int) -> dict[str, object]:
    """Give a filter; what it lets through is remembered, but not for another number."""
    return {"where": f'type in ["markdown", "kind {number}"]', "paths": FILES}


ONE_THREAD = "hybrid, one thread"
WAYS: dict[str, Callable[[], dict[str, Any]]] = {
    "hybrid": dict,
    ONE_THREAD: dict,
    "semantic": lambda: {"mode": "semantic"},
    "lexical": lambda: {"mode": "lexical"},
    "hybrid, the same filter": lambda: _filter(0),
    "hybrid, a new filter": lambda: _filter(next(numbers)),
}
SCANS = ("hybrid", "semantic", "hybrid, a new filter")  # whose passes over codes are told


@dataclass(frozen=True)
class Asked:
    """One question."""

    cpu_ms: float  # besides the encoder
    wall_ms: float
    explanation: Explanation


def run() -> Result:
    """Every way in turns, the best of some rounds for each question; then new processes."""
    folder = _index_folder()
    table = VectorTable(folder)
    threads = {way: 1 if way == ONE_THREAD else 0 for way in WAYS}
    opened = {n: open_index(folder / "index", table, n) for n in set(threads.values())}
    indexes = {way: opened[threads[way]] for way in WAYS}
    questions = _questions()
    passes = {way: _code_passes(indexes[way], questions, WAYS[way]) for way in WAYS}
    rounds = [
        {way: [_ask(indexes[way], table, one, WAYS[way]()) for one in questions] for way in WAYS}
        for _ in range(ROUNDS)
    ]
    costs = {way: _cost([one[way] for one in rounds]) for way in WAYS}
    cold = _cold(folder)
    chunks = rounds[0]["hybrid"][0].explanation.chunks
    rows = [
        *(Row(f"{way}: CPU ms", cost["cpu_ms"]) for way, cost in costs.items()),
        *(Row(f"{way}: passes over all codes", passes[way]) for way in SCANS),
        Row("hybrid: chunks asked for", costs["hybrid"]["embedded"]),
        Row("typed questions: chunks asked for", costs["hybrid"]["embedded_typed"]),
        *_cold_rows(cold),
    ]
    return Result(rows, {"chunks": chunks, "questions": questions, "warm": costs, "cold": cold})


def _index_folder() -> Path:
    """Give the folder of index and table; built once, for all checkouts that share a cache."""
    folder = cache_folder() / f"query-overhead-{SCALE}-{VERSION}"
    if folder.is_dir():
        return folder
    aside = folder.with_name(f".{folder.name}.part")
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir()
    model = LineVectors(load_embedder("minilm"))
    create_index(aside / "index", model).add_paths([folders.mdn()])
    for question in _questions():
        model.embed_question(question)
    save_table(aside, model, model.given.items())
    # Under its name only when it is whole.
    aside.rename(folder)
    Index.open(folder / "index").accept()
    return folder


def _questions() -> list[str]:
    """Give what people would type, and sentences of pages."""
    file = records(data_folder() / "mdn" / "queries.jsonl.zst")
    return [*TYPED, *(one["text"] for one, _ in zip(file, range(SENTENCES), strict=False))]


def _code_passes(
    index: Index, questions: Sequence[str], way: Callable[[], dict[str, Any]]
) -> float:
    """How often a question goes through all codes, on average; it warms up, too.

    An explanation leaves out the ranking by codes alone, which is a call of its own.
    """
    ranking = VectorIndex.estimate
    with patch.object(VectorIndex, "estimate", autospec=True, side_effect=ranking) as estimate:
        told = [index.search(question, **way()).explanation for question in questions]
    return mean(one.codes_touched / one.chunks for one in told) + estimate.call_count / len(told)


def _ask(index: Index, table: VectorTable, question: str, options: Mapping[str, Any]) -> Asked:
    encoder = table.cpu_s
    wall, cpu = time.perf_counter(), time.process_time()
    results = index.search(question, **options)
    cpu = time.process_time() - cpu - (table.cpu_s - encoder)
    return Asked(cpu * 1e3, (time.perf_counter() - wall) * 1e3, results.explanation)


def _cost(rounds: Sequence[Sequence[Asked]]) -> dict[str, Any]:
    """Medians over the questions, of each its best round; the clock includes the stand-in."""
    told = [one.explanation for one in rounds[-1]]
    cpu = [min(one.cpu_ms for one in column) for column in zip(*rounds, strict=True)]
    embedded = [one.chunks_embedded for one in told]
    return {
        "cpu_ms": median(cpu),
        "cpu_ms_of_each_round": [median(one.cpu_ms for one in asked) for asked in rounds],
        "cpu_ms_of_each": [round(ms, 2) for ms in cpu],
        "wall_ms": median(
            min(one.wall_ms for one in column) for column in zip(*rounds, strict=True)
        ),
        "embedded": mean(embedded),
        "embedded_typed": mean(embedded[: len(TYPED)]),
        "rounds": mean(one.rounds for one in told),
        "allowed": told[0].allowed_chunks,
        "stages_ms": {name: median(one.stages[name] for one in told) for name in told[0].stages},
    }


def _cold(folder: Path) -> dict[str, list[dict[str, float]]]:
    """New processes by turns; files are in the system's cache. Words alone load no model.

    The model itself would not do: its vectors are not those of the codes, so a search would end
    after a few chunks. `query_cost` measures a new process with it.
    """
    plain, table = ["gossamer"], ["benchmarks.cold_search", str(folder)]
    commands = {
        "lexical": (plain, "lexical"),
        "semantic": (table, "semantic"),
        "hybrid": (table, "hybrid"),
    }
    taken: dict[str, list[dict[str, float]]] = {name: [] for name in commands}
    for _ in range(COLD_REPETITIONS):
        for name, (program, mode) in commands.items():
            arguments = ["--index", str(folder / "index"), "search", "--mode", mode, COLD_QUESTION]
            seconds = _run([sys.executable, "-m", *program, *arguments], program is table)
            taken[name].append({"cpu_s": seconds.cpu, "wall_s": seconds.wall})
    return taken


def _run(command: Sequence[str], has_table: bool) -> Seconds:
    """Run a command; the table's own CPU time is taken off."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True, text=True)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    encoder = float(done.stderr.split()[-1]) if has_table else 0.0
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Seconds(wall, cpu - encoder)


def _cold_rows(cold: Mapping[str, Sequence[Mapping[str, float]]]) -> list[Row]:
    kinds = {"cpu_s": "CPU s", "wall_s": "s"}
    return [
        Row(f"new process, {name}: {kind}, {which}", choose(one[key] for one in taken))
        for name, taken in cold.items()
        for key, kind in kinds.items()
        for which, choose in (("least", min), ("median", median))
    ]
