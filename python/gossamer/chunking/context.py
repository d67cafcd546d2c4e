"""What stands before a chunk when it is embedded: the document's line and the headings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gossamer.chunking.cuts import Stretch
from gossamer.chunking.outline import Integers
from gossamer.records import Span

__all__ = ["NO_CONTEXT_LINE", "HeadingPath", "embedded_text", "shortened"]

# A path or title longer than this says nothing more, and would take the chunk's own room.
_MAX_LINE_BYTES = 120
# A heading is not shortened to fewer tokens than this; it is left out.
_LEAST_SHORTENED = 4
_MAX_OPEN = 32
# An empty heading stands for a line that did not fit the chunk size and is left out.
NO_CONTEXT_LINE: Span = (0, 0)


def embedded_text(context_line: str, headings: Sequence[str], body: str) -> str:
    """Join what is embedded and hashed: context line, headings outermost first, body.

    Empty parts leave no line behind. Headings are the texts of `ChunkSpan.context`; an empty one
    among them says that the context line is left out. Of a long context line the beginning is
    taken.
    """
    line = "" if "" in headings else shortened(context_line)
    return "\n".join(part for part in (line, *headings, body) if part)


def shortened(line: str) -> str:
    """Put a title or path on one line of bounded length, cut between words where it can be."""
    words = " ".join(line.split())
    if len(words.encode("utf-8", "replace")) <= _MAX_LINE_BYTES:
        return words
    kept = words.encode("utf-8", "replace")[:_MAX_LINE_BYTES].decode("utf-8", "ignore")
    return kept.rpartition(" ")[0] or kept


@dataclass(frozen=True, slots=True)
class _Heading:
    at: int
    level: int
    start: int
    end: int
    tokens: list[int]  # where its tokens begin, as many as a context can hold and one more


class HeadingPath:
    """The headings open at a place of a text, on a walk through it from begin to end."""

    def __init__(self, text: bytes, headings: Integers, line: str, room: int) -> None:
        """Take the headings of an outline; contexts of at most `room` tokens are given.

        A heading that says the same as `line` is left out.
        """
        self._text, self._headings, self._room = text, headings, room
        self._line = line.encode("utf-8", "replace")
        self._open: list[_Heading] = []
        self._ahead: list[_Heading] = []  # those of the stretch that are still to come
        self._context: tuple[tuple[Span, ...], int] = ((), 0)

    def enter(self, stretch: Stretch) -> None:
        """Go on to the next stretch of the text."""
        for heading in reversed(self._ahead):
            self._pass(heading)
        first, last = np.searchsorted(self._headings[:, 0], [stretch.begin, stretch.end])
        rows = self._headings[first:last]
        begins, ends = stretch.count_before(rows[:, 2]), stretch.count_before(rows[:, 3])
        ends = np.minimum(ends, begins + self._room + 1)
        counts = zip(begins.tolist(), ends.tolist(), strict=True)
        self._ahead = [
            _Heading(at, level, start, end, stretch.tokens[first:last].tolist())
            for (at, level, start, end), (first, last) in zip(rows.tolist(), counts, strict=True)
        ][::-1]
        self._context = self._within_room(self._open)

    def at(self, offset: int) -> tuple[tuple[Span, ...], int]:
        """Give the context of a chunk that begins at `offset`, and how many tokens it has.

        The offsets must rise. A chunk that begins with a heading does not stand under it.
        """
        ahead = self._ahead
        if not ahead or ahead[-1].at > offset:
            return self._context
        while ahead and ahead[-1].at < offset:
            self._pass(ahead.pop())
        self._context = self._within_room(self._open)
        if ahead and ahead[-1].at == offset:
            level = ahead[-1].level
            return self._within_room([outer for outer in self._open if outer.level < level])
        return self._context

    def _pass(self, heading: _Heading) -> None:
        while self._open and self._open[-1].level >= heading.level:
            self._open.pop()
        words = self._text[heading.start : heading.end]
        if words and words != self._line:
            self._open.append(heading)
            # No more than these find room; a text may nest them by the thousand.
            del self._open[:-_MAX_OPEN]

    def _within_room(self, path: list[_Heading]) -> tuple[tuple[Span, ...], int]:
        """Take headings from the innermost outwards; the first that is too long is shortened."""
        spans: list[Span] = []
        room = self._room
        for heading in reversed(path):
            count = len(heading.tokens)
            if count > room:
                end = self._end_of_words(heading, room)
                if end is not None:
                    spans.append((heading.start, end))
                    room = 0
                break
            spans.append((heading.start, heading.end))
            room -= count
        return tuple(reversed(spans)), self._room - room

    def _end_of_words(self, heading: _Heading, room: int) -> int | None:
        if room < _LEAST_SHORTENED:
            return None
        for token in range(room, room // 2, -1):
            start = heading.tokens[token]
            if self._text[start - 1 : start].isspace():
                return heading.start + len(self._text[heading.start : start].rstrip())
        return None
