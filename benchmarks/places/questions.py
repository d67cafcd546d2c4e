"""Questions about a file, and the line of a snippet that answers best."""

import random
import re
from collections import Counter
from collections.abc import Sequence

from benchmarks.places.held import Held, words_of

ASKED_WORDS = 5
SHORTEST_SENTENCE = 6  # words
LEAST_WORDS = 4  # of the question, that a line must hold to be the one that answers
SHORTEST_WORD = 4
LONG_LINE = 160  # longer ones are paragraphs, of which a sentence is cited
SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")


def questions(held: Held, count: int, seed: int = 1) -> list[str]:
    """Make questions of the rarest words of sentences drawn from all of a file."""
    passages = held.passages()
    counts = Counter(word for passage in passages for word in set(words_of(passage)))
    chooser = random.Random(seed)
    found: dict[str, None] = {}
    for _ in range(40 * count):
        sentence = words_of(chooser.choice(SENTENCE_END.split(chooser.choice(passages))))
        telling = sorted(
            {word for word in sentence if len(word) >= SHORTEST_WORD},
            key=lambda word: (counts[word], word),
        )[:ASKED_WORDS]
        if len(sentence) >= SHORTEST_SENTENCE and len(telling) == ASKED_WORDS:
            found[" ".join(word for word in dict.fromkeys(sentence) if word in telling)] = None
        if len(found) == count:
            break
    return list(found)


def best_lines(snippet: str, question: str) -> list[str]:
    """Give the lines, or sentences of long ones, with the most words of the question.

    None where they are spread over several, of which no one can say which is the best.
    """
    asked = set(words_of(question))
    lines = [
        said
        for line in snippet.split("\n")
        for said in (SENTENCE_END.split(line) if _is_long(line) else [line])
    ]
    counts: Sequence[int] = [len(asked & set(words_of(line))) for line in lines]
    most = max(counts, default=0)
    return [line for line, count in zip(lines, counts, strict=True) if count == most >= LEAST_WORDS]


def _is_long(line: str) -> bool:
    """Say whether a line, of which a part may be shown, is a paragraph."""
    return len(line) > LONG_LINE or line.startswith("… ") or line.endswith(" …")
