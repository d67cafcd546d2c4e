"""reStructuredText: titles by their underlines, paragraphs by blank lines."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gossamer.chunking.outline import (
    ITEM,
    Cuts,
    Outline,
    blank_line_cuts,
    is_among,
    section_cuts,
    table_of,
)

__all__ = ["outline"]

_MARK = rb"[!-/:-@\[-`{-~]"
_TITLE = re.compile(
    rb"(?m)^(?:(?P<over>" + _MARK + rb")(?P=over){1,200}[ \t\r]*\n[ \t]{0,80})?"
    rb"(?P<title>[^\s][^\n]{0,200})\n"
    rb"(?P<under>(?P<mark>" + _MARK + rb")(?P=mark){1,200})[ \t\r]*$\s*"
)
_ITEM = re.compile(rb"\n(?=[ \t]*(?:[-*+]|#\.|\d{1,9}[.)]|\.\.)[ \t])")


def outline(text: bytes, begin: int) -> Outline:
    """Find titles (levels in the order their styles appear), paragraphs, items, directives."""
    found = table_of(_titles(text, begin), 5)
    headings, tied = found[:, :4], found[:, 4]
    items = Cuts.at((match.end() for match in _ITEM.finditer(text)), ITEM)
    blocks = blank_line_cuts(text).joined(items)
    blocks = blocks.where(~is_among(blocks.offsets, tied))
    return Outline(section_cuts(headings, tied).joined(blocks), headings, tied=tied)


def _titles(text: bytes, begin: int) -> Iterator[tuple[int, int, int, int, int]]:
    levels: dict[tuple[bytes, bool], int] = {}
    for match in _TITLE.finditer(text, begin):
        title, over, mark = match["title"].rstrip(), match["over"], match["mark"]
        # Wide characters count twice towards the underline, which docutils asks for and few heed.
        if len(match["under"]) < len(title.decode("utf-8", "replace")):
            continue
        if over is not None and over != mark:
            continue
        level = levels.setdefault((mark, over is not None), len(levels) + 1)
        start = match.start("title")
        yield match.start(), level, start, start + len(title), match.end()
