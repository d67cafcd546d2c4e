"""Where a text may be cut: what the markup found, and finer places in long stretches."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gossamer.chunking.outline import (
    LINE,
    SENTENCE,
    TOKEN,
    WORD,
    Cuts,
    Integers,
    Outline,
    is_among,
)

__all__ = ["Stretch", "places_to_cut"]

# The end of a sentence and the space after it; in scripts that write none, the mark alone. The
# pattern begins with one set of bytes, which is what the regex engine can look for quickly. A
# letter with a full stop is an initial or an abbreviation.
_SENTENCE = re.compile(
    rb"[.!?\xe3\xef\xe0\xd8](?:"
    rb"(?<=[.!?])(?<![ (.][A-Za-z]\.)[\"')\]*_]{0,4}\s+(?=[^a-z\s])"
    rb"|(?:(?<=\xe3)\x80\x82|(?<=\xef)\xbc[\x81\x9f]|(?<=\xef)\xbd\xa1"
    rb"|(?<=\xe0)\xa5\xa4|(?<=\xd8)\x9f)"
    rb"(?:\xe3\x80[\x8d\x8f]|\xe2\x80[\x9d\x99]|\xef\xbc\x89)*\s*)"
)
_NEWLINE = 10
_SPACES = np.zeros(256, bool)
_SPACES[list(b" \t\n\r\x0b\x0c")] = True


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of a text, and where its tokens begin; all offsets are those of the whole text."""

    text: bytes
    begin: int
    end: int
    tokens: Integers

    def count_before(self, offsets: Integers) -> Integers:
        """Count the tokens of the stretch that begin before each offset."""
        return np.searchsorted(self.tokens, offsets).astype(np.int64)

    def codes(self) -> NDArray[np.uint8]:
        """Give the bytes of the stretch."""
        return np.frombuffer(self.text, np.uint8, self.end - self.begin, self.begin)


def places_to_cut(stretch: Stretch, outline: Outline, size: int, max_bytes: int) -> Cuts:
    """Give the cuts strictly inside a stretch, enough of them for chunks of `size` tokens.

    Finer places are added only where coarser ones leave long gaps, and of places that crowd the
    best stay, so a text has a small number of them for each chunk.
    """
    first, last = np.searchsorted(outline.cuts.offsets, [stretch.begin + 1, stretch.end])
    cuts = Cuts(outline.cuts.offsets[first:last], outline.cuts.costs[first:last])
    whole = _fitting(stretch, outline.whole, size - size // 5)
    cuts = cuts.where(_is_outside(cuts.offsets, whole))
    byte_gap = max_bytes // 4
    sentences_and_lines = (_sentences, _lines) if outline.is_prose else (_lines, _sentences)
    for find in (*sentences_and_lines, _words, _tokens):
        gap = max(1, size // 8 if find in sentences_and_lines else size // 4)
        is_wide = _wide_gaps(stretch, cuts, gap, byte_gap)
        if not is_wide.any():
            break
        found = find(stretch)
        # What is not cut as it stands is code, which has lines and no sentences.
        found = found.where(
            _is_outside(found.offsets, outline.whole if find is _sentences else whole)
        )
        found = found.where(~_begin_alike(stretch, found.offsets, outline.tied))
        cuts = _joined_in_gaps(stretch, cuts, found, is_wide)
    cuts = _thinned(stretch, cuts, max(1, size // 32))
    is_wide = _wide_gaps(stretch, cuts, size, byte_gap)
    return _joined_in_gaps(stretch, cuts, _characters(stretch, byte_gap), is_wide)


def _sentences(stretch: Stretch) -> Cuts:
    found = _SENTENCE.finditer(stretch.text, stretch.begin, stretch.end)
    return Cuts.at((match.end() for match in found), SENTENCE)


def _lines(stretch: Stretch) -> Cuts:
    return Cuts.at(np.flatnonzero(stretch.codes() == _NEWLINE) + stretch.begin + 1, LINE)


def _words(stretch: Stretch) -> Cuts:
    starts = stretch.tokens[stretch.tokens > stretch.begin]
    return Cuts.at(starts[_SPACES[stretch.codes()[starts - stretch.begin - 1]]], WORD)


def _tokens(stretch: Stretch) -> Cuts:
    starts = stretch.tokens[stretch.tokens > stretch.begin]
    return Cuts.at(starts[_begins_character(stretch, starts)], TOKEN)


def _characters(stretch: Stretch, step: int) -> Cuts:
    """Cut where a tokenizer sees one endless word, as in encoded data."""
    places = np.arange(stretch.begin + step, stretch.end, step)
    # No character is longer than four bytes, so one of four places begins one.
    for _ in range(4):
        places = places - ~_begins_character(stretch, places)
    return Cuts.at(places[places > stretch.begin], TOKEN)


def _begins_character(stretch: Stretch, offsets: Integers) -> NDArray[np.bool_]:
    """Say which offsets lie neither inside a UTF-8 character nor between CR and LF."""
    codes = stretch.codes()
    here, before = codes[offsets - stretch.begin], codes[offsets - stretch.begin - 1]
    begins: NDArray[np.bool_] = (here & 0xC0 != 0x80) & ~((here == _NEWLINE) & (before == 13))
    return begins


def _fitting(stretch: Stretch, spans: Integers, size: int) -> Integers:
    first, last = np.searchsorted(spans[:, 0], [stretch.begin, stretch.end])
    spans = spans[first:last]
    counts = stretch.count_before(spans[:, 1]) - stretch.count_before(spans[:, 0])
    return spans[counts <= size]


def _is_outside(offsets: Integers, spans: Integers) -> NDArray[np.bool_]:
    which = np.searchsorted(spans[:, 0], offsets) - 1
    outside: NDArray[np.bool_] = offsets >= np.append(spans[:, 1], 0)[which]
    return outside


def _begin_alike(stretch: Stretch, offsets: Integers, others: Integers) -> NDArray[np.bool_]:
    """Say which offsets have only space between them and one of the others."""
    first, last = np.searchsorted(others, [stretch.begin, stretch.end])
    alike = stretch.count_before(others[first:last])
    return is_among(stretch.count_before(offsets), alike)


def _wide_gaps(stretch: Stretch, cuts: Cuts, gap: int, byte_gap: int) -> NDArray[np.bool_]:
    edges = _edges(stretch, cuts)
    wide: NDArray[np.bool_] = np.diff(stretch.count_before(edges)) > gap
    return wide | (np.diff(edges) > byte_gap)


def _joined_in_gaps(stretch: Stretch, cuts: Cuts, found: Cuts, is_wide: NDArray[np.bool_]) -> Cuts:
    found = found.where((found.offsets > stretch.begin) & (found.offsets < stretch.end))
    which = np.searchsorted(_edges(stretch, cuts), found.offsets, "right") - 1
    return cuts.joined(found.where(is_wide[which]))


def _edges(stretch: Stretch, cuts: Cuts) -> Integers:
    return np.concatenate([[stretch.begin], cuts.offsets, [stretch.end]])


def _thinned(stretch: Stretch, cuts: Cuts, bucket: int) -> Cuts:
    """Keep the cheapest cut of each run of `bucket` tokens."""
    buckets = stretch.count_before(cuts.offsets) // bucket
    order = np.lexsort((cuts.costs, buckets))
    is_first = np.ones(len(order), bool)
    is_first[1:] = buckets[order][1:] != buckets[order][:-1]
    kept = np.zeros(len(order), bool)
    kept[order[is_first]] = True
    return cuts.where(kept)
