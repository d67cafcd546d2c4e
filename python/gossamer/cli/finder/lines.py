"""Hits and their texts as pieces of text with styles, cut for a screen."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.utils import get_cwidth

from gossamer.cli.formats import best_line
from gossamer.cli.output import printable, printable_path
from gossamer.cli.words import near_path

if TYPE_CHECKING:
    from gossamer.cli.finder.finder import Context
    from gossamer.records import Hit

__all__ = ["LINES_OF_A_HIT", "Pieces", "context_lines", "hit_lines"]

Pieces = StyleAndTextTuples

LINES_OF_A_HIT = 2
_MOST_WORDS = 50  # that are marked in a text
_LEAD = 3  # lines above the best one
_MOST_LEAD = 240  # characters
_MOST_WORD = 40  # characters: of a longer one a part may be shown
_MOST_SHOWN = 10_000  # characters, which no screen holds


def hit_lines(hit: Hit, is_looked_at: bool, width: int) -> Pieces:
    """Give the two lines of a hit: where it stands and how well it fits; what it says."""
    mark, style = (">", "class:chosen ") if is_looked_at else (" ", "")
    strength = hit.strength
    number = f"{mark}{hit.number:>2} "
    room = max(8, width - len(number) - len(strength) - 2)
    place = _cut_left(printable_path(near_path(hit.path) + hit.location[len(hit.path) :]), room)
    title = _cut_right(printable(hit.title), room - get_cwidth(place) - 4)
    used = len(number) + sum(map(get_cwidth, (place, title, strength))) + (2 if title else 0)
    start, line = best_line(hit)
    bare = line.lstrip()
    start += len(line) - len(bare)
    spans = [(a - start, b - start) for a, b in hit.highlights if start <= a < start + len(bare)]
    return [
        (style, number),
        (style + "class:path", place),
        (style + "class:title", f"  {title}" if title else ""),
        (style + "class:quiet", f"{'':{max(2, width - used)}}{strength}\n"),
        ("", " " * len(number)),
        *_marked(bare, spans),
        ("", "\n"),
    ]


def context_lines(context: Context, hit: Hit) -> Pieces:
    """Give the text around a hit, from a little above its best line, with the words marked."""
    at = len(context.before) + hit.answer[0]
    whole = context.before + context.text + context.after
    begin = 0
    above = whole[:at].split("\n")
    if len(above) > _LEAD + 1:
        begin = len("\n".join(above[: -_LEAD - 1])) + 1
    if at - begin > _MOST_LEAD:
        begin = at - _MOST_LEAD
        word = re.compile(r"(?<=\s)\S").search(whole, begin, min(at, begin + _MOST_WORD))
        begin = word.start() if word else begin
    end = min(begin + _MOST_SHOWN, len(whole))
    first, last = (
        min(max(begin, edge), end)
        for edge in (len(context.before), len(context.before) + len(context.text))
    )
    parts = [
        ("class:quiet", whole[begin:first], False),
        ("", whole[first:last], True),
        ("class:quiet", whole[last:end], False),
    ]
    pieces: Pieces = []
    for style, text, is_marked in parts:
        text = printable(text).replace("\t", "    ")
        pieces += _marked(text, _words_in(text, hit)) if is_marked else [(style, text)]
    return pieces


def _words_in(text: str, hit: Hit) -> Iterator[tuple[int, int]]:
    """Find the words that are marked in the snippet."""
    words = {hit.snippet[start:end].lower() for start, end in hit.highlights[:_MOST_WORDS]}
    if words:
        one_of = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
        for found in re.finditer(rf"(?<!\w)(?:{one_of})(?!\w)", text, re.IGNORECASE):
            yield found.span()


def _marked(text: str, spans: Sequence[tuple[int, int]] | Iterator[tuple[int, int]]) -> Pieces:
    pieces: Pieces = []
    at = 0
    for start, end in spans:
        pieces += [("", printable(text[at:start])), ("class:match", printable(text[start:end]))]
        at = end
    return [*pieces, ("", printable(text[at:]))]


def _cut_left(text: str, width: int) -> str:
    if get_cwidth(text) <= width:
        return text
    text = text[-max(0, width) :]
    while text and get_cwidth(text) >= width:
        text = text[1:]
    return f"…{text}"


def _cut_right(text: str, width: int) -> str:
    if get_cwidth(text) <= width:
        return text
    text = text[: max(0, width)]
    while text and get_cwidth(text) >= width:
        text = text[:-1]
    return f"{text}…" if width > 0 else ""
