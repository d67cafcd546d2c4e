"""`chunk_document`: a document's text divided into chunks of at most so many tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gossamer import _core
from gossamer.records import ChunkSpan, Document, Value

if TYPE_CHECKING:
    from gossamer.text.tokenizer import Tokenizer

__all__ = [
    "ANCHORS",
    "chunk_document",
    "context_line",
    "embedded_span",
    "embedded_text",
    "with_anchors",
]

ANCHORS = "#"  # names them in the metadata of a document; no hit shows it
_CODE = "code/"
# A chunk has no more bytes for each of its tokens, so a text that has is cut in any case.
_MOST_BYTES_PER_TOKEN = 32
_NO_CAPTURES: NDArray[np.uint32] = np.empty((0, 4), np.uint32)


def chunk_document(
    document: Document, tokenizer: Tokenizer, size: int, context_line: str = ""
) -> list[ChunkSpan]:
    """Divide a document; nothing in it that has tokens is left out, nothing is in two chunks.

    No `embedded_text` of a chunk with its headings and `context_line` has more than `size`
    tokens. Chunks stand in the order of the text, without space at their ends. Empty for a
    text in which the tokenizer finds nothing.
    """
    line = context_line.encode("utf-8", "replace")
    pieces = getattr(tokenizer, "pieces", None)
    tokens = pieces if isinstance(pieces, _core.WordPiece) else tokenizer.token_starts

    def cut(captures: NDArray[np.uint32]) -> list[ChunkSpan]:
        rows = _core.chunk_document(
            document.text, document.markup, captures, tokens, max(size, 0), line
        )
        return [ChunkSpan(start, end, tuple(context)) for start, end, context in rows]

    if not document.markup.startswith(_CODE):
        return cut(_NO_CAPTURES)
    if len(document.text) <= _MOST_BYTES_PER_TOKEN * size:
        chunks = cut(_NO_CAPTURES)
        if len(chunks) <= 1:
            return chunks
    # Brings what starts processes, which a search and a short text do without.
    from gossamer.chunking.grammar import captures

    found = captures(document.text, document.markup.removeprefix(_CODE))
    return cut(_NO_CAPTURES if found is None else found)


def with_anchors(document: Document, chunks: Sequence[ChunkSpan]) -> dict[str, Value]:
    """Give the metadata of a document with the anchors of its headings in it, if it has any.

    The chunks are those of `chunk_document`: they stand under headings of the text.
    """
    given = [(at, id.encode("utf-8", "replace")) for at, id in document.anchors]
    innermost = [chunk.context[-1] for chunk in chunks if chunk.context]
    found = _core.write_anchors(
        document.text, document.markup, document.has_slugs, given, innermost
    )
    metadata = {name: value for name, value in document.metadata.items() if name != ANCHORS}
    return metadata | ({ANCHORS: found.decode("utf-8", "replace")} if found else {})


def context_line(name: str, title: str) -> str:
    """Give the line that is embedded before every chunk of a document.

    `name` is the path below the folder that was added; texts that programs give have none ("").
    """
    line = _core.context_line(
        name.encode("utf-8", "surrogatepass"), title.encode("utf-8", "surrogatepass")
    )
    return line.decode("utf-8", "surrogatepass")


def embedded_text(context_line: str, headings: Sequence[str], body: str) -> str:
    """Join what is embedded and hashed: context line, headings outermost first, body.

    Empty parts leave no line behind. Headings are the texts of `ChunkSpan.context`; an empty one
    among them says that the context line is left out. Of a long context line the beginning is
    taken.
    """
    line = context_line.encode("utf-8", "replace")
    outer = [heading.encode("utf-8", "replace") for heading in headings]
    return _core.embedded_text(line, outer, body.encode("utf-8", "surrogatepass")).decode(
        "utf-8", "surrogatepass"
    )


def embedded_span(line: str, text: bytes, span: ChunkSpan) -> str:
    """Give the text to embed for a chunk of a document."""
    headings = [text[start:end].decode("utf-8") for start, end in span.context]
    return embedded_text(line, headings, text[span.start : span.end].decode("utf-8"))
