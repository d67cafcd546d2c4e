"""A program's own way to cut documents. Whatever it returns is checked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import index
from typing import TYPE_CHECKING

from gossamer.chunking.chunks import embedded_span
from gossamer.errors import InvalidArgument
from gossamer.records import (
    MOST_CHUNK_BYTES,
    MOST_HEADING_BYTES,
    MOST_HEADINGS,
    ChunkSpan,
    Document,
    Span,
)

if TYPE_CHECKING:
    from gossamer.text.tokenizer import Tokenizer

__all__ = ["Chunker", "run_chunker"]

# Called with a document and how many tokens a chunk may have.
Chunker = Callable[[Document, int], Iterable[ChunkSpan]]


def run_chunker(
    chunker: Chunker, document: Document, tokenizer: Tokenizer, size: int, line: str
) -> list[ChunkSpan]:
    """Give what a program cuts, in the order of the text; without what has no tokens.

    InvalidArgument for what is no chunk of this text, or has more than `size` tokens.
    """
    chunks = []
    for given in chunker(document, size):
        chunk = _checked(given, document.text)
        embedded = embedded_span(line, document.text, chunk).encode("utf-8")
        count = len(tokenizer.token_starts(embedded))
        if count > size:
            raise InvalidArgument(
                f"the chunk from {chunk.start} to {chunk.end} has {count} tokens with what "
                f"stands before it, and {size} are the most; cut it shorter"
            )
        if len(tokenizer.token_starts(document.text[chunk.start : chunk.end])):
            chunks.append(chunk)
    return sorted(chunks, key=lambda chunk: (chunk.start, chunk.end))


def _checked(given: ChunkSpan, text: bytes) -> ChunkSpan:
    if not isinstance(given, ChunkSpan):
        raise InvalidArgument(f"a chunker gives ChunkSpans, not {type(given).__name__}")
    start, end = _checked_span((given.start, given.end), text, MOST_CHUNK_BYTES)
    if start == end:
        raise InvalidArgument(f"the chunk at {start} is empty")
    context = tuple(_checked_span(span, text, MOST_HEADING_BYTES) for span in given.context)
    if len(context) > MOST_HEADINGS:
        raise InvalidArgument(f"a chunk stands under {MOST_HEADINGS} headings at most")
    return ChunkSpan(start, end, context)


def _checked_span(given: Span, text: bytes, most: int) -> Span:
    start, end = (index(number) for number in given)
    if not 0 <= start <= end <= len(text):
        raise InvalidArgument(
            f"a chunk or heading from {start} to {end} does not lie within the {len(text)} bytes "
            "of the text"
        )
    if end - start > most:
        raise InvalidArgument(f"{start} to {end} is more than {most} bytes; cut it shorter")
    if any(at < len(text) and text[at] & 0xC0 == 0x80 for at in (start, end)):
        raise InvalidArgument(
            f"a chunk or heading from {start} to {end} cuts through a character; spans are in "
            "bytes of UTF-8"
        )
    return start, end
