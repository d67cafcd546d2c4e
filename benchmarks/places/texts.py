"""Sentences for made files: prose that comes with Python, and rows of random words."""

import random
import re
from functools import cache

from benchmarks.made_up import made_up_text

SHORTEST, LONGEST = 50, 300


class Texts:
    """Sentences and rows, none twice."""

    def __init__(self, seed: int) -> None:
        self._sentences = list(_sentences())
        random.Random(seed).shuffle(self._sentences)
        self._next_row = 100_000 * (seed + 1)

    def sentence(self) -> str:
        """Give a sentence of prose."""
        return self._sentences.pop()

    def paragraph(self, count: int = 4) -> str:
        """Give a paragraph of so many sentences."""
        return " ".join(self.sentence() for _ in range(count))

    def row(self) -> str:
        """Give a short line of words."""
        self._next_row += 1
        return made_up_text(self._next_row)


@cache
def _sentences() -> tuple[str, ...]:
    from pydoc_data.topics import topics

    found: dict[str, None] = {}
    for text in topics.values():
        for paragraph in text.split("\n\n"):
            words = " ".join(re.sub(r"[\"*`|<>\\&]", "", paragraph).split())
            for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z])", words):
                is_whole = sentence.isascii() and re.fullmatch(r"[A-Z].*\w\.", sentence)
                if is_whole and SHORTEST <= len(sentence) <= LONGEST:
                    found[sentence] = None
    return tuple(found)
