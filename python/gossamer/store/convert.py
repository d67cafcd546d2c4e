"""An index of version 1 becomes one of segments, before its first change; nothing is embedded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gossamer.store.folder import Snapshot
from gossamer.store.records import AWAY, VERBATIM

if TYPE_CHECKING:
    from gossamer.store.writer import Writer

__all__ = ["convert"]


def convert(writer: Writer, snapshot: Snapshot) -> None:
    """Write all of an index as one segment; the file of its vectors stays as it is."""
    manifest, catalogue = snapshot.manifest, snapshot.whole
    segments, offsets = catalogue.text_places
    lengths = catalogue.text_lengths

    def text_of(row: int) -> Iterator[bytes] | None:
        if segments[row] in (VERBATIM, AWAY):
            return None
        start = int(offsets[row])
        return snapshot.texts.pieces(int(segments[row]), start, start + int(lengths[row]))

    changes = writer.changes(from_nothing=True, next_chunk_id=manifest.next_chunk_id)
    changes.take(catalogue, text_of)
    writer.commit(
        changes,
        save_vectors=None,
        model=manifest.model,
        settings=manifest.settings,
        roots=manifest.roots,
        keep_journal=True,
    )
