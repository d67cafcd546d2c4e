"""Source code: cut at functions, classes and methods, with the signatures around as headings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from gossamer.chunking.grammar import captures
from gossamer.chunking.outline import (
    PARAGRAPH,
    SECTION,
    Cuts,
    Integers,
    Outline,
    blank_line_cuts,
    table_of,
)

__all__ = ["outline"]

_PROSE = frozenset(("asciidoc", "latex", "org", "text", "typst"))
_MAX_SIGNATURE_BYTES = 300
_MAX_BEFORE_BYTES = 100
# Each level of nesting makes a cut dearer, up to this many.
_LEVEL_COST = 0.08
_COUNTED_LEVELS = 3


@dataclass(frozen=True, slots=True)
class _Definition:
    begin: int  # with the comments and decorators before it
    start: int
    end: int
    body: int  # where it or a comment before it begins; 0 if the grammar does not say


def outline(text: bytes, begin: int, language: str) -> Outline:
    """Find definitions and blank lines; blank lines alone where the text cannot be parsed."""
    blocks = blank_line_cuts(text)
    is_prose = language in _PROSE
    found = captures(text, language)
    if found is None or not len(found):
        return Outline(blocks, is_prose=is_prose)
    headings = table_of(_headings(text, _definitions(text, begin, found)), 4)
    depths = np.where(headings[:, 2] < headings[:, 3], headings[:, 1], headings[:, 1] - 1)
    here = np.append(depths, 0)[np.searchsorted(headings[:, 0], blocks.offsets, "right") - 1]
    blocks = Cuts(blocks.offsets, PARAGRAPH + _LEVEL_COST * np.minimum(here, _COUNTED_LEVELS))
    opening = headings[headings[:, 2] < headings[:, 3]]
    costs = SECTION + _LEVEL_COST * np.minimum(opening[:, 1] - 1, _COUNTED_LEVELS)
    return Outline(Cuts(opening[:, 0], costs).joined(blocks), headings, is_prose=is_prose)


def _definitions(text: bytes, begin: int, found: Integers) -> list[_Definition]:
    """Join definitions with the comments directly before them, in the order of the text."""
    # The outer of two that begin together comes first.
    order = np.lexsort((-found[:, 2], found[:, 1]))
    definitions: list[_Definition] = []
    lead_begin = lead_end = -1
    for is_definition, start, end, body in found[order].tolist():
        line = _line_begin(text, start)
        is_led = lead_begin >= 0 and _is_next_line(text, lead_end, line)
        if is_definition:
            own = lead_begin if is_led else line
            least = definitions[-1].begin if definitions else begin
            definitions.append(_Definition(max(own, least), start, end, body))
            lead_begin = -1
            continue
        if definitions and definitions[-1].start < start < definitions[-1].body:
            definitions[-1] = replace(definitions[-1], body=start)
        if text[line:start].strip() in (b"", b"template"):
            lead_begin = lead_begin if is_led else line
            lead_end = end
    return definitions


def _headings(text: bytes, definitions: list[_Definition]) -> Iterator[tuple[int, int, int, int]]:
    """Give a heading where each definition begins, and an empty one where it ends."""
    ends: list[int] = []
    for definition in definitions:
        while ends and ends[-1] <= definition.begin:
            yield ends[-1], len(ends), ends[-1], ends[-1]
            ends.pop()
        ends.append(definition.end)
        start, end = definition.start, _signature_end(text, definition)
        yield definition.begin, len(ends), start, end
    while ends:
        yield ends[-1], len(ends), ends[-1], ends[-1]
        ends.pop()


def _signature_end(text: bytes, definition: _Definition) -> int:
    start = definition.start
    end = definition.body or text.find(b"\n", start, definition.end)
    end = definition.end if end < 0 else end
    if end > start + _MAX_SIGNATURE_BYTES:
        end = start + _MAX_SIGNATURE_BYTES
        while text[end] & 0xC0 == 0x80:
            end -= 1
    return max(start + len(text[start:end].rstrip(b" \t\r\n{:=")), start + 1)


def _line_begin(text: bytes, start: int) -> int:
    """Give the begin of the line, if only words such as `export` stand before the start."""
    line = text.rfind(b"\n", max(0, start - _MAX_BEFORE_BYTES), start) + 1
    before = text[line:start]
    is_alone = (line > 0 or start < _MAX_BEFORE_BYTES) and not any(c in before for c in b";{}")
    return line if is_alone else start


def _is_next_line(text: bytes, end: int, line: int) -> bool:
    between = text[end:line] if line - end < _MAX_BEFORE_BYTES else b"-"
    return not between.strip() and between.count(b"\n") <= 1
