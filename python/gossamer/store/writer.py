"""Changing an index: new files first, then the manifest, which is the one step that counts."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import numpy as np

from gossamer.errors import GossamerError, InvalidArgument, NoIndex, Unwritable
from gossamer.files import file_mode, make_private_folder, write_file
from gossamer.store.catalogue import Catalogue
from gossamer.store.changes import Changes, move_texts
from gossamer.store.folder import Snapshot, open_index, read_manifest
from gossamer.store.hashes import digest_of, digest_of_file
from gossamer.store.journal import JOURNAL, Journal
from gossamer.store.lock import LOCK, hold_lock
from gossamer.store.manifest import (
    MANIFEST,
    FileEntry,
    Json,
    Manifest,
    ModelStamp,
    Settings,
    is_index_file,
)
from gossamer.store.records import AWAY, VERBATIM, Status
from gossamer.store.texts import QUICK, USUAL, Texts, TextsWriter, segments_to_rewrite
from gossamer.store.trust import claims_of, is_trusted, refuse, remember
from gossamer.store.unwritable import explaining

__all__ = [
    "IMPORT_PREFIX",
    "Writer",
    "begin",
    "counts_of",
    "find_orphans",
    "is_own_file",
    "sweep_imports",
]

IMPORT_PREFIX = ".import-"  # of folders that hold what is not checked yet, one at a time

_ASIDE = re.compile(
    r"\.(MANIFEST\.gossamer|journal\.gsj|stale\.jsonl|words\.sum|follow\.json|(vectors|catalogue|texts)-\d+\.\w+)\..*\.part"
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


class Writer:
    """The one process that changes an index; made by `begin`."""

    def __init__(self, folder: Path, *, trust: bool = False) -> None:
        self.folder = folder
        self.snapshot: Snapshot | None = None
        with contextlib.suppress(NoIndex):
            self.snapshot = open_index(folder, trust=trust)
        if self.snapshot is not None and not self.snapshot.is_trusted:  # it came just now
            raise refuse(folder, self.snapshot.manifest, _UNCHANGED)
        self._texts: TextsWriter | None = None
        self._segment = 0
        self._journal: Journal | None = None
        self._journal_at = 0.0  # when an earlier build last wrote to it

    def changes(self) -> Changes:
        """Start the changes to the catalogue of the current state."""
        if self.snapshot is None:
            return Changes(Catalogue.empty(), 1)
        return Changes(self.snapshot.catalogue, self.snapshot.manifest.next_chunk_id)

    def add_text(self, text: bytes | Iterable[bytes], *, is_quick: bool = False) -> tuple[int, int]:
        """Put a document's text, whole or in pieces, into the store; give its place there.

        The first one says for all of a commit whether time counts more than room (`is_quick`).
        """
        with explaining(self.folder):
            if self._texts is None:
                self._segment = self._next_number()
                path = self._path("texts", self._segment)
                self._texts = TextsWriter(path, QUICK if is_quick else USUAL)
            return self._segment, self._texts.add(text)

    def journal(self, fingerprint: str, dim: int, max_bytes: int = 1 << 31) -> Journal:
        """Open the log of vectors of this build, with what an interrupted one left."""
        with explaining(self.folder):
            if self._journal is None:
                self._journal_at = _time_of(self.folder / JOURNAL)
                self._journal = Journal(self.folder / JOURNAL, fingerprint, dim, max_bytes)
            return self._journal

    def commit(
        self,
        changes: Changes,
        *,
        save_vectors: Callable[[Path], object] | None,
        model: ModelStamp,
        settings: Settings,
        roots: tuple[str, ...],
        dead_share: float = 0.25,
        keep_journal: bool = False,
        origin: Mapping[str, Json] | None = None,
        finished: Catalogue | None = None,
        is_another: bool = False,
    ) -> Snapshot:
        """Make the changes the current state, at once or not at all; give it.

        `save_vectors` writes the engine's file to the path it is given; None leaves the one that
        is there, whose ids must be those of the catalogue. Text segments with more dead text than
        `dead_share` are written anew; 0 gives back all of it. With `keep_journal` vectors that an
        interrupted build left and this one did not ask for stay for the next, for some days.
        `origin` says what the index follows from now on; None leaves it as it was. `finished` is
        what `changes.finish()` gave, from a caller who has looked at it already. `is_another` says
        that ids stand for other chunks than before: nothing that was learnt of them holds.
        """
        with explaining(self.folder):
            if finished is None:
                finished = changes.finish()
            catalogue, texts = self._finish_texts(finished, dead_share)
            old = None if self.snapshot is None else self.snapshot.manifest
            if origin is None:
                origin = old.origin if old else {}
            _check_is_elsewhere(catalogue, origin)
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
                    *texts,
                    *self._save_vectors(save_vectors, catalogue),
                    self._save_catalogue(catalogue),
                ),
                counts=counts_of(catalogue),
                origin=origin,
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

    def _finish_texts(
        self, catalogue: Catalogue, dead_share: float
    ) -> tuple[Catalogue, list[FileEntry]]:
        """Close the new segment, put small and half-dead ones together, drop dead ones."""
        entries = {} if self.snapshot is None else _segments_of(self.snapshot.manifest)
        if self._texts is not None:
            self._texts.close()
            self._texts = None
            entries[self._segment] = _entry_of(self._path("texts", self._segment))
        texts = Texts({number: self.folder / entry.name for number, entry in entries.items()})
        chosen = segments_to_rewrite(texts.lengths, _live_bytes(catalogue), dead_share)
        if chosen:
            catalogue, number = self._rewrite(texts, catalogue, chosen)
            entries[number] = _entry_of(self._path("texts", number))
        live = _live_bytes(catalogue)
        if unknown := live.keys() - entries.keys():
            raise InvalidArgument(f"documents are in text segments that are not there: {unknown}")
        return catalogue, [entries[number] for number in sorted(entries) if number in live]

    def _rewrite(
        self, texts: Texts, catalogue: Catalogue, chosen: list[int]
    ) -> tuple[Catalogue, int]:
        number = self._next_number()
        segments, offsets = catalogue.text_places
        (rows,) = np.nonzero(np.isin(segments, chosen))
        rows = rows[np.lexsort((offsets[rows], segments[rows]))]
        lengths = catalogue.text_lengths
        writer = TextsWriter(self._path("texts", number))
        try:
            moved = [
                writer.add(texts.pieces(segment, offset, offset + length))
                for segment, offset, length in zip(
                    segments[rows].tolist(),
                    offsets[rows].tolist(),
                    lengths[rows].tolist(),
                    strict=True,
                )
            ]
            writer.close()
        finally:
            writer.abandon()
        return move_texts(catalogue, rows, number, np.asarray(moved, np.int64)), number

    def _save_vectors(
        self, save: Callable[[Path], object] | None, catalogue: Catalogue
    ) -> list[FileEntry]:
        if not catalogue.chunk_count:
            return []
        if save is None:
            kept = [] if self.snapshot is None else self.snapshot.manifest.files_of("vectors")
            if not kept:
                raise InvalidArgument("there are chunks but no vectors: give save_vectors")
            return kept
        path = self._path("vectors", self._next_number())
        save(path)
        path.chmod(file_mode(self.folder))
        return [_entry_of(path)]

    def _save_catalogue(self, catalogue: Catalogue) -> FileEntry:
        data = catalogue.to_bytes()
        path = self._path("catalogue", self._next_number())
        write_file(path, [data])
        return FileEntry(path.name, len(data), digest_of(data))

    def _path(self, kind: str, number: int) -> Path:
        return self.folder / f"{kind}-{number}.{_ENDINGS[kind]}"

    def _next_number(self) -> int:
        """Give a number that no file of the folder has, not even one that could not be deleted."""
        numbers = [
            FileEntry(name, 0, "").number for name in os.listdir(self.folder) if is_index_file(name)
        ]
        return max(numbers, default=0) + 1

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
        if self._texts is not None:
            self._texts.abandon()
        if self._journal is not None:
            self._journal.close()


_ENDINGS = {"vectors": "gsm", "catalogue": "gsc", "texts": "gst"}


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


def _segments_of(manifest: Manifest) -> dict[int, FileEntry]:
    return {entry.number: entry for entry in manifest.files_of("texts")}


def _live_bytes(catalogue: Catalogue) -> dict[int, int]:
    """Say how many bytes of each text segment documents use."""
    segments, _ = catalogue.text_places
    is_stored = (segments != VERBATIM) & (segments != AWAY)
    numbers, places = np.unique(segments[is_stored], return_inverse=True)
    sums = np.bincount(places, catalogue.text_lengths[is_stored], len(numbers))
    # An empty text lives too.
    return {
        number: max(1, int(total)) for number, total in zip(numbers.tolist(), sums, strict=True)
    }


def _check_is_elsewhere(catalogue: Catalogue, origin: Mapping[str, Json]) -> None:
    """Refuse documents that an index would look for at another machine's paths."""
    segments, _ = catalogue.text_places
    if origin and (segments == VERBATIM).any():
        raise InvalidArgument(
            "an index that follows a server reads no files of this disk: its texts are kept or away"
        )


def counts_of(catalogue: Catalogue) -> dict[str, int]:
    """Give the numbers that a manifest says of its catalogue."""
    statuses = np.bincount(catalogue.tables["status"], minlength=len(Status)).tolist()
    return {
        "sources": catalogue.source_count,
        **{status.name.lower(): statuses[status] for status in Status},
        "documents": catalogue.document_count,
        "chunks": catalogue.chunk_count,
        "text_bytes": int(catalogue.text_lengths.sum()),
    }


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
