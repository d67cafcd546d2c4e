"""From an index folder to a single file."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from gossamer import _core
from gossamer.errors import WrongState
from gossamer.files import map_file, write_file
from gossamer.io_errors import explaining
from gossamer.model import IndexModel
from gossamer.progress import ProgressCallback, silent
from gossamer.single.container import Container, Section, container_parts, sections_of
from gossamer.single.engine import EngineChoice, engine_sections
from gossamer.single.kinds import MANIFEST, NAMES, ORDER, SEGMENT, WORDS
from gossamer.single.overwriting import check_export
from gossamer.single.portable import Portable, manifest_values, portable
from gossamer.store import Catalogue, Manifest, Snapshot
from gossamer.store.changes import Changes
from gossamer.store.codecs import SINGLE, SINGLE_BLOCK_BYTES
from gossamer.store.manifest import Site
from gossamer.store.ratio import least_packed
from gossamer.store.segments import NO_CODES, SegmentCatalogue
from gossamer.sync.served import Encoded, Served

__all__ = ["ExportOptions", "ExportReport", "write_single_file"]

_ASIDE = ".gossamer-export-"
_LEFT_BEHIND_S = 24 * 3600.0
_PART_BYTES = 1 << 25  # of text that are in memory at one time


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """What can be chosen of a single file."""

    engine: EngineChoice = field(default_factory=EngineChoice)
    root_name: str = ""  # of the folders that were added; "": the last part of each
    with_words: bool = True
    replaces: bool = False  # any plain file; without it only an export of the same index
    is_public: bool = False  # with the permissions of the user's new files, or of the one replaced
    site: Site | None = None  # that hits lead to; None: the one that the index has


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What a single file holds, and what is not in it."""

    total_bytes: int
    bytes_by_section: dict[str, int]
    sources: int
    documents: int
    chunks: int
    left_out: tuple[str, ...]  # sources whose text is not what was indexed, or cannot be read


def write_single_file(
    snapshot: Snapshot,
    model: IndexModel,
    path: Path,
    options: ExportOptions | None = None,
    progress: ProgressCallback | None = None,
) -> ExportReport:
    """Write a state of an index as one file, whole or not at all; the same state, the same bytes.

    InvalidArgument if something else than an export of the same index is there, unless it is to
    be replaced; no link or device ever is. Texts of files that are read in place are compared with
    what was indexed; sources where they differ are left out. WrongState if nothing is left.
    """
    options, note = options or ExportOptions(), progress or silent
    served, uuid = Served(snapshot, model, "", Encoded()), snapshot.manifest.uuid
    with ExitStack() as stack:
        stack.enter_context(explaining(path, "write"))
        check_export(path, uuid, options.replaces)
        _sweep(path.parent)
        aside = stack.enter_context(TemporaryDirectory(prefix=_ASIDE, dir=path.parent))
        gathered = _gather_texts(served, Path(aside), options, note)
        catalogue = gathered.catalogue
        manifest = replace(
            _manifest_of(served.manifest, options), site=options.site or snapshot.site
        )
        engine = Path(aside) / "engine.gsm"
        ids = catalogue.chunk_ids
        sections = engine_sections(served, ids, options.engine, engine, note)
        sections.append(
            Section(MANIFEST, _as_bytes(_to_json(manifest_values(manifest, catalogue))))
        )
        sections += gathered.segment
        if options.with_words:
            note("words", 0, 0)
            sections.append(Section(WORDS, _as_bytes(gathered.words())))
        sections.sort(key=lambda section: ORDER.index(section.kind))
        note("writing", 0, 0)
        check_export(path, uuid, options.replaces)  # again: all of this may have taken long
        least = least_packed(int(catalogue.text_lengths.sum()))
        total = write_file(path, container_parts(sections, least), is_public=options.is_public)
    return ExportReport(
        total_bytes=total,
        bytes_by_section=_count_bytes(sections),
        sources=catalogue.source_count,
        documents=catalogue.document_count,
        chunks=catalogue.chunk_count,
        left_out=gathered.left_out,
    )


def _count_bytes(sections: list[Section]) -> dict[str, int]:
    counted: dict[str, int] = {}
    for kind, data in sections:
        counted[NAMES[kind]] = counted.get(NAMES[kind], 0) + len(data)
    return counted


def _sweep(folder: Path) -> None:
    """Delete what an export left that was killed, a day ago or earlier: texts lie there."""
    before = time.time() - _LEFT_BEHIND_S
    for path in folder.glob(f"{_ASIDE}*"):
        if not path.is_symlink() and path.stat().st_mtime < before:
            shutil.rmtree(path, ignore_errors=True)


@dataclass(frozen=True)
class _Gathered:
    """What the texts of an index come to."""

    catalogue: Catalogue
    segment: list[Section]
    left_out: tuple[str, ...]
    words: Callable[[], bytes]


def _gather_texts(
    served: Served, aside: Path, options: ExportOptions, note: ProgressCallback
) -> _Gathered:
    """Write all sources whose texts can be had to a segment, and count their words."""
    snapshot, whole = served.snapshot, served.catalogue
    chosen = portable(whole, options.root_name)
    words = _Counting(whole) if options.with_words else None
    total, done = int(chosen.catalogue.text_lengths.sum()), 0
    spool = _Spool(chosen.catalogue, aside)
    for place, row in enumerate(chosen.rows.tolist()):
        documents = whole.documents_of(row)
        texts = [served.text(document) for document in documents]
        found = [text for text in texts if text is not None]
        if len(found) == len(texts):
            spool.add(place, found)
            if words is not None:
                words.add(documents, found)
        done += sum(map(len, found))
        note("texts", done, total)
    catalogue, segment = spool.finish()
    left_out = _left_out(whole, chosen, set(spool.kept))
    if left_out and not catalogue.source_count and not snapshot.is_trusted:
        raise snapshot.refusal("the files that it names are not read, and it holds no texts")
    if left_out and not catalogue.source_count:
        raise WrongState(
            f"not one of {len(left_out)} sources can be read as it was indexed; bring the files "
            "back or add them again, and pull with texts kept where the index follows a server"
        )
    return _Gathered(
        catalogue, segment, left_out, lambda: b"" if words is None else words.to_bytes(catalogue)
    )


class _Spool:
    """Sources on their way into one segment, a part of them at a time."""

    def __init__(self, catalogue: Catalogue, aside: Path) -> None:
        self.kept: list[int] = []  # rows of the catalogue
        self._catalogue = catalogue
        self._aside = aside
        self._count = count(1)
        self._changes = Changes(
            SegmentCatalogue([], ()),
            int(catalogue.chunk_ids[-1]) + 1 if catalogue.chunk_count else 1,
            NO_CODES,
            lambda: next(self._count),
            self._write,
            codecs=SINGLE,
            block_bytes=SINGLE_BLOCK_BYTES,
        )
        self._waiting: list[int] = []
        self._offsets: list[int] = []
        self._bytes = 0

    def add(self, row: int, texts: list[bytes]) -> None:
        """Take a source in, with the texts of its documents."""
        self._waiting.append(row)
        self._offsets += [self._changes.add_text(text)[1] for text in texts]
        self._bytes += sum(map(len, texts))
        if self._bytes >= _PART_BYTES:
            self._put()

    def finish(self) -> tuple[Catalogue, list[Section]]:
        """Give what was taken in, and the sections of its segment."""
        self._put()
        segments = self._changes.finish()
        if len(segments) != 1:
            every = list(range(len(segments)))
            packing = SINGLE_BLOCK_BYTES, SINGLE
            merged = _core.Catalogue(segments).merge(every, NO_CODES, None, False, *packing)
            segments = [self._write(0, merged)]
            for number in every:
                (self._aside / f"segment-{number + 1}.gss").unlink(missing_ok=True)
        sections = sections_of(Container(segments[0].file), SEGMENT)
        return self._catalogue.part(np.array(self.kept, np.int64)), sections

    def _put(self) -> None:
        """Give what waits to the segment."""
        part = self._catalogue.part(np.array(self._waiting, np.int64))
        segments = np.full(len(self._offsets), self._changes.number, np.int64)
        self._changes.merge(part, (segments, np.array(self._offsets, np.int64)))
        self._changes.write_large()
        self.kept += self._waiting
        self._waiting, self._offsets, self._bytes = [], [], 0

    def _write(self, number: int, parts: _core.SegmentParts) -> _core.Segment:
        path = self._aside / f"segment-{number}.gss"
        write_file(path, parts.parts())
        return _core.Segment(number, map_file(path), True, SINGLE)


def _left_out(whole: Catalogue, chosen: Portable, kept: set[int]) -> tuple[str, ...]:
    paths = whole.paths
    return tuple(
        sorted(paths[row] for place, row in enumerate(chosen.rows.tolist()) if place not in kept)
    )


class _Counting:
    """The words of an index's chunks, counted document by document."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._ids = catalogue.chunk_ids
        self._catalogue = catalogue
        self._collection = _core.Collection(_core.Catalogue.of_list(catalogue.listing), [])
        self._words = _core.PostingsWriter()

    def add(self, documents: range, texts: list[bytes]) -> None:
        """Count the chunks of documents, whose texts are these."""
        for document, text in zip(documents, texts, strict=True):
            if ids := self._catalogue.chunks_in(document):
                self._collection.count_document(ids.start, text, self._words)

    def to_bytes(self, kept: Catalogue) -> bytes:
        """Give the words of the chunks that are kept, under their numbers there."""
        numbers = np.searchsorted(kept.chunk_ids, self._ids)
        return self._words.finish(kept.chunk_count, numbers.astype(np.uint32))


def _manifest_of(manifest: Manifest, options: ExportOptions) -> Manifest:
    if not options.engine.keeps_all:
        return manifest
    return replace(manifest, settings=replace(manifest.settings, keep="all"))


def _to_json(values: dict[str, object]) -> bytes:
    return json.dumps(values, sort_keys=True, separators=(",", ":")).encode("ascii")


def _as_bytes(data: bytes) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    return np.frombuffer(data, np.uint8)
