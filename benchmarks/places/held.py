"""What each unit of a file holds, and whether that is what a hit shows."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

# A page holds a sentence of which so much is on it: hyphens are mended, running lines left out.
SHARE = 0.9
GRAM = 3
FIRST_WORDS = 6
HYPHEN = re.compile(r"(?<=\w)[-\u00ad\u2010\u0002\ufffe]\s*(?=\w)")

Words = Sequence[tuple[str, int]]  # each with its line of the file


class Held(Protocol):
    """A file as this benchmark reads it."""

    def passages(self) -> Sequence[str]:
        """Give texts that a question can be made of."""
        ...

    def has(self, key: str) -> bool:
        """Say whether it knows the document of a hit."""
        ...

    def holds(self, said: str, key: str, first: int, last: int) -> bool:
        """Say whether these units are where a line of a snippet stands."""
        ...


def words_of(text: str) -> list[str]:
    """Give the words of a text in small letters."""
    return re.findall(r"[^\W_]+", text.lower())


@dataclass(frozen=True)
class Units:
    """Numbered units: what is cited must hold the line, each of a range some of it."""

    texts: Mapping[tuple[str, int], str]  # by the document's key and the number

    def passages(self) -> Sequence[str]:
        """Give the texts of all units."""
        return list(self.texts.values())

    def has(self, key: str) -> bool:
        """Say whether it knows the document of a hit."""
        return any(known == key for known, _ in self.texts)

    def holds(self, said: str, key: str, first: int, last: int) -> bool:
        """Say whether the cited units hold these words, in runs of three."""
        wanted = _grams(_mended_words(said))
        units = [_all_grams(self.texts.get((key, at), "")) for at in range(first, last + 1)]
        together = set().union(*units) if units else set()
        parted = (GRAM - 1) * (last - first)  # runs that begin in one unit and end in the next
        is_held = len(wanted & together) >= SHARE * len(wanted) - parted
        return bool(wanted) and is_held and all(wanted & unit for unit in units)


@dataclass(frozen=True)
class Lines:
    """Lines of a file whose text is taken out of markup: the line must begin where it is cited."""

    words: Words
    text: str

    def passages(self) -> Sequence[str]:
        """Give the lines of the text."""
        return [line for line in self.text.split("\n") if line.strip()]

    def has(self, key: str) -> bool:
        """Say whether it knows the document of a hit: there is one in each file."""
        return key == ""

    def holds(self, said: str, key: str, first: int, last: int) -> bool:
        """Say whether the first words of a line stand on the cited line and those after it."""
        assert self.has(key)
        wanted = words_of(said)[:FIRST_WORDS]
        begins = [at for at, (_, line) in enumerate(self.words) if line == first]
        return first == last and any(
            [word for word, _ in self.words[at : at + len(wanted)]] == wanted for at in begins
        )


def _mended_words(text: str) -> list[str]:
    """Give the words without hyphens: at the end of a line they may part a word or belong to it."""
    return words_of(HYPHEN.sub("", text))


def _grams(words: Sequence[str]) -> set[tuple[str, ...]]:
    """Give the runs of three words; all of them as one run where there are fewer."""
    length = min(GRAM, len(words))
    return (
        {tuple(words[at : at + length]) for at in range(len(words) - length + 1)}
        if words
        else set()
    )


def _all_grams(text: str) -> set[tuple[str, ...]]:
    words = _mended_words(text)
    return {
        tuple(words[at : at + length])
        for length in range(1, GRAM + 1)
        for at in range(len(words) - length + 1)
    }
