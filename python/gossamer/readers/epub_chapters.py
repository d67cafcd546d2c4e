"""An e-book's text, cut where its contents say that chapters and other parts begin."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from gossamer.readers.epub_contents import Contents, Entry
from gossamer.readers.epub_numbers import Label, Stated, is_apart, is_part, stated_numbers

__all__ = ["Section", "cut", "number"]

_MAX_DEPTH = 3  # at which chapters stand in the contents
_LEAST_SHARE = 0.2  # of the parts of a book that numbers its chapters, so many are numbered
_ANCHOR = re.compile(
    r"<[a-zA-Z][^<>]*?\s(?:id|name)\s{0,8}=\s{0,8}[\"']([^\"'<>]{1,300})[\"']", re.IGNORECASE
)
# What an anchor may be the first thing in.
_OPEN_BLOCK = re.compile(r"<(?:h[1-6]|p|div|section|header|span|b|i|em|strong)\b[^<>]*>\s{0,20}\Z")
_OPEN_BLOCK_CHARS, _MAX_OPEN_BLOCKS = 400, 5
_HEADING = re.compile(r"^#{1,6} +(\S[^\n]{0,300})", re.MULTILINE)


@dataclass(slots=True)
class Section:
    """A chapter or another part of a book, its number once it is known to be a chapter."""

    label: str = ""  # what the contents call it; "" for what comes before them
    page: str = ""  # where it begins
    depth: int = 0  # at which it stands in the contents
    sources: list[str] = field(default_factory=list)  # of its pages; "" for one that is damaged
    text: str = ""
    number: int = 0
    part: str = ""  # whose chapters are counted, where each part of the book counts its own

    @property
    def heading(self) -> str:
        """The first heading in the text."""
        found = _HEADING.search(self.text)
        return found[1] if found else ""

    @property
    def name(self) -> str:
        """What it is called, by the contents or by itself."""
        return self.label or self.heading


def cut(pages: Sequence[tuple[str, str]], contents: Contents, title: str) -> list[Section]:
    """Cut pages, names and sources in reading order, where the entries of the contents lead.

    Without contents, each page is a section.
    """
    if not contents.entries:
        return [Section(page=name, sources=[source]) for name, source in pages]
    entries: dict[str, list[Entry]] = {}
    for entry in _entries_that_count(contents, title):
        entries.setdefault(entry.name, []).append(entry)
    sections = [Section()]
    for name, source in pages:
        at = 0
        for begin, entry in _begins(source, entries.pop(name, [])):
            sections[-1].sources += [source[at:begin]] if begin > at else []
            sections.append(Section(entry.label, name, entry.depth))
            at = begin
        sections[-1].sources += [source[at:]] if source[at:] or not source else []
    return sections


def number(sections: Sequence[Section], contents: Contents, title: str) -> None:
    """Give each chapter its number: the one it states, or else its place among the chapters."""
    parts: dict[int, str] = {-1: ""}
    for chapter, stated in _numbers(sections, contents, title):
        if stated.part not in parts:
            name = sections[stated.part].name
            is_new = name and name not in parts.values()
            parts[stated.part] = name if is_new else f"{name} ({len(parts)})".strip()
        chapter.number, chapter.part = stated.number, parts[stated.part]
    for before, one in pairwise(sections):
        if not one.number and not one.name:  # a page that goes on with what was before it
            one.number, one.label, one.part = before.number, before.name, before.part


def _numbers(
    sections: Sequence[Section], contents: Contents, title: str
) -> Iterator[tuple[Section, Stated]]:
    for names in ([one.label for one in sections], [one.heading for one in sections]):
        depths = (one.depth for one in sections)
        stated = stated_numbers(list(map(Label, names, depths)))
        if stated and len(stated) >= _LEAST_SHARE * sum(map(bool, names)):
            yield from ((sections[place], one) for place, one in stated.items())
            return
    pages = [one.page for one in sections]
    first = pages.index(contents.begin) if contents.begin in pages else 0
    has_names = any(one.name for one in sections)
    chapters = [
        one
        for one in sections[first:]
        if not is_apart(one.name, title)
        and (one.name or "" in one.sources or (one.text and not has_names))
    ]
    for at, one in enumerate(chapters or sections, 1):
        yield one, Stated(at, -1)


def _entries_that_count(contents: Contents, title: str) -> Sequence[Entry]:
    """Give the entries down to the depth at which the chapters stand."""
    best, most = 0, 0
    for depth in range(1, _MAX_DEPTH + 1):
        labels = [Label(entry.label, entry.depth) for entry in contents.down_to(depth)]
        if len(stated := stated_numbers(labels)) > most:
            best, most = depth, len(stated)
    top = contents.down_to(1)
    has_parts = any(is_part(entry.label) for entry in top)
    is_book = sum(not is_apart(entry.label, title) for entry in top) < 2
    return contents.down_to(best or (2 if has_parts or is_book else 1))


def _begins(source: str, entries: Sequence[Entry]) -> Iterator[tuple[int, Entry]]:
    """Say where in a page the entries begin that lead there, in the order of the page.

    One that leads to what is not there begins where the next does, so that it takes no text from
    others; the first of a page leads to its beginning.
    """
    wanted = {entry.fragment for entry in entries}
    found: dict[str, int] = {"": 0}
    for anchor in _ANCHOR.finditer(source) if wanted - {""} else ():
        if anchor[1] in wanted:
            found.setdefault(anchor[1], _block_around(source, anchor.start()))
    begins: list[tuple[int, Entry]] = []
    next_begin = len(source)
    for at in reversed(range(len(entries))):
        next_begin = found.get(entries[at].fragment, next_begin if at else 0)
        begins.append((next_begin, entries[at]))
    yield from sorted(reversed(begins), key=lambda begin: begin[0])


def _block_around(source: str, begin: int) -> int:
    """Go back to where the blocks begin that an anchor is the first thing in."""
    for _ in range(_MAX_OPEN_BLOCKS):
        before = max(begin - _OPEN_BLOCK_CHARS, 0)
        found = _OPEN_BLOCK.search(source[before:begin])
        if found is None:
            break
        begin = before + found.start()
    return begin
