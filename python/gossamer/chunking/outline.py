"""`Outline`: what one markup knows of a text, and what a cut costs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "AFTER_HEADING",
    "ITEM",
    "LINE",
    "PARAGRAPH",
    "SECTION",
    "SENTENCE",
    "TOKEN",
    "WORD",
    "Cuts",
    "Integers",
    "Outline",
    "blank_line_cuts",
    "is_among",
    "no_headings",
    "section_cuts",
    "table_of",
]

Integers = NDArray[np.int64]

# What it costs to begin a chunk at a place, where one chunk more costs 1. So a paragraph is
# worth a tenth of a chunk less fill, and a word is cut off from its sentence only in need.
SECTION = 0.0
PARAGRAPH = 0.08
ITEM = 0.25
SENTENCE = 0.38
LINE = 0.5
AFTER_HEADING = 0.5
WORD = 0.8
TOKEN = 1.5

_BLANK_LINES = re.compile(rb"\n[ \t\r]*\n\s*")


@dataclass(frozen=True, slots=True)
class Cuts:
    """Places where a chunk may begin, rising, and what each costs."""

    offsets: Integers
    costs: NDArray[np.float64]

    @staticmethod
    def at(offsets: Iterable[int] | Integers, cost: float) -> Cuts:
        """Give every place the same cost; the offsets must rise."""
        if not isinstance(offsets, np.ndarray):
            offsets = np.fromiter(offsets, np.int64)
        return Cuts(offsets, np.full(len(offsets), cost))

    def joined(self, *others: Cuts) -> Cuts:
        """Put cuts together; of several at one place the cheapest stays."""
        offsets = np.concatenate([self.offsets, *(other.offsets for other in others)])
        costs = np.concatenate([self.costs, *(other.costs for other in others)])
        order = np.lexsort((costs, offsets))
        offsets, costs = offsets[order], costs[order]
        is_first = np.ones(len(offsets), bool)
        is_first[1:] = offsets[1:] != offsets[:-1]
        return Cuts(offsets[is_first], costs[is_first])

    def where(self, kept: NDArray[np.bool_]) -> Cuts:
        """Give the cuts that a mask keeps."""
        return Cuts(self.offsets[kept], self.costs[kept])


def no_headings() -> Integers:
    """Give the table of a text without headings."""
    return np.empty((0, 4), np.int64)


def _no_spans() -> Integers:
    return np.empty((0, 2), np.int64)


def _no_places() -> Integers:
    return np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class Outline:
    """The headings of a text and the places where its markup divides it."""

    cuts: Cuts
    # One row each, rising: where its section begins, its level (1 is outermost), and the span of
    # its words. An empty span only ends the sections of its level and below.
    headings: Integers = field(default_factory=no_headings)
    # Spans that are not cut as long as they fit in a chunk, rising and without overlap.
    whole: Integers = field(default_factory=_no_spans)
    # Where what follows a heading begins: it is not parted from its heading.
    tied: Integers = field(default_factory=_no_places)
    is_prose: bool = True  # sentences mean more than lines


def section_cuts(headings: Integers, tied: Integers) -> Cuts:
    """Begin chunks at headings, best at the outermost, and rather not between two of them."""
    costs = SECTION + 0.01 * np.minimum(headings[:, 1], 6)
    return Cuts(headings[:, 0], np.where(is_among(headings[:, 0], tied), AFTER_HEADING, costs))


def is_among(values: Integers, rising: Integers) -> NDArray[np.bool_]:
    """Say which values are in a rising array; far quicker than `numpy.isin` for short ones."""
    if not len(rising):
        return np.zeros(len(values), bool)
    nearest = np.minimum(np.searchsorted(rising, values), len(rising) - 1)
    among: NDArray[np.bool_] = rising[nearest] == values
    return among


def blank_line_cuts(text: bytes, cost: float = PARAGRAPH) -> Cuts:
    """Find the beginnings of what stands between blank lines."""
    return Cuts.at((match.end() for match in _BLANK_LINES.finditer(text)), cost)


def table_of(rows: Iterable[tuple[int, ...]], width: int) -> Integers:
    """Make a table of rows, without a list of them in between."""
    flat = np.fromiter((value for row in rows for value in row), np.int64)
    return flat.reshape(-1, width)
