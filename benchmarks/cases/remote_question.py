"""What questions to an exported file at an address fetch of it, from Python, nothing cached."""

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import folders
from benchmarks.browser.product_page import MODEL
from benchmarks.browser.site import Site
from benchmarks.report import Result, Row
from benchmarks.retrieval import data_folder, records
from gossamer.index import Index
from gossamer.query.results import Results

TITLE = "a file at an address: what questions fetch of MDN, exported with the model pocket"
MODES = ("semantic", "hybrid", "lexical")
QUESTIONS = 21
K = 10
# The first is what `gossamer export` writes unless told otherwise, and is judged.
VECTORS = {"no vectors": "none", "int8 vectors": "int8"}
JUDGED = "no vectors"
WHOLE = "the whole file"
# Of the file: the first question, and each further one.
FIRST_BAR, NEXT_BAR = 0.1, 0.02
REOPENED_BAR = 4096  # B


def run() -> Result:
    """Ask each file in each mode, beginning with an empty cache each time."""
    rows: list[Row] = []
    details: dict[str, Any] = {}
    file = records(data_folder() / "mdn" / "queries.jsonl.zst")
    questions = [question["text"] for question, _ in zip(file, range(QUESTIONS), strict=False)]
    with tempfile.TemporaryDirectory() as name, Site([Path(name)]) as site:
        index = Index.create(Path(name) / "index", model=MODEL)
        index.add_paths([folders.mdn()])
        for choice, vectors in VECTORS.items():
            path = Path(name) / f"{vectors}.gossamer"
            report = index.export(path, vectors=vectors)
            sections, size = report.bytes_by_section, report.total_bytes
            details[choice] = {"bytes": size, "chunks": report.chunks, "sections": sections}
            # The index itself has codes alone.
            near = index if choice == JUDGED else Index.import_file(path, Path(name) / vectors)
            for mode in MODES:
                expected = [_hits(near.search(one, K, mode=mode)) for one in questions]
                with _empty_cache():
                    found = _visit(f"{site.url}{path.name}", questions, mode, expected)
                details[f"{choice}, {mode}"] = found
                rows += _rows(f"{choice}, {mode}", found, size, choice == JUDGED)
    return Result(rows, details)


@contextmanager
def _empty_cache() -> Iterator[None]:
    """Let nothing be known of any address."""
    before = os.environ.get("GOSSAMER_HOME")
    with tempfile.TemporaryDirectory() as home:
        os.environ["GOSSAMER_HOME"] = home
        try:
            yield
        finally:
            del os.environ["GOSSAMER_HOME"]
            if before is not None:
                os.environ["GOSSAMER_HOME"] = before


def _visit(
    url: str, questions: Sequence[str], mode: str, expected: Sequence[object]
) -> dict[str, Any]:
    """Open the file and ask all questions; then once more, with what was kept."""
    far = Index.open(url)
    took = [_fetched(far)]
    same = 0
    for question, hits in zip(questions, expected, strict=True):
        same += _hits(far.search(question, K, mode=mode)) == hits
        took.append(_fetched(far))
    again = Index.open(url)
    for question, hits in zip(questions, expected, strict=True):
        same += _hits(again.search(question, K, mode=mode)) == hits
    sizes, requests = np.array(took).T
    return {
        "open": took[0],
        "first": took[1],
        "next": np.diff(sizes[1:]).tolist(),
        "next_requests": np.diff(requests[1:]).tolist(),
        "all": took[-1],
        "reopened": _fetched(again),
        "same": same,
    }


def _rows(name: str, found: dict[str, Any], size: int, is_judged: bool) -> list[Row]:
    """Bytes against those of the whole file, requests, and whether the answers are right."""
    first, following = (FIRST_BAR, NEXT_BAR) if is_judged else (None, None)
    mean, requests = float(np.mean(found["next"])), float(np.mean(found["next_requests"]))
    return [
        Row(f"{name}: first question, B", found["first"][0], size, WHOLE, first, by_ratio=True),
        Row(f"{name}: first question, requests", found["first"][1]),
        Row(f"{name}: mean of 20 others, B", mean, size, WHOLE, following, by_ratio=True),
        Row(f"{name}: mean of 20 others, requests", requests),
        Row(f"{name}: all 21, B", found["all"][0], size, WHOLE),
        Row(f"{name}: opened again, all 21, B", found["reopened"][0], bar=REOPENED_BAR),
        Row(
            f"{name}: of 42 answers, the same as here",
            found["same"],
            bar=2 * QUESTIONS,
            at_least=True,
        ),
    ]


def _fetched(index: Index) -> tuple[int, int]:
    """Give the bytes that were fetched so far, and the requests."""
    remote = index.status().remote
    return int(str(remote["fetched"])), int(str(remote["requests"]))


def _hits(results: Results) -> list[tuple[object, ...]]:
    return [(hit.id, hit.first, hit.text, hit.score) for hit in results]
