"""The lexical index of an index that keeps one, changed along with everything else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gossamer.passages import Passages
from gossamer.store import Snapshot

if TYPE_CHECKING:
    from gossamer.lexical.fts5 import FtsIndex

__all__ = ["WORDS", "GrowingWords"]

WORDS = "words.sqlite"
_CHUNKS_AT_ONCE = 1024


class GrowingWords:
    """Words of chunks on their way into the SQLite index; built anew where it is missing."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._path = snapshot.folder / WORDS
        self._index = self._open(snapshot)
        self._index.begin()

    def add(self, ids: NDArray[np.int64], texts: Sequence[str]) -> None:
        """Take chunks in, by the texts that are embedded."""
        self._index.add(ids.tolist(), (text.encode("utf-8", "replace") for text in texts))

    def remove(self, ids: NDArray[np.int64]) -> None:
        """Take chunks out."""
        self._index.remove(ids.tolist())

    def commit(self, generation: int, next_chunk_id: int) -> None:
        """Make the changes durable under the generation that the manifest is about to name."""
        self._index.commit(generation, next_chunk_id)

    def restart(self) -> None:
        """Go on after a commit."""
        self._index.begin()

    def close(self) -> None:
        """Let go of the file; what was not committed is forgotten."""
        self._index.close()

    def _open(self, snapshot: Snapshot) -> FtsIndex:
        from gossamer.lexical.fts5 import FtsIndex

        manifest = snapshot.manifest
        index = FtsIndex(self._path, manifest.generation, manifest.next_chunk_id)
        if index.is_complete:
            return index
        index.close()
        index = FtsIndex.create(self._path)
        index.begin()
        passages = Passages(snapshot)
        ids = snapshot.catalogue.chunk_ids
        for start in range(0, len(ids), _CHUNKS_AT_ONCE):
            some = ids[start : start + _CHUNKS_AT_ONCE]
            texts = ("" if one is None else one.embedded for one in passages.read(some))
            index.add(some.tolist(), (text.encode("utf-8", "replace") for text in texts))
        index.commit(manifest.generation, manifest.next_chunk_id)
        return index
