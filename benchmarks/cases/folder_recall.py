"""Whether whole searches find what exact search with the same model finds, and at what cost."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.datasets import Floats, Ids
from benchmarks.embedding_cache import cached_minilm
from benchmarks.indexes import Chunks, mdn_index, open_index, read_chunks, search
from benchmarks.report import Result, Row
from benchmarks.retrieval import data_folder, records
from benchmarks.scale import scaled
from gossamer.index import Index

TITLE = "default search of mdn: recall against exact search, chunks embedded again (R)"
QUESTIONS = scaled(200, smoke=40, small=60)
BAR = 0.90
KS = (3, 10)
# Chunks that say the same are as near as each other, up to rounding.
ROUNDING = 1e-5


@dataclass(frozen=True)
class Reached:
    """What came of the default settings."""

    recall: float
    embedded: float  # R
    embedded_p95: float
    rounds: float


def run() -> Result:
    """Sentences of the pages themselves, with the chunks they stand in and without them."""
    index = open_index(mdn_index(), cached_minilm())
    chunks = read_chunks(index)
    file = records(data_folder() / "mdn" / "queries.jsonl.zst")
    questions = [question["text"] for question, _ in zip(file, range(QUESTIONS), strict=False)]
    vectors = np.stack([cached_minilm().embed_question(question) for question in questions])
    scores = vectors @ chunks.vectors.T
    everything = [np.zeros(0, np.int64)] * len(questions)
    rows, details = [], {}
    for label, left_out in (
        ("all chunks", everything),
        ("but the sentence's own", _holders(chunks, questions)),
    ):
        for k in KS:
            reached = _search(index, chunks, questions, scores, left_out, k)
            details[f"{label}, k={k}"] = reached.__dict__
            rows.append(Row(f"{label}: recall@{k}", reached.recall, bar=BAR, at_least=True))
            aim = " (aim 25)" if k == KS[0] else ""
            rows.append(Row(f"{label}: R at k={k}{aim}", reached.embedded))
    return Result(rows, {"chunks": len(chunks.ids), "questions": len(questions), **details})


def _search(
    index: Index,
    chunks: Chunks,
    questions: Sequence[str],
    scores: Floats,
    left_out: Sequence[Ids],
    k: int,
) -> Reached:
    shares, costs = [], []
    for question, near, without in zip(questions, scores, left_out, strict=True):
        is_allowed = np.ones(len(chunks.ids), bool)
        is_allowed[without] = False
        allowed = chunks.ids[is_allowed] if len(without) else None
        found = search(index, question, k, "semantic", allowed)
        least = np.partition(near[is_allowed], -k)[-k] - ROUNDING
        places = np.searchsorted(chunks.ids, [hit.id for hit in found])
        shares.append((near[places] >= least).sum() / k)
        costs.append((found.explanation.chunks_embedded, found.explanation.rounds))
    embedded, rounds = np.array(costs, float).T
    return Reached(
        recall=float(np.mean(shares)),
        embedded=float(embedded.mean()),
        embedded_p95=float(np.percentile(embedded, 95)),
        rounds=float(rounds.mean()),
    )


def _holders(chunks: Chunks, sentences: Sequence[str]) -> list[Ids]:
    """Places of the chunks that hold each sentence: to find those is no test."""
    texts = [_plain(text) for text in chunks.texts]
    plain = [_plain(sentence) for sentence in sentences]
    return [
        np.array([place for place, text in enumerate(texts) if sentence in text], np.int64)
        for sentence in plain
    ]


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", text)
