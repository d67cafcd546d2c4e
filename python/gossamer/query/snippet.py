"""The few lines of a chunk that show best why it is a hit."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gossamer.lexical import find_terms, terms_of
from gossamer.records import Span

__all__ = ["Snippet", "choose_snippet", "whole_snippet"]

MAX_LINES = 3
MAX_CHARACTERS = 320
# Longer lines are paragraphs: a part of one may be shown.
_LONG_LINE = 160
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")
_CUT = "…"


@dataclass(frozen=True, slots=True)
class Snippet:
    """Lines out of a text, without the indentation they share and without empty ones."""

    text: str
    highlights: tuple[Span, ...]  # characters of `text` that answer the question, rising, apart
    line: int  # of the chunk, from 0: the line that answers best
    first_line: int  # of the chunk, from 0: where `text` begins


@dataclass(frozen=True, slots=True)
class _Match:
    """A word of the question in the text."""

    start: int
    end: int
    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Unit:
    """A line, or a sentence of a long one, in characters of the text."""

    start: int
    end: int
    line: int
    matches: Sequence[_Match]


def choose_snippet(
    text: str, question: str, max_lines: int = MAX_LINES, max_characters: int = MAX_CHARACTERS
) -> Snippet:
    """Choose the stretch of a text that holds most of the question's words, the rarer the better.

    Where the text holds none of them, its beginning is chosen.
    """
    matches = _find_matches(text, question)
    units = list(_units(text, matches, max_characters))
    if not units:
        return Snippet("", (), 0, 0)
    weights = _weights(matches)
    first, last = _best_window(units, weights, max_lines, max_characters)
    window = units[first : last + 1]
    best = max(window, key=lambda unit: _score([unit], weights))  # the first of several
    return _cut_out(text, window, best.line)


def whole_snippet(text: str, question: str) -> Snippet:
    """Give a whole text as it is, with the question's words in it."""
    matches = _find_matches(text, question)
    weights = _weights(matches)
    units = list(_units(text, matches, max(len(text), 1)))
    line = max(units, key=lambda unit: _score([unit], weights)).line if units else 0
    return Snippet(text, tuple((match.start, match.end) for match in matches), line, 0)


def _find_matches(text: str, question: str) -> list[_Match]:
    """Find the question's words; the spans of bytes become spans of characters."""
    data = text.encode("utf-8", "replace")
    matches: list[_Match] = []
    known: dict[str, tuple[str, ...]] = {}
    at_byte = at_character = 0
    for start, end in find_terms(data, question):
        first = at_character + len(data[at_byte:start].decode("utf-8", "ignore"))
        word = data[start:end].decode("utf-8", "ignore")
        at_byte, at_character = end, first + len(word)
        if word not in known:
            known[word] = tuple(terms_of(word))
        matches.append(_Match(first, at_character, known[word]))
    return matches


def _weights(matches: Sequence[_Match]) -> dict[str, float]:
    """Weigh each term: one that stands everywhere in the text tells no lines apart."""
    counts: dict[str, int] = {}
    for match in matches:
        for term in match.terms:
            counts[term] = counts.get(term, 0) + 1
    return {term: 1 + 1 / count for term, count in counts.items()}


def _units(text: str, matches: Sequence[_Match], max_characters: int) -> Iterator[_Unit]:
    """Divide a text into lines, and long lines into sentences; without empty ones."""
    begins = [match.start for match in matches]
    offset = 0
    for number, line in enumerate(text.split("\n")):
        for start, end in _pieces(line, max_characters):
            here = matches[bisect_left(begins, offset + start) : bisect_left(begins, offset + end)]
            yield _Unit(offset + start, offset + end, number, here)
        offset += len(line) + 1


def _pieces(line: str, max_characters: int) -> Iterator[Span]:
    """Give the stretches of a line that may be shown alone."""
    ends = [len(line)]
    if len(line) > min(_LONG_LINE, max_characters):
        ends = [*(match.start() for match in _SENTENCE_END.finditer(line)), len(line)]
    start = 0
    for end in ends:
        while end - start > max_characters:
            space = line.rfind(" ", start + 1, start + max_characters + 1)
            cut = space if space > start else start + max_characters
            yield from _stripped(line, start, cut)
            start = cut
        yield from _stripped(line, start, end)
        start = end


def _stripped(line: str, start: int, end: int) -> Iterator[Span]:
    """Give a stretch without the space after it; nothing if there is no more to it."""
    if length := len(line[start:end].rstrip()):
        if start:  # the indentation of a line belongs to it
            start, length = _without_leading_space(line, start, length)
        yield start, start + length


def _without_leading_space(line: str, start: int, length: int) -> Span:
    space = length - len(line[start : start + length].lstrip())
    return start + space, length - space


def _score(units: Sequence[_Unit], weights: Mapping[str, float]) -> float:
    """Add up the terms of some units, each once, and a little for each time."""
    terms = [term for unit in units for match in unit.matches for term in match.terms]
    # In one order whatever the hash of strings is, so that equal windows score alike.
    return sum(weights[term] for term in sorted(set(terms))) + 0.05 * len(terms)


def _best_window(
    units: Sequence[_Unit], weights: Mapping[str, float], max_lines: int, max_characters: int
) -> Span:
    """Give the first and last unit of the best window that may be shown."""
    best: tuple[tuple[float, bool, int, int], Span] | None = None
    for first, unit in enumerate(units):
        last = first
        while (
            last + 1 < len(units)
            and units[last + 1].end - unit.start <= max_characters
            and len({one.line for one in units[first : last + 2]}) <= max_lines
        ):
            last += 1
        window = units[first : last + 1]
        with_match = [place for place, one in enumerate(window) if one.matches]
        # Of windows with the same words: one that is filled, and begins where the words begin.
        is_full = len({one.line for one in window}) == max_lines or (
            window[-1].end - unit.start > max_characters // 2
        )
        key = (_score(window, weights), is_full, -(with_match[0] if with_match else first), -first)
        if best is None or key > best[0]:
            best = (key, (first, last))
    assert best is not None
    return best[1]


def _cut_out(text: str, window: Sequence[_Unit], line: int) -> Snippet:
    """Put the units of a window on lines, and mark where a line goes on beyond it."""
    lines: list[list[_Unit]] = []
    for unit in window:
        if lines and lines[-1][0].line == unit.line:
            lines[-1].append(unit)
        else:
            lines.append([unit])
    spans = [(units[0].start, units[-1].end) for units in lines]
    is_begun = _is_inside(text, spans[0][0], -1)
    indents = [_indent(text, start, end) for start, end in spans[is_begun:]]
    shared = min(indents, default=0)
    parts: list[str] = []
    highlights: list[Span] = []
    length = 0
    for place, (units, (start, end)) in enumerate(zip(lines, spans, strict=True)):
        is_cut_line = place == 0 and is_begun
        start += 0 if is_cut_line else shared
        before = f"{_CUT} " if is_cut_line else ""
        after = f" {_CUT}" if place == len(lines) - 1 and _is_inside(text, end, 1) else ""
        shift = length + len(before) - start
        highlights += [
            (max(match.start, start) + shift, min(match.end, end) + shift)
            for unit in units
            for match in unit.matches
        ]
        parts.append(f"{before}{text[start:end]}{after}")
        length += len(parts[-1]) + 1
    return Snippet("\n".join(parts), tuple(highlights), line, window[0].line)


def _indent(text: str, start: int, end: int) -> int:
    return end - start - len(text[start:end].lstrip())


def _is_inside(text: str, at: int, step: int) -> bool:
    """Whether the line goes on beyond this place, before it (-1) or after it (1)."""
    rest = text[text.rfind("\n", 0, at) + 1 : at] if step < 0 else text[at:].partition("\n")[0]
    return bool(rest.strip())
