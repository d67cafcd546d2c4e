"""The lexical index of a state, for searches."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from gossamer.errors import GossamerError
from gossamer.lexical import WORDS
from gossamer.store.lock import LOCK, try_lock
from gossamer.store.manifest import Manifest

if TYPE_CHECKING:
    from gossamer.lexical.fts5 import FtsIndex

__all__ = ["open_words"]


def open_words(folder: Path, manifest: Manifest) -> FtsIndex | None:
    """Open the lexical index, if the index keeps one and it is whole; None if texts are to be read.

    What a killed change left half-written is taken back, where nobody changes the index and this
    process may. A database that others made is not to be opened at all: texts say the same.
    """
    if manifest.settings.lexical != "fts5" or not (folder / WORDS).exists():
        return None
    from gossamer.lexical.fts5 import Interrupted

    with suppress(GossamerError):
        try:
            index = _open(folder, manifest, is_read_only=True)
        except Interrupted:
            if not _roll_back(folder, manifest):
                return None
            index = _open(folder, manifest, is_read_only=True)
        if index.is_complete:
            return index
        index.close()
    return None


def _open(folder: Path, manifest: Manifest, *, is_read_only: bool) -> FtsIndex:
    from gossamer.lexical.fts5 import FtsIndex

    return FtsIndex(
        folder / WORDS,
        manifest.generation,
        manifest.next_chunk_id,
        is_read_only=is_read_only,
    )


def _roll_back(folder: Path, manifest: Manifest) -> bool:
    """Open the lexical index to write, which takes a killed change back; False if one may not."""
    with suppress(OSError):
        held = try_lock(folder / LOCK, "search")
        if held is not None:
            with held:
                _open(folder, manifest, is_read_only=False).close()
            return True
    return False
