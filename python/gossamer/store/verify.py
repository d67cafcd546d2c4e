"""What must hold in a catalogue before any number of it is used as an index."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

import numpy as np

from gossamer.errors import Damaged
from gossamer.records import MOST_CHUNK_BYTES, MOST_HEADING_BYTES, MOST_HEADINGS
from gossamer.store.columns import Ints, Table, starts_of
from gossamer.store.records import AWAY, VERBATIM

__all__ = ["chunk_ends", "verify_tables"]

# Sums of as many of these as memory can hold stay below 2^63.
_LARGEST_LENGTH = 1 << 36
_LARGEST = 1 << 62


@dataclass(frozen=True, slots=True)
class _Bounds:
    """The most bytes of what is held in memory as a whole."""

    document: int
    chunk: int
    heading: int


_OWN = _Bounds(_LARGEST_LENGTH, _LARGEST_LENGTH, _LARGEST_LENGTH)
# No file is read that is larger.
_OTHERS = _Bounds(1 << 28, MOST_CHUNK_BYTES, MOST_HEADING_BYTES)
# What would lead out of the folder that a name is below, and what no path has.
_SEPARATORS = rb"[/\\]" if os.sep == "\\" else rb"/"
_STEP_OUT = re.compile(rb"(?:^|%b)\.\.(?:%b|$)|^%b|\0" % (3 * (_SEPARATORS,)))


def verify_tables(sources: Table, word_count: int, *, is_own: bool = False) -> None:
    """Raise Damaged unless every number of the catalogue is within its bounds.

    In one that was not made here nothing may be larger than what is ever made here.
    """
    bounds = _OWN if is_own else _OTHERS
    documents = sources.children["documents"]
    chunks = documents.children["chunks"]
    for name in ("root", "kind", "reason"):
        _within(sources[name], 0, word_count, f"{name} of a source")
    for name in ("kind", "unit"):
        _within(documents[name], 0, word_count, f"{name} of a document")
    _within(sources["status"], 0, 3, "status of a source")
    _within(sources["size"], 0, _LARGEST, "size of a source")
    _within(documents["chunks"], 1, _LARGEST_LENGTH, "number of chunks of a document")
    _within(documents["segment"], 0, AWAY + 1, "segment of a document")
    _within(documents["offset"], 0, _LARGEST, "offset of a document")
    _within(documents["length"], 0, _LARGEST_LENGTH, "length of a document")
    _verify_ids(documents)
    sizes = np.repeat(sources["size"], sources["documents"])
    lengths = np.where(documents["segment"] == VERBATIM, sizes, documents["length"])
    _within(lengths, 0, bounds.document + 1, "length of a document")
    _verify_titles(documents, lengths, bounds)
    _verify_places(documents, lengths)
    _verify_chunks(documents, chunks, lengths, bounds)
    _verify_names(sources)


def chunk_ends(documents: Table, chunks: Table) -> Ints:
    """Give where every chunk ends in the text of its document, by row."""
    ends: Ints = np.cumsum(chunks["gap"] + chunks["length"])
    counts = documents["chunks"]
    before = np.concatenate([[0], ends])[starts_of(counts)]
    ends -= np.repeat(before, counts)
    return ends


def _within(values: Ints, least: int, beyond: int, what: str) -> None:
    if len(values) and not (least <= values.min() and values.max() < beyond):
        raise Damaged(
            f"the catalogue has {values.min()} to {values.max()} as {what}, "
            f"where {least} to {beyond - 1} can be"
        )


def _verify_ids(documents: Table) -> None:
    firsts = documents["first_chunk"]
    _within(firsts, 0, _LARGEST, "id of a chunk")
    order = np.argsort(firsts, kind="stable")
    ends = (firsts + documents["chunks"])[order]
    if (ends[:-1] > firsts[order][1:]).any():
        raise Damaged("two chunks of the catalogue have the same id")


def _verify_titles(documents: Table, lengths: Ints, bounds: _Bounds) -> None:
    starts, sizes = documents["title_start"], documents["title_length"]
    _within(starts, 0, _LARGEST_LENGTH, "start of a title")
    _within(sizes, 0, bounds.chunk + 1, "length of a title")
    if (starts + sizes > lengths)[sizes > 0].any():
        raise Damaged("a title of the catalogue lies beyond its document")


def _verify_places(documents: Table, lengths: Ints) -> None:
    counts, places = documents["places"], documents.children["places"]
    _within(places["gap"], 0, _LARGEST_LENGTH, "gap between places")
    _within(places["number"], 0, _LARGEST, "number of a place")
    if (_sums_within(places["gap"], counts) > lengths).any():
        raise Damaged("a place of the catalogue lies beyond its document")


def _verify_chunks(documents: Table, chunks: Table, lengths: Ints, bounds: _Bounds) -> None:
    counts = documents["chunks"]
    headings = chunks.children["headings"]
    _within(chunks["gap"], 1 - _LARGEST_LENGTH, _LARGEST_LENGTH, "gap between chunks")
    _within(chunks["length"], 1, bounds.chunk + 1, "length of a chunk")
    _within(chunks["shared"], 0, MOST_HEADINGS + 1, "number of shared headings")
    _within(chunks["headings"], 0, MOST_HEADINGS + 1, "number of headings")
    _within(headings["before"], -_LARGEST_LENGTH, _LARGEST_LENGTH, "distance of a heading")
    _within(headings["length"], 0, bounds.heading + 1, "length of a heading")
    firsts = starts_of(counts)
    ends = chunk_ends(documents, chunks)
    starts = ends - chunks["length"]
    most = np.repeat(lengths, counts)
    if (starts < 0).any() or (ends > most).any():
        raise Damaged("a chunk of the catalogue lies beyond its document")
    depths = chunks["shared"] + chunks["headings"]
    _within(depths, 0, MOST_HEADINGS + 1, "number of headings")
    available = np.concatenate([[0], depths[:-1]])[: len(depths)]
    available[firsts] = 0
    if (chunks["shared"] > available).any():
        raise Damaged("a chunk of the catalogue shares headings that the one before has not")
    heading_ends = np.repeat(starts, chunks["headings"]) - headings["before"]
    limits = np.repeat(most, chunks["headings"])
    if (heading_ends < headings["length"]).any() or (heading_ends > limits).any():
        raise Damaged("a heading of the catalogue lies beyond its document")


def _verify_names(sources: Table) -> None:
    """Refuse names of files that would lead out of the folder that they are below.

    Ids of texts are no paths, and may be anything.
    """
    content, lengths = sources.children["name"].content, sources["name"]
    is_file = (sources["root"] != 0) & (lengths > 0)
    is_absolute = bool((content[starts_of(lengths)[is_file]] == ord("/")).any())
    whole = content.tobytes()
    if not is_absolute and b".." not in whole and b"\0" not in whole:
        return  # as good as always: names are not looked at one by one
    names = sources.texts("name")
    for row in np.flatnonzero(is_file).tolist():
        if _STEP_OUT.search(names[row]):
            raise Damaged(f"the catalogue has a file called {names[row][:100]!r}: that is no path")


def _sums_within(values: Ints, counts: Ints) -> Ints:
    """Give the sum of each row's values, rows having so many."""
    totals = np.concatenate([[0], np.cumsum(values)])
    starts = starts_of(counts)
    sums: Ints = totals[starts + counts] - totals[starts]
    return sums
