"""An index open for questions: parts are read when first needed, newer states picked up."""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gossamer.errors import GossamerError, InvalidArgument, UnknownId
from gossamer.files import absolute
from gossamer.filters import Filter
from gossamer.lexical import WORDS, LexicalResult
from gossamer.model import IndexModel
from gossamer.passages import Passage, Passages
from gossamer.query.layout import ChunkLayout
from gossamer.query.run import Query, Searchable
from gossamer.query.scope import allowed_documents
from gossamer.store import HotVectors, Snapshot, open_index
from gossamer.store.folder import explaining_damage
from gossamer.vectors.vector_index import VectorIndex

if TYPE_CHECKING:
    from gossamer.lexical.fts5 import FtsIndex

__all__ = ["OpenedIndex", "OpenedState"]

_MOST_FILTERS = 16  # whose answers are remembered


class OpenedIndex:
    """The current state of an index folder; `state` is a newer one once a writer has committed."""

    def __init__(self, folder: Path, model_spec: str, threads: int) -> None:
        self._folder = folder
        self._threads = threads
        snapshot = open_index(folder)
        manifest = snapshot.manifest
        model = IndexModel(manifest.model, manifest.settings, threads, model_spec)
        self._state = OpenedState(snapshot, model, threads)

    @property
    def state(self) -> OpenedState:
        """The state that was committed last."""
        old = self._state
        if not old.snapshot.is_current():
            snapshot = open_index(self._folder)
            # Where the folder was deleted and made anew, the model may be another one too.
            model = old.model.fitting(snapshot.manifest.model, snapshot.manifest.settings)
            self._state = OpenedState(snapshot, model, self._threads)
        return self._state

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
        self._allowed: dict[Hashable, NDArray[np.bool_]] = {}

    @property
    def passages(self) -> Passages:
        """A new look at the texts: what was stale or fresh a question ago need not be now."""
        return Passages(self.snapshot)

    @cached_property
    def layout(self) -> ChunkLayout:
        """Where all chunks stand."""
        return ChunkLayout(self.snapshot)

    @cached_property
    def vectors(self) -> VectorIndex | None:
        """The engine's index; None while nothing is indexed."""
        with explaining_damage(self.snapshot.folder):
            return self.model.open_vectors(self.snapshot)

    @cached_property
    def hot(self) -> HotVectors | None:
        """The cache of vectors; None if the index keeps none."""
        return self.snapshot.open_hot()

    @cached_property
    def words(self) -> FtsIndex | None:
        """The lexical index, if the index keeps one and it is whole; else texts are read."""
        manifest = self.snapshot.manifest
        path = self.snapshot.folder / WORDS
        if manifest.settings.lexical != "fts5" or not path.exists():
            return None
        from gossamer.lexical.fts5 import FtsIndex

        with suppress(GossamerError):
            index = FtsIndex(path, manifest.generation, manifest.next_chunk_id, is_read_only=True)
            if index.is_complete:
                return index
            index.close()
        return None

    def searchable(self) -> Searchable:
        """Give what a query reads."""
        return Searchable(
            passages=self.passages,
            layout=self.layout,
            vectors=self.vectors,
            embedder=lambda: self.model.embedder,
            hot=self.hot,
            lexical=self._by_word_index if self.words is not None else None,
            threads=self._threads,
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
        """Give a chunk; UnknownId if it is gone or its text has changed."""
        with explaining_damage(self.snapshot.folder):
            (passage,) = self.passages.read(np.array([id], np.int64))
        if passage is None:
            raise UnknownId(f"the text of chunk {id} is not what was indexed; add it again")
        return passage

    def passage_at(self, where: str) -> Passage:
        """Give the chunk that "PATH:LINE" stands in (or PATH:PAGE where a file has pages)."""
        path, _, number = where.rpartition(":")
        if not path or not number.isdigit():
            raise InvalidArgument(f"a place is PATH:LINE, such as notes.md:12, got {where!r}")
        catalogue = self.snapshot.catalogue
        row = catalogue.find_path(absolute(path))
        if row is None:
            row = catalogue.find_text(path)
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

    def save_hot(self) -> None:
        """Keep what was learnt about hot vectors, where the folder can be written to."""
        if self.hot is not None:
            with suppress(OSError):
                self.hot.save()
