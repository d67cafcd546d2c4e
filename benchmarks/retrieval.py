"""Texts with questions and judged answers, and how good a ranking of them is."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.datasets import REPOSITORY
from gossamer.text import zstd

SETS = ("scifact", "hotpotqa", "locomo", "cosqa")
CUT = 10
READ_BYTES = 1 << 20


@dataclass(frozen=True)
class Retrieval:
    """One text for each document, and for each question the grades of its answers."""

    name: str
    ids: list[str]
    titles: list[str]  # "" for none
    bodies: list[str]
    questions: list[str]
    grades: list[Mapping[int, float]]  # by position of the document
    answers: list[list[str]]  # what a reader would say to each question; none where nobody knows

    @cached_property
    def texts(self) -> list[str]:
        """The documents with their titles."""
        pairs = zip(self.titles, self.bodies, strict=True)
        return [f"{title}\n{body}" if title else body for title, body in pairs]


@cache
def retrieval(name: str) -> Retrieval:
    """One of SETS: the title and the text of each document, and the questions with answers."""
    folder = data_folder() / name
    documents = list(records(folder / "corpus.jsonl.zst"))
    position = {document["id"]: i for i, document in enumerate(documents)}
    grades: dict[str, dict[int, float]] = {}
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines():
        question, document, grade = line.split("\t")
        grades.setdefault(question, {})[position[document]] = float(grade)
    asked = [q for q in records(folder / "queries.jsonl.zst") if q["id"] in grades]
    said = folder / "answers.jsonl.zst"
    answers = {one["id"]: one["answers"] for one in records(said)} if said.exists() else {}
    return Retrieval(
        name=name,
        ids=[document["id"] for document in documents],
        titles=[document["title"] for document in documents],
        bodies=[document["text"] for document in documents],
        questions=[question["text"] for question in asked],
        grades=[grades[question["id"]] for question in asked],
        answers=[answers.get(question["id"], []) for question in asked],
    )


def limited(data: Retrieval, documents: int, questions: int) -> Retrieval:
    """Give the first questions, and their answers among evenly chosen documents."""
    asked = range(min(questions, len(data.questions)))
    answers = {place for question in asked for place in data.grades[question]}
    others = [place for place in range(len(data.ids)) if place not in answers]
    step = max(1, round(len(others) / max(1, documents - len(answers))))
    kept = sorted(answers.union(others[::step]))
    place_now = {place: now for now, place in enumerate(kept)}

    def pick(values: Sequence[str]) -> list[str]:
        return [values[place] for place in kept]

    return Retrieval(
        name=data.name,
        ids=pick(data.ids),
        titles=pick(data.titles),
        bodies=pick(data.bodies),
        questions=[data.questions[question] for question in asked],
        grades=[
            {place_now[place]: grade for place, grade in data.grades[question].items()}
            for question in asked
        ],
        answers=[data.answers[question] for question in asked],
    )


def ndcg(ranked: Sequence[Sequence[int]], grades: Sequence[Mapping[int, float]]) -> float:
    """Return the mean nDCG of the first CUT of each ranking, with linear gains."""
    discounts = 1 / np.log2(np.arange(2, CUT + 2))
    total = 0.0
    for found, known in zip(ranked, grades, strict=True):
        ideal = sorted(known.values(), reverse=True)[:CUT]
        gains = [known.get(int(document), 0.0) for document in found[:CUT]]
        best = float(np.dot(discounts[: len(ideal)], ideal))
        total += float(np.dot(discounts[: len(gains)], gains)) / best if best else 0.0
    return total / len(grades)


def records(path: Path) -> Iterator[dict[str, Any]]:
    """Give the records of a compressed file of JSON lines, one after another."""
    decompressor = zstd.ZstdDecompressor()
    rest = b""
    with open(path, "rb") as file:
        while block := file.read(READ_BYTES):
            *lines, rest = (rest + decompressor.decompress(block)).split(b"\n")
            yield from (json.loads(line) for line in lines if line)
    if rest:
        yield json.loads(rest)


def data_folder() -> Path:
    """Where the sets are: beside the folder that GOSSAMER_DATA names."""
    given = os.environ.get("GOSSAMER_DATA")
    folder = Path(given).parent if given else REPOSITORY.parent / "shared" / "data"
    if all((folder / name).is_dir() for name in SETS):
        return folder
    raise SystemExit(
        f"{', '.join(SETS)} are not in {folder}; set GOSSAMER_DATA to a folder beside them "
        "(see benchmarks/README.md)"
    )
