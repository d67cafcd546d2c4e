"""Short texts for cases in which only their number and their bytes matter."""

import random
import re
from functools import cache

from benchmarks.datasets import REPOSITORY

WORDS_OF_A_TEXT = 12


@cache
def _words() -> tuple[str, ...]:
    """Words as people use them: those of our own documents."""
    pages = sorted((REPOSITORY / "docs").glob("*.md"))
    text = " ".join(page.read_text(encoding="utf-8") for page in pages)
    return tuple(sorted(set(re.findall("[a-z]{3,12}", text))))


def made_up_text(number: int) -> str:
    """Give a sentence of random words, another one for each number."""
    chosen = random.Random(number)
    return " ".join(chosen.choices(_words(), k=WORDS_OF_A_TEXT))


def made_up_texts(count: int) -> list[dict[str, str]]:
    """Give texts as `add_texts` takes them."""
    return [{"id": f"t{number:07d}", "text": made_up_text(number)} for number in range(count)]
