"""Changing an index: new files first, then the manifest, which is the one step that counts."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from gossamer import _core
from gossamer.errors import Damaged, GossamerError, InvalidArgument, NoIndex, Unwritable
from gossamer.files import file_mode, make_private_folder, map_file, sync_folder, write_file
from gossamer.io_errors import explaining
from gossamer.store.changes import Changes
from gossamer.store.codecs import BLOCK_BYTES, QUICK, USUAL
from gossamer.store.convert import take_all
from gossamer.store.folder import read_manifest
from gossamer.store.hashes import digest_of_file
from gossamer.store.journal import JOURNAL, Journal
from gossamer.store.lock import LOCK, hold_lock
from gossamer.store.manifest import (
    MANIFEST,
    FileEntry,
    Json,
    Manifest,
    ModelStamp,
    Settings,
    Site,
    is_index_file,
)
from gossamer.store.segments import NO_CODES, SegmentCatalogue, stamp_of
from gossamer.store.snapshot import Snapshot, open_index, segments_of
from gossamer.store.trust import claims_of, is_trusted, refuse, remember
from gossamer.vectors.codes import Codebook

__all__ = [
    "IMPORT_PREFIX",
    "Recoded",
    "Writer",
    "begin",
    "find_orphans",
    "is_own_file",
    "sweep_imports",
]

IMPORT_PREFIX = ".import-"  # of folders that hold what is not checked yet, one at a time

_ASIDE = re.compile(
    r"\.(MANIFEST\.gossamer|journal\.gsj|stale\.jsonl|words\.sum|follow\.json|package\.\w+"
    r"|(segment|codebook|vectors|catalogue|texts)-\d+\.\w+)\..*\.part"
)

_UNCHANGED = "it can be read, but not changed"

# Vectors that an interrupted build left are kept for so long, and so much of them.
_JOURNAL_S = 7 * 24 * 3600.0
_MOST_JOURNAL_BYTES = 1 << 28


@contextlib.contextmanager
def begin(
    folder: str | os.PathLike[str],
    command: str = "gossamer",
    wait_s: float = 0,
    *,
    trust: bool = False,
) -> Iterator[Writer]:
    """Open an index for changes, or a new one; the folder is made if need be.

    Locked if another process changes it and does not finish within `wait_s`; Untrusted if it was
    neither made nor accepted on this machine, unless it is to be trusted. Whatever was not
    committed when the block is left is taken back.
    """
    folder = Path(folder)
    with contextlib.ExitStack() as stack:
        # The caller's own errors, raised within the block, are none of ours to explain.
        with explaining(folder):
            _check_trust(folder, trust)
            make_private_folder(folder)
            stack.enter_context(hold_lock(folder, command, wait_s))
            writer = Writer(folder, trust=trust)
            _remove_orphans(folder)
            stack.callback(_remove_orphans, folder)
            stack.callback(writer._close)
        yield writer


@dataclass(frozen=True, slots=True)
class Recoded:
    """Codes of every chunk of an index, and what made them."""

    codebook: Codebook
    ids: NDArray[np.int64]
    codes: NDArray[np.uint8]


class Writer:
    """The one process that changes an index; made by `begin`."""

    def __init__(self, folder: Path, *, trust: bool = False) -> None:
        self.folder = folder
        self.snapshot: Snapshot | None = None
        with contextlib.suppress(NoIndex):
            self.snapshot = open_index(folder, trust=trust)
        if self.snapshot is not None and not self.snapshot.is_trusted:  # it came just now
            raise refuse(folder, self.snapshot.manifest, _UNCHANGED)
        self._last_segment = 0
        self._journal: Journal | None = None
        self._journal_at = 0.0  # when an earlier build last wrote to it
        if self.snapshot is not None and not isinstance(self.snapshot.catalogue, SegmentCatalogue):
            self._convert(self.snapshot)

    def changes(
        self,
        codebook: Codebook | None = None,
        *,
        is_quick: bool = False,
        from_nothing: bool = False,
        next_chunk_id: int | None = None,
    ) -> Changes:
        """Start changes to the current state, or `from_nothing`: all there is goes then.

        Codes that the `codebook` makes go into the segment with the rest; without one they are of
        the kind that is there, or kept in a file of vectors. `is_quick` says that time counts more
        than room.
        """
        old = None if from_nothing or self.snapshot is None else self.snapshot
        if old is not None and next_chunk_id is None:
            next_chunk_id = old.manifest.next_chunk_id
        stamp = NO_CODES if codebook is None else stamp_of(codebook)
        if codebook is None and old is not None and old.has_codes:
            stamp = segments_of(old).core.stamp
        return Changes(
            SegmentCatalogue([], ()) if old is None else segments_of(old),
            next_chunk_id or 1,
            stamp,
            self._next_segment,
            self._write_segment,
            codecs=QUICK if is_quick else USUAL,
            from_nothing=from_nothing,
        )

    def journal(self, fingerprint: str, dim: int, max_bytes: int = 1 << 31) -> Journal:
        """Open the log of vectors of this build, with what an interrupted one left."""
        with explaining(self.folder):
            if self._journal is None:
                self._journal_at = _time_of(self.folder / JOURNAL)
                self._journal = Journal(self.folder / JOURNAL, fingerprint, dim, max_bytes)
            return self._journal

    def _convert(self, snapshot: Snapshot) -> None:
        """Write all of an index of version 1 as one segment; its file of vectors stays as it is."""
        manifest = snapshot.manifest
        changes = self.changes(from_nothing=True, next_chunk_id=manifest.next_chunk_id)
        take_all(changes, snapshot)
        self.commit(
            changes,
            save_vectors=None,
            model=manifest.model,
            settings=manifest.settings,
            roots=manifest.roots,
            keep_journal=True,
        )

    def commit(
        self,
        changes: Changes,
        *,
        save_vectors: Callable[[Path], object] | None,
        model: ModelStamp,
        settings: Settings,
        roots: tuple[str, ...],
        save_codebook: Callable[[Path], object] | None = None,
        recoded: Recoded | None = None,
        is_compact: bool = False,
        keep_journal: bool = False,
        origin: Mapping[str, Json] | None = None,
        is_another: bool = False,
        site: Site | None = None,
    ) -> Snapshot:
        """Make the changes the current state, at once or not at all; give it.

        `save_vectors` writes the engine's file to the path it is given, where vectors are not
        codes in the segments; None leaves the one that is there, whose ids must be those of the
        catalogue. `recoded` are codes for every chunk, which take the place of that file;
        `save_codebook` writes the codebook of codes that does not ship with the model.
        `is_compact` leaves one segment and no dead text. With `keep_journal` vectors that an
        interrupted build left and this one did not ask for stay for the next, for some days.
        `origin` says what the index follows from now on; None leaves it as it was. `is_another`
        says that ids stand for other chunks than before: nothing that was learnt of them holds.
        `site` is where people read it from now on; None leaves that as it was.
        """
        with explaining(self.folder):
            old = None if self.snapshot is None else self.snapshot.manifest
            if origin is None:
                origin = old.origin if old else {}
            if origin and changes.has_verbatim:
                raise InvalidArgument(
                    "an index that follows a server reads no files of this disk: its texts are "
                    "kept or away"
                )
            segments, has_chunks = self._merge(changes, recoded, is_compact)
            has_codes = recoded is not None or changes.has_codes
            # The codebook that is there is of the codes that stay.
            is_codebook_kept = recoded is None and not changes.is_from_nothing
            now = datetime.now(UTC).isoformat(timespec="seconds")
            manifest = Manifest(
                uuid=old.uuid if old and not is_another else uuid4().hex,
                generation=old.generation + 1 if old else 1,
                created=old.created if old else now,
                changed=now,
                model=model,
                settings=settings,
                roots=roots,
                next_chunk_id=changes.next_chunk_id,
                files=(
                    *(self._entry_of_segment(segment) for segment in segments),
                    *self._vectors_of(save_vectors, has_chunks and not has_codes),
                    *self._codebook_of(save_codebook, has_chunks, is_kept=is_codebook_kept),
                ),
                counts=changes.count(old.counts if old else {}),
                origin=origin,
                site=site or (old.site if old else Site()),
            )
            data = manifest.to_bytes()
            Manifest.from_bytes(data)  # nothing is committed that could not be read
            remember(self.folder, claims_of(manifest), and_former=True)
            self._replace_manifest(manifest, data)
            # It is committed, and trusted already: what is forgotten now may as well be later.
            with contextlib.suppress(Unwritable):
                remember(self.folder, claims_of(manifest))
            self.forget_journal(keep_unused=keep_journal)
            _remove_orphans(self.folder)
            self.snapshot = open_index(self.folder)
        return self.snapshot

    def _replace_manifest(self, manifest: Manifest, data: bytes) -> None:
        """Commit; Unwritable says which state the index is in if the disk fails at it."""
        try:
            write_file(self.folder / MANIFEST, [data])
        except OSError as error:
            if read_manifest(self.folder) != manifest:
                raise
            made = Unwritable(
                f"the change of {self.folder} is made, but the disk does not say that it will "
                f"outlast a loss of power ({error.strerror or error}); look after the disk"
            )
            made.errno = error.errno
            raise made from error

    def _merge(
        self, changes: Changes, recoded: Recoded | None, is_compact: bool
    ) -> tuple[list[_core.Segment], bool]:
        """Give the segments of the next state, with small and half-dead ones put together.

        And whether there are any chunks in them.
        """
        segments = changes.finish()
        fresh = len(changes.segments)
        catalogue = _core.Catalogue(segments)
        is_whole = is_compact or recoded is not None
        chosen = list(range(len(segments))) if is_whole else merges_of(catalogue, fresh)
        has_chunks = catalogue.counts[2] > 0
        if not chosen:
            return segments, has_chunks
        stamp, given = changes.stamp, None
        if recoded is not None:
            stamp = stamp_of(recoded.codebook)
            given = (recoded.ids.astype(np.uint64), recoded.codes)
        try:
            parts = catalogue.merge(chosen, stamp, given, is_compact, BLOCK_BYTES, USUAL)
        except Damaged:
            if is_whole:
                raise
            return segments, has_chunks  # what is damaged is no reason to refuse what is new
        rest = [one for place, one in enumerate(segments) if place not in chosen]
        return [*rest, self._write_segment(self._next_segment(), parts)], has_chunks

    def _write_segment(self, number: int, parts: _core.SegmentParts) -> _core.Segment:
        path = self._path("segment", number)
        write_file(path, parts.parts())
        return _core.Segment(number, map_file(path, follow=False), True, USUAL)

    def _entry_of_segment(self, segment: _core.Segment) -> FileEntry:
        """Give the entry of a segment, which is written if it is in memory yet."""
        path = self._path("segment", segment.number)
        for entry in self._kept("segment"):
            if entry.name == path.name:
                return entry
        if not path.exists():
            write_file(path, [segment.file])
        return _entry_of(path)

    def _vectors_of(
        self, save: Callable[[Path], object] | None, is_needed: bool
    ) -> list[FileEntry]:
        if not is_needed:
            return []
        if save is not None:
            return [self._save("vectors", save)]
        if not (kept := self._kept("vectors")):
            raise InvalidArgument("there are chunks but no vectors: give save_vectors")
        return kept

    def _codebook_of(
        self, save: Callable[[Path], object] | None, has_chunks: bool, *, is_kept: bool
    ) -> list[FileEntry]:
        if save is not None and has_chunks:
            return [self._save("codebook", save)]
        return self._kept("codebook") if is_kept else []

    def _kept(self, kind: str) -> list[FileEntry]:
        """Give the files of this kind that the state until now has."""
        return [] if self.snapshot is None else self.snapshot.manifest.files_of(kind)

    def _save(self, kind: str, save: Callable[[Path], object]) -> FileEntry:
        path = self._path(kind, self._next_number())
        save(path)
        path.chmod(file_mode(self.folder))
        with open(path, "rb") as file:
            os.fsync(file.fileno())
        sync_folder(self.folder)
        return _entry_of(path)

    def _path(self, kind: str, number: int) -> Path:
        return self.folder / f"{kind}-{number}.{_ENDINGS[kind]}"

    def _next_number(self) -> int:
        """Give a number that no file of the folder has, not even one that could not be deleted."""
        numbers = [
            FileEntry(name, 0, "").number for name in os.listdir(self.folder) if is_index_file(name)
        ]
        return max(numbers, default=0) + 1

    def _next_segment(self) -> int:
        """Give a number for a segment that none had before."""
        self._last_segment = max(self._last_segment + 1, self._next_number())
        return self._last_segment

    def forget_journal(self, *, keep_unused: bool = False) -> None:
        """Delete the log of vectors; what nobody asked for yet may stay while it is new."""
        path, rest = self.folder / JOURNAL, b""
        with contextlib.suppress(OSError):
            was_opened, written_at = self._journal is not None, self._journal_at or _time_of(path)
            if self._journal is not None:
                rest = self._journal.close_unused(_MOST_JOURNAL_BYTES)
                self._journal = None
            if (
                not keep_unused
                or time.time() - written_at > _JOURNAL_S
                or (was_opened and not rest)
            ):
                path.unlink(missing_ok=True)
            elif rest:
                write_file(path, [rest])
                os.utime(path, (written_at, written_at))

    def _close(self) -> None:
        if self._journal is not None:
            self._journal.close()


_ENDINGS = {"segment": "gss", "codebook": "gsm", "vectors": "gsm"}


def is_own_file(name: str) -> bool:
    """Whether this is a file that a process may leave that was killed while it made an index."""
    is_aside = _ASIDE.fullmatch(name) is not None or name.startswith(IMPORT_PREFIX)
    return name in (LOCK, JOURNAL) or is_index_file(name) or is_aside


def find_orphans(folder: Path) -> list[Path]:
    """Give the files of states that were never committed or are replaced; none if in doubt."""
    try:
        named = {entry.name for entry in read_manifest(folder).files}
    except NoIndex:
        named = set()
    return [
        folder / name
        for name in sorted(os.listdir(folder))
        if is_own_file(name) and name not in (LOCK, JOURNAL, *named)
    ]


def sweep_imports(folder: Path) -> None:
    """Delete texts that an import left which was killed, unless it runs."""
    with contextlib.suppress(OSError, GossamerError):
        if any(name.startswith(IMPORT_PREFIX) for name in os.listdir(folder)):
            with hold_lock(folder, "sweep"):
                _remove_orphans(folder)


def _remove_orphans(folder: Path) -> None:
    """Delete what the manifest does not name; what cannot be deleted goes another time."""
    with contextlib.suppress(OSError, GossamerError):
        for path in find_orphans(folder):
            with contextlib.suppress(OSError):
                if path.name.startswith(IMPORT_PREFIX) and not path.is_symlink():
                    shutil.rmtree(path)
                else:
                    path.unlink()


def merges_of(catalogue: _core.Catalogue, fresh: int) -> list[int]:
    """Say which segments are to be put together after a commit that made the last `fresh`."""
    return catalogue.segments_to_merge(fresh)


def _entry_of(path: Path) -> FileEntry:
    return FileEntry(path.name, path.stat().st_size, digest_of_file(path))


def _time_of(path: Path) -> float:
    """Give when a file was written; now, if there is none."""
    try:
        return path.stat().st_mtime
    except OSError:
        return time.time()


def _check_trust(folder: Path, trust: bool) -> None:
    """Refuse an index of somebody else before anything in its folder is touched."""
    with contextlib.suppress(NoIndex):
        manifest = read_manifest(folder)
        if not trust and not is_trusted(folder, manifest):
            raise refuse(folder, manifest, _UNCHANGED)
