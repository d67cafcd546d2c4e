"""Lines as they stand on a page, put back together into paragraphs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

__all__ = ["Line", "join_lines"]

# How far the lines around one are looked at to learn how wide its column is.
_NEIGHBOURS = 8
_BULLET = re.compile(r"(?:[•◦▪‣●○■·*–—-]|\(?\d{1,3}[.)]|\(?[a-z][.)])\s+\S")
_SENTENCE_END = re.compile(r"[.!?:;。！？][\"'”’)\]]*$")
# Scripts that are written without spaces between words.
_UNSPACED = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff\uff00-\uff60\u0e00-\u0e7f]")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a page and where it stands, in points; y grows upwards."""

    text: str
    left: float  # of its first character
    right: float  # of its last character
    first_y: float  # where its first and last character stand; they differ after mended hyphens
    last_y: float
    size: float  # height of its characters
    first_word_width: float


def join_lines(lines: Sequence[Line]) -> list[tuple[str, str]]:
    """Say for each line what joins it to the one before: a space, nothing, a line end or two.

    A line goes on with the next if it was broken only for want of room. Gives (glue, text) pairs.
    """
    gap = _usual_gap(lines)
    joined: list[tuple[str, str]] = []
    is_first = True  # of its paragraph
    for number, line in enumerate(lines):
        glue = ""
        if number:
            column_right = _column_right(lines, number - 1)
            glue = _glue(lines[number - 1], line, is_first, gap, column_right)
            is_first = "\n" in glue
        joined.append((glue, line.text))
    return joined


def _glue(before: Line, line: Line, is_first: bool, gap: float, column_right: float) -> str:
    size = max(before.size, line.size)
    drop = before.last_y - line.first_y
    if size <= 0:
        return "\n"
    if abs(drop) < 0.3 * size:
        return " "
    if drop < 0:  # on to the next column, or to something set apart
        is_going_on = not _SENTENCE_END.search(before.text) and line.text[:1].islower()
        return _word_gap(before, line) if is_going_on else "\n\n"
    is_other_size = size > 1.15 * min(before.size, line.size)
    # A line that begins in lower case goes on with a sentence, even if in another font.
    if drop > 1.25 * gap or (is_other_size and not line.text[:1].islower()):
        return "\n\n"
    if _BULLET.match(line.text):
        return "\n"
    indent = line.left - before.left
    if abs(indent) > 0.8 * size and not is_first:
        return "\n\n"
    if before.right + 0.3 * size + line.first_word_width < column_right - 0.5 * size:
        return "\n\n" if _SENTENCE_END.search(before.text) else "\n"
    return _word_gap(before, line)


def _word_gap(before: Line, line: Line) -> str:
    is_unspaced = _UNSPACED.match(before.text[-1:]) and _UNSPACED.match(line.text[:1])
    return "" if is_unspaced else " "


def _usual_gap(lines: Sequence[Line]) -> float:
    """Give the distance between lines of one paragraph: a low one among those on the page."""
    drops = sorted(
        drop
        for before, line in pairwise(lines)
        if (drop := before.last_y - line.first_y) > 0.5 * line.size
    )
    return drops[len(drops) // 4] if drops else 0.0


def _column_right(lines: Sequence[Line], number: int) -> float:
    """Give the right edge of the column a line stands in, as its neighbours show it."""
    line = lines[number]
    around = lines[max(0, number - _NEIGHBOURS) : number + _NEIGHBOURS + 1]
    near = [other.right for other in around if abs(other.left - line.left) < 3 * line.size]
    return max(near, default=line.right)
