"""Lexical search without an index: as good as indexes of words, and how fast it reads."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.baselines.bm25s_words import Bm25s
from benchmarks.baselines.sqlite_fts import SqliteFts
from benchmarks.cases.answer_quality import best_documents
from benchmarks.indexes import scratch_folder
from benchmarks.long_questions import long_questions
from benchmarks.metrics import best_times
from benchmarks.report import Result, Row
from benchmarks.retrieval import CUT, SETS, Retrieval, data_folder, ndcg, records, retrieval
from benchmarks.word_texts import collect_files, collect_texts
from gossamer.index import Index
from gossamer.lexical.fts5 import FtsIndex
from gossamer.update.prepare import GivenText

TITLE = "lexical search: nDCG@10, and a pass over 14,535 files (mdn)"
# What a plain BM25 reaches on each set.
BARS = {"scifact": 0.679, "hotpotqa": 0.772, "locomo": 0.424, "cosqa": 0.338}
LONG = "rfc_abstracts"
CHUNK_BYTES = 900
LARGE_CHUNK_BYTES = 1 << 20  # of which a pass reads one at a time
CPU_BAR_S = 0.5  # a third of what a whole query may cost
SPEED_BAR = 500.0
REPETITIONS = 5
QUESTIONS = (
    "how to center a div with flexbox",
    "what is the difference between a promise and an async function when an error is thrown",
    "getElementById",
)

Search = Callable[[Sequence[str]], Sequence[Sequence[int]]]


def run() -> Result:
    """Each set against two setups of bm25s and two of FTS5; then reading speed."""
    quality = {name: _quality(retrieval(name)) for name in SETS}
    labels = quality[SETS[0]].keys()
    means = {label: float(np.mean([quality[name][label] for name in SETS])) for label in labels}
    rows = []
    for name in SETS:
        best = _best_rival(quality[name])
        rows.append(
            Row(
                f"nDCG@10 {name}",
                quality[name]["ours"],
                quality[name][best],
                best,
                BARS[name],
                at_least=True,
            )
        )
    best = _best_rival(means)
    rows.append(Row("nDCG@10, mean", means["ours"], means[best], best, 1.0, True, by_ratio=True))
    quality[LONG] = _quality(long_questions())
    best = _best_rival(quality[LONG])
    what = f"nDCG@10 {LONG}: questions of several sentences"
    ours, rival = quality[LONG]["ours"], quality[LONG][best]
    rows.append(Row(what, ours, rival, best, 1.0, True, by_ratio=True))
    speed_rows, speed = _speed()
    return Result([*rows, *speed_rows], {"ndcg": quality, "mean": means, "speed": speed})


def _quality(data: Retrieval) -> dict[str, float]:
    """nDCG of lexical search, its first ranking alone, and rivals built over the same texts."""
    searches: dict[str, Search] = {
        "ours": _index_over(data),
        "ours, the pass alone": _pass_over(data),
        "ours, FTS5 alone": _fts_over(data),
    }
    for rival in (
        Bm25s(data.texts, stem=False),
        Bm25s(data.texts, stem=True),
        SqliteFts(data.texts, "unicode61"),
        SqliteFts(data.texts, "porter"),
    ):
        searches[rival.name] = lambda questions, rival=rival: rival.search(questions, CUT)
    return {label: ndcg(search(data.questions), data.grades) for label, search in searches.items()}


def _index_over(data: Retrieval) -> Search:
    """As users search by words: long texts in several chunks, the best ranked again."""
    index = Index.create(scratch_folder(f"lexical-{data.name}"), model="pocket")
    documents = zip(data.ids, data.bodies, data.titles, strict=True)
    index.add_texts(GivenText(id, body, title) for id, body, title in documents)
    position = {id: place for place, id in enumerate(data.ids)}

    def search(questions: Sequence[str]) -> list[list[int]]:
        return [[position[id] for id in best_documents(index, "lexical", q)] for q in questions]

    return search


def _best_rival(scores: Mapping[str, float]) -> str:
    rivals = [label for label in scores if not label.startswith("ours")]
    return max(rivals, key=lambda label: scores[label])


def _pass_over(data: Retrieval) -> Search:
    texts = [text.encode() for text in data.texts]
    stored = collect_texts(texts)
    places = [place for place, text in enumerate(texts) if text]  # the others have no chunk

    def search(questions: Sequence[str]) -> list[list[int]]:
        return [[places[id - 1] for id in stored.rank(q, CUT)] for q in questions]

    return search


def _fts_over(data: Retrieval) -> Search:
    def search(questions: Sequence[str]) -> list[list[int]]:
        with (
            tempfile.TemporaryDirectory() as folder,
            FtsIndex(Path(folder) / "fts", 0, 0) as index,
        ):
            index.begin()
            index.add(range(len(data.texts)), (text.encode() for text in data.texts))
            index.commit(1, len(data.texts))
            return [index.search(question, CUT)[0].tolist() for question in questions]

    return search


def _speed() -> tuple[list[Row], dict[str, Any]]:
    """Warm passes over the pages of MDN as files, and over one file of all on one thread."""
    pages = [page["text"].encode() for page in records(data_folder() / "mdn" / "corpus.jsonl.zst")]
    with tempfile.TemporaryDirectory() as folder:
        files = collect_files(_write(Path(folder), pages), CHUNK_BYTES)
        works = [lambda question=question: files.rank(question, CUT) for question in QUESTIONS]
        best_times(works, 1)
        from_files = best_times(works, REPETITIONS)
    text = b"\n".join(pages)
    with tempfile.TemporaryDirectory() as folder:
        whole = collect_files(_write(Path(folder), [text]), LARGE_CHUNK_BYTES)
        works = [lambda question=question: whole.rank(question, CUT, 1) for question in QUESTIONS]
        best_times(works, 1)
        on_one_core = [seconds.cpu for seconds in best_times(works, REPETITIONS)]
    slowest = max(seconds.cpu for seconds in from_files)
    rows = [
        Row("CPU s of a query over the files", slowest, bar=CPU_BAR_S),
        Row("wall s of a query over the files", max(s.wall for s in from_files)),
        Row("MB/s of one core", len(text) / max(on_one_core) / 1e6, bar=SPEED_BAR, at_least=True),
    ]
    details = {
        "bytes": len(text),
        "files": len(pages),
        "questions": QUESTIONS,
        "files_cpu_s": [seconds.cpu for seconds in from_files],
        "files_wall_s": [seconds.wall for seconds in from_files],
        "one_core_cpu_s": on_one_core,
    }
    return rows, details


def _write(folder: Path, pages: Sequence[bytes]) -> list[Path]:
    paths = [folder / f"{i}.md" for i in range(len(pages))]
    for path, page in zip(paths, pages, strict=True):
        path.write_bytes(page)
    return paths
