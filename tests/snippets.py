"""The snippets of the core, which hits carry, for texts of tests."""

from __future__ import annotations

from dataclasses import dataclass

from gossamer import _core
from gossamer.records import Span

__all__ = ["Snippet", "choose_snippet", "whole_snippet"]


@dataclass(frozen=True, slots=True)
class Snippet:
    """Lines out of a text, without the indentation they share and without empty ones."""

    text: str
    highlights: tuple[Span, ...]  # characters of `text` that answer the question, rising, apart
    line: int  # of the chunk, from 0: the line that answers best
    first_line: int  # of the chunk, from 0: where `text` begins


def choose_snippet(
    text: str, question: str, max_lines: int = 3, max_characters: int = 320
) -> Snippet:
    """Choose the stretch of a text that holds most of the question's words, the rarer the better.

    Where the text holds none of them, its beginning is chosen.
    """
    return _snippet(_core.choose_snippet(_utf8(text), _utf8(question), max_lines, max_characters))


def whole_snippet(text: str, question: str) -> Snippet:
    """Give a whole text as it is, with the question's words in it."""
    return _snippet(_core.whole_snippet(_utf8(text), _utf8(question)))


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _snippet(found: tuple[bytes, list[Span], int, int]) -> Snippet:
    text, highlights, line, first_line = found
    return Snippet(text.decode("utf-8", "surrogatepass"), tuple(highlights), line, first_line)
