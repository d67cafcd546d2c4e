"""The table of contents of an e-book, and what its labels say of chapters."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from gossamer.errors import Unreadable
from gossamer.readers.archive import Archive, XmlEvent, xml_events
from gossamer.readers.pieces import one_line

__all__ = [
    "Contents",
    "Entry",
    "is_apart",
    "is_part",
    "path_in_book",
    "read_contents",
    "stated_numbers",
]

_MAX_ENTRIES = 20_000
_MAX_CHARS = 2_000
# How far one stated number may be from the next: a chapter may be missing in the contents.
_MOST_APART = 3
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
_PART = re.compile(
    r"(?:part|teil|partie|parte|book|buch|livre|libro|volume|band|tome|appendix|anhang|annexe"
    r"|appendice|apéndice)(?:\s+(?:\d{1,3}|[ivxlc]{1,8}|[a-z]|" + _SPELLED + r"))?(?!\w)",
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


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the contents: what it says, where it leads, and how deep it stands, from 1."""

    label: str
    name: str
    fragment: str
    depth: int


@dataclass(frozen=True, slots=True)
class Contents:
    """The table of contents, in its order, and the page at which the book says to begin."""

    entries: Sequence[Entry] = ()
    begin: str = ""

    def down_to(self, depth: int) -> Sequence[Entry]:
        """Give the entries that stand no deeper."""
        return [entry for entry in self.entries if entry.depth <= depth]


def path_in_book(folder: str, reference: str) -> str:
    """Give the name in the archive of what a file in a folder refers to."""
    return posixpath.normpath(posixpath.join(folder, unquote(reference))).lstrip("/")


def read_contents(archive: Archive, names: Sequence[str]) -> Contents:
    """Read the first of these files that has contents; none where all are missing or damaged."""
    for name in names:
        if name in archive:
            walk = _Walk(posixpath.dirname(name))
            try:
                for event in xml_events(archive.stream(name), name):
                    walk.take(event)
            except Unreadable:
                continue
            if walk.entries:
                return Contents(walk.entries, walk.begin)
    return Contents()


def is_part(label: str) -> bool:
    """Say whether what is called so has chapters in it, or comes after them."""
    found = _PART.match(label)
    return found is not None and (found.end() == len(label) or not found[0].isalpha())


def is_apart(label: str, book_title: str) -> bool:
    """Say whether what is called so is no chapter: a cover, a preface, an index, a part."""
    plain = label.strip(" .:")
    is_title = plain.casefold() == book_title.casefold().strip()
    return is_part(label) or is_title or _APART.fullmatch(plain) is not None


def stated_numbers(labels: Sequence[str]) -> Mapping[int, int]:
    """Give place -> number of the labels that number chapters; {} where there are no such.

    Those of one kind ("Chapter 3", or a bare 3) count, of which there are most that begin with 1
    and rise: what begins again, as appendices do, is no chapter.
    """
    found = [_stated(label) for label in labels]
    best: dict[int, int] = {}
    for kind in dict.fromkeys(one[0] for one in found if one):
        run: dict[int, int] = {}
        last = 0
        for place, one in enumerate(found):
            if one and one[0] == kind and last < one[1] <= last + (_MOST_APART if last else 1):
                last = run[place] = one[1]
        best = run if len(run) > len(best) else best
    return best if len(best) > 1 else {}


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


class _Walk:
    """Goes through a nav.xhtml or a toc.ncx."""

    def __init__(self, folder: str) -> None:
        self.entries: list[Entry] = []
        self.begin = ""
        self._folder = folder
        self._nav = ""  # what the open <nav> is
        self._depth = 0
        self._target = ""
        self._is_label = False
        self._label = ""

    def take(self, event: XmlEvent) -> None:
        """Note what one event says."""
        name = event.name
        if event.kind == "text":
            if self._is_label and len(self._label) < _MAX_CHARS:
                self._label += name
        elif event.kind == "start":
            self._start(name, event)
        elif name in ("ol", "navPoint"):
            self._depth -= 1
        elif name == "nav":
            self._nav = ""
        elif name in ("a", "text"):
            self._is_label = False
            if name == "a" and self._nav == "toc":
                self._enter(self._target)

    def _start(self, name: str, event: XmlEvent) -> None:
        attributes = event.attributes
        if name == "nav":
            self._nav, self._depth = attributes.get("type", ""), 0
        elif name in ("ol", "navPoint"):
            self._depth += 1
        elif name in ("a", "text"):
            self._is_label, self._label = True, ""
            self._target = attributes.get("href", "")
            if self._nav == "landmarks" and attributes.get("type") == "bodymatter":
                self.begin = path_in_book(self._folder, self._target.partition("#")[0])
        elif name == "content":
            self._enter(attributes.get("src", ""))

    def _enter(self, target: str) -> None:
        path, _, fragment = target.partition("#")
        if path and len(self.entries) < _MAX_ENTRIES:
            name = path_in_book(self._folder, path)
            self.entries.append(
                Entry(one_line(self._label), name, unquote(fragment), max(self._depth, 1))
            )
