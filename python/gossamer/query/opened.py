"""An index open for questions: parts are read when first needed, newer states picked up."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gossamer.errors import InvalidArgument, UnknownId
from gossamer.filters import Filter
from gossamer.lexical import LexicalResult
from gossamer.model import IndexModel
from gossamer.passages import Passage, Passages
from gossamer.query.layout import ChunkLayout
from gossamer.query.run import Query, Searchable
from gossamer.query.scope import allowed_documents
from gossamer.store import HotVectors, Snapshot, open_index
from gossamer.update.session import open_hot, open_vectors
from gossamer.update.words import WORDS
from gossamer.vectors.vector_index import VectorIndex

if TYPE_CHECKING:
    from gossamer.lexical.fts5 import FtsIndex

__all__ = ["OpenedIndex", "OpenedState"]


class OpenedIndex:
    """The current state of an index folder; `state` is a newer one once a writer has committed."""

    def __init__(self, folder: Path, model_spec: str, threads: int) -> None:
        self._folder = folder
        self._threads = threads
        snapshot = open_index(folder)
        self.model = IndexModel(
            snapshot.manifest.model, snapshot.manifest.settings, threads, model_spec
        )
        self._state = OpenedState(snapshot, self.model, threads)

    @property
    def state(self) -> OpenedState:
        """The state that was committed last."""
        if not self._state.snapshot.is_current():
            self._state = OpenedState(open_index(self._folder), self.model, self._threads)
        return self._state


class OpenedState:
    """One state of an index, with what questions need of it."""

    def __init__(self, snapshot: Snapshot, model: IndexModel, threads: int) -> None:
        self.snapshot = snapshot
        self.passages = Passages(snapshot)
        self._model = model
        self._threads = threads

    @cached_property
    def layout(self) -> ChunkLayout:
        """Where all chunks stand."""
        return ChunkLayout(self.snapshot)

    @cached_property
    def vectors(self) -> VectorIndex | None:
        """The engine's index; None while nothing is indexed."""
        return open_vectors(self.snapshot, self._model)

    @cached_property
    def hot(self) -> HotVectors | None:
        """The cache of vectors; None if the index keeps none."""
        return open_hot(self.snapshot)

    @cached_property
    def words(self) -> FtsIndex | None:
        """The lexical index, if the index keeps one and it is whole; else texts are read."""
        manifest = self.snapshot.manifest
        path = self.snapshot.folder / WORDS
        if manifest.settings.lexical != "fts5" or not path.exists():
            return None
        from gossamer.lexical.fts5 import FtsIndex

        index = FtsIndex(path, manifest.generation, manifest.next_chunk_id)
        return index if index.is_complete else None

    def searchable(self) -> Searchable:
        """Give what a query reads."""
        return Searchable(
            passages=self.passages,
            layout=self.layout,
            vectors=self.vectors,
            embedder=lambda: self._model.embedder,
            hot=self.hot,
            lexical=self._by_word_index if self.words is not None else None,
            threads=self._threads,
        )

    def allowed(self, condition: Filter | None) -> NDArray[np.bool_] | None:
        """Say of each chunk whether the filter lets it through; None without a filter."""
        if condition is None:
            return None
        return self.layout.numbers_of(allowed_documents(self.snapshot.catalogue, condition))

    def passage(self, id: int) -> Passage:
        """Give a chunk; UnknownId if it is gone or its text has changed."""
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
        row = catalogue.find_path(os.path.abspath(Path(path).expanduser()))
        if row is None:
            row = catalogue.find_text(path)
        if row is None:
            raise UnknownId(f"{path} is not in the index")
        found = None
        for passage in self.passages.read(catalogue.chunks_of(row)):
            if passage is not None:
                first, _ = self.passages.place_of(passage)
                if found is None or first <= int(number):
                    found = passage
        if found is None:
            raise UnknownId(f"the text of {path} has changed since it was indexed; add it again")
        return found

    def _by_word_index(self, query: Query, n: int) -> LexicalResult:
        assert self.words is not None
        ids = self.layout.ids
        allowed = None
        if query.allowed is not None:
            allowed = np.zeros(self.snapshot.manifest.next_chunk_id, bool)
            allowed[ids[query.allowed]] = True
        found, scores = self.words.search(query.question, n, allowed)
        return LexicalResult(
            numbers=np.searchsorted(ids, found).astype(np.uint32),
            scores=scores,
            terms=(),
            chunks_with=(),
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
