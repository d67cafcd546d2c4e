"""Rows, as of CSV: cut between rows only, the header before each chunk."""

from __future__ import annotations

import numpy as np

from gossamer.chunking.outline import SECTION, Cuts, Outline, table_of

__all__ = ["outline"]

_QUOTE, _NEWLINE = 34, 10


def outline(text: bytes, begin: int) -> Outline:
    """Find the header and the rows; a newline within quotes ends no row.

    A lone quote in the text makes rows and quotes change places; then the cuts that are added
    where rows seem too long fall on lines again.
    """
    codes = np.frombuffer(text, np.uint8)
    newlines = np.flatnonzero(codes == _NEWLINE)
    quotes = np.flatnonzero(codes == _QUOTE)
    rows = newlines[np.searchsorted(quotes, newlines) % 2 == 0] + 1
    if not len(rows):
        return Outline(Cuts.at(rows, SECTION), is_prose=False)
    first = int(rows[0])
    header = (begin, 1, begin, begin + len(text[begin:first].rstrip()))
    whole = np.column_stack([rows, np.append(rows[1:], len(text))])
    return Outline(Cuts.at(rows[1:], SECTION), table_of([header], 4), whole, is_prose=False)
