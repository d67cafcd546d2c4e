"""What a question costs at recall@3 = 0.90 on every set, by every method."""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from benchmarks.contenders import (
    GOSSAMER,
    LEANN_DESIGN,
    Contender,
    K,
    contenders,
)
from benchmarks.embedding_cost import EmbeddingCost, embed_batches
from benchmarks.metrics import recall, smallest_effort
from benchmarks.report import Result, Row
from benchmarks.scale import scaled
from benchmarks.text_sets import NAMES, TextSet, text_set
from gossamer.embed import Embedder, load_embedder

TITLE = "a question at recall@3 = 0.90: chunks embedded again, and seconds"
TARGET = 0.90
SETS = scaled(
    NAMES,
    smoke=("scifact", "hotpotqa"),
    small=("scifact", "hotpotqa", "financebench", "rfc"),
)
TIMED = scaled(20, smoke=3, small=20)
REPETITIONS = scaled(3, smoke=1)
# Chunks of a set that are really embedded, so that everybody's are charged the same.
MOST_EMBEDDED = scaled(192, smoke=8, small=48)
A_BATCH = 8  # about what one round asks for
COMPARED = (LEANN_DESIGN, "IVF-recompute")


@dataclass(frozen=True)
class Measured:
    """One method on one set, at the smallest effort that reaches the target; seconds a question."""

    effort: int
    recall: float
    is_reached: bool
    bytes_a_chunk: float
    embedded: float  # chunks, over all questions of the set
    rounds: float  # over the timed questions
    setting: str
    search_s: float
    embed_s: float
    embed_cpu_s: float

    @property
    def seconds(self) -> float:
        """Retrieval as a whole."""
        return self.search_s + self.embed_s


def run() -> Result:
    """Every method on every set."""
    embedder = load_embedder("minilm")
    embedder.embed(["so that the model is warm"])
    embedder.embed_question("and that of questions")
    sets = {name: _measure_set(text_set(name), embedder) for name in SETS}
    details = {
        name: {
            "chunks": len(text_set(name).texts),
            "questions": len(text_set(name).questions),
            "methods": {method: asdict(one) for method, one in methods.items()},
        }
        for name, methods in sets.items()
    }
    rows = [row for name, methods in sets.items() for row in _rows(name, methods)]
    return Result(
        rows,
        {
            "target": TARGET,
            "k": K,
            "timed": TIMED,
            "embedded": MOST_EMBEDDED,
            "question_s": _question_seconds(embedder, text_set(SETS[0]).questions),
            "sets": details,
        },
    )


def _rows(name: str, methods: dict[str, Measured]) -> list[Row]:
    own = methods[GOSSAMER]
    embedded = own.embedded if own.is_reached else None
    return [
        Row(f"{name}: chunks embedded", embedded, _reached(methods[rival]), rival)
        for rival in COMPARED
    ] + [Row(f"{name}: seconds", own.seconds if own.is_reached else None)]


def _reached(one: Measured) -> float | None:
    return one.embedded if one.is_reached else None


def _measure_set(chunks: TextSet, embedder: Embedder) -> dict[str, Measured]:
    measured = {}
    cost = _chunk_cost(chunks, embedder)
    for alternatives in contenders(chunks):
        tuned = [(one, _effort(one, chunks)) for one in alternatives]
        best, effort = min(tuned, key=lambda pair: _cost(chunks, *pair))
        measured[best.name] = _measure(best, effort, chunks, cost)
    return measured


def _chunk_cost(chunks: TextSet, embedder: Embedder) -> EmbeddingCost:
    """Embed the chunks that are truly nearest to questions from all over the set, by batches."""
    asked = np.linspace(0, len(chunks.questions) - 1, MOST_EMBEDDED // A_BATCH).astype(int)
    batches = [chunks.data.truth[question, :A_BATCH] for question in asked]
    return embed_batches(embedder, chunks.texts, batches, MOST_EMBEDDED)


def _effort(one: Contender, chunks: TextSet) -> int | None:
    """Give the smallest effort that reaches the target; None if none does."""
    return smallest_effort(lambda effort: _recall(one, effort, chunks), TARGET, *one.efforts)


def _recall(one: Contender, effort: int, chunks: TextSet) -> float:
    found = one.search(slice(None), effort)
    return recall(found.ids, chunks.data.truth, K)


def _cost(chunks: TextSet, one: Contender, effort: int | None) -> tuple[bool, float]:
    """What the cheapest setting of a method is told by: first of all it must get there."""
    if effort is None:
        return True, 1 - _recall(one, one.efforts[1], chunks)
    return False, one.search(slice(None), effort).embedded


def _measure(one: Contender, effort: int | None, chunks: TextSet, cost: EmbeddingCost) -> Measured:
    used = one.efforts[1] if effort is None else effort
    found = one.search(slice(None), used)
    asked = range(min(TIMED, len(chunks.questions)))
    batches = [] if one.batches is None else [one.batches(question, used) for question in asked]
    return Measured(
        effort=used,
        recall=recall(found.ids, chunks.data.truth, K),
        is_reached=effort is not None,
        bytes_a_chunk=one.bytes_a_chunk,
        embedded=found.embedded,
        rounds=_mean([len(of_question) for of_question in batches]),
        search_s=_search_seconds(one, used, asked),
        setting=one.setting,
        embed_s=cost.wall_s_of(found.embedded),
        embed_cpu_s=cost.cpu_s_of(found.embedded),
    )


def _search_seconds(one: Contender, effort: int, asked: range) -> float:
    """Seconds of one question alone, the best of some repetitions; vectors are at hand."""
    best = []
    for question in asked:
        times = []
        for _ in range(REPETITIONS):
            start = time.perf_counter()
            one.search(slice(question, question + 1), effort)
            times.append(time.perf_counter() - start)
        best.append(min(times))
    return _mean(best)


def _question_seconds(embedder: Embedder, questions: Sequence[str]) -> float:
    """Seconds for the vector of a question, which every method but BM25 needs first."""
    times = []
    for question in questions[:TIMED]:
        start = time.perf_counter()
        embedder.embed_question(question)
        times.append(time.perf_counter() - start)
    return _mean(times)


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else 0.0
