"""The numbers that the labels of an e-book's chapters state, and what has no such number."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["Label", "Stated", "is_apart", "is_part", "stated_numbers"]

# How far one stated number may be from the next: a chapter may be missing in the contents.
_MOST_APART = 3
_LEAST_CHAPTERS = 2
_MAX_RUNS = 8  # of one kind of number
_LEAST_BARE = 3  # of bare numbers that do not begin with 1: "100 ways", "39 steps" are titles
_ONES = (
    *("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"),
    *("twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_NUMBER_WORDS = {word: number for number, word in enumerate(_ONES, 1)}
_NUMBER_WORDS |= {word: 10 * number for number, word in enumerate(_TENS, 2)}
_NUMBER_WORDS |= {
    f"{tens}-{one}": 10 * number + unit
    for number, tens in enumerate(_TENS, 2)
    for unit, one in enumerate(_ONES[:9], 1)
}
_SPELLED = "|".join(sorted(_NUMBER_WORDS, key=len, reverse=True))
_ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100}
# "Chapter 3", "3. The whale", "III", "CHAPTER THREE"; not "3.1 Its tail".
_NUMBERED = re.compile(
    r"(?:(?P<word>[^\W\d_]{1,20})\.?\s+)?(?:(?P<digits>\d{1,3})|(?P<roman>[IVXLC]{1,8})"
    r"|(?P<spelled>(?i:" + _SPELLED + r")))"
    r"(?!\.\d)(?![\w-])"
)
# Parts hold chapters, and appendices follow them: their numbers are others.
_APPENDIX = re.compile(r"appendix|anhang|annexe|appendice|apéndice", re.IGNORECASE)
_PART = re.compile(
    r"(?:part|teil|partie|parte|book|buch|livre|libro|volume|band|tome|" + _APPENDIX.pattern + ")"
    r"(?:\s+(?:\d{1,3}|[ivxlc]{1,8}|[a-z]|" + _SPELLED + r"))?(?!\w)",
    re.IGNORECASE,
)
# What no reader counts as a chapter, where chapters have no numbers.
_APART = re.compile(
    r"cover|half ?title( page)?|title ?page|(table of )?contents|toc|copyright( page)?|dedication"
    r"|epigraph|foreword|preface|acknowledge?ments|about the authors?|also by|imprint|colophon"
    r"|landmarks|index|bibliography|glossary|(end)?notes|list of \w{1,20}"
    r"|umschlag|titel(seite)?|inhalt(sverzeichnis)?|vorwort|impressum|widmung|danksagung|register"
    r"|literaturverzeichnis|couverture|page de titre|table des matières|sommaire|avant-propos"
    r"|préface|dédicace|remerciements|portada|índice|prefacio|dedicatoria|copertina|frontespizio"
    r"|indice|prefazione",
    re.IGNORECASE,
)


class Label(NamedTuple):
    """What a part of a book is called, and how deep it stands in the contents; 0 if not in them."""

    text: str
    depth: int


class Stated(NamedTuple):
    """The number that a label states, and the place of the part in which it does; -1 for none."""

    number: int
    part: int


def is_part(label: str) -> bool:
    """Say whether what is called so has chapters in it, or comes after them."""
    found = _PART.match(label)
    return found is not None and (found.end() == len(label) or not found[0].isalpha())


def is_apart(label: str, book_title: str) -> bool:
    """Say whether what is called so is no chapter: a cover, a preface, an index, a part."""
    plain = label.strip(" .:")
    is_title = plain.casefold() == book_title.casefold().strip()
    return is_part(label) or is_title or _APART.fullmatch(plain) is not None


def stated_numbers(labels: Sequence[Label]) -> Mapping[int, Stated]:
    """Give place -> number of the labels that number chapters; {} where there are no such.

    Those of one kind ("Chapter 3", or a bare 3) count, of which there are most that rise. They
    begin with 1, or in a later volume with another number; what begins again, as appendices do, is
    no chapter, unless each part counts its own: only then are parts told.
    """
    runs: dict[str, list[_Run]] = {}
    part = -1
    for place, label in enumerate(labels):
        if one := _stated(label.text):
            kind, number = one
            known = runs.setdefault(kind, [])
            if any(run.take(place, Stated(number, part)) for run in known):
                continue
            # A title with a number in it may have come first: "100 ways", and then "1. To walk".
            if len(known) < _MAX_RUNS and all(run.first > 1 for run in known):
                known.append(_Run(not kind, number, {place: Stated(number, part)}))
        elif _holds_chapters(labels, place):
            part = place
    likely = [run for known in runs.values() for run in known if run.is_likely]
    best = max(likely, key=lambda run: len(run.found), default=_Run(False, 0, {}))
    if best.counts_anew:
        return best.found
    return {place: Stated(one.number, -1) for place, one in best.found.items()}


@dataclass(slots=True)
class _Run:
    """Chapters of one kind of number, as far as they follow one another."""

    is_bare: bool
    first: int
    found: dict[int, Stated]
    counts_anew: bool = False

    def take(self, place: int, one: Stated) -> bool:
        """Take a number if it follows the last, or is the first of a part that counts anew."""
        last = next(reversed(self.found.values()))
        follows = last.number < one.number <= last.number + _MOST_APART
        is_anew = self.first == one.number == 1 and one.part != last.part
        if follows or is_anew:
            self.found[place] = one
            self.counts_anew |= is_anew
        return follows or is_anew

    @property
    def is_likely(self) -> bool:
        """Say whether they are enough to be the chapters of a book."""
        is_title = self.is_bare and self.first > 1
        return len(self.found) >= (_LEAST_BARE if is_title else _LEAST_CHAPTERS)


def _holds_chapters(labels: Sequence[Label], place: int) -> bool:
    """Say whether a label without a number is that of a part, which may count its own chapters."""
    label = labels[place]
    if is_part(label.text):
        return _APPENDIX.match(label.text) is None
    if _APART.fullmatch(label.text):  # notes are often listed chapter by chapter
        return False
    return place + 1 < len(labels) and 0 < label.depth < labels[place + 1].depth


def _stated(label: str) -> tuple[str, int] | None:
    """Give the word before the number that a label begins with, and the number."""
    found = _NUMBERED.match(label)
    if found is None or is_part(label):
        return None
    if found["digits"]:
        number = int(found["digits"])
    elif found["spelled"]:
        number = _NUMBER_WORDS[found["spelled"].lower()]
    else:
        digits = [_ROMAN[letter] for letter in found["roman"]]
        later = [*digits[1:], 0]
        number = sum(-a if a < b else a for a, b in zip(digits, later, strict=True))
    return (found["word"] or "").casefold(), number
