"""How good the answers are: nDCG@10 of each mode, and of exact search with the same model."""

from collections.abc import Callable, Iterable
from functools import partial

import numpy as np

from benchmarks.embedding_cache import cached_minilm
from benchmarks.indexes import Chunks, create_index, read_chunks, scratch_folder
from benchmarks.report import Result, Row
from benchmarks.retrieval import CUT, SETS, Retrieval, limited, ndcg, retrieval
from benchmarks.scale import scaled
from gossamer.index import Index
from gossamer.update.prepare import GivenText

TITLE = "nDCG@10 of each mode, default settings, one text for each document"
LOSS_BAR = 0.005
SINGLE = ("semantic", "lexical")
MODES = (*SINGLE, "hybrid")
MOST_DOCUMENTS = scaled(10**9, smoke=400, small=600)
MOST_QUESTIONS = scaled(10**9, smoke=40, small=60)

Scores = dict[str, float]


def run() -> Result:
    """Every set; then what the modes reach on average."""
    scores = {name: _quality(retrieval(name)) for name in SETS}
    rows = [
        Row(
            f"{name}: semantic; the bar is what it loses",
            scores[name]["semantic"],
            scores[name]["exact"],
            "exact",
            LOSS_BAR,
            value=scores[name]["exact"] - scores[name]["semantic"],
        )
        for name in SETS
    ]
    for name in SETS:
        single, best = max((scores[name][mode], mode) for mode in SINGLE)
        rows.append(Row(f"{name}: hybrid", scores[name]["hybrid"], single, best))
    means = {
        mode: float(np.mean([scores[name][mode] for name in SETS])) for mode in scores[SETS[0]]
    }
    rows += [
        Row("mean: hybrid", means["hybrid"], means[mode], mode, 1.0, True, by_ratio=True)
        for mode in SINGLE
    ]
    return Result(rows, {"ndcg": scores, "mean": means})


def _quality(data: Retrieval) -> Scores:
    if len(data.ids) > MOST_DOCUMENTS:
        data = limited(data, MOST_DOCUMENTS, MOST_QUESTIONS)
    index = create_index(scratch_folder(data.name), cached_minilm())
    documents = zip(data.ids, data.bodies, data.titles, strict=True)
    index.add_texts(GivenText(id, body, title) for id, body, title in documents)
    position = {id: place for place, id in enumerate(data.ids)}
    exact = _exact(read_chunks(index))
    searches: dict[str, Callable[[str], Iterable[str]]] = {"exact": exact}
    for mode in MODES:
        searches[mode] = partial(best_documents, index, mode)
    return {
        mode: ndcg(
            [[position[id] for id in search(question)] for question in data.questions], data.grades
        )
        for mode, search in searches.items()
    }


def best_documents(index: Index, mode: str, question: str) -> list[str]:
    """The first CUT documents; more chunks are asked for where several are of one document."""
    k = CUT
    while True:
        hits = index.search(question, k, mode=mode, distinct=False, per_file=0)
        found = _first_documents(hit.source for hit in hits)
        if len(found) == CUT or len(hits) < k:
            return found
        k *= 2


def _exact(chunks: Chunks) -> Callable[[str], list[str]]:
    def search(question: str) -> list[str]:
        near = chunks.vectors @ cached_minilm().embed_question(question)
        return _first_documents(chunks.sources[place] for place in np.argsort(-near, kind="stable"))

    return search


def _first_documents(sources: Iterable[str]) -> list[str]:
    """Give the first CUT documents, each where its best chunk stands."""
    found: dict[str, None] = {}
    for source in sources:
        found[source] = None
        if len(found) == CUT:
            break
    return list(found)
