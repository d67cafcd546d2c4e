"""Prepared sources into the index: vectors found or made, catalogue and codes changed together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress, islice

import numpy as np
from numpy.typing import NDArray

from gossamer.errors import InvalidArgument
from gossamer.store import (
    ChunkedDocument,
    ModelStamp,
    SourceRecord,
    Status,
    Writer,
)
from gossamer.store.journal import as_kept
from gossamer.store.records import DocumentRecord
from gossamer.store.snapshot import segments_of
from gossamer.update.growing import GrowingVectors
from gossamer.update.prepare import Prepared, PreparedDocument
from gossamer.update.report import UpdateReport
from gossamer.update.words import GrowingWords

__all__ = ["Applier", "check_of"]

Floats = NDArray[np.float32]

# Texts embedded between two entries in the journal: what a killed process loses at most.
_JOURNALED_AT_ONCE = 64
# Chunks whose texts and vectors are in memory at one time.
_CHUNKS_AT_ONCE = 2048
# A check has 32 bits: among more chunks than these two different ones may well share it.
_MOST_TOLD_APART = 10_000


@dataclass(frozen=True, slots=True)
class _Fresh:
    """A chunk that is to be embedded."""

    id: int
    name: bytes  # hash of its text
    document: PreparedDocument
    number: int  # of the chunk in its document

    @property
    def text(self) -> str:
        return self.document.embedded(self.number)


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

    def restart(self) -> None:
        """Go on after a commit."""
        assert self._writer.snapshot is not None, "an index is created before it is updated"
        self._catalogue = segments_of(self._writer.snapshot)
        self.changes = self._writer.changes(self._vectors.codebook)
        self._vectors.begin(self.changes, self._catalogue)
        self._by_content: dict[int, list[int]] | None = None
        self._replaced: set[int] = set()  # rows whose chunks were taken out since the last commit

    def remove(self, sources: Sequence[SourceRecord]) -> None:
        """Take sources out; call it after `apply`, which may still use what they hold."""
        rows = [row for source in sources if (row := self._row_of(source)) is not None]
        for row in rows:
            self._remove_chunks(self._catalogue.chunks_of(row))
        self.changes.remove_sources(rows)
        self._report.removed += len(rows)

    def apply(self, wave: Sequence[Prepared], on_embedded: Callable[[int], None]) -> None:
        """Embed what is new in these sources and put them in."""
        fresh: list[_Fresh] = []
        old_rows = []
        for prepared in wave:
            if prepared.is_same:
                self._touch(prepared)
            else:
                old_rows.append(self._put(prepared, fresh))
        for start in range(0, len(fresh), _CHUNKS_AT_ONCE):
            self._embed_and_add(fresh[start : start + _CHUNKS_AT_ONCE], on_embedded)
        for row in old_rows:
            if row is not None:
                self._remove_chunks(self._catalogue.chunks_of(row))
                self._replaced.add(row)
        self.changes.write_large()

    def new_texts(self, prepared: Prepared) -> list[str]:
        """Give the texts of a source that `apply` would embed, unless the journal has them."""
        if prepared.is_same:
            return []
        names = prepared.names
        known = self._reusable(prepared.source, names)
        texts = zip(names, prepared.texts(), strict=True)
        return [text for name, text in texts if name not in known]

    def _embed_and_add(self, some: Sequence[_Fresh], on_embedded: Callable[[int], None]) -> None:
        needed = {one.name: one for one in some}
        made = self._vectors_of(needed, on_embedded)
        ids = np.array([one.id for one in some], np.int64)
        self._vectors.add(ids, np.stack([made[one.name] for one in some]))

    def _reusable(self, source: SourceRecord, names: Sequence[bytes]) -> dict[bytes, int]:
        """Chunks of the same source that say the same: the id each has now, by hash.

        Those of a new source are looked for in one of the same content: a file, or a whole root,
        that was moved or copied. 32 bits tell the chunks of one file apart; more than one file is
        never compared.
        """
        row = self._row_of(source)
        if row is None and source.root:
            row = self._row_like(source)
        if row is None:
            return {}
        ids = self._catalogue.chunks_of(row)
        if len(ids) > _MOST_TOLD_APART:
            return {}
        by_check = dict(zip(self._catalogue.checks(ids).tolist(), ids.tolist(), strict=True))
        found = {name: by_check.get(check_of(name)) for name in names}
        return {name: id for name, id in found.items() if id is not None}

    def _row_like(self, source: SourceRecord) -> int | None:
        """Give a file of the same content, of the same name if there is one."""
        if self._by_content is None:
            self._by_content = {}
            for row in range(self._catalogue.source_count):
                *_, content_hash = self._catalogue.core.source(row)
                self._by_content.setdefault(content_hash, []).append(row)
        rows = self._by_content.get(source.content_hash, []) if source.content_hash else []
        found = [row for row in rows if row not in self._replaced]
        named = (row for row in found if self._catalogue.source(row).name == source.name)
        return next(named, found[0] if found else None)

    def _vectors_of(
        self, needed: Mapping[bytes, _Fresh], on_embedded: Callable[[int], None]
    ) -> dict[bytes, Floats]:
        """Vectors by hash: from the journal of an interrupted run, or embedded now.

        All are rounded as the journal rounds them, so that a run that was interrupted gives the
        same index as one that was not.
        """
        names = list(needed)
        journal = self._writer.journal(self._stamp.fingerprint, self._stamp.dim)
        is_known, known = journal.find(names)
        made = dict(zip(compress(names, is_known.tolist()), known, strict=True))
        self._report.chunks_resumed += len(made)
        missing = list(compress(names, (~is_known).tolist()))
        for start in range(0, len(missing), _JOURNALED_AT_ONCE):
            batch = missing[start : start + _JOURNALED_AT_ONCE]
            vectors = self._embed([needed[name].text for name in batch])
            journal.add(batch, vectors)
            made.update(zip(batch, as_kept(vectors), strict=True))
            self._report.chunks_embedded += len(batch)
            on_embedded(len(batch))
        return made

    def _put(self, prepared: Prepared, fresh: list[_Fresh]) -> int | None:
        """Put a source in, and what is to be embedded of it to `fresh`; give its old row."""
        row = self._row_of(prepared.source)
        was_indexed = row is not None and self._status_of(row) == Status.INDEXED
        names = prepared.names
        known = self._reusable(prepared.source, names)
        documents = [
            ChunkedDocument(
                self._place_text(one), one.spans, [check_of(name) for name in one.names]
            )
            for one in prepared.documents
        ]
        try:
            ids = self.changes.replace_source(prepared.source, documents)
        except InvalidArgument as error:
            # A reader gave what cannot be kept; that is no reason to stop for all other files.
            return self._put(prepared.failed(error), fresh)
        is_moved = np.array([name in known for name in names], bool)
        moved_from = np.array([known[name] for name in names if name in known], np.int64)
        self._vectors.move(moved_from, ids[is_moved])
        places = ((one, n) for one in prepared.documents for n in range(len(one.spans)))
        for id, name, (document, number) in zip(ids.tolist(), names, places, strict=True):
            if name not in known:
                fresh.append(_Fresh(id, name, document, number))
        self._add_words(ids, prepared)
        self._count(prepared.source, row is not None, was_indexed, len(moved_from))
        return row

    def _add_words(self, ids: NDArray[np.int64], prepared: Prepared) -> None:
        if self._words is None:
            return
        texts = prepared.texts()
        for start in range(0, len(ids), _CHUNKS_AT_ONCE):
            some = ids[start : start + _CHUNKS_AT_ONCE]
            self._words.add(some, list(islice(texts, len(some))))

    def _remove_chunks(self, ids: NDArray[np.int64]) -> None:
        self._vectors.remove(ids)
        if self._words is not None:
            self._words.remove(ids)

    def _touch(self, prepared: Prepared) -> None:
        """Note that a source is as it was, at another time; nothing if the time is the same."""
        source, row = prepared.source, self._row_of(prepared.source)
        assert row is not None
        known = self._catalogue.source(row)
        if (source.mtime_ns, source.reader_version) != (known.mtime_ns, known.reader_version):
            self.changes.touch_source(row, source.mtime_ns, source.reader_version)
        if prepared.problem:
            self._report.failed += 1
            reason = f"{prepared.problem}; what is indexed of it is kept"
            self._report.problems.append((source.path, reason))
        else:
            self._report.unchanged += 1

    def _place_text(self, document: PreparedDocument) -> DocumentRecord:
        if not document.is_stored:
            return document.record
        segment, offset = self.changes.add_text(document.text)
        return replace(document.record, segment=segment, offset=offset)

    def _row_of(self, source: SourceRecord) -> int | None:
        find = self._catalogue.find_path if source.root else self._catalogue.find_text
        return find(source.path)

    def _status_of(self, row: int) -> int:
        return self._catalogue.source(row).status

    def _count(self, source: SourceRecord, is_known: bool, was_indexed: bool, reused: int) -> None:
        report = self._report
        report.chunks_reused += reused
        if source.status != Status.INDEXED and was_indexed:
            report.lost += 1
        if source.status == Status.SKIPPED:
            report.skipped += 1
        elif source.status == Status.FAILED:
            report.failed += 1
            report.problems.append((source.path, source.reason))
        elif is_known:
            report.updated += 1
        else:
            report.added += 1


def check_of(name: bytes) -> int:
    """Give what the catalogue keeps of a text's hash."""
    return int.from_bytes(name[:4], "little")
