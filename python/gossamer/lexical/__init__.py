"""Lexical search: BM25 by a native pass over the texts themselves, without any index.

`fts5` holds an index for collections too large to read for every question; nothing imports it
until it is wanted.
"""

from gossamer.lexical.scan import (
    Buffer,
    Files,
    LexicalPass,
    LexicalResult,
    Spans,
    find_terms,
    rank,
    terms_of,
)

__all__ = [
    "Buffer",
    "Files",
    "LexicalPass",
    "LexicalResult",
    "Spans",
    "find_terms",
    "rank",
    "terms_of",
]
