"""The lexical index of an index that keeps one, changed along with everything else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gossamer.errors import Damaged, GossamerError, NotGossamer, UnknownVersion
from gossamer.lexical import WORDS
from gossamer.query.passages import Passages
from gossamer.store import Snapshot

if TYPE_CHECKING:
    from gossamer.lexical.fts5 import FtsIndex

__all__ = ["GrowingWords"]

_CHUNKS_AT_ONCE = 4096
# It is all in the texts too: what cannot be read is made anew.
_BROKEN = (Damaged, NotGossamer, UnknownVersion)


class GrowingWords:
    """Words of chunks on their way into the SQLite index; built anew where it is of no use."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._path = snapshot.folder / WORDS
        # None once it has turned out to be damaged, or where not every text can be read to build
        # it: searches read the texts, and the next update builds it anew.
        self._index: FtsIndex | None = self._open(snapshot)
        self._has_begun = False

    def add(self, ids: NDArray[np.int64], texts: Sequence[str]) -> None:
        """Take chunks in, by the texts that are embedded."""
        encoded = (text.encode("utf-8", "replace") for text in texts)
        self._change(lambda index: index.add(ids.tolist(), encoded))

    def remove(self, ids: NDArray[np.int64]) -> None:
        """Take chunks out."""
        self._change(lambda index: index.remove(ids.tolist()))

    def commit(self, generation: int, next_chunk_id: int) -> None:
        """Make the changes durable under the generation that the manifest is about to name."""
        self._change(lambda index: index.commit(generation, next_chunk_id))
        self._has_begun = False

    def compact(self) -> None:
        """Give space back, after a commit; another time where somebody reads for too long."""
        if self._index is not None:
            with suppress(GossamerError):
                self._index.compact()

    def close(self) -> None:
        """Let go of the file; what was not committed is forgotten."""
        if self._index is not None:
            self._index.close()

    def _change(self, change: Callable[[FtsIndex], None]) -> None:
        if self._index is None:
            return
        try:
            if not self._has_begun:
                self._index.begin()
                self._has_begun = True
            change(self._index)
        except _BROKEN:
            self._index.close()
            self._index = None
            self._path.unlink(missing_ok=True)

    def _open(self, snapshot: Snapshot) -> FtsIndex | None:
        from gossamer.lexical.fts5 import FtsIndex

        manifest = snapshot.manifest
        with suppress(*_BROKEN):
            index = FtsIndex(self._path, manifest.generation, manifest.next_chunk_id)
            if index.is_complete:
                return index
            index.close()
        return self._build(snapshot)

    def _build(self, snapshot: Snapshot) -> FtsIndex | None:
        from gossamer.lexical.fts5 import FtsIndex

        index = FtsIndex.create(self._path)
        index.begin()
        passages = Passages(snapshot)
        ids = snapshot.catalogue.chunk_ids
        for start in range(0, len(ids), _CHUNKS_AT_ONCE):
            some = ids[start : start + _CHUNKS_AT_ONCE]
            read = [one for one in passages.read(some) if one is not None]
            if len(read) < len(some):
                # A disk that is away, a file that changed: its words would be missing for good.
                index.close()
                self._path.unlink(missing_ok=True)
                return None
            texts = (one.embedded.encode("utf-8", "replace") for one in read)
            index.add(some.tolist(), texts)
            index.flush()
        index.commit(snapshot.manifest.generation, snapshot.manifest.next_chunk_id)
        return index
