"""A file at an address, open for questions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import TypeVar

from gossamer.errors import Damaged, Truncated, WrongState
from gossamer.model import IndexModel, Share
from gossamer.query.opened import OpenedIndex, OpenedState
from gossamer.remote.cache import Outgrown
from gossamer.remote.snapshot import RemoteSnapshot
from gossamer.remote.source import RemoteBytes

__all__ = ["OpenedFile"]

T = TypeVar("T")

# What another look at the file may mend: it was replaced, or what was kept of it is damaged, or
# there is too much of that.
_AGAIN = (Damaged, Truncated, Outgrown)


class OpenedFile(OpenedIndex):
    """The file that was at an address when it was last looked at."""

    def __init__(self, url: str, model_spec: str, threads: int, share: Share | None = None) -> None:
        self.trust = False
        self._url = url
        self._threads = threads
        self._model_spec = model_spec
        self._share = share
        self._lock = Lock()
        self._bytes = RemoteBytes(url)
        self._state = self._twice(self._open)

    @property
    def folder(self) -> Path:
        """There is none; WrongState says what can be done."""
        raise WrongState(
            f"this index is a file at {self._bytes.url}: it can be searched, and nothing else; "
            "fetch it and `gossamer import FILE`, to have an index of your own"
        )

    @property
    def state(self) -> OpenedState:
        """The file as it was when it was last looked at."""
        return self._state

    def ask(self, use: Callable[[OpenedState], T]) -> T:
        """Give what `use` makes of the state; of another one where this one does not serve."""
        state = self._state
        try:
            return use(state)
        except _AGAIN:
            with self._lock:
                if self._state is state:
                    self._look_again()
                    self._state = self._open()
            return use(self._state)

    def save_hot(self) -> None:
        """Keep nothing: no vectors are remembered."""

    def _twice(self, make: Callable[[], T]) -> T:
        try:
            return make()
        except _AGAIN:
            self._look_again()
            return make()

    def _look_again(self) -> None:
        """Begin with what is at the address now, and with nothing of it here."""
        self._bytes.drop()
        self._bytes = RemoteBytes(self._url)

    def _open(self) -> OpenedState:
        snapshot = RemoteSnapshot(self._bytes)
        manifest = snapshot.manifest
        model = IndexModel(
            manifest.model,
            manifest.settings,
            self._threads,
            self._model_spec,
            self._share,
            snapshot.refusal,
        )
        return OpenedState(snapshot, model, self._threads)
