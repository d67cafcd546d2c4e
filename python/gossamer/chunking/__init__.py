"""From a document to the chunks that are embedded and found.

The core cuts (`core/chunking`); what is added here is where the definitions of source code stand,
which a grammar says.
"""

from gossamer.chunking.chunker import Chunker, run_chunker
from gossamer.chunking.chunks import (
    ANCHORS,
    chunk_document,
    context_line,
    embedded_span,
    embedded_text,
    with_anchors,
)

__all__ = [
    "ANCHORS",
    "Chunker",
    "chunk_document",
    "context_line",
    "embedded_span",
    "embedded_text",
    "run_chunker",
    "with_anchors",
]
