"""An index of version 1 becomes one of segments, before its first change; nothing is embedded."""

from __future__ import annotations

from collections.abc import Iterator

from gossamer.store.changes import Changes
from gossamer.store.records import AWAY, VERBATIM
from gossamer.store.snapshot import Snapshot

__all__ = ["take_all"]


def take_all(changes: Changes, snapshot: Snapshot) -> None:
    """Put all that an index of version 1 holds into changes from nothing."""
    catalogue = snapshot.whole
    segments, offsets = catalogue.text_places
    lengths = catalogue.text_lengths

    def text_of(row: int) -> Iterator[bytes] | None:
        if segments[row] in (VERBATIM, AWAY):
            return None
        start = int(offsets[row])
        return snapshot.texts.pieces(int(segments[row]), start, start + int(lengths[row]))

    changes.take(catalogue, text_of)
