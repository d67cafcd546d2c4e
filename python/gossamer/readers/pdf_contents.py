"""Tables of contents, lists of figures and indexes among the lines of pages: leading elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
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
# Named one by one: a price index is none, and a register may be one of people.
_LISTED = (
    r"(?:(?:general|subject|topic|keyword|key|name|author|person|place|concept|term|symbol|type"
    r"|data|data type|data structure|function|variable|macro|command|option|operator|class|method"
    r"|module|package|program|file|parameter|instruction|identifier)s?)"
)
_INDEX = re.compile(
    r"(?:[a-z\d]{1,2}(?:\.\d{1,2})? )?"
    r"(?:(?:alphabetical )?(?:" + _LISTED + r"(?:,| and| &)? ){0,4}index"
    r"|index of " + _LISTED + r"(?:(?:, | and | & )" + _LISTED + r"){0,3}"
    r"|sachregister|personenregister|namenregister|ortsregister|stichwortverzeichnis"
    r"|sachwortverzeichnis|index des noms|índice alfabético|índice analítico|indice analitico"
    r"|indice dei nomi|zakenregister|trefwoordenregister|предметный указатель|索引)"
)
_NUMBER = re.compile(r"(?<!\d[.,:])(?:\d{1,4}|[ivxl]{1,7})\Z")  # not the pence of a price
_MAX_ENTRY_CHARS, _MAX_HEADING_CHARS = 400, 60
_LEADER = " .…·_"  # between words and number
_MIN_LEADER = 4
_MIN_LED, _MIN_BENEATH_HEADING, _MIN_OF_INDEX = 5, 2, 6
_MIN_PAGES = 4  # of a PDF that may have such lists: menus and price lists are shorter
_MAX_BEYOND = 30  # the count of pages, where their numbers do not begin with 1
_MAX_GAP = 2  # lines of a title that goes on, or of a part without a number
_MAX_APART = 1 + _MAX_GAP  # from a heading, or the top of a page, to what stands beneath it
_MAX_FOOT = 2  # lines beneath a list that fills its page
_MIN_ORDER = 0.8


class _Entry(NamedTuple):
    """A line that leads elsewhere: which one, its words, its pages, and whether dots lead there."""

    at: int
    words: str
    pages: Sequence[int]  # none where they are told in Roman
    is_led: bool

    @property
    def page(self) -> int:
        """The page, 0 where there is not exactly one."""
        return self.pages[0] if len(self.pages) == 1 else 0


class _List(NamedTuple):
    """A list that may go on: its kind, the last page it names, and whether dots lead there."""

    kind: str  # "contents" or "index"
    page: int = 0
    is_led: bool = False


class _Part(NamedTuple):
    """A heading of a list, or entries that follow one another."""

    begin: int
    kind: str  # of the list that the heading names; "" for entries
    entries: Sequence[_Entry] = ()


class Contents:
    """Leaves such lists out, page by page; a list that fills a page may go on in the next."""

    def __init__(self, page_count: int) -> None:
        self._page_count = page_count
        self._number = 0  # of the page
        self._open: _List | None = None  # at the top of the next page

    def leave_out(self, lines: Sequence[Line]) -> list[Line]:
        """Give the lines of the next page that are its own."""
        self._number += 1
        if self._page_count < _MIN_PAGES:
            return list(lines)
        left_out: set[int] = set()
        open_list, reach, heading = self._open, 0, -_MAX_APART
        for begin, kind, entries in _parts([line.text for line in lines]):
            if kind:
                open_list, reach, heading = _List(kind), begin + 1, begin
                continue
            near = open_list if begin - reach <= _MAX_APART else None
            if self._is_list(entries, near):
                reach = entries[-1].at + 1
                is_headed = begin - heading <= _MAX_APART
                left_out.update(range(heading if is_headed else begin, reach))
                open_list = _with(near, entries)
        self._open = open_list if len(lines) - reach <= _MAX_FOOT else None
        return [line for at, line in enumerate(lines) if at not in left_out]

    def _is_list(self, entries: Sequence[_Entry], above: _List | None) -> bool:
        if above is not None and above.kind == "index":
            return self._is_index(entries)
        led = [entry for entry in entries if entry.is_led]
        counted = led if above is None or above.is_led else entries
        pages = [entry.page for entry in counted if entry.page]
        if above is None:
            is_long = len(pages) >= _MIN_LED and pages[0] < pages[-1]
            return is_long and max(pages) <= self._page_count and _is_sorted(pages)
        if len(counted) < _MIN_BENEATH_HEADING or min(pages[:1], default=above.page) < above.page:
            return False
        return max(pages, default=0) <= self._page_count + _MAX_BEYOND and _is_sorted(pages)

    def _is_index(self, entries: Sequence[_Entry]) -> bool:
        most = self._page_count + _MAX_BEYOND
        within = sum(all(page <= most for page in entry.pages) for entry in entries)
        return (
            3 * self._number > 2 * self._page_count
            and len(entries) >= _MIN_OF_INDEX
            and within >= _MIN_ORDER * len(entries)
            and _is_sorted([entry.words for entry in entries])
        )


def _with(above: _List | None, entries: Sequence[_Entry]) -> _List:
    """Give the list above with these entries as its last."""
    kind, page, _ = above or _List("contents")
    is_led = 2 * sum(entry.is_led for entry in entries) > len(entries)
    return _List(kind, max([entry.page for entry in entries] + [page]), is_led)


def _parts(texts: Sequence[str]) -> Iterator[_Part]:
    """Give the headings of lists and the runs of entries in the order of the page."""
    run: list[_Entry] = []
    for at, text in enumerate(texts):
        kind, entry = _kind_of(text), _entry(at, text)
        if run and (kind or (entry and at - run[-1].at > 1 + _MAX_GAP)):
            yield _Part(run[0].at, "", run)
            run = []
        if kind:
            yield _Part(at, kind)
        elif entry:
            run.append(entry)
    if run:
        yield _Part(run[0].at, "", run)


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
    is_word = any(letter.isalpha() for letter in words)
    # Letters that are a Roman number as well end many a line: dots must lead to them.
    if not words or not (is_led or (is_word and number[0].isdigit())):
        return None
    pages = [int(digits) for digits in re.findall(r"\d{1,4}", text[len(named) :])]
    return _Entry(at, words.casefold(), pages, is_led)


def _is_sorted(values: Sequence[int] | Sequence[str]) -> bool:
    """Say whether values rise, but for a few."""
    pairs = list(pairwise(values))
    return sum(a <= b for a, b in pairs) >= _MIN_ORDER * len(pairs)  # type: ignore[operator]
