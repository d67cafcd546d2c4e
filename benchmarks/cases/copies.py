"""Is each passage shown once? A documentation, and ten copies of it beside it."""

import shutil
from pathlib import Path
from statistics import mean

from benchmarks.documentation import corpus, labels
from benchmarks.embedding_cache import cached_minilm
from benchmarks.indexes import create_index, scratch_folder
from benchmarks.report import Result, Row
from benchmarks.scale import FULL, SCALE, scaled
from gossamer.index import Index
from gossamer.query.results import Results

TITLE = "each passage once: ten copies of a documentation beside it"
COPIES = 10
K = 5
CORPUS = "policy"
EVERY_QUESTION = scaled(1, smoke=15, small=5)
EVERY_FILE = scaled(1, smoke=40, small=4)


def run() -> Result:
    """Ask the same questions with copies as one hit, and with each as a hit of its own."""
    folder = copy_corpus()
    index = make_index()
    report = index.add_paths([folder])
    questions = [label.question for label in labels(CORPUS)][::EVERY_QUESTION]
    once = [index.search(question, K) for question in questions]
    each = [index.search(question, K, distinct=False, per_file=0) for question in questions]
    others = [len(hit.also) for results in once for hit in results]
    rows = [
        Row(
            f"distinct passages in the first {K}, the fewest of any question",
            min(map(count_distinct, once)),
            min(map(count_distinct, each)),
            "copies as hits",
            bar=K,
            at_least=True,
        ),
        Row(
            f"distinct passages in the first {K}, mean",
            mean(list(map(count_distinct, once))),
            mean(list(map(count_distinct, each))),
            "copies as hits",
        ),
        Row(
            f"hits that name all {COPIES} others, share",
            mean([count >= COPIES for count in others]),
            bar=0.95,
            at_least=True,
        ),
        Row("chunks embedded for a question", mean([r.explanation.chunks_embedded for r in once])),
    ]
    return Result(rows, {"questions": len(questions), "files": report.added, "others": others})


def copy_corpus() -> Path:
    """Put a documentation and its copies into folders beside each other."""
    pages = corpus(CORPUS)
    folder = scratch_folder("copies-pages")
    for number in range(1 + COPIES):
        target = folder / f"copy-{number}"
        target.mkdir(parents=True)
        for page in pages.files[::EVERY_FILE]:
            shutil.copy2(page, target / page.relative_to(pages.folder).as_posix().replace("/", "-"))
    return folder


def make_index() -> Index:
    """The default model; smaller runs take the smallest."""
    folder = scratch_folder("copies")
    if SCALE == FULL:
        return create_index(folder, cached_minilm())
    return Index.create(folder, model="pocket")


def count_distinct(results: Results) -> int:
    """Count different passages: what a page says, wherever it was copied to."""
    return len({(Path(hit.path).name, " ".join(hit.text.split())) for hit in results})
