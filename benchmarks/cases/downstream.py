"""What a reader of the three best chunks gets: do they hold the answer, what does an LLM say."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks.answers import exact_match, f1, holds, telling
from benchmarks.baselines import GraphParameters, faiss_opq, small_llm
from benchmarks.baselines.bm25s_words import Bm25s
from benchmarks.baselines.faiss_hnsw import FaissHnsw
from benchmarks.datasets import Ids
from benchmarks.indexes import read_chunks
from benchmarks.known_vectors import known_index
from benchmarks.metrics import recall, smallest_effort
from benchmarks.report import Result, Row, Skipped
from benchmarks.retrieval import Retrieval
from benchmarks.scale import scaled
from benchmarks.text_sets import TextSet, documents_of, text_set

TITLE = "The three best chunks: do they hold the answer, and what does a small LLM make of them"
K = 3
RECALL = 0.90
CODE_BYTES = 24  # as ours
LARGEST_EFFORT = 512
SETS = scaled(("hotpotqa", "locomo", "financebench"), smoke=("hotpotqa",))
ASKED_SET = "hotpotqa"
MOST_ASKED = scaled(12, smoke=2, small=2)
ASKED_OF = ("HNSW", "PQ codes alone", "BM25", "gossamer semantic", "gossamer hybrid")
MOST_CHARACTERS = 1_500  # of a passage; three fit into the LLM's context
CLOSED, GOLD = "closed book", "gold passages"

# The positions of the best chunks, a row for each question.
Found = Mapping[str, Ids]


def run() -> Result:
    """Retrieval on every set, then generation on one."""
    found = {name: _find(text_set(name)) for name in SETS}
    scores = {name: _score(text_set(name), documents_of(name), found[name]) for name in SETS}
    details: dict[str, Any] = {"retrieval": scores}
    rows = [row for name in SETS for row in _rows(name, scores[name]["methods"])]
    try:
        said = _generate(text_set(ASKED_SET), documents_of(ASKED_SET), found[ASKED_SET])
    except Skipped as reason:
        details["generation_skipped"] = str(reason)
        return Result(rows, details)
    details["generation"] = said
    by_ours, by_rival = (said["methods"][method] for method in ("gossamer semantic", "HNSW"))
    rows += [
        Row(f"{ASKED_SET}: {label} of a small LLM, semantic", by_ours[key], by_rival[key], "HNSW")
        for key, label in (("exact_match", "exact match"), ("f1", "F1"))
    ]
    return Result(rows, details, seeds={"llm": small_llm.SEED})


def _rows(name: str, methods: Mapping[str, Mapping[str, float]]) -> list[Row]:
    """Our two modes against the rivals."""
    pairs = (("semantic", "HNSW"), ("semantic", "PQ codes alone"), ("hybrid", "BM25"))
    return [
        Row(
            f"{name}: answer in the best three, {mode}",
            methods[f"gossamer {mode}"]["answer"],
            methods[rival]["answer"],
            rival,
        )
        for mode, rival in pairs
    ]


def _find(known: TextSet) -> Found:
    """Give the best K chunks of each question by every method."""
    data = known.data
    graph = FaissHnsw(data.vectors.shape[1], GraphParameters())
    graph.build(data.vectors, threads=2)
    search = partial(graph.search, data.queries, K)
    effort = smallest_effort(
        lambda effort: recall(search(effort), data.truth, K), RECALL, K, LARGEST_EFFORT
    )
    return {
        "exact": data.truth[:, :K],
        "HNSW": search(effort or LARGEST_EFFORT),
        "PQ codes alone": faiss_opq.answers_by_code(data.vectors, data.queries, CODE_BYTES, K),
        "BM25": np.array(Bm25s(known.texts, stem=True).search(known.questions, K)),
        "gossamer semantic": _ours(known, "semantic"),
        "gossamer hybrid": _ours(known, "hybrid"),
    }


def _ours(known: TextSet, mode: str) -> Ids:
    """Search the product's index, which has the same chunks in the same order."""
    index = known_index(known.name)
    chunks = read_chunks(index)
    assert chunks.texts == known.texts, "the text set was cut by another chunker"
    return np.array(
        [
            np.searchsorted(
                chunks.ids,
                [hit.id for hit in index.search(question, K, mode=mode, recall=RECALL)],
            )
            for question in known.questions
        ]
    )


def _score(known: TextSet, data: Retrieval, found: Found) -> dict[str, Any]:
    """Give the shares of questions whose best chunks hold the answer, or are of a right document.

    An answer counts where a right document has it word for word: others nobody can find so.
    """
    answers = [telling(said) for said in data.answers]
    gold = [[data.ids[place] for place in grades] for grades in data.grades]
    texts = dict(zip(data.ids, data.texts, strict=True))
    asked = [
        number
        for number, (said, right) in enumerate(zip(answers, gold, strict=True))
        if holds((texts[id] for id in right), said)
    ]
    return {
        "chunks": len(known.texts),
        "questions": len(gold),
        "with_answer": len(asked),
        "methods": {
            method: {
                "answer": _share(
                    holds((known.texts[place] for place in best[number]), answers[number])
                    for number in asked
                ),
                "document": _share(
                    any(known.documents[place] in right for place in row)
                    for row, right in zip(best, gold, strict=True)
                ),
                "recall": recall(best, known.data.truth, K),
            }
            for method, best in found.items()
        },
    }


def _generate(known: TextSet, data: Retrieval, found: Found) -> dict[str, Any]:
    """Let the LLM answer from what each method found; from nothing and from the right documents."""
    count = min(MOST_ASKED, len(data.questions))
    passages = {
        CLOSED: [[] for _ in range(count)],
        **{
            method: [[known.texts[place] for place in row] for row in found[method][:count]]
            for method in ASKED_OF
        },
        GOLD: [[data.texts[place] for place in grades] for grades in data.grades[:count]],
    }
    prompts = [
        _prompt(question, given)
        for texts in passages.values()
        for question, given in zip(data.questions, texts, strict=False)
    ]
    said = np.array(small_llm.generate(prompts), dtype=object).reshape(len(passages), count)
    return {
        "model": small_llm.NAME,
        "questions": count,
        "methods": {
            method: {
                "exact_match": _share(map(exact_match, row, data.answers)),
                "f1": _share(map(f1, row, data.answers)),
            }
            for method, row in zip(passages, said, strict=True)
        },
    }


def _prompt(question: str, passages: Sequence[str]) -> str:
    given = "".join(f"{passage[:MOST_CHARACTERS]}\n\n" for passage in passages)
    return f"{given}Question: {question}\nAnswer:"


def _share(scores: Iterable[float]) -> float:
    """Give the mean, 0 of nothing."""
    kept = list(scores)
    return sum(kept) / len(kept) if kept else 0.0
