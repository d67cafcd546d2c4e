"""HotpotQA, development set with distractors: questions that need two passages, among ten each."""

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.originals.download import MB, Source
from benchmarks.originals.layout import TextSet

SOURCES = (
    Source(
        "hotpot_dev_distractor_v1.json",
        "https://curtis.ml.cmu.edu/datasets/hotpot/hotpot_dev_distractor_v1.json",
        100 * MB,
    ),
)
QUESTIONS = 1000
SEED = 0


def make(files: Mapping[str, Path], folder: Path) -> TextSet:  # noqa: ARG001
    """Read the file."""
    return convert(json.loads(files["hotpot_dev_distractor_v1.json"].read_bytes()))


def convert(examples: Sequence[Mapping[str, Any]], count: int = QUESTIONS) -> TextSet:
    """Draw some questions; the passages of all their contexts are the documents, each once."""
    drawn = list(examples)
    if len(drawn) > count:
        drawn = random.Random(SEED).sample(drawn, count)
    number: dict[tuple[str, str], str] = {}
    questions, grades, answers = [], [], []
    for example in drawn:
        supporting = {title for title, _ in example["supporting_facts"]}
        found = []
        for title, sentences in example["context"]:
            passage = (title, "".join(sentences).strip())
            id = number.setdefault(passage, str(len(number)))
            if title in supporting:
                found.append(id)
        questions.append({"id": example["_id"], "text": example["question"]})
        answers.append({"id": example["_id"], "answers": [example["answer"]]})
        grades += [(example["_id"], id, 1) for id in dict.fromkeys(found)]
    documents = [{"id": id, "title": title, "text": text} for (title, text), id in number.items()]
    return TextSet(documents, questions, grades, answers)
