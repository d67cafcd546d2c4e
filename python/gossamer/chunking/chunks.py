"""`chunk_document`: a document's text divided into chunks of at most so many tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from gossamer.chunking import markdown, plain, rows, rst
from gossamer.chunking.context import NO_CONTEXT_LINE, HeadingPath, embedded_text, shortened
from gossamer.chunking.cuts import Stretch, places_to_cut
from gossamer.chunking.outline import Cuts, Outline
from gossamer.chunking.partition import cheapest_partition
from gossamer.errors import InvalidArgument
from gossamer.records import ChunkSpan, Document, Span

if TYPE_CHECKING:
    from gossamer.text.tokenizer import Tokenizer

__all__ = ["chunk_document"]

_BOM = b"\xef\xbb\xbf"
# Below this a single character with its context might not fit.
_MIN_SIZE = 32
# A tokenizer may see one token in a megabyte of encoded data; nobody reads a chunk like that.
_MAX_BYTES_PER_TOKEN = 32
# Long texts are divided in stretches of about this many bytes, so that the work is linear and
# the memory a few times the text.
_STRETCH_BYTES = 1 << 19

_OUTLINES: dict[str, Callable[[bytes, int], Outline]] = {
    "markdown": markdown.outline,
    "plain": plain.outline,
    "rows": rows.outline,
    "rst": rst.outline,
}


def chunk_document(
    document: Document, tokenizer: Tokenizer, size: int, context_line: str = ""
) -> list[ChunkSpan]:
    """Divide a document; nothing in it that has tokens is left out, nothing is in two chunks.

    No `embedded_text` of a chunk with its headings and `context_line` has more than `size`
    tokens. Chunks stand in the order of the text, without space at their ends. Empty for a
    text in which the tokenizer finds nothing.
    """
    if size < _MIN_SIZE:
        raise InvalidArgument(f"a chunk needs room for {_MIN_SIZE} tokens or more, not {size}")
    chunker = _Chunker(document.text, tokenizer, size, context_line)
    begin = len(_BOM) if document.text.startswith(_BOM) else 0
    if chunker.fits(begin, len(document.text)):
        return list(chunker.checked(begin, len(document.text), ()))
    outline = _outline(document, begin)
    return list(chunker.chunks(outline, begin))


def _outline(document: Document, begin: int) -> Outline:
    if document.markup.startswith("code/"):
        # Brings what starts processes, which a search does without.
        from gossamer.chunking import code

        return code.outline(document.text, begin, document.markup.removeprefix("code/"))
    return _OUTLINES.get(document.markup, plain.outline)(document.text, begin)


class _Chunker:
    """The text, the tokenizer and the limits, which every step needs."""

    def __init__(self, text: bytes, tokenizer: Tokenizer, size: int, context_line: str) -> None:
        self._text, self._tokenizer, self._size = text, tokenizer, size
        self._max_bytes = size * _MAX_BYTES_PER_TOKEN
        self._line = shortened(context_line)
        self._context_room = size // 5
        line_tokens = self._count(self._line)
        self._outermost: tuple[Span, ...] = ()
        if line_tokens > self._context_room:
            self._line, line_tokens, self._outermost = "", 0, (NO_CONTEXT_LINE,)
        self._line_tokens = line_tokens
        # What a tokenizer that minds newlines counts for the join of two parts.
        self._join_tokens = max(0, self._count("a\na") - 2 * self._count("a"))

    def fits(self, begin: int, end: int) -> bool:
        """Say whether the whole span is one chunk."""
        if end - begin > self._max_bytes:
            return False
        return self._count(self._embedded(begin, end, self._outermost)) <= self._size

    def chunks(self, outline: Outline, begin: int) -> Iterator[ChunkSpan]:
        """Give the chunks of the text from `begin` on."""
        room = self._context_room - self._line_tokens
        path = HeadingPath(self._text, outline.headings, self._line, room)
        while begin < len(self._text):
            end = _stretch_end(self._text, begin, outline.cuts)
            tokens = self._tokenizer.token_starts(self._text[begin:end]).astype(np.int64) + begin
            stretch = Stretch(self._text, begin, end, tokens)
            path.enter(stretch)
            yield from self._chunks_of_stretch(stretch, outline, path)
            begin = end

    def _chunks_of_stretch(
        self, stretch: Stretch, outline: Outline, path: HeadingPath
    ) -> Iterator[ChunkSpan]:
        cuts = places_to_cut(stretch, outline, self._size, self._max_bytes)
        offsets = np.concatenate([[stretch.begin], cuts.offsets, [stretch.end]])
        counts = stretch.count_before(offsets).tolist()
        costs = [0.0, *cuts.costs.tolist(), 0.0]
        places: list[int] = offsets.tolist()
        contexts = [path.at(place) for place in places[:-1]]
        budgets = [self._budget(spans, tokens) for spans, tokens in contexts]
        chosen = cheapest_partition(places, counts, costs, budgets, self._max_bytes)
        for first, last in pairwise(chosen):
            yield from self.checked(places[first], places[last], contexts[first][0])

    def _budget(self, headings: tuple[Span, ...], tokens: int) -> int:
        parts = len(headings) + bool(self._line)
        return self._size - self._line_tokens - tokens - parts * self._join_tokens

    def checked(self, begin: int, end: int, headings: tuple[Span, ...]) -> Iterator[ChunkSpan]:
        """Give a span as a chunk, trimmed and counted; in pieces where it is too long after all.

        Tokens need not add up at a cut, so what is embedded is counted as it will be.
        """
        waiting = [(begin, end, self._outermost + headings)]
        while waiting:
            begin, end, context = waiting.pop()
            begin, end = self._trimmed(begin, end)
            if begin == end:
                continue
            count = self._count(self._embedded(begin, end, context))
            if count <= self._size:
                # A context is never this long, so that the text itself must have tokens.
                if count > self._size // 2 or self._count(self._decoded(begin, end)):
                    yield ChunkSpan(begin, end, context)
            elif (middle := _middle(self._text, begin, end)) is not None:
                waiting += [(middle, end, context), (begin, middle, context)]
            else:
                yield ChunkSpan(begin, end, (NO_CONTEXT_LINE,))

    def _embedded(self, begin: int, end: int, context: tuple[Span, ...]) -> str:
        headings = [self._decoded(*span) for span in context]
        return embedded_text(self._line, headings, self._decoded(begin, end))

    def _trimmed(self, begin: int, end: int) -> Span:
        """Take off what Unicode calls space, at both ends."""
        words = self._decoded(begin, end)
        trimmed = words.lstrip()
        begin += len(words[: len(words) - len(trimmed)].encode())
        return begin, end - len(trimmed[len(trimmed.rstrip()) :].encode())

    def _decoded(self, begin: int, end: int) -> str:
        return self._text[begin:end].decode("utf-8", "replace")

    def _count(self, text: str) -> int:
        return len(self._tokenizer.token_starts(text.encode("utf-8", "replace")))


def _stretch_end(text: bytes, begin: int, cuts: Cuts) -> int:
    """End a stretch at the best place of its second half."""
    end = begin + _STRETCH_BYTES
    if end >= len(text):
        return len(text)
    half = begin + _STRETCH_BYTES // 2
    first, last = np.searchsorted(cuts.offsets, [half, end])
    if first < last:
        costs = cuts.costs[first:last]
        return int(cuts.offsets[first + np.flatnonzero(costs == costs.min())[-1]])
    for space in (b"\n", b" "):
        if (at := text.rfind(space, half, end)) >= 0:
            return at + 1
    return _begin_of_character(text, end)


def _middle(text: bytes, begin: int, end: int) -> int | None:
    """Find a place to part a span, between words where it can be; None for one character."""
    middle = (begin + end) // 2
    quarter = (begin + middle) // 2
    if (space := max(text.rfind(mark, quarter, middle) for mark in (b" ", b"\n"))) > begin:
        return space + 1
    for place in range(middle, min(middle + 4, end)):
        if begin < (found := _begin_of_character(text, place)):
            return found
    return None


def _begin_of_character(text: bytes, at: int) -> int:
    """Go back out of a UTF-8 character, or from between CR and LF."""
    while at > 0 and (text[at] & 0xC0 == 0x80 or text[at - 1 : at + 1] == b"\r\n"):
        at -= 1
    return at
