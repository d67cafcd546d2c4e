"""An index of version 1 becomes one of segments, before its first change; nothing is embedded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gossamer.store.folder import Snapshot
from gossamer.store.records import AWAY, VERBATIM

if TYPE_CHECKING:
    from gossamer.store.writer import Writer

__all__ = ["convert"]


def convert(writer: Writer, snapshot: Snapshot) -> None:
    """Write all of an index as one segment; the file of its vectors stays as it is."""
    manifest, catalogue = snapshot.manifest, snapshot.whole
    changes = writer.changes(from_nothing=True, next_chunk_id=manifest.next_chunk_id)
    segments, offsets = (column.copy() for column in catalogue.text_places)
    lengths = catalogue.text_lengths
    order = np.lexsort((offsets, segments))  # a block holds many texts: each is unpacked once
    for row in order[~np.isin(segments[order], (VERBATIM, AWAY))].tolist():
        start = int(offsets[row])
        pieces = snapshot.texts.pieces(int(segments[row]), start, start + int(lengths[row]))
        segments[row], offsets[row] = changes.add_text(pieces)
    changes.merge(catalogue, (segments, offsets))
    writer.commit(
        changes,
        save_vectors=None,
        model=manifest.model,
        settings=manifest.settings,
        roots=manifest.roots,
        keep_journal=True,
    )
