"""The lexical index of a state, for searches."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from gossamer.errors import GossamerError
from gossamer.lexical import WORDS
from gossamer.store.folder import Snapshot
from gossamer.store.lock import LOCK, try_lock

if TYPE_CHECKING:
    from gossamer.lexical.fts5 import FtsIndex

__all__ = ["open_words"]


def open_words(snapshot: Snapshot) -> FtsIndex | None:
    """Open the lexical index, if the index keeps one and it is whole; None if texts are to be read.

    What a killed change left half-written is taken back, where nobody changes the index and this
    process may. A database that others made is not opened at all: texts say the same.
    """
    is_kept = snapshot.manifest.settings.lexical == "fts5" and snapshot.is_trusted
    if not is_kept or not (snapshot.folder / WORDS).exists():
        return None
    from gossamer.lexical.fts5 import Interrupted

    with suppress(GossamerError):
        try:
            index = _open(snapshot, is_read_only=True)
        except Interrupted:
            if not _roll_back(snapshot):
                return None
            index = _open(snapshot, is_read_only=True)
        if index.is_complete:
            return index
        index.close()
    return None


def _open(snapshot: Snapshot, *, is_read_only: bool) -> FtsIndex:
    from gossamer.lexical.fts5 import FtsIndex

    manifest = snapshot.manifest
    return FtsIndex(
        snapshot.folder / WORDS,
        manifest.generation,
        manifest.next_chunk_id,
        is_read_only=is_read_only,
    )


def _roll_back(snapshot: Snapshot) -> bool:
    """Open the lexical index to write, which takes a killed change back; False if one may not."""
    with suppress(OSError):
        held = try_lock(snapshot.folder / LOCK, "search")
        if held is not None:
            with held:
                _open(snapshot, is_read_only=False).close()
            return True
    return False
