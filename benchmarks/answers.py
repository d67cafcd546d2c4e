"""Answers as strings: whether a text holds one, and how near one is to another, as in SQuAD."""

import re
import string
from collections import Counter
from collections.abc import Iterable, Sequence

ARTICLES = re.compile(r"\b(a|an|the)\b")
PUNCTUATION = str.maketrans("", "", string.punctuation)
# Every text holds these somewhere: nothing is found by them.
EMPTY_WORDS = frozenset(("", "yes", "no"))


def normalised(text: str) -> str:
    """Give a text in lower case, without punctuation, articles and spare spaces."""
    bare = text.lower().translate(PUNCTUATION)
    return " ".join(ARTICLES.sub(" ", bare).split())


def telling(answers: Iterable[str]) -> list[str]:
    """Give the answers, normalised, that a text can be recognised by."""
    bare = (normalised(answer) for answer in answers)
    return [answer for answer in bare if answer not in EMPTY_WORDS]


def holds(texts: Iterable[str], answers: Sequence[str]) -> bool:
    """Say whether one of the texts has one of the normalised answers in it, as whole words."""
    padded = [f" {normalised(text)} " for text in texts]
    return any(f" {answer} " in text for text in padded for answer in answers)


def exact_match(said: str, answers: Sequence[str]) -> float:
    """Give 1 if what was said is one of the answers, else 0."""
    return float(any(normalised(said) == normalised(answer) for answer in answers))


def f1(said: str, answers: Sequence[str]) -> float:
    """Give the harmonic mean of precision and recall of the words, of the nearest answer."""
    return max(
        (_f1(normalised(said).split(), normalised(one).split()) for one in answers), default=0
    )


def _f1(said: list[str], answer: list[str]) -> float:
    if not said or not answer:
        return float(said == answer)
    common = sum((Counter(said) & Counter(answer)).values())
    return 2 * common / (len(said) + len(answer))
