"""A million chunks of all sets and 500 questions, embedded by a model on a GPU, once.

    python -m benchmarks.gpu.pool

makes them ahead of the case that needs them, and says how fast it went.
"""

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.datasets import Floats, cache_folder
from benchmarks.gpu.bulk import embed_bulk
from benchmarks.gpu.cutting import LEFT_OUT_OF, SETS, Cut, cut_set
from benchmarks.gpu.device import MODEL, embedder_of, machine, model_folders
from benchmarks.scale import SCALE, scaled

WANTED = scaled(1_000_000, smoke=1_500, small=20_000)
QUESTIONS = scaled(500, smoke=30, small=100)
SEED = 8
# Made up to WANTED by chunks that are shifted by half a chunk.
SHIFTED = "rfc"


@dataclass(frozen=True)
class Pool:
    """Vectors in a random order, those of shifted chunks behind all others, and questions."""

    vectors: Floats
    queries: Floats
    facts: dict[str, Any]  # where they are from, and how long the model took


def pool() -> Pool:
    """Give what is kept, or make it."""
    folder = cache_folder() / f"gpu-pool-{SCALE}"
    if not (folder / "facts.json").exists():
        _make(folder)
    vectors, queries = (
        np.load(folder / f"{part}.npy", allow_pickle=False).astype(np.float32)
        for part in ("vectors", "queries")
    )
    return Pool(vectors, queries, json.loads((folder / "facts.json").read_text(encoding="utf-8")))


def _make(folder: Path) -> None:
    # All is cut before the model is loaded: processes that fork must not hold a GPU.
    start = time.perf_counter()
    cuts = {name: _cut_and_say(name) for name in SETS}
    cutting_s = time.perf_counter() - start
    texts, facts = _arranged(cuts)
    questions = _drawn([one for cut in cuts.values() for one in cut.sentences], QUESTIONS)
    embedder = embedder_of(model_folders()[0])
    embed_bulk(embedder, texts[:1000])
    start = time.perf_counter()
    vectors = embed_bulk(embedder, texts)
    facts |= {
        "questions": len(questions),
        "left_out_of": LEFT_OUT_OF,
        "cutting_s": cutting_s,
        "embedding_s": time.perf_counter() - start,
        "mean_characters": sum(map(len, texts)) / len(texts),
        **machine(),
    }
    queries = np.stack([embedder.embed_question(question) for question in questions])
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "vectors.npy", vectors, allow_pickle=False)
    np.save(folder / "queries.npy", queries.astype(np.float16), allow_pickle=False)
    (folder / "facts.json").write_text(json.dumps(facts, indent=1), encoding="utf-8")


def _cut_and_say(name: str) -> Cut:
    start = time.perf_counter()
    cut = cut_set(name, with_shifted=name == SHIFTED)
    took = time.perf_counter() - start
    print(f"  {name}: {len(cut.chunks):,} chunks, {took:.0f} s", flush=True)
    return cut


def _arranged(cuts: dict[str, Cut]) -> tuple[list[str], dict[str, Any]]:
    """All chunks in a random order, shifted ones behind them up to WANTED."""
    chunks = _drawn([chunk for cut in cuts.values() for chunk in cut.chunks], WANTED)
    shifted = _drawn(cuts[SHIFTED].shifted, WANTED - len(chunks))
    facts = {
        "sets": {name: len(cut.chunks) for name, cut in cuts.items()},
        "chunks": len(chunks),
        "shifted": len(shifted),
    }
    return chunks + shifted, facts


def _drawn(texts: list[str], most: int) -> list[str]:
    order = np.random.default_rng(SEED).permutation(len(texts))[:most]
    return [texts[place] for place in order.tolist()]


def main() -> None:
    """Make the pool and say what is in it."""
    if not model_folders():
        raise SystemExit(f"set {MODEL} to the folder of a sentence-transformers model")
    made = pool()
    speed = len(made.vectors) / made.facts["embedding_s"]
    print(json.dumps(made.facts, indent=1))
    print(f"{len(made.vectors):,} vectors, {len(made.queries)} questions, {speed:,.0f} chunks/s")


if __name__ == "__main__":
    main()
