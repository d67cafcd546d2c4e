"""Files of an index beside what is on the disk now: by size and time, no file is read."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from gossamer.sources.folder import FoundFile, as_stored_time
from gossamer.store import Snapshot, Status
from gossamer.store.catalogue import decode_name, encode_name
from gossamer.store.records import is_at_or_below

__all__ = ["Difference", "Known", "compare_files", "find_files", "part_gone", "tell_gone"]

# Of the time between questions no more than this share goes into looking at files.
_LOOKING = 1 / 40


@dataclass(frozen=True, slots=True)
class Difference:
    """Indexed files that are not as they were when they were read."""

    changed: Sequence[FoundFile] = ()  # as they are now
    gone: Sequence[str] = ()


def compare_files(snapshot: Snapshot) -> Difference:
    """Look at every indexed file below the folders that were added.

    Files of an index that was imported are on no disk: their folders are but names.
    """
    source, is_below = snapshot.core.source, _test_of(snapshot.manifest.roots)
    changed: list[FoundFile] = []
    gone: list[str] = []
    for row in range(snapshot.core.counts[0]):
        root, name, _, _, status, _, *known, _ = source(row)
        if status != Status.INDEXED or not root:
            continue
        path = root + name if root.endswith(b"/") else root + b"/" + name
        if not is_below(root, path):
            continue
        try:
            found = os.stat(path)
        except (OSError, ValueError):
            gone.append(decode_name(path))
            continue
        now = [found.st_size, as_stored_time(found.st_mtime_ns)]
        if now != known:
            changed.append(FoundFile(Path(decode_name(path)), Path(decode_name(root)), *now))
    return Difference(changed, gone)


class Known:
    """What was seen of an index's files lately: to look at thousands takes time."""

    def __init__(self) -> None:
        self._generation = -1
        self._until = 0.0
        self._seen = Difference()

    def look(self, snapshot: Snapshot) -> Difference:
        """Compare all files with what is indexed, or say what was found shortly before."""
        generation = snapshot.manifest.generation
        if time.monotonic() >= self._until or generation != self._generation:
            started = time.thread_time()  # where a disk is slow, the time is nobody's
            self._seen, self._generation = compare_files(snapshot), generation
            self._until = time.monotonic() + (time.thread_time() - started) / _LOOKING
        return self._seen


def find_files(snapshot: Snapshot, paths: Iterable[str]) -> list[FoundFile]:
    """Give those of some indexed files that are there, as they are now."""
    found = []
    for path in sorted(paths):
        row = snapshot.core.find(True, encode_name(path))
        with suppress(OSError, ValueError):
            now = os.stat(path)
            if row is not None:
                root = Path(decode_name(snapshot.core.source(row)[0]))
                mtime_ns = as_stored_time(now.st_mtime_ns)
                found.append(FoundFile(Path(path), root, now.st_size, mtime_ns))
    return found


def _test_of(roots: Iterable[str]) -> Callable[[bytes, bytes], bool]:
    """Give what says whether a file of a folder is one of the roots or below one."""
    here = [root for root in roots if os.path.isabs(root)]
    exact = {encode_name(root) for root in here}
    folders: dict[bytes, bool] = {}

    def is_below(folder: bytes, path: bytes) -> bool:
        if folder not in folders:
            folders[folder] = is_at_or_below(decode_name(folder), here)
        if not folders[folder]:
            return path in exact  # added on its own
        return b".." not in path or b".." not in path.split(b"/")

    return is_below


def part_gone(snapshot: Snapshot, paths: Iterable[str]) -> tuple[list[str], list[str]]:
    """Part files that changed from what is gone: files, or in their place whole roots."""
    missing = [root for root in sorted(snapshot.manifest.roots) if not os.path.exists(root)]
    changed: list[str] = []
    gone: set[str] = set()
    for path in paths:
        above = next((root for root in missing if is_at_or_below(path, [root])), "")
        if above or not os.path.exists(path):
            gone.add(above or path)
        else:
            changed.append(path)
    return changed, sorted(gone)


def tell_gone(snapshot: Snapshot, gone: Sequence[str]) -> Iterator[str]:
    """Say what is gone, and what takes it out of the index."""
    core, roots = snapshot.core, set(snapshot.manifest.roots).intersection(gone)
    for root in sorted(roots):
        rows = core.files_below(encode_name(root))
        count = sum(core.source(row)[4] == Status.INDEXED for row in rows)
        files = "1 file of it is" if count == 1 else f"{count:,} files of it are"
        yield (
            f"{root} is gone: {files} still in the index; `gossamer remove {shlex.quote(root)}` "
            f"takes {'it' if count == 1 else 'them'} out"
        )
    if files_gone := len(gone) - len(roots):
        files = "1 file is" if files_gone == 1 else f"{files_gone:,} files are"
        yield (
            f"{files} gone since the last update; `gossamer add` takes "
            f"{'it' if files_gone == 1 else 'them'} out of the index"
        )
