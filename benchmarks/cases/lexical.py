"""Lexical search without an index: as good as indexes of words, and how fast it reads."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.baselines.bm25s_words import Bm25s
from benchmarks.baselines.sqlite_fts import SqliteFts
from benchmarks.metrics import best_times, timed
from benchmarks.report import Result, Row
from benchmarks.retrieval import CUT, SETS, Retrieval, data_folder, ndcg, records, retrieval
from gossamer.lexical import Buffer, Files, LexicalPass, Spans, rank
from gossamer.lexical.fts5 import FtsIndex

TITLE = "lexical search: nDCG@10, and a pass over 14,535 files (mdn)"
# What a plain BM25 reaches on each set.
BARS = {"scifact": 0.679, "hotpotqa": 0.772, "locomo": 0.424, "cosqa": 0.338}
CHUNK_BYTES = 900
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
    speed_rows, speed = _speed()
    return Result([*rows, *speed_rows], {"ndcg": quality, "mean": means, "speed": speed})


def _quality(data: Retrieval) -> dict[str, float]:
    """nDCG of the pass, of our FTS5 index, and of the rivals built over the same texts."""
    searches: dict[str, Search] = {"ours": _pass_over(data), "ours in FTS5": _fts_over(data)}
    for rival in (
        Bm25s(data.texts, stem=False),
        Bm25s(data.texts, stem=True),
        SqliteFts(data.texts, "unicode61"),
        SqliteFts(data.texts, "porter"),
    ):
        searches[rival.name] = lambda questions, rival=rival: rival.search(questions, CUT)
    return {label: ndcg(search(data.questions), data.grades) for label, search in searches.items()}


def _best_rival(scores: Mapping[str, float]) -> str:
    rivals = [label for label in scores if not label.startswith("ours")]
    return max(rivals, key=lambda label: scores[label])


def _pass_over(data: Retrieval) -> Search:
    texts = [text.encode() for text in data.texts]
    ends = np.cumsum([len(text) for text in texts])
    starts = np.concatenate([[0], ends[:-1]])
    buffer = Buffer(b"".join(texts), Spans(starts, ends, np.arange(len(texts))))

    def search(questions: Sequence[str]) -> list[list[int]]:
        found = []
        for question in questions:
            lexical = LexicalPass(question)
            lexical.add_buffer(buffer)
            found.append(lexical.result(CUT).numbers.tolist())
        return found

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
    """Warm passes over the pages of MDN as files, and over one buffer on one thread."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        files, text = _write_mdn(Path(folder))
        rank(QUESTIONS[0], CUT, files)
        works = [lambda question=question: rank(question, CUT, files) for question in QUESTIONS]
        from_files = best_times(works, REPETITIONS)
    whole = Buffer(text, Spans([0], [len(text)], [0]))
    in_memory = [
        min(timed(lambda q=q: LexicalPass(q).add_buffer(whole)).cpu for _ in range(REPETITIONS))
        for q in QUESTIONS
    ]
    slowest = max(seconds.cpu for seconds in from_files)
    rows.append(Row("CPU s of a query over the files", slowest, bar=CPU_BAR_S))
    rows.append(Row("wall s of a query over the files", max(s.wall for s in from_files)))
    speed = len(text) / max(in_memory) / 1e6
    rows.append(Row("MB/s of one core", speed, bar=SPEED_BAR, at_least=True))
    details = {
        "bytes": len(text),
        "files": len(files.paths),
        "questions": QUESTIONS,
        "files_cpu_s": [seconds.cpu for seconds in from_files],
        "files_wall_s": [seconds.wall for seconds in from_files],
        "memory_cpu_s": in_memory,
    }
    return rows, details


def _write_mdn(folder: Path) -> tuple[Files, bytes]:
    """Write every page to a file and cut it into chunks; give the whole text, too."""
    paths, texts, starts, ends, bounds = [], [], [], [], [0]
    for i, page in enumerate(records(data_folder() / "mdn" / "corpus.jsonl.zst")):
        texts.append(page["text"].encode())
        paths.append(folder / f"{i}.md")
        paths[-1].write_bytes(texts[-1])
        cuts = [*range(0, len(texts[-1]), CHUNK_BYTES), len(texts[-1])]
        starts += cuts[:-1]
        ends += cuts[1:]
        bounds.append(len(starts))
    spans = Spans(np.array(starts), np.array(ends), np.arange(len(starts)))
    return Files(paths, np.array(bounds), spans), b"\n".join(texts)
