"""CoSQA: questions typed into a web search, and the Python functions that answer them."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.originals.download import MB, Source
from benchmarks.originals.layout import TextSet

PLACE = "https://raw.githubusercontent.com/Jun-jie-Huang/CoCLR/main/data/search/"
CODES = "code_idx_map.txt"
SPLITS = {"dev": "cosqa-retrieval-dev-500.json", "test": "cosqa-retrieval-test-500.json"}
SOURCES = tuple(Source(name, PLACE + name, 50 * MB) for name in (CODES, *SPLITS.values()))


def make(files: Mapping[str, Path], folder: Path) -> TextSet:  # noqa: ARG001
    """Read the three files."""
    codes = json.loads(files[CODES].read_bytes())
    splits = {split: json.loads(files[name].read_bytes()) for split, name in SPLITS.items()}
    return convert(codes, splits)


def convert(codes: Mapping[str, int], splits: Mapping[str, Sequence[Mapping[str, Any]]]) -> TextSet:
    """Take the functions with their numbers, and the questions of both splits."""
    documents = [{"id": str(number), "title": "", "text": code} for code, number in codes.items()]
    asked = [(split, one) for split, examples in splits.items() for one in examples]
    questions = [{"id": one["idx"], "text": one["doc"], "split": split} for split, one in asked]
    grades = [(one["idx"], str(one["retrieval_idx"]), 1) for _, one in asked]
    return TextSet(sorted(documents, key=lambda one: int(one["id"])), questions, grades)
