"""Running heads and feet of pages: titles of chapters, page numbers, what stands on most pages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

__all__ = ["EdgeLine", "find_running"]

_MAX_CHARS = 120
_MIN_REPEATS = 3
_REPEATING_SHARE = 0.4  # of all pages; left and right pages often differ
_NEAR = 3  # pages before and behind, among which the head of a chapter repeats
_NUMBER = re.compile(r"\d{1,5}(?= |$)|(?<= )\d{1,5}$")  # of a page, at either end of a line
Value = TypeVar("Value")
_DIGITS = re.compile(r"\d+|\b[ivxlc]+\b")


@dataclass(frozen=True, slots=True)
class EdgeLine:
    """A line near the top or the bottom of a page."""

    glue: str  # what joins it to the line before
    text: str
    y: float
    is_large: bool  # a heading rather than a running line


Edges = tuple[Sequence[EdgeLine], Sequence[EdgeLine]]  # top and bottom, each from the edge inwards


def find_running(pages: Sequence[Edges]) -> list[set[EdgeLine]]:
    """Give for each page those of its lines that run on from page to page."""
    patterns = [{_pattern(line.text) for line in _lines(page)} - {""} for page in pages]
    least = max(_MIN_REPEATS, _REPEATING_SHARE * len(pages))
    counts = Counter(pattern for some in patterns for pattern in some)
    common = {pattern for pattern, count in counts.items() if count >= least}
    offsets = [
        {offset for line in _lines(page) for offset in _offsets(line.text, number)}
        for number, page in enumerate(pages)
    ]
    running = []
    for number, page in enumerate(pages):
        near = slice(max(0, number - _NEAR), number + _NEAR + 1)
        found = {line for line in _lines(page) if _pattern(line.text) in common}
        for edge in page:
            found |= _from_edge(
                edge, found, _repeated(patterns[near]), _repeated(offsets[near]), number
            )
        running.append(found)
    return running


def _from_edge(
    edge: Sequence[EdgeLine],
    known: set[EdgeLine],
    patterns: set[str],
    offsets: set[int],
    number: int,
) -> set[EdgeLine]:
    """Go inwards up to the first line that is none."""
    found = set()
    level = None  # of the one before
    for line in edge:
        is_repeated = _pattern(line.text) in patterns and any(map(str.isalpha, line.text))
        is_numbered = not offsets.isdisjoint(_offsets(line.text, number))
        is_beside = level is not None and abs(line.y - level) < 1
        is_small = not line.is_large and (is_repeated or is_numbered or is_beside)
        if line not in known and not is_small:
            break
        found.add(line)
        level = line.y
    return found


def _lines(page: Edges) -> Iterable[EdgeLine]:
    return (line for edge in page for line in edge)


def _repeated(pages: Sequence[set[Value]]) -> set[Value]:
    counts = Counter(value for some in pages for value in some)
    return {value for value, count in counts.items() if count >= _MIN_REPEATS}


def _pattern(text: str) -> str:
    """Give what a running line has in common on all pages; "" for one too long to be one."""
    return _DIGITS.sub("#", text.lower()) if len(text) <= _MAX_CHARS else ""


def _offsets(text: str, number: int) -> set[int]:
    """Say how far the numbers at the ends of a line are from that of the page."""
    if len(text) > _MAX_CHARS:
        return set()
    ends = (_NUMBER.match(text), _NUMBER.search(text))
    return {int(found.group()) - number for found in ends if found}
