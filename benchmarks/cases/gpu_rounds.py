"""What a round of re-embedding costs on a GPU, and what searches cost that need one or many.

A search that asks for its vectors in few, large rounds keeps a GPU busy; one that walks a graph
step by step waits for it. Everything goes through the product's own embedder.
"""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import ours
from benchmarks.datasets import Dataset, Floats, exact_nearest
from benchmarks.gpu.bulk import embed_bulk
from benchmarks.gpu.cutting import cut_set
from benchmarks.gpu.device import (
    embedder_of,
    machine,
    model_folders,
    package_versions,
    require_gpu,
)
from benchmarks.metrics import recall, smallest_effort
from benchmarks.report import Result, Row
from benchmarks.scale import scaled
from gossamer import Effort
from gossamer.embed import Embedder
from gossamer.text.tokenizer import bert_uncased

TITLE = "re-embedding on a GPU: rounds, and searches that need them"
SET = "mdn"
ROUNDS = scaled((1, 4, 16, 64, 256, 1024), smoke=(1, 4, 16))
MOST_ROUNDS_ON_CPU = scaled(1024, smoke=4)
ROUND_TOKENS = (220, 240)
ROUND_S = scaled(2.0, smoke=0.3)  # how long each is repeated, three times at least
LEAST_REPETITIONS = 3
QUESTIONS = scaled(100, smoke=5)
QUESTIONS_ON_CPU = scaled(20, smoke=2)
K = 3
TARGET = 0.90
RATIOS = (0.1, 0.15, 0.2, 0.3)
BATCHES = (1, 16, 64)
MOST_BEAM = 1024
MOST_MARGIN = 200  # in tenths

Measured = dict[str, Any]


def run() -> Result:
    """Rounds on GPU and CPU, then searches that embed what they ask for."""
    gpu = require_gpu()
    cut = cut_set(SET)
    folders = model_folders()
    embedder = embedder_of(folders[0], "gpu")
    on_cpu = embedder_of(folders[0], "cpu")
    details: Measured = {"gpu": gpu, "set": SET, "chunks": len(cut.chunks)}
    texts = [text for text in cut.chunks if ROUND_TOKENS[0] <= tokens_of(text) <= ROUND_TOKENS[1]]
    details["rounds"] = {
        **{f"GPU, {precision_of(one)}": rounds(one, texts, ROUNDS) for one in on_gpu(folders)},
        "CPU": rounds(on_cpu, texts, [n for n in ROUNDS if n <= MOST_ROUNDS_ON_CPU]),
    }
    vectors = embed_bulk(embedder, cut.chunks).astype(np.float32)
    questions = cut.sentences[:: max(1, len(cut.sentences) // QUESTIONS)][:QUESTIONS]
    queries = np.stack([embedder.embed_question(question) for question in questions])
    truth = exact_nearest(vectors, queries, K, "ip")
    data = Dataset(SET, vectors, queries, truth)
    details["searches"] = [
        measure(search, data, cut.chunks, {"GPU": embedder, "CPU": on_cpu})
        for search in searches(data)
    ]
    return Result(make_rows(details), details, {}, package_versions(), machine())


def on_gpu(folders: Sequence[Path]) -> list[Embedder]:
    """The model on the GPU in every precision that there is a folder of."""
    return [embedder_of(folder, "gpu") for folder in folders]


def precision_of(embedder: Any) -> str:
    """The precision of the weights, as torch names it."""
    return str(next(embedder._model.parameters()).dtype).removeprefix("torch.")


def tokens_of(text: str) -> int:
    """How many tokens a chunk has."""
    return int(bert_uncased().token_starts(text.encode()).size)


def rounds(embedder: Embedder, texts: Sequence[str], sizes: Sequence[int]) -> list[Measured]:
    """Milliseconds of rounds of so many chunks, other chunks each time, after one to warm up."""
    measured = []
    for size in sizes:
        embedder.embed(texts[:size])
        times: list[float] = []
        while len(times) < LEAST_REPETITIONS or sum(times) < ROUND_S:
            first = size * len(times) % max(1, len(texts) - size)
            start = time.perf_counter()
            embedder.embed(texts[first : first + size])
            times.append(time.perf_counter() - start)
        median = float(np.median(times))
        measured.append({"chunks": size, "ms": 1000 * median, "chunks_a_s": size / median})
    return measured


def searches(data: Dataset) -> list[Measured]:
    """Each way to search, with the least effort that reaches the recall on these questions."""
    codebook, _ = ours.shipped_codebook()
    scanned = ours.Index.create(codebook)
    scanned.add(data.vectors)
    walked = ours.build(data.vectors, graph="hub", threads=0)

    def margin(tenths: int) -> Effort:
        return Effort(margin=tenths / 10)

    def beam(width: int, batch: int, ratio: float) -> Effort:
        return Effort(beam=width, batch=batch, ratio=ratio)

    found = [
        cheapest("scan, adaptive stop", scanned, data, "scan", [margin], MOST_MARGIN),
        cheapest("scan, fixed number", scanned, data, "scan", [int], MOST_BEAM),
    ]
    for batch in BATCHES:
        settings = [lambda n, b=batch, r=ratio: beam(n, b, r) for ratio in RATIOS]
        name = f"LEANN's design, batch {batch}"
        found.append(cheapest(name, walked, data, "two-level", settings, MOST_BEAM))
    return [one for one in found if one]


def cheapest(
    name: str,
    index: ours.Index,
    data: Dataset,
    strategy: str,
    settings: Sequence[Callable[[int], int | Effort]],
    most: int,
) -> Measured:
    """The setting that asks for the fewest vectors at the recall; nothing if none reaches it."""
    best: Measured = {}
    for make_effort in settings:

        def answer(effort: int, make: Callable[[int], int | Effort] = make_effort) -> ours.Answer:
            return ours.search(
                index,
                data.queries,
                K,
                vectors=data.vectors,
                strategy=strategy,
                effort=make(effort),
            )

        effort = least_effort(lambda n, ask=answer: recall(ask(n).ids, data.truth, K), most)
        if effort is None:
            continue
        asked = answer(effort).vectors_asked
        if not best or asked < best["asked"]:
            best = {"name": name, "index": index, "strategy": strategy, "asked": asked}
            best["effort"] = make_effort(effort)
    return best


def least_effort(recall_at: Callable[[int], float], most: int) -> int | None:
    """The least effort that reaches TARGET: twice as much until it does, then by bisection."""
    low, high = 1, K
    while recall_at(high) < TARGET:
        low, high = high + 1, 2 * high
        if high > most:
            return None
    return smallest_effort(recall_at, TARGET, low, high)


def measure(
    search: Measured, data: Dataset, texts: Sequence[str], embedders: dict[str, Embedder]
) -> Measured:
    """Ask one question after the other; what a search wants is embedded."""
    counts = {"GPU": QUESTIONS, "CPU": QUESTIONS_ON_CPU}
    times = {
        where: ask_all(search, data.queries[: counts[where]], texts, embedder)
        for where, embedder in embedders.items()
    }
    gpu = times["GPU"]
    return {
        "name": search["name"],
        "recall": recall(gpu.pop("ids"), data.truth[:QUESTIONS], K),
        "asked": gpu.pop("asked"),
        "rounds": gpu.pop("rounds"),
        "effort": repr(search["effort"]),
        "s_a_query": {where: one["s"] for where, one in times.items()},
        "questions": {where: min(counts[where], len(data.queries)) for where in times},
    }


def ask_all(
    search: Measured, queries: Floats, texts: Sequence[str], embedder: Embedder
) -> Measured:
    """Mean seconds, vectors and rounds of a query, and what was found."""

    def vectors_of(ids: Any) -> Floats:
        return embedder.embed([texts[id] for id in ids])

    options = {"strategy": search["strategy"], "effort": search["effort"]}
    index: ours.Index = search["index"]
    index.search(queries[0], K, vectors_of=vectors_of, **options)
    start = time.perf_counter()
    found = [index.search(query, K, vectors_of=vectors_of, **options) for query in queries]
    seconds = (time.perf_counter() - start) / len(queries)
    return {
        "s": seconds,
        "ids": np.stack([one.ids for one in found]),
        "asked": sum(one.stats.vectors_asked for one in found) / len(found),
        "rounds": sum(one.stats.rounds for one in found) / len(found),
    }


def make_rows(details: Measured) -> list[Row]:
    """Seconds of each search, and the rounds' speed."""
    rows = [
        Row(f"{where}: chunks/s in rounds of {one['chunks']}", one["chunks_a_s"])
        for where, measured in details["rounds"].items()
        for one in (measured[0], measured[-1])
    ]
    scan = details["searches"][0]
    for one in details["searches"]:
        rows.append(Row(f"{one['name']}: re-embeddings a query", one["asked"]))
        rows.append(Row(f"{one['name']}: rounds a query", one["rounds"]))
    rows += [
        Row(
            f"{scan['name']}: seconds a query, {where}",
            scan["s_a_query"][where],
            one["s_a_query"][where],
            one["name"],
            by_ratio=True,
        )
        for one in details["searches"][1:]
        for where in one["s_a_query"]
    ]
    return rows
