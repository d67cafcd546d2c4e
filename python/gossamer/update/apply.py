"""Prepared sources into the index: vectors found or made, catalogue and codes changed together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from gossamer.store import (
    ChunkedDocument,
    ModelStamp,
    SourceRecord,
    Status,
    Writer,
    hash_of_text,
)
from gossamer.store.journal import as_kept
from gossamer.store.records import DocumentRecord
from gossamer.update.growing import GrowingVectors
from gossamer.update.prepare import Prepared, PreparedDocument
from gossamer.update.report import UpdateReport
from gossamer.update.words import GrowingWords

__all__ = ["Applier"]

Floats = NDArray[np.float32]

# Texts embedded between two entries in the journal: what a killed process loses at most.
_JOURNALED_AT_ONCE = 64


class Applier:
    """Puts prepared sources into a writer's changes and into the growing vectors."""

    def __init__(
        self,
        writer: Writer,
        stamp: ModelStamp,
        embed: Callable[[Sequence[str]], Floats],
        vectors: GrowingVectors,
        words: GrowingWords | None,
        report: UpdateReport,
    ) -> None:
        self._writer = writer
        self._stamp = stamp
        self._embed = embed
        self._vectors = vectors
        self._words = words
        self._report = report
        self.restart()
        # Sources that are gone, by content: a file that was moved finds its codes there.
        self._moved: dict[int, SourceRecord] = {}

    def restart(self) -> None:
        """Go on after a commit."""
        assert self._writer.snapshot is not None, "an index is created before it is updated"
        self._catalogue = self._writer.snapshot.catalogue
        self.changes = self._writer.changes()

    def remove(self, sources: Sequence[SourceRecord]) -> None:
        """Take sources out; call it after `apply`, which may still use what they hold."""
        rows = [row for source in sources if (row := self._row_of(source)) is not None]
        for row in rows:
            self._remove_chunks(self._catalogue.chunks_of(row))
        self.changes.remove_sources(rows)
        self._report.removed += len(rows)

    def expect_moved(self, sources: Sequence[SourceRecord]) -> None:
        """Name sources whose files are gone: the same content elsewhere need not be embedded."""
        self._moved = {source.content_hash: source for source in sources if source.content_hash}

    def apply(self, wave: Sequence[Prepared], on_embedded: Callable[[int], None]) -> None:
        """Embed what is new in these sources and put them in."""
        for prepared in wave:
            if prepared.is_same:
                self._touch(prepared.source)
        wave = [prepared for prepared in wave if not prepared.is_same]
        hashes = [[hash_of_text(text) for text in source.texts] for source in wave]
        reusable = [
            self._reusable(source.source, names) for source, names in zip(wave, hashes, strict=True)
        ]
        needed = {
            name: text
            for source, names, known in zip(wave, hashes, reusable, strict=True)
            for name, text in zip(names, source.texts, strict=True)
            if name not in known
        }
        made = self._vectors_of(needed, on_embedded)
        for source, names, known in zip(wave, hashes, reusable, strict=True):
            self._put(source, names, known, made)

    def _reusable(self, source: SourceRecord, names: Sequence[bytes]) -> dict[bytes, int]:
        """Chunks of the same source that say the same: the id each has now, by hash.

        32 bits tell the chunks of one file apart; more than one file is never compared.
        """
        row = self._row_of(source)
        if row is None and source.content_hash in self._moved:
            row = self._row_of(self._moved[source.content_hash])
        if row is None:
            return {}
        ids = self._catalogue.chunks_of(row)
        by_check = dict(zip(self._catalogue.checks(ids).tolist(), ids.tolist(), strict=True))
        found = {name: by_check.get(_check(name)) for name in names}
        return {name: id for name, id in found.items() if id is not None}

    def _vectors_of(
        self, needed: Mapping[bytes, str], on_embedded: Callable[[int], None]
    ) -> dict[bytes, Floats]:
        """Vectors by hash: from the journal of an interrupted run, or embedded now.

        All are rounded as the journal rounds them, so that a run that was interrupted gives the
        same index as one that was not.
        """
        if not needed:
            return {}
        names = list(needed)
        journal = self._writer.journal(self._stamp.fingerprint, self._stamp.dim)
        is_known, known = journal.find(names)
        made = dict(zip(compress(names, is_known.tolist()), known, strict=True))
        self._report.chunks_resumed += len(made)
        missing = list(compress(names, (~is_known).tolist()))
        for start in range(0, len(missing), _JOURNALED_AT_ONCE):
            batch = missing[start : start + _JOURNALED_AT_ONCE]
            vectors = self._embed([needed[name] for name in batch])
            journal.add(batch, vectors)
            made.update(zip(batch, as_kept(vectors), strict=True))
            self._report.chunks_embedded += len(batch)
            on_embedded(len(batch))
        return made

    def _put(
        self,
        prepared: Prepared,
        names: Sequence[bytes],
        known: Mapping[bytes, int],
        made: Mapping[bytes, Floats],
    ) -> None:
        row = self._row_of(prepared.source)
        old_ids = np.zeros(0, np.int64) if row is None else self._catalogue.chunks_of(row)
        documents, checks = [], iter(_check(name) for name in names)
        for document in prepared.documents:
            record = self._place_text(document)
            own = [next(checks) for _ in document.spans]
            documents.append(ChunkedDocument(record, document.spans, own))
        ids = self.changes.replace_source(prepared.source, documents)
        is_moved = np.array([name in known for name in names], bool)
        moved_from = np.array([known[name] for name in names if name in known], np.int64)
        self._vectors.move(moved_from, ids[is_moved])
        fresh = [made[name] for name in names if name not in known]
        if fresh:
            self._vectors.add(ids[~is_moved], np.stack(fresh))
        if self._words is not None:
            self._words.add(ids, prepared.texts)
        self._remove_chunks(old_ids)
        self._count(prepared.source, row is not None, len(moved_from))

    def _remove_chunks(self, ids: NDArray[np.int64]) -> None:
        self._vectors.remove(ids)
        if self._words is not None:
            self._words.remove(ids)

    def _touch(self, source: SourceRecord) -> None:
        row = self._row_of(source)
        assert row is not None
        self.changes.touch_source(row, source.mtime_ns, source.reader_version)
        self._report.unchanged += 1

    def _place_text(self, document: PreparedDocument) -> DocumentRecord:
        if document.text_to_store is None:
            return document.record
        segment, offset = self._writer.add_text(document.text_to_store)
        return replace(document.record, segment=segment, offset=offset)

    def _row_of(self, source: SourceRecord) -> int | None:
        find = self._catalogue.find_path if source.root else self._catalogue.find_text
        return find(source.path)

    def _count(self, source: SourceRecord, is_known: bool, reused: int) -> None:
        report = self._report
        report.chunks_reused += reused
        if source.status == Status.SKIPPED:
            report.skipped += 1
        elif source.status == Status.FAILED:
            report.failed += 1
            report.problems.append((source.path, source.reason))
        elif is_known:
            report.updated += 1
        else:
            report.added += 1


def _check(name: bytes) -> int:
    """Give what the catalogue keeps of a text's hash."""
    return int.from_bytes(name[:4], "little")
