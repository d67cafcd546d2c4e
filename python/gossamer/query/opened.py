"""An index open for questions: parts are read when first needed, newer states picked up."""

from __future__ import annotations

import re
import time
from collections.abc import Hashable
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gossamer.errors import GossamerError, InvalidArgument, UnknownId
from gossamer.files import absolute
from gossamer.filters import Filter
from gossamer.lexical import LexicalResult
from gossamer.model import IndexModel, Share
from gossamer.once import once
from gossamer.passages import Passage, Passages
from gossamer.query.elsewhere import Elsewhere
from gossamer.query.layout import ChunkLayout
from gossamer.query.run import Query, Searchable
from gossamer.query.scope import allowed_documents
from gossamer.store import HotVectors, Snapshot, open_index
from gossamer.store.folder import explaining_damage
from gossamer.store.words import open_words
from gossamer.vectors.vector_index import VectorIndex

if TYPE_CHECKING:
    from gossamer.lexical.fts5 import FtsIndex

__all__ = ["OpenedIndex", "OpenedState"]

_MOST_FILTERS = 16  # whose answers are remembered
_SAVE_HOT_EVERY_S = 5.0
_NUMBER = re.compile("[0-9]{1,18}")


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
    ) -> None:
        self.trust = trust
        self._folder = folder
        self._threads = threads
        self._model_spec = model_spec
        self._share = share
        self._lock = Lock()
        snapshot = open_index(folder, trust=trust)
        self._state = OpenedState(snapshot, self._model_of(snapshot), threads)

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
                self._state = OpenedState(snapshot, model, self._threads)
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

    def __init__(self, snapshot: Snapshot, model: IndexModel, threads: int) -> None:
        self.snapshot = snapshot
        self.model = model
        self._threads = threads
        self._save_hot_at = 0.0
        self._allowed: dict[Hashable, NDArray[np.bool_]] = {}

    @property
    def passages(self) -> Passages:
        """A new look at the texts: what was stale or fresh a question ago need not be now."""
        return Passages(self.snapshot, self.elsewhere())

    def elsewhere(self) -> Elsewhere | None:
        """Give the server that the index follows, for one search; None if it follows none."""
        manifest = self.snapshot.manifest
        if not manifest.origin or not self.snapshot.is_trusted:
            return None
        from gossamer.sync.elsewhere import elsewhere_of

        return elsewhere_of(self.snapshot.folder, manifest)

    @once
    def layout(self) -> ChunkLayout:
        """Where all chunks stand."""
        return ChunkLayout(self.snapshot)

    @once
    def vectors(self) -> VectorIndex | None:
        """The engine's index; None while nothing is indexed."""
        with explaining_damage(self.snapshot.folder):
            return self.model.open_vectors(self.snapshot)

    @once
    def hot(self) -> HotVectors | None:
        """The cache of vectors; None if the index keeps none."""
        return self.snapshot.open_hot()

    @once
    def words(self) -> FtsIndex | None:
        """The lexical index, if the index keeps one and it is whole; else texts are read."""
        return open_words(self.snapshot)

    def searchable(self) -> Searchable:
        """Give what a query reads."""
        elsewhere = self.elsewhere()
        return Searchable(
            passages=Passages(self.snapshot, elsewhere),
            layout=self.layout,
            vectors=self.vectors,
            embedder=lambda: self.model.embedder,
            hot=self.hot,
            lexical=self._by_word_index if self.words is not None else None,
            threads=self._threads,
            elsewhere=elsewhere,
        )

    def allowed(self, condition: Filter | None) -> NDArray[np.bool_] | None:
        """Say of each chunk whether the filter lets it through; None without a filter."""
        if condition is None:
            return None
        known = self._allowed.get(condition.key)
        if known is None:
            documents = allowed_documents(self.snapshot.catalogue, condition)
            known = self.layout.numbers_of(documents)
            if condition.key is not None:
                if len(self._allowed) >= _MOST_FILTERS:
                    self._allowed.clear()
                self._allowed[condition.key] = known
        return known

    def passage(self, id: int) -> Passage:
        """Give a chunk; UnknownId if it is gone or its text has changed, or Unreachable."""
        passages = self.passages
        with explaining_damage(self.snapshot.folder):
            (passage,) = passages.read(np.array([id], np.int64))
        if passage is None:
            raise passages.cannot_read(id)
        return passage

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
        with explaining_damage(self.snapshot.folder):
            found = self.passages.at_place(row, int(number))
        if found is None:
            raise UnknownId(f"the text of {path} has changed since it was indexed; add it again")
        return found

    def _by_word_index(self, query: Query, n: int) -> LexicalResult | None:
        """Ask the lexical index; None where it turns out to be damaged or locked."""
        assert self.words is not None
        ids = self.layout.ids
        allowed = None
        if query.allowed is not None:
            allowed = np.zeros(self.snapshot.manifest.next_chunk_id, bool)
            allowed[ids[query.allowed]] = True
        try:
            found, scores = self.words.search(query.question, n, allowed)
            is_known = np.isin(found, ids)  # a file that somebody spoilt may name any
            found, scores = found[is_known], scores[is_known]
            counts = self.words.count_terms(query.question)
        except GossamerError:
            return None
        return LexicalResult(
            numbers=np.searchsorted(ids, found).astype(np.uint32),
            scores=scores,
            terms=tuple(counts),
            chunks_with=tuple(counts.values()),
            chunks=len(ids),
            chunks_unreadable=0,
            files_opened=0,
            files_failed=(),
            bytes_read=0,
        )

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
