"""An index open for questions: parts are read when first needed, newer states picked up."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from gossamer.errors import InvalidArgument, UnknownId
from gossamer.files import absolute
from gossamer.model import IndexModel, Share
from gossamer.once import once
from gossamer.query.passages import Passage, Passages
from gossamer.query.places import chunk_at
from gossamer.query.remote import RemoteChunks
from gossamer.records import Hit
from gossamer.store import HotVectors, Manifest, Snapshot, open_index
from gossamer.store.words import open_words
from gossamer.vectors.vector_index import VectorIndex

if TYPE_CHECKING:
    from gossamer.lexical.fts5 import FtsIndex

__all__ = ["Connect", "OpenedIndex", "OpenedState"]

T = TypeVar("T")

_SAVE_HOT_EVERY_S = 5.0
_NUMBER = re.compile("[0-9]{1,18}")

# Gives the server that an index follows, for one search; None if it follows none.
Connect = Callable[[Path, Manifest], RemoteChunks | None]


class OpenedIndex:
    """The current state of an index folder; `state` is a newer one once a writer has committed."""

    def __init__(
        self,
        folder: Path,
        model_spec: str,
        threads: int,
        share: Share | None = None,
        *,
        trust: bool = False,
        connect: Connect | None = None,
    ) -> None:
        self.trust = trust
        self._connect = connect
        self._folder = folder
        self._threads = threads
        self._model_spec = model_spec
        self._share = share
        self._lock = Lock()
        snapshot = open_index(folder, trust=trust)
        self._state = OpenedState(snapshot, self._model_of(snapshot), threads, connect)

    @property
    def folder(self) -> Path:
        """Where the index is."""
        return self._folder

    def ask(self, use: Callable[[OpenedState], T]) -> T:
        """Give what `use` makes of the state that was committed last."""
        return use(self.state)

    @property
    def state(self) -> OpenedState:
        """The state that was committed last."""
        state = self._state
        if state.snapshot.is_current():
            return state
        # One thread opens the new state for all that ask.
        with self._lock:
            old = self._state
            if old is state or not old.snapshot.is_current():
                snapshot = open_index(self._folder, trust=self.trust)
                if old.snapshot.is_trusted and not snapshot.is_trusted:
                    raise snapshot.refusal("it is not used any more as one that is")
                # Where the folder was deleted and made anew, the model may be another one too.
                if snapshot.is_trusted == old.snapshot.is_trusted:
                    manifest = snapshot.manifest
                    model = old.model.fitting(manifest.model, manifest.settings)
                else:
                    model = self._model_of(snapshot)
                self._state = OpenedState(snapshot, model, self._threads, self._connect)
                old.save_hot(at_once=True)
            return self._state

    def _model_of(self, snapshot: Snapshot) -> IndexModel:
        manifest = snapshot.manifest
        return IndexModel(
            manifest.model,
            manifest.settings,
            self._threads,
            self._model_spec,
            self._share,
            None if snapshot.is_trusted else snapshot.refusal,
        )

    def save_hot(self) -> None:
        """Keep what searches learnt of hot vectors and is not kept yet, before all is let go."""
        self._state.save_hot(at_once=True)

    @property
    def model(self) -> IndexModel:
        """The model of the state that was committed last."""
        return self.state.model


class OpenedState:
    """One state of an index, with what questions need of it."""

    def __init__(
        self, snapshot: Snapshot, model: IndexModel, threads: int, connect: Connect | None = None
    ) -> None:
        self.snapshot = snapshot
        self.model = model
        self.threads = threads
        self._connect = connect
        self._save_hot_at = 0.0

    @property
    def passages(self) -> Passages:
        """A new look at the texts: what was stale or fresh a question ago need not be now."""
        return Passages(self.snapshot, self.remote())

    def remote(self) -> RemoteChunks | None:
        """Give the server that the index follows, for one search; None if it follows none."""
        manifest = self.snapshot.manifest
        if self._connect is None or not manifest.origin or not self.snapshot.is_trusted:
            return None
        return self._connect(self.snapshot.folder, manifest)

    @once
    def vectors(self) -> VectorIndex | None:
        """The engine's index; None while nothing is indexed."""
        with self.snapshot.explaining_damage():
            return self.model.open_vectors(self.snapshot)

    @once
    def hot(self) -> HotVectors | None:
        """The cache of vectors; None if the index keeps none."""
        return self.snapshot.open_hot()

    @once
    def words(self) -> FtsIndex | None:
        """The lexical index, if the index keeps one and it is whole; else texts are read."""
        return open_words(self.snapshot)

    def passage(self, id: int) -> Passage:
        """Give a chunk; UnknownId if it is gone or its text has changed, or Unreachable."""
        with self.snapshot.explaining_damage():
            return self.passages.get(id)

    def hit(self, id: int) -> Hit:
        """Give a chunk with its place; errors as those of `passage`."""
        with self.snapshot.explaining_damage():
            return self.passages.hit(id)

    def context(self, id: int, margin: int) -> tuple[str, Hit, str]:
        """Give a chunk with up to `margin` bytes of text before and after it."""
        with self.snapshot.explaining_damage():
            return self.passages.context(id, margin)

    def passage_at(self, where: str) -> Passage:
        """Give the chunk that "PATH:LINE" stands in (or PATH:PAGE where a file has pages)."""
        path, _, number = where.rpartition(":")
        if not path or not _NUMBER.fullmatch(number):
            raise InvalidArgument(f"a place is PATH:LINE, such as notes.md:12, got {where!r}")
        catalogue = self.snapshot.catalogue
        row = catalogue.find_path(absolute(path))
        if row is None:
            row = catalogue.find_text(path)
        if row is None:
            row = catalogue.find(True, path)  # as it is called on a server of another system
        if row is None:
            raise UnknownId(f"{path} is not in the index")
        passages, changed = self.passages, f"the text of {path} has changed since it was indexed"
        with self.snapshot.explaining_damage():
            id = chunk_at(self.snapshot, passages, row, int(number))
            if id is None:
                raise UnknownId(f"{changed}; add it again")
            try:
                return passages.get(id)
            except UnknownId:
                if self.snapshot.manifest.origin:
                    raise
                raise UnknownId(f"{changed}; add it again") from None

    def save_hot(self, *, at_once: bool = False) -> None:
        """Keep what was learnt about hot vectors, where the folder can be written to.

        Not after each of many searches, unless `at_once`: others wait while a file is written.
        """
        hot: HotVectors | None = vars(self).get("hot")
        now = time.monotonic()
        if hot is None or (now < self._save_hot_at and not at_once):
            return
        self._save_hot_at = now + _SAVE_HOT_EVERY_S
        with suppress(OSError):
            hot.save()
