"""One change of an index under its lock: opened, worked on, committed."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gossamer.chunking import Chunker
from gossamer.errors import NoIndex
from gossamer.model import IndexModel
from gossamer.readers import Limits
from gossamer.sources.folder import WalkOptions
from gossamer.store import Settings, Snapshot, Writer
from gossamer.store.writer import Recoded
from gossamer.update.apply import Applier
from gossamer.update.growing import GrowingVectors
from gossamer.update.hubs import HubVectors
from gossamer.update.prepare import Prepared, Preparer
from gossamer.update.report import UpdateReport, Watcher
from gossamer.update.run import Work, run_update
from gossamer.update.walk_settings import as_settings, from_settings, merge_settings
from gossamer.update.words import GrowingWords
from gossamer.vectors.vector_index import VectorIndex

__all__ = ["UpdateSession", "open_session"]

Floats = NDArray[np.float32]


@contextmanager
def open_session(writer: Writer, model: IndexModel) -> Iterator[tuple[UpdateSession, UpdateReport]]:
    """Begin an update; give what does it, and the report of what it did."""
    report = UpdateReport()
    started = time.monotonic()
    session = UpdateSession(writer, model, report)
    try:
        yield session, report
    finally:
        session.close()
        report.seconds = time.monotonic() - started


class UpdateSession:
    """Puts sources into an index and takes them out; nothing counts before it commits."""

    def __init__(self, writer: Writer, model: IndexModel, report: UpdateReport) -> None:
        if writer.snapshot is None:
            raise NoIndex(f"there is no index in {writer.folder} any more; make it anew")
        self.snapshot: Snapshot = writer.snapshot
        manifest = self.snapshot.manifest
        model = model.fitting(self.snapshot)
        # Whether all that was ever added is looked at: vectors that no text needed then are of
        # texts that are no more.
        self.is_complete = False
        self.roots: tuple[str, ...] = manifest.roots
        self.settings: Settings = manifest.settings
        self._writer = writer
        self._model = model
        self._shipped = self.snapshot.pack
        self._stamp = manifest.model
        self._hot = self.snapshot.open_hot()
        self._hubs = None if self._hot is None else HubVectors(self._hot.budget, self._stamp.dim)
        self._vectors = GrowingVectors(self.snapshot, self.settings, self._hubs)
        self._words = GrowingWords(self.snapshot) if self.settings.lexical == "fts5" else None

        # Not a method: a session that referred to itself would keep its files open until the
        # garbage collector comes.
        def embed(texts: Sequence[str]) -> Floats:
            return model.update_embedder.embed(texts)

        self._applier = Applier(writer, self._stamp, embed, self._vectors, self._words, report)

    @property
    def has_new_settings(self) -> bool:
        """Whether roots or options are not those of the last commit."""
        manifest = self.snapshot.manifest
        return (self.roots, self.settings) != (manifest.roots, manifest.settings)

    def choose_roots(
        self, given: Sequence[Path], options: WalkOptions | None, *, are_new: bool = False
    ) -> None:
        """Remember roots, and add the options that they came with to their own.

        With `are_new` their own are forgotten first.
        """
        names = [root.as_posix() for root in given]
        self.roots = tuple(sorted({*self.roots, *names}))
        walk = dict(self.settings.walk)
        for name in names:
            known = {} if are_new else walk.pop(name, {})
            walk.pop(name, None)
            if chosen := merge_settings(known, as_settings(options or WalkOptions())):
                walk[name] = chosen
        self.settings = replace(self.settings, walk=walk)

    def forget_roots(self, paths: Sequence[Path]) -> None:
        """Forget roots at or below these paths, and what was remembered of them."""
        gone = {path.as_posix() for path in paths}
        below = tuple(f"{path.rstrip('/')}/" for path in gone)

        def is_kept(root: str) -> bool:
            return root not in gone and not root.startswith(below)

        self.roots = tuple(root for root in self.roots if is_kept(root))
        walk = {root: chosen for root, chosen in self.settings.walk.items() if is_kept(root)}
        self.settings = replace(self.settings, walk=walk)

    def walk_options(self, root: Path) -> WalkOptions:
        """Give the options that a root was added with."""
        return from_settings(self.settings.walk.get(root.as_posix()))

    def preparer(self, limits: Limits, chunker: Chunker | None) -> Preparer:
        """Give what reads and cuts sources for this index."""
        return Preparer(
            self._model.embedder.tokenizer,
            self._stamp.chunk_tokens,
            self.settings.store_text,
            limits,
            chunker,
        )

    def run(self, work: Work, watcher: Watcher) -> None:
        """Do the work and commit, now and then on the way and at the end."""
        run_update(self._applier, work, self.commit, watcher, must_commit=self.has_new_settings)

    def new_texts(self, prepared: Prepared) -> list[str]:
        """Give the texts of a source that would have to be embedded."""
        return self._applier.new_texts(prepared)

    def put(self, prepared: Prepared) -> None:
        """Embed what is new in one source and put it in, without a commit."""
        self._applier.apply([prepared], lambda _: None)

    @property
    def has_changes(self) -> bool:
        """Whether there is anything to commit."""
        return not self._applier.changes.is_empty

    def commit(self, is_last: bool, *, is_compact: bool = False) -> None:
        """Make what was done so far the state of the index."""
        settled = self._vectors.settle(is_last=is_last)
        index = settled if isinstance(settled, VectorIndex) else None
        recoded = settled if isinstance(settled, Recoded) else None
        shipped = None if self._shipped is None else self._shipped.codebook.fingerprint
        has_own = recoded is not None and recoded.codebook.fingerprint != shipped
        if self._words is not None:
            generation = self.snapshot.manifest.generation + 1
            self._words.commit(generation, self._applier.changes.next_chunk_id)
        self.snapshot = self._writer.commit(
            self._applier.changes,
            save_vectors=None if index is None else partial(self._save, index),
            model=self._stamp,
            settings=self.settings,
            roots=self.roots,
            save_codebook=self._save_codebook if has_own else None,
            recoded=recoded,
            is_compact=is_compact,
            keep_journal=not (is_last and self.is_complete),
        )
        self._applier.restart()
        if is_last and not self._vectors.keeps_vectors:
            self._keep_hubs()
        if self._words is not None and is_compact:
            self._words.compact()

    def _keep_hubs(self) -> None:
        if self._hot is not None and self._hubs is not None:
            self._hot.put(*self._hubs.best())
            self._hot.save(self.snapshot.catalogue.chunk_ids)

    def close(self) -> None:
        """Let go of what was not committed."""
        if self._words is not None:
            self._words.close()

    def _save_codebook(self, path: Path) -> None:
        pack = self._vectors.own_pack
        assert pack is not None, "codes have a codebook"
        VectorIndex.create(pack.codebook, calibration=pack.calibration).save(path)

    def _save(self, index: VectorIndex, path: Path) -> None:
        # What ships with the model is not saved with every index.
        is_own = self._shipped is None
        index.save(path, with_codebook=is_own, with_calibration=is_own)
