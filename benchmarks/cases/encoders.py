"""A smaller encoder against the default: how good the answers are, what a question costs."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from benchmarks.answers import holds, telling
from benchmarks.cases.answer_quality import best_documents
from benchmarks.datasets import Floats
from benchmarks.embedding_cache import cached_minilm
from benchmarks.indexes import open_index, read_bodies, scratch_folder
from benchmarks.metrics import timed
from benchmarks.report import Result, Row
from benchmarks.retrieval import Retrieval, limited, ndcg, retrieval
from benchmarks.scale import scaled
from gossamer.embed import Embedder, load_embedder
from gossamer.errors import MissingModel
from gossamer.index import Index
from gossamer.models import find
from gossamer.update.prepare import GivenText

TITLE = "a smaller encoder: quality, speed, and a question by stage"
LARGE, SMALLER = "minilm", ("pocket", "potion")
SETS = ("hotpotqa", "scifact", "locomo", "cosqa")[: scaled(4, smoke=1)]
TIMED_SET = "hotpotqa"
MODES = ("semantic", "hybrid")
DOCUMENTS = scaled(3_000, smoke=150, small=400)
QUESTIONS = scaled(200, smoke=10, small=50)
TIMED_QUESTIONS = scaled(15, smoke=3, small=8)
TIMED_CHUNKS = scaled(64, smoke=4, small=16)
BEST = 3


@dataclass(frozen=True)
class Quality:
    """What one model reaches on one set in one mode."""

    ndcg: float
    answer_in_best: float | None  # None where nobody says what the answer is


@dataclass(frozen=True)
class Cost:
    """What one model costs; a question is warm, in the default mode."""

    model_bytes: int
    dim: int
    chunk_cpu_ms: float
    chunks: int
    codes_bytes_a_chunk: float
    question_ms: float
    question_cpu_ms: float
    embedded: float
    stages_ms: dict[str, float]


def run() -> Result:
    """The models that are on this machine; the others are named."""
    models = [LARGE, *filter(_is_here, SMALLER)]
    quality: dict[str, dict[str, dict[str, Quality]]] = {}
    costs: dict[str, Cost] = {}
    for name in SETS:
        data = limited(retrieval(name), DOCUMENTS, QUESTIONS)
        folders = {model: _build(data, model) for model in models}
        for model, folder in folders.items():
            quality.setdefault(model, {})[name] = _quality(data, _open(folder, model))
        if name == TIMED_SET:
            # The same for all, though those that take more tokens make larger ones.
            chunks = read_bodies(_open(folders[LARGE], LARGE))[:TIMED_CHUNKS]
            costs = {model: _cost(data, folders[model], model, chunks) for model in models}
    details = {
        "documents": DOCUMENTS,
        "questions": QUESTIONS,
        "timed_set": TIMED_SET,
        "missing": [model for model in SMALLER if model not in models],
        "quality": {
            model: {
                name: {mode: asdict(one) for mode, one in modes.items()}
                for name, modes in sets.items()
            }
            for model, sets in quality.items()
        },
        "cost": {model: asdict(cost) for model, cost in costs.items()},
    }
    return Result(list(_rows(quality, costs)), details)


def _rows(
    quality: dict[str, dict[str, dict[str, Quality]]], costs: dict[str, Cost]
) -> Iterator[Row]:
    large = costs[LARGE]
    for model, cost in costs.items():
        if model == LARGE:
            continue
        yield Row(f"{model}: CPU ms a chunk", cost.chunk_cpu_ms, large.chunk_cpu_ms, LARGE)
        yield Row(f"{model}: ms a question", cost.question_ms, large.question_ms, LARGE)
        for name, modes in quality[model].items():
            for mode, one in modes.items():
                rival = quality[LARGE][name][mode].ndcg
                yield Row(f"{model}: nDCG@10, {name}, {mode}", one.ndcg, rival, LARGE)


def _is_here(model: str) -> bool:
    try:
        find(model)
    except MissingModel:
        return False
    return True


def _build(data: Retrieval, model: str) -> Path:
    folder = scratch_folder(f"encoders-{data.name}-{model}")
    Index.create(folder, model=model)
    documents = zip(data.ids, data.bodies, data.titles, strict=True)
    _open(folder, model).add_texts(GivenText(*document) for document in documents)
    return folder


def _open(folder: Path, model: str) -> Index:
    """Open an index where time does not count: what the slow model gave before is kept."""
    return open_index(folder, cached_minilm() if model == LARGE else None)


def _quality(data: Retrieval, index: Index) -> dict[str, Quality]:
    position = {id: place for place, id in enumerate(data.ids)}
    answers = [telling(said) for said in data.answers]
    asked = [place for place, said in enumerate(answers) if said]
    found = {}
    for mode in MODES:
        ranked = [
            [position[id] for id in best_documents(index, mode, question)]
            for question in data.questions
        ]
        is_there = [
            holds(
                (hit.text for hit in index.search(data.questions[i], BEST, mode=mode)), answers[i]
            )
            for i in asked
        ]
        found[mode] = Quality(
            ndcg(ranked, data.grades), float(np.mean(is_there)) if is_there else None
        )
    return found


def _cost(data: Retrieval, folder: Path, model: str, chunks: list[str]) -> Cost:
    embedder = TimedEmbedder(load_embedder(model))
    index = open_index(folder, embedder)
    index.search("so that the model and all pages are warm")
    measured = [_ask(index, embedder, question) for question in data.questions[:TIMED_QUESTIONS]]
    seconds = timed(lambda: embedder.embed(chunks))
    status = index.status()
    return Cost(
        model_bytes=find(model).weights.path.stat().st_size,
        dim=embedder.dim,
        chunk_cpu_ms=1e3 * seconds.cpu / len(chunks),
        chunks=status.chunks,
        codes_bytes_a_chunk=status.bytes_by_part["vectors"] / status.chunks,
        question_ms=_mean(one.wall_ms for one in measured),
        question_cpu_ms=_mean(one.cpu_ms for one in measured),
        embedded=_mean(one.embedded for one in measured),
        stages_ms={
            stage: _mean(one.stages_ms[stage] for one in measured)
            for stage in measured[0].stages_ms
        },
    )


@dataclass(frozen=True)
class Asked:
    """One question."""

    wall_ms: float
    cpu_ms: float
    embedded: int
    stages_ms: dict[str, float]


def _ask(index: Index, embedder: "TimedEmbedder", question: str) -> Asked:
    """Ask, and part the embedding of chunks into reading, splitting into tokens, and the model."""
    before_ms, first = embedder.ms, len(embedder.texts)
    start = time.perf_counter(), time.process_time()
    explained = index.search(question).explanation
    wall_ms = 1e3 * (time.perf_counter() - start[0])
    cpu_ms = 1e3 * (time.process_time() - start[1])
    stages, texts = explained.stages, embedder.texts[first:]
    embed_ms = embedder.ms - before_ms
    tokens_ms = 1e3 * timed(lambda: embedder.tokenizer.encode(texts)).wall if texts else 0.0
    return Asked(
        wall_ms=wall_ms,
        cpu_ms=cpu_ms,
        embedded=explained.chunks_embedded,
        stages_ms={
            "words": stages.get("words", 0.0),
            "embed the question": stages.get("embed question", 0.0),
            "codes": stages.get("codes", 0.0),
            "read chunks": max(0.0, stages.get("embed chunks", 0.0) - embed_ms),
            "split into tokens": min(tokens_ms, embed_ms),
            "embed chunks": max(0.0, embed_ms - tokens_ms),
            "read hits": stages.get("read", 0.0),
        },
    )


class TimedEmbedder:
    """An `Embedder` that keeps the chunks it embedded, and how long that took."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.name = embedder.name
        self.fingerprint = embedder.fingerprint
        self.dim = embedder.dim
        self.max_tokens = embedder.max_tokens
        self.tokenizer = embedder.tokenizer
        self.texts: list[str] = []
        self.ms = 0.0

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Floats:
        """Embed chunks."""
        vectors: list[Floats] = []
        seconds = timed(lambda: vectors.append(self._embedder.embed(texts, progress)))
        self.ms += 1e3 * seconds.wall
        self.texts += texts
        return vectors[0]

    def embed_question(self, text: str) -> Floats:
        """Embed a question."""
        return self._embedder.embed_question(text)


def _mean(values: Iterator[float]) -> float:
    return float(np.mean(list(values)))
