"""Looking an index over: everything in the folder is read and compared, nothing is changed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gossamer.errors import Damaged, GossamerError, Locked, MissingCodebook, UnknownVersion
from gossamer.lexical import WORDS
from gossamer.store.folder import read_manifest
from gossamer.store.hashes import digest_of_file
from gossamer.store.journal import JOURNAL, fits
from gossamer.store.manifest import FileEntry, Manifest
from gossamer.store.records import AWAY, VERBATIM
from gossamer.store.snapshot import Snapshot
from gossamer.store.writer import find_orphans
from gossamer.vectors.codes import Codebook

__all__ = ["Finding", "check"]

_TRIES = 5  # a commit meanwhile makes what was found so far worthless
_BACKUP = "take the folder from a backup, or delete it and add the files again"
_WORDS_REPAIR = f"delete {WORDS}; the next `gossamer add` makes it anew"
_WORDS_ADD = "the next `gossamer add` makes it anew"
_ADD_AGAIN = "remove what it came from and add it again, or take the folder from a backup"


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it should be."""

    severity: str  # "error": the index is damaged; "note": harmless, and mended by itself
    what: str
    repair: str


def check(
    folder: str | os.PathLike[str],
    deep: bool = True,
    codebook: Codebook | None = None,
    *,
    trust: bool = False,
) -> list[Finding]:
    """Verify an index; give what is wrong, nothing if all is well.

    `deep` reads every byte: checksums of all files, every text, every part of the engine's file,
    for which an index without a codebook of its own needs the model's: the one that ships with it,
    or another one if it is given. NoIndex if there is none.
    """
    folder = Path(folder)
    for _ in range(_TRIES):
        try:
            manifest = read_manifest(folder)
            findings = _check_state(folder, manifest, deep, codebook, trust)
            if read_manifest(folder) == manifest:
                return findings
        except Damaged as error:
            return [Finding("error", str(error), _BACKUP)]
    raise Locked(f"{folder} changes while it is checked; check again when nothing writes to it")


def _check_state(
    folder: Path, manifest: Manifest, deep: bool, codebook: Codebook | None, trust: bool
) -> list[Finding]:
    findings = [finding for entry in manifest.files for finding in _check_file(folder, entry, deep)]
    try:
        snapshot = Snapshot(folder, manifest, trust=trust)
    except (GossamerError, OSError) as error:
        return findings or [Finding("error", f"{folder}: {error}", _BACKUP)]
    findings += _check_catalogue(snapshot)
    findings += _check_vectors(snapshot, codebook, deep)
    if deep:
        findings += _check_texts(snapshot)
    if manifest.settings.lexical == "fts5":
        findings += _check_words(snapshot, deep)
    findings += _check_rest(folder, manifest)
    return findings


def _check_file(folder: Path, entry: FileEntry, deep: bool) -> Iterator[Finding]:
    try:
        size = (folder / entry.name).stat().st_size
        if size != entry.size:
            what = f"{entry.name} has {size} bytes, where {entry.size} belong"
            yield Finding("error", what, _BACKUP)
        elif deep and digest_of_file(folder / entry.name) != entry.digest:
            yield Finding("error", f"the checksum of {entry.name} does not fit", _BACKUP)
    except OSError as error:
        yield Finding("error", f"{entry.name} cannot be read: {error.strerror}", _BACKUP)


def _check_catalogue(snapshot: Snapshot) -> Iterator[Finding]:
    """Look for what opening leaves to those who read a record, and compare with the manifest."""
    catalogue, manifest = snapshot.catalogue, snapshot.manifest
    ids = catalogue.chunk_ids
    if len(ids) and ids[-1] >= manifest.next_chunk_id:
        yield Finding("error", "the catalogue has chunks that are yet to come", _BACKUP)
    try:
        if len(set(zip(catalogue.tables["root"].tolist(), catalogue.paths, strict=True))) != len(
            catalogue.paths
        ):
            yield Finding("error", "the catalogue has a source twice", _BACKUP)
        for row in range(catalogue.document_count):
            catalogue.document(row)
    except GossamerError as error:
        yield Finding("error", str(error), _BACKUP)


def _check_vectors(snapshot: Snapshot, codebook: Codebook | None, deep: bool) -> Iterator[Finding]:
    try:
        vectors = snapshot.open_vectors(codebook)
        if vectors is not None and deep:
            vectors.verify()
        ids = np.zeros(0, np.int64) if vectors is None else np.sort(vectors.ids)
    except MissingCodebook:
        what = "the vectors were not looked at, since the model's codebook is not here"
        yield Finding("note", what, "get the model and check again")
        return
    except GossamerError as error:
        yield Finding("error", str(error), _BACKUP)
        return
    if not np.array_equal(ids, snapshot.catalogue.chunk_ids):
        what = f"{len(ids)} vectors do not belong to the {snapshot.catalogue.chunk_count} chunks"
        yield Finding("error", what, _BACKUP)


def _check_texts(snapshot: Snapshot) -> Iterator[Finding]:
    catalogue, texts = snapshot.catalogue, snapshot.texts
    segments, offsets = catalogue.text_places
    in_order = np.lexsort((offsets, segments))  # a block holds many texts: each is unpacked once
    for row in in_order[~np.isin(segments[in_order], (VERBATIM, AWAY))].tolist():
        start = int(offsets[row])
        try:
            end = start + int(catalogue.text_lengths[row])
            for _ in texts.pieces(int(segments[row]), start, end):
                pass  # a block at a time
        except GossamerError as error:
            path = catalogue.paths[catalogue.source_rows[row]]
            yield Finding("error", f"the text of {path} cannot be read: {error}", _ADD_AGAIN)


def _check_words(snapshot: Snapshot, deep: bool) -> Iterator[Finding]:
    """Compare the lexical index with the catalogue; searches do without a damaged one."""
    from gossamer.lexical.fts5 import FtsIndex, Interrupted

    manifest, path = snapshot.manifest, snapshot.folder / WORDS
    count = snapshot.catalogue.chunk_count
    if not snapshot.is_trusted:
        what = f"{WORDS} was not looked at, since this index is not trusted"
        yield Finding("note", what, "searches do without it; `gossamer trust` changes that")
        return
    if not path.exists():
        if count:
            yield Finding("note", f"{WORDS} is missing: searches read the texts", _WORDS_ADD)
        return
    try:
        with FtsIndex(
            path, manifest.generation, manifest.next_chunk_id, is_read_only=True
        ) as index:
            if deep:
                index.verify()
            if not index.has_sum:
                what = f"{WORDS} has no checksum of its last change: searches read the texts"
                yield Finding("note", what, _WORDS_ADD)
            elif not index.is_complete:
                yield Finding("note", f"{WORDS} lacks the last changes", _WORDS_ADD)
            elif len(index) != count:
                what = f"{WORDS} has {len(index)} chunks, where {count} belong"
                yield Finding("error", what, _WORDS_REPAIR)
    except Interrupted:
        what = f"a change of {WORDS} runs or was interrupted"
        repair = "the next search or `gossamer add` that may write to the index takes it back"
        yield Finding("note", what, repair)
    except UnknownVersion:
        what = f"{WORDS} is of another release: searches read the texts"
        yield Finding("note", what, _WORDS_ADD)
    except GossamerError as error:
        yield Finding("error", str(error), _WORDS_REPAIR)


def _check_rest(folder: Path, manifest: Manifest) -> Iterator[Finding]:
    if os.name == "posix" and folder.stat().st_mode & 0o077:
        what = "other users of this machine may look into the folder"
        yield Finding("note", what, f"`chmod 700 {folder}`, unless they should")
    journal = folder / JOURNAL
    if journal.exists():
        is_ours = fits(journal, manifest.model.fingerprint, manifest.model.dim)
        what = (
            "a build runs or was interrupted"
            if is_ours
            else "there is a log of another model's build"
        )
        yield Finding("note", what, "the next `gossamer add` goes on with it, or removes it")
    for path in find_orphans(folder):
        what = f"{path.name} belongs to no committed state"
        yield Finding("note", what, "the next change removes it")
