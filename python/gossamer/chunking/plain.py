"""Plain text: paragraphs by blank lines, sections by numbers as RFCs and papers have them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gossamer.chunking.outline import (
    Outline,
    blank_line_cuts,
    is_among,
    section_cuts,
    table_of,
)

__all__ = ["outline"]

# "3.2.  Title" alone on its line at the margin, with a blank line after it.
_NUMBERED = re.compile(
    rb"(?m)^(?:Appendix [A-Z]|[A-Z]\.\d{1,3}|\d{1,3})((?:\.\d{1,3}){0,8})\.?[ \t]{1,8}"
    rb"([A-Z][^\n]{0,99})\n[ \t\r]*\n\s*"
)


def outline(text: bytes, begin: int) -> Outline:
    """Find numbered headings and paragraphs."""
    found = table_of(_headings(text, begin), 5)
    headings, tied = found[:, :4], found[:, 4]
    blocks = blank_line_cuts(text)
    blocks = blocks.where(~is_among(blocks.offsets, tied))
    return Outline(section_cuts(headings, tied).joined(blocks), headings, tied=tied)


def _headings(text: bytes, begin: int) -> Iterator[tuple[int, int, int, int, int]]:
    for match in _NUMBERED.finditer(text, begin):
        title = match[2].rstrip()
        # A numbered sentence is a list item.
        if not title.endswith((b".", b",", b";", b":")):
            level = 1 + match[1].count(b".") + (match[0][1:2] == b".")
            yield match.start(), level, match.start(), match.start(2) + len(title), match.end()
