"""Questions to evaluate an index with: the user's own, or sentences of the indexed text."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gossamer.errors import InvalidArgument
from gossamer.query.passages import Passages

__all__ = ["Question", "make_questions", "read_questions"]

_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+|\n\s*\n")
_LETTERS = re.compile(r"[^\W\d_]{2}")
# Shorter ones say nothing, longer ones are no question.
_LEAST_CHARS = 20
_MOST_CHARS = 300


@dataclass(frozen=True, slots=True)
class Question:
    """Something to ask, and the file that answers it if that is known."""

    text: str
    path: str = ""  # as it is indexed, or the end of it
    made_from: int = -1  # the chunk that it stands in; -1 if none


def read_questions(path: Path) -> list[Question]:
    """Read one question from each line: as it stands, or a JSON object with "question".

    "path" in such an object names the file that answers it. InvalidArgument says what is wrong
    with which line.
    """
    questions = []
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith("{"):
            questions.append(_parse(line, f"{path}:{number}"))
        elif line.strip():
            questions.append(Question(line.strip()))
    if not questions:
        raise InvalidArgument(f"{path} holds no questions; write one on each line")
    return questions


def make_questions(
    passages: Passages, ids: NDArray[np.int64], count: int, random: np.random.Generator
) -> list[Question]:
    """Make questions of sentences that stand in these chunks; fewer where fewer have any."""
    questions: list[Question] = []
    shuffled = random.permutation(ids)
    for start in range(0, len(ids), count):
        for passage in passages.read(shuffled[start : start + count]):
            sentence = "" if passage is None else _pick_sentence(passage.body, random)
            if passage is not None and sentence:
                questions.append(Question(sentence, made_from=passage.id))
        if len(questions) >= count:
            break
    return questions[:count]


def _pick_sentence(text: str, random: np.random.Generator) -> str:
    """Pick one sentence; "" where there is none that could be a question."""
    pieces = (" ".join(piece.split()) for piece in _SENTENCE_END.split(text))
    sentences = [
        piece[:_MOST_CHARS]
        for piece in pieces
        if len(piece) >= _LEAST_CHARS and _LETTERS.search(piece)
    ]
    return sentences[int(random.integers(len(sentences)))] if sentences else ""


def _parse(line: str, place: str) -> Question:
    try:
        given = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InvalidArgument(f"{place} is no JSON object: {error}") from None
    question, path = given.get("question"), given.get("path", "")
    if not isinstance(question, str) or not question.strip() or not isinstance(path, str):
        raise InvalidArgument(
            f'{place} must hold "question", a string, and "path", a string if it is there'
        )
    return Question(question.strip(), path)
