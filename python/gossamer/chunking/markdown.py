"""Markdown: headings, fenced code that is kept whole, lists and tables by their lines."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from gossamer.chunking.outline import (
    ITEM,
    SECTION,
    SENTENCE,
    Cuts,
    Integers,
    Outline,
    blank_line_cuts,
    is_among,
    section_cuts,
    table_of,
)

__all__ = ["outline"]

# Every pattern begins at a line and is bounded or cannot backtrack, so that no text is slow.
_FENCE = re.compile(rb"(?m)^[ \t]*(?:(?:[-*+>]|\d{1,9}[.)])[ \t]+)?(`{3,}|~{3,})([^\n]*)")
_ATX = re.compile(rb"(?m)^ {0,3}(#{1,6})[ \t]+(\S[^\n]*)\s*")
_SETEXT = re.compile(
    rb"(?m)^ {0,3}([^\s#>|`~*+\-=][^\n]{0,200})\n {0,3}(={2,200}|-{2,200})[ \t\r]*$\s*"
)
_CLOSING_MARKS = re.compile(rb"(?:^|[ \t])#+$")
_ITEM = re.compile(rb"\n(?=[ \t]*(?:[-*+|]|\d{1,9}[.)])[ \t])")
_FRONT_MATTER = re.compile(
    rb"---[ \t\r]*\n(?:(?!---|\.\.\.)[^\n]*\n){0,500}(?:---|\.\.\.)[ \t\r]*(?:\n|\Z)"
)


def outline(text: bytes, begin: int) -> Outline:
    """Find sections, paragraphs, list items and table rows; fences and front matter stay whole."""
    front = _FRONT_MATTER.match(text, begin)
    fences = table_of(_fences(text, front.end() if front else begin), 2)
    whole = np.concatenate([[front.span()], fences]) if front else fences
    found = table_of(_headings(text, begin), 5)
    found = found[np.argsort(found[:, 0], kind="stable")]
    found = found[~_is_inside(found[:, 0], whole)]
    headings, tied = found[:, :4], found[:, 4]

    items = Cuts.at((match.end() for match in _ITEM.finditer(text)), ITEM)
    blocks = blank_line_cuts(text).joined(items)
    blocks = blocks.where(~is_among(blocks.offsets, tied))
    in_code = _is_inside(blocks.offsets, whole)
    blocks = Cuts(blocks.offsets, np.where(in_code, SENTENCE, blocks.costs))
    after_front = Cuts.at([front.end()] if front else [], SECTION)
    cuts = section_cuts(headings, tied).joined(blocks, after_front)
    return Outline(cuts, headings, whole, tied)


def _fences(text: bytes, begin: int) -> Iterator[tuple[int, int]]:
    """Give the spans of fenced code; a fence that is never closed is none."""
    opened: re.Match[bytes] | None = None
    for fence in _FENCE.finditer(text, begin):
        if opened is None:
            # Backticks later in the line make it code within a sentence.
            is_inline = fence[1].startswith(b"`") and b"`" in fence[2]
            opened = None if is_inline else fence
        elif fence[1].startswith(opened[1]) and not fence[2].strip():
            yield opened.start(), fence.end()
            opened = None


def _headings(text: bytes, begin: int) -> Iterator[tuple[int, int, int, int, int]]:
    """Give (line, level, start, end, where what follows begins): first `#`, then underlined."""
    for atx in _ATX.finditer(text, begin):
        words = _CLOSING_MARKS.sub(b"", atx[2].rstrip()).rstrip()
        start = atx.start(2)
        yield atx.start(), len(atx[1]), start, start + len(words), atx.end()
    for line in _SETEXT.finditer(text, begin):
        at, start = line.start(), line.start(1)
        if at == begin or text.endswith((b"\n\n", b"\n\r\n"), max(begin, at - 3), at):
            level = 1 if line[2].startswith(b"=") else 2
            yield at, level, start, start + len(line[1].rstrip()), line.end()


def _is_inside(offsets: Integers, spans: Integers) -> NDArray[np.bool_]:
    which = np.searchsorted(spans[:, 0], offsets, "right") - 1
    inside: NDArray[np.bool_] = offsets < np.append(spans[:, 1], 0)[which]
    return inside
