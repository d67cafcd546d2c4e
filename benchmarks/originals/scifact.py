"""SciFact as BEIR packs it: claims, and abstracts that bear on them."""

import json
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from benchmarks.originals.download import MB, Source
from benchmarks.originals.layout import TextSet

SOURCES = (
    Source(
        "scifact.zip",
        "https://public.ukp.informatik.tu-darmstadt.de/thakur/BEIR/datasets/scifact.zip",
        50 * MB,
    ),
)


def make(files: Mapping[str, Path], folder: Path) -> TextSet:  # noqa: ARG001
    """Read the archive."""
    with zipfile.ZipFile(files["scifact.zip"]) as archive:
        corpus, queries, qrels = (
            archive.read(f"scifact/{name}").decode("utf-8").splitlines()
            for name in ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv")
        )
    return convert(corpus, queries, qrels)


def convert(corpus: Iterable[str], queries: Iterable[str], qrels: Iterable[str]) -> TextSet:
    """Take the lines of BEIR's three files; only questions that were judged are kept."""
    header, *lines = qrels
    if header.split("\t") != ["query-id", "corpus-id", "score"]:
        raise ValueError(f"qrels begin with {header!r}, not with the names that BEIR gives them")
    grades = [(question, document, int(grade)) for question, document, grade in map(_split, lines)]
    asked = {question for question, _, _ in grades}
    documents = [
        {"id": one["_id"], "title": one["title"], "text": one["text"]}
        for one in map(json.loads, corpus)
    ]
    questions = [
        {"id": one["_id"], "text": one["text"]}
        for one in map(json.loads, queries)
        if one["_id"] in asked
    ]
    return TextSet(documents, questions, grades)


def _split(line: str) -> list[str]:
    return line.split("\t")
