"""Lexical search: what questions ask for. A pass of the core over the texts ranks by BM25.

`fts5` holds an index for collections too large to read for every question; nothing imports it
until it is wanted.
"""

from gossamer.lexical.terms import find_terms, terms_of

WORDS = "words.sqlite"  # how the file of `fts5` is called in an index folder

__all__ = ["WORDS", "find_terms", "terms_of"]
