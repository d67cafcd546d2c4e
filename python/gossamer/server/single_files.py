"""The index as one file, made once for each version, in a thread of its own."""

from __future__ import annotations

import threading
import time
import zlib
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import gossamer
from gossamer.errors import Cancelled
from gossamer.files import make_folder, open_regular
from gossamer.index import Index
from gossamer.io_errors import explaining
from gossamer.model import IndexModel
from gossamer.server.ranges import OpenFile
from gossamer.single.container import read_tag
from gossamer.single.export import ExportOptions, write_single_file
from gossamer.store import Snapshot
from gossamer.sync.history import SYNC
from gossamer.sync.records import Building

__all__ = ["SingleFiles", "open_tagged"]

# How long a request waits for a file that is being made before it is told to come again.
_PATIENCE_S = 1.0
# A version whose texts could not all be read is made anew after so long.
_RETRY_S = 60.0
_FILES = "single-*.gossamer"

_Now = tuple[Snapshot, IndexModel]


@dataclass
class _Job:
    """A file on its way."""

    path: Path
    done: int = 0
    total: int = 0
    error: BaseException | None = None
    is_cancelled: bool = False
    finished: threading.Event = field(default_factory=threading.Event)

    def note(self, _: str, done: int, total: int) -> None:
        if self.is_cancelled:
            raise Cancelled("the server is closing")
        self.done, self.total = done, total


class SingleFiles:
    """The single file of an index's newest version, for any thread."""

    def __init__(self, index: Index, patience_s: float = _PATIENCE_S) -> None:
        self._index = index
        self._patience_s = patience_s
        self._lock = threading.Lock()
        self._job: _Job | None = None
        self._thread: threading.Thread | None = None
        self._lacking: dict[Path, float] = {}  # files without all texts, and when to try again
        self._is_closed = False

    def get(self, begun: str = "") -> OpenFile | Building:
        """Give the file, open; Building while it is being made.

        Whoever has `begun` to read an older one, by its tag, goes on with that until there is a
        new one: a search there does not wait.
        """
        now = self._index.now()
        path = self._path_of(now[0])
        with self._lock:
            found = _open_if_there(path)
            if found is not None:
                self._improve(now, path)
                return found
            older = self._find(begun) if begun else None
            if older is not None:
                return older
            job = self._job or self._start(now, path)
        job.finished.wait(self._patience_s)
        with self._lock:
            if job.error is not None and job.path == path:
                raise job.error
            return _open_if_there(path) or Building(job.done, job.total)

    def close(self) -> None:
        """Stop what is being made."""
        with self._lock:
            self._is_closed = True
            job, thread = self._job, self._thread
            if job is not None:
                job.is_cancelled = True
        if thread is not None:
            thread.join()

    def _path_of(self, snapshot: Snapshot) -> Path:
        manifest = snapshot.manifest
        # What else the file says: where people read what is in it.
        site = zlib.crc32(repr(snapshot.site).encode()) if snapshot.site_named else 0
        named = (f"{site:08x}",) if site else ()
        parts = (manifest.generation, manifest.uuid[:12], gossamer.__version__, *named)
        return self._index.folder / SYNC / f"single-{'-'.join(map(str, parts))}.gossamer"

    def _improve(self, now: _Now, path: Path) -> None:
        """Make a file anew that lacks texts, now and then; it is given meanwhile."""
        is_due = time.monotonic() >= self._lacking.get(path, float("inf"))
        if is_due and self._job is None and not self._is_closed:
            self._lacking[path] = time.monotonic() + _RETRY_S
            self._start(now, path)

    def _find(self, tag: str) -> OpenFile | None:
        for path in (self._index.folder / SYNC).glob(_FILES):
            found = _open_if_there(path)
            if found is not None and found.tag == tag:
                return found
            if found is not None:
                found.file.close()
        return None

    def _start(self, now: _Now, path: Path) -> _Job:
        if self._is_closed:
            raise Cancelled("the server is closing")
        job = self._job = _Job(path)
        self._thread = threading.Thread(
            target=self._make, args=(job, *now), name="gossamer-single", daemon=True
        )
        self._thread.start()
        return job

    def _make(self, job: _Job, snapshot: Snapshot, model: IndexModel) -> None:
        try:
            with explaining(self._index.folder):
                make_folder(job.path.parent)
            options = ExportOptions(replaces=True)  # whatever a server that was killed left
            report = write_single_file(snapshot, model, job.path, options, job.note)
            with self._lock:
                self._lacking.clear()
                if report.left_out:
                    self._lacking[job.path] = time.monotonic() + _RETRY_S
            for other in job.path.parent.glob(_FILES):
                if other != job.path:
                    with suppress(OSError):  # in use, where such files stay until the next time
                        other.unlink()
        except BaseException as error:
            job.error = error
        finally:
            with self._lock:
                self._job = None
            job.finished.set()


def _open_if_there(path: Path) -> OpenFile | None:
    try:
        return open_tagged(path)
    except FileNotFoundError:
        return None


def open_tagged(path: Path) -> OpenFile:
    """Open a file of sections, tagged by its table: that has a checksum of each of them."""
    file = open_regular(path, follow=False)  # closed when it was sent
    try:
        size = file.seek(0, 2)
        file.seek(0)
        return OpenFile(file, size, f'"{read_tag(file)}"')
    except BaseException:
        file.close()
        raise
