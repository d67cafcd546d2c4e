"""A slim index for edges: built from the server's texts, and brought along version by version.

What differs from one version to the next is kept in the history, so that any number of edges
follow by it. A replica is made when it is first asked for, in a thread of its own.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gossamer.errors import Cancelled, GossamerError, WrongState
from gossamer.files import make_folder
from gossamer.io_errors import explaining
from gossamer.store.journal import Journal
from gossamer.sync.history import History, ReplicaRecord
from gossamer.sync.records import Building, Mode
from gossamer.sync.served import Donor, Served
from gossamer.sync.state import state_of
from gossamer.vectors.deltas import join_deltas, state_of_file
from gossamer.vectors.options import SlimOptions
from gossamer.vectors.vector_index import VectorIndex

__all__ = ["Built", "Replica", "delete_replica", "slim_options"]

Ids = NDArray[np.int64]
Floats = NDArray[np.float32]

_SCALARS = {"f16": "f16", "int8": "i8"}  # as the engine calls them
_MOST_JOURNAL_BYTES = 1 << 31
# How long texts that could not be read are left alone.
_RETRY_S = 30.0
# Steps of int8 vectors are chosen when a replica is built: it is built anew once vectors come that
# are so much longer in a dimension, or once it has grown so much.
_LONGER, _GROWN = 1.05, 4


@dataclass(frozen=True)
class Built:
    """A replica at one version; its file goes once there is a newer one."""

    served: Served
    state: str
    file: Path | None  # None while nothing is indexed
    missing: int = 0  # chunks without a vector: their texts could not be read


@dataclass
class _Job:
    """A replica on its way to a version."""

    total: int
    done: int = 0
    error: BaseException | None = None
    is_cancelled: bool = False
    finished: threading.Event = field(default_factory=threading.Event)

    def note(self, count: int) -> None:
        if self.is_cancelled:
            raise Cancelled("the server is closing")
        self.done += count


class Replica:
    """The slim index of one profile. One thread at a time changes it."""

    def __init__(
        self,
        folder: Path,
        mode: Mode,
        history: History,
        donors: Callable[[str], list[Donor]],
    ) -> None:
        self._folder = folder
        self._mode = mode
        self._donors = donors
        self._history = history
        self._lock = threading.Lock()
        self._job: _Job | None = None
        self._thread: threading.Thread | None = None
        self._built: Built | None = None
        self._is_retired = False
        self._retry_at = 0.0
        # What the file of `_record` holds, recording; None if it is to be opened or built. It
        # stays in memory: to open it takes longer than most changes.
        self._index: VectorIndex | None = None
        self._record = _NOTHING
        self._longest = 0.0  # what no vector was beyond, in any dimension, when it was built
        self._epoch = ""

    def follow(self, served: Served, least: int, wait_s: float) -> Built | Building:
        """Bring it to a state of the index; see `Replicas.follow`."""
        job = self._job_for(served)
        if job is not None:
            job.finished.wait(wait_s)
        with self._lock:
            built = self._built_of(served)
            if built is not None:
                is_there = built.served.version >= served.version
                if is_there or built.served.version > least:
                    return built
            if job is None and self._is_retired:
                return Building(0, served.catalogue.chunk_count)
            if job is None:
                raise WrongState("the index changed while it was being read; ask again")
            if job.error is not None:
                raise job.error
            return Building(job.done, job.total)

    def drop(self, built: Built) -> bool:
        """Forget what was built, if it is still the newest; say whether it was."""
        with self._lock:
            if self._is_busy or self._built is not built:
                return False
            self._built = self._index = None
            self._record = _NOTHING
            return True

    def retire(self) -> bool:
        """Do nothing more, from now on; False if something is being done."""
        with self._lock:
            self._is_retired = not self._is_busy
            return self._is_retired

    def stop(self) -> None:
        """Stop what is being done, and wait until it has."""
        with self._lock:
            job, thread = self._job, self._thread
        if job is not None and thread is not None:
            job.is_cancelled = True
            thread.join()

    def _job_for(self, served: Served) -> _Job | None:
        """Give the job that brings the replica on; None if it is there."""
        with self._lock:
            if self._is_retired or self._is_current(served):
                return None
            if not self._is_busy:
                self._job = _Job(served.catalogue.chunk_count)
                self._thread = threading.Thread(
                    target=self._run, args=(served, self._job), name="gossamer-slim", daemon=True
                )
                self._thread.start()
            return self._job

    @property
    def _is_busy(self) -> bool:
        return self._job is not None and not self._job.finished.is_set()

    def _is_current(self, served: Served) -> bool:
        """Whether there is nothing to do; now and then texts that could not be read are tried."""
        built = self._built_of(served)
        if built is None or built.served.version < served.version:
            return False
        if not built.missing or (built.file is not None and time.monotonic() < self._retry_at):
            return True
        self._retry_at = time.monotonic() + _RETRY_S
        return False

    def _built_of(self, served: Served) -> Built | None:
        """Give what was built of the same history; None if nothing was."""
        built = self._built
        return built if built is not None and built.served.epoch == served.epoch else None

    def _run(self, served: Served, job: _Job) -> None:
        try:
            built = self._advance(served, job)
            with self._lock:
                self._built = built
        except BaseException as error:
            job.error = error
            self._index, self._record = None, _NOTHING  # as the file has it, next time
        finally:
            job.finished.set()

    def _advance(self, served: Served, job: _Job) -> Built:
        if self._epoch != served.epoch:
            self._index, self._record, self._epoch = None, _NOTHING, served.epoch
        with explaining(self._folder):
            make_folder(self._folder)
        if self._index is None:
            self._reopen()
        ids = served.catalogue.chunk_ids
        have = np.zeros(0, np.int64) if self._index is None else np.sort(self._index.ids)
        gone = np.setdiff1d(have, ids, assume_unique=True)
        wanted = np.setdiff1d(ids, have, assume_unique=True)
        new, vectors = self._vectors_of(served, wanted, job, self._donors(served.epoch))
        missing = len(wanted) - len(new)
        is_there = self._index is not None and self._record.version == served.version
        if is_there and not len(new):
            state = self._history.state(self._mode.profile, served.version)
            return Built(served, state, self._folder / self._record.file, missing)
        delta = None
        if self._index is None or len(gone) == len(have):
            self._build(new, vectors, job)
        elif self._is_outgrown(self._index, vectors):
            del vectors
            donors = [*self._donors(served.epoch), Donor(self._index)]
            self._build(*self._vectors_of(served, ids, job, donors), job)
        else:
            delta = self._change(self._index, gone, new, vectors)
        return self._keep(served, delta, job, missing)

    def _vectors_of(
        self, served: Served, ids: Ids, job: _Job, donors: list[Donor]
    ) -> tuple[Ids, Floats]:
        """Give vectors of those chunks whose text can be had; others come later."""
        job.done, job.total = 0, len(ids)
        with self._journal(served) as journal:
            mask, vectors = served.vectors(ids, job.note, donors, journal)
        return ids[mask], vectors

    def _build(self, ids: Ids, vectors: Floats, job: _Job) -> None:
        self._index = None if not len(ids) else _build(self._mode, ids, vectors, job)
        self._longest = float(np.abs(vectors).max(initial=0))

    def _is_outgrown(self, index: VectorIndex, vectors: Floats) -> bool:
        """Whether new vectors would be cut off at what int8 steps reach, or are many."""
        if self._mode.scalar != "int8":
            return False
        if not self._longest:  # it was opened
            self._longest = float(np.abs(index.vectors(index.ids)).max(initial=0))
        longest = float(np.abs(vectors).max(initial=0))
        is_grown = len(index) + len(vectors) > _GROWN * self._record.built
        return longest > _LONGER * self._longest or (is_grown and len(vectors) > 0)

    def _change(self, index: VectorIndex, gone: Ids, new: Ids, vectors: Floats) -> bytes | None:
        """Change the index; give how, or None where it was put in order and is as good as new."""
        if len(gone):
            index.delete(gone)
        if len(new):
            index.add(vectors, new)
        if index.stats().rebuild_hint:
            index.compact()
            return None
        return index.take_delta()

    def _keep(self, served: Served, delta: bytes | None, job: _Job, missing: int) -> Built:
        """Write the file, then the history, and only then forget the old file."""
        profile, index = self._mode.profile, self._index
        path: Path | None = None
        digest = b""
        if index is not None:
            path = _new_path(self._folder, self._mode, served.version)
            index.save(path)
            digest = bytes.fromhex(state_of_file(path))
        state = state_of(served.catalogue, digest)
        job.note(0)
        count = 0 if index is None else len(index)
        built = count if delta is None else self._record.built
        record = ReplicaRecord(served.version, "" if path is None else path.name, built)
        step = self._step(delta, served.version)
        self._history.put_replica(profile, served.epoch, record, state, step)
        self._record = record
        if index is not None and delta is None:
            _start_recording(index)
        _delete_files(self._folder, self._mode, path)
        _delete(_journal_path(self._folder, self._mode))
        self._retry_at = time.monotonic() + _RETRY_S
        return Built(served, state, path, missing)

    def _step(self, delta: bytes | None, version: int) -> tuple[int, bytes] | None:
        """Give what leads to a version, and from which one.

        Texts that came back change a replica within a version: edges that have it take a
        snapshot, and the others both steps in one.
        """
        if delta is None or self._record.version != version:
            return None if delta is None else (self._record.version, delta)
        before = self._history.delta_to(self._mode.profile, version)
        return None if before is None else (before[0], join_deltas([before[1], delta]))

    def _reopen(self) -> None:
        """Open the file that the history speaks of; without one the replica is built anew."""
        record = self._history.replicas().get(self._mode.profile)
        if record is None or not record.file:
            return
        with suppress(GossamerError, OSError):
            index = VectorIndex.open(self._folder / record.file, verify=True)
            _start_recording(index)
            self._index, self._record, self._longest = index, record, 0.0

    @contextmanager
    def _journal(self, served: Served) -> Iterator[Journal]:
        """Log vectors that are embedded: a server that is stopped goes on where it was."""
        model, path = served.manifest.model, _journal_path(self._folder, self._mode)
        journal = Journal(path, model.fingerprint, model.dim, _MOST_JOURNAL_BYTES)
        try:
            yield journal
        finally:
            journal.close()


_NOTHING = ReplicaRecord(0, "", 0)


def slim_options(degree: int) -> SlimOptions:
    """Give how far a replica is pruned."""
    return SlimOptions(low_degree0=degree)


def _build(mode: Mode, ids: Ids, vectors: Floats, job: _Job) -> VectorIndex:
    return VectorIndex.build(
        vectors,
        metric="ip",
        keep="all",
        graph="slim",
        code_bytes=0,
        ids=ids,
        scalar=_SCALARS[mode.scalar],
        keep_source=True,
        slim=slim_options(mode.degree),
        progress=lambda *_: job.note(0),
    )


def _start_recording(index: VectorIndex) -> None:
    """Let an index record what changes; what its first change would have to wait for is done."""
    index.add(np.zeros((0, index.stats().dim), np.float32), np.zeros(0, np.int64))
    index.track()


def _new_path(folder: Path, mode: Mode, version: int) -> Path:
    """Give the path of a file that is not there yet."""
    path = folder / f"slim-{mode.scalar}-{mode.degree}-{version}.gsm"
    number = 1
    while path.exists():
        number += 1
        path = path.with_stem(f"slim-{mode.scalar}-{mode.degree}-{version}-{number}")
    return path


def _journal_path(folder: Path, mode: Mode) -> Path:
    return folder / f"slim-{mode.scalar}-{mode.degree}.gsj"


def delete_replica(folder: Path, mode: Mode) -> None:
    """Delete all files of a replica."""
    _delete_files(folder, mode, None)
    _delete(_journal_path(folder, mode))


def _delete_files(folder: Path, mode: Mode, kept: Path | None) -> None:
    for path in folder.glob(f"slim-{mode.scalar}-{mode.degree}-*.gsm"):
        if path != kept:
            _delete(path)


def _delete(path: Path) -> None:
    with suppress(OSError):  # in use, where such files stay until the next time
        path.unlink(missing_ok=True)
