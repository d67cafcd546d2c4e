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

WORDS = "words.sqlite"  # how the file of `fts5` is called in an index folder

__all__ = [
    "WORDS",
    "Buffer",
    "Files",
    "LexicalPass",
    "LexicalResult",
    "Spans",
    "find_terms",
    "rank",
    "terms_of",
]
