"""The offer of a served index: made when the first edge asks, and anew when the index was."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from gossamer.index import Index
from gossamer.server.options import ServeOptions

if TYPE_CHECKING:
    from gossamer.sync.offer import Offer

__all__ = ["Offering"]


class Offering:
    """What edges follow, for any thread."""

    def __init__(self, index: Index, uploads: Path, options: ServeOptions) -> None:
        self._index = index
        self._uploads = uploads
        self._options = options
        self._lock = threading.Lock()
        self._offer: Offer | None = None
        self._identity: object = None

    def get(self) -> Offer:
        """Give the offer of the index that is there now; Locked if another server has it."""
        with self._lock:
            # Of an index that was deleted and made anew, or whose history was deleted, nothing
            # that was recorded holds.
            if self._offer is not None and self._identity != self._identity_now():
                self._offer.close()
                self._offer = None
            if self._offer is None:
                self._offer = self._make()
                self._identity = self._identity_now()
            return self._offer

    @property
    def has_history(self) -> bool:
        """Whether any edge ever asked: before, there is nothing to read, and nothing is made."""
        return self._history.exists()

    def close(self) -> None:
        """Let go of the offer, if one was made."""
        with self._lock:
            if self._offer is not None:
                self._offer.close()
                self._offer = None

    @property
    def _history(self) -> Path:
        from gossamer.sync.history import HISTORY, SYNC

        return self._index.folder / SYNC / HISTORY

    def _identity_now(self) -> object:
        try:
            status = self._history.stat()
            file = (status.st_dev, status.st_ino)
        except OSError:
            file = None
        return self._index.snapshot.manifest.uuid, file

    def _make(self) -> Offer:
        from gossamer.sync.offer import Offer

        return Offer(
            self._index,
            token=self._options.token,
            history_bytes=self._options.history_bytes,
            uploads=self._uploads,
            # Whoever waits has a thread; an edge that comes again has none meanwhile.
            patience_s=0,
        )
