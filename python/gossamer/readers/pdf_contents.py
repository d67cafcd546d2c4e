"""Tables of contents, lists of figures and indexes among the lines of pages: leading elsewhere."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from gossamer.readers.paragraphs import Line

__all__ = ["Contents"]

_CONTENTS = re.compile(
    r"(?:table of |brief |short )?contents|list of (?:figures|tables|examples|listings|algorithms)"
    r"|inhalt|inhaltsverzeichnis|abbildungsverzeichnis|tabellenverzeichnis|table des matières"
    r"|sommaire|índice(?: general)?|indice|sumário|inhoud|inhoudsopgave|spis treści|содержание"
    r"|оглавление|目次|目录|目錄|차례|목차"
)
_INDEX = re.compile(
    r"(?:[a-z\d]{1,2}(?:\.\d{1,2})? )?(?:[^\d]{1,40} )?"
    r"(?:index(?: of [^\d]{1,40})?|register|stichwortverzeichnis|索引)"
)
_NUMBER = re.compile(r"(?:\d{1,4}|[ivxlcdm]{1,7})\Z")
_MAX_ENTRY_CHARS, _MAX_HEADING_CHARS = 400, 60
_LEADER = " .…·_"  # between words and number
_MIN_LEADER = 4
_MIN_LED, _MIN_BENEATH_HEADING, _MIN_OF_INDEX = 5, 2, 6
_MAX_GAP = 2  # lines of a title that goes on, or of a part without a number
_MIN_ORDER = 0.8


class _Entry(NamedTuple):
    """A line that leads elsewhere: which one, its words, its page, and whether dots lead there."""

    at: int
    words: str
    page: int  # 0 where it is told in Roman or several are
    is_led: bool


class Contents:
    """Leaves such lists out, page by page; a list that fills a page may go on in the next."""

    def __init__(self, page_count: int) -> None:
        self._page_count = page_count
        self._heading = ""  # of the list that may go on: "contents", "index" or none

    def leave_out(self, lines: Sequence[Line]) -> list[Line]:
        """Give the lines of the next page that are its own."""
        texts = [line.text for line in lines]
        left_out: set[int] = set()
        headings = [(at, kind) for at, text in enumerate(texts) if (kind := _kind_of(text))]
        last = ""
        for run in _runs([entry for at, text in enumerate(texts) if (entry := _entry(at, text))]):
            begin, end = run[0].at, run[-1].at + 1
            before = [(at, kind) for at, kind in headings if at <= begin]
            at, kind = before[-1] if before else (begin, self._heading)
            if not self._is_list(run, kind):
                continue
            is_headed = before and begin - at <= 1 + _MAX_GAP
            left_out.update(range(at if is_headed else begin, end))
            if end >= len(texts) - 1 - _MAX_GAP:
                last = kind or "contents"
        self._heading = last or (headings[-1][1] if headings and not left_out else "")
        return [line for at, line in enumerate(lines) if at not in left_out]

    def _is_list(self, run: Sequence[_Entry], heading: str) -> bool:
        if heading == "index":
            return len(run) >= _MIN_OF_INDEX and _is_sorted([entry.words for entry in run])
        led = [entry for entry in run if entry.is_led]
        if not heading and len(led) < _MIN_LED:
            return False
        if len(run) < _MIN_BENEATH_HEADING:
            return False
        pages = [entry.page for entry in (run if heading else led) if entry.page]
        return max(pages, default=0) <= 2 * self._page_count + 50 and _is_sorted(pages)


def _kind_of(text: str) -> str:
    said = text.strip().lower() if len(text) <= _MAX_HEADING_CHARS else ""
    if _CONTENTS.fullmatch(said):
        return "contents"
    return "index" if _INDEX.fullmatch(said) else ""


def _entry(at: int, text: str) -> _Entry | None:
    if len(text) > _MAX_ENTRY_CHARS or (number := _NUMBER.search(text)) is None:
        return None
    before = text[: number.start()]
    if before[-1:] not in _LEADER:
        return None
    is_one = not before.endswith(", ")  # an index has several: "idle, 12, 45"
    named = before if is_one else before.rstrip("0123456789,-– ")
    words = named.rstrip(_LEADER)
    signs = [sign for sign in named[len(words) :] if sign != " "]
    is_led = len(signs) >= _MIN_LEADER
    if not words or not (is_led or any(letter.isalpha() for letter in words)):
        return None
    page = int(number[0]) if is_one and number[0].isdigit() else 0
    return _Entry(at, words.casefold(), page, is_led)


def _runs(entries: Sequence[_Entry]) -> list[list[_Entry]]:
    """Put entries together that follow one another."""
    runs: list[list[_Entry]] = []
    for entry in entries:
        if runs and entry.at - runs[-1][-1].at <= 1 + _MAX_GAP:
            runs[-1].append(entry)
        else:
            runs.append([entry])
    return runs


def _is_sorted(values: Sequence[int] | Sequence[str]) -> bool:
    """Say whether values rise, but for a few."""
    pairs = list(pairwise(values))
    return sum(a <= b for a, b in pairs) >= _MIN_ORDER * len(pairs)  # type: ignore[operator]
