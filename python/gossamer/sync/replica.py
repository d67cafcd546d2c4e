"""Slim indexes for edges: built from the server's texts, and brought along version by version.

What differs from one version to the next is kept in the history, so that any number of edges
follow by it. A replica is made when it is first asked for, in a thread of its own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gossamer.errors import Cancelled, GossamerError, WrongState
from gossamer.store.journal import Journal
from gossamer.sync.history import History
from gossamer.sync.records import Building, Mode
from gossamer.sync.served import Served
from gossamer.sync.state import state_of
from gossamer.vectors.deltas import state_of_file
from gossamer.vectors.options import SlimOptions
from gossamer.vectors.vector_index import VectorIndex

__all__ = ["Built", "Replicas", "slim_options"]

Ids = NDArray[np.int64]

_MOST_REPLICAS = 4
_SCALARS = {"f16": "f16", "int8": "i8"}  # as the engine calls them
_MOST_JOURNAL_BYTES = 1 << 31


@dataclass(frozen=True)
class Built:
    """A replica at one version; its file goes once there is a newer one."""

    served: Served
    state: str
    file: Path | None  # None while nothing is indexed


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


class Replicas:
    """The replicas of an index, by what edges keep; those not asked for go when there are many."""

    def __init__(self, folder: Path, history: History) -> None:
        self._folder = folder
        self._history = history
        self._lock = threading.Lock()
        self._replicas: dict[str, _Replica] = {}

    def follow(self, mode: Mode, served: Served, least: int, wait_s: float) -> Built | Building:
        """Bring the replica of a mode to a state of the index.

        What there is already is given if it is newer than `least`; else Building, if it takes
        longer than `wait_s`.
        """
        with self._lock:
            profile = mode.profile
            if profile not in self._replicas:
                self._make_room()
                self._replicas[profile] = _Replica(self._folder, mode, self._history, self.donor)
            replica = self._replicas[profile]
        built = replica.follow(served, least, wait_s)
        if [*self._history.replicas()][-1:] != [profile]:
            self._history.note_pull(profile)
        return built

    def donor(self) -> VectorIndex | None:
        """Open a replica whose vectors are as exact as any, so that they need not be embedded.

        None if there is none.
        """
        for profile, version in reversed(self._history.replicas().items()):
            mode = Mode.parse(profile)
            if mode.scalar == "f16":
                with suppress(GossamerError, OSError):
                    return VectorIndex.open(_path_of(self._folder, mode, version))
        return None

    def drop(self, mode: Mode, built: Built) -> None:
        """Build a replica anew whose file went, unless it went because there is a newer one."""
        with self._lock:
            replica = self._replicas.get(mode.profile)
        if replica is not None and replica.drop(built):
            self._history.forget_replica(mode.profile)

    def close(self) -> None:
        """Stop what is being made; what was made stays."""
        with self._lock:
            for replica in self._replicas.values():
                replica.stop()

    def _make_room(self) -> None:
        known = [*self._history.replicas()]
        known += [profile for profile in self._replicas if profile not in known]
        for profile in known[: max(0, len(known) + 1 - _MOST_REPLICAS)]:
            if (replica := self._replicas.pop(profile, None)) is not None:
                replica.stop()
            self._history.forget_replica(profile)
            _delete_files(self._folder, Mode.parse(profile), None)


class _Replica:
    """The slim index of one profile. One thread at a time changes it."""

    def __init__(
        self,
        folder: Path,
        mode: Mode,
        history: History,
        donor: Callable[[], VectorIndex | None],
    ) -> None:
        self._folder = folder
        self._mode = mode
        self._donor = donor
        self._history = history
        self._lock = threading.Lock()
        self._job: _Job | None = None
        self._thread: threading.Thread | None = None
        self._built: Built | None = None
        # What the file of `_version` holds, recording; None if it is to be opened or built.
        self._index: VectorIndex | None = None
        self._version = 0
        self._epoch = ""

    def follow(self, served: Served, least: int, wait_s: float) -> Built | Building:
        job = self._job_for(served)
        if job is not None:
            job.finished.wait(wait_s)
        with self._lock:
            built = self._built_of(served)
            if built is not None:
                is_there = built.served.version >= served.version
                if is_there or built.served.version > least:
                    return built
            if job is None:
                raise WrongState("the index changed while it was being read; ask again")
            if job.error is not None:
                raise job.error
            return Building(job.done, job.total)

    def drop(self, built: Built) -> bool:
        """Forget what was built, if it is still the newest; say whether it was."""
        with self._lock:
            is_busy = self._job is not None and not self._job.finished.is_set()
            if is_busy or self._built is not built:
                return False
            self._built = self._index = None
            self._version = 0
            return True

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
            built = self._built_of(served)
            if built is not None and built.served.version >= served.version:
                return None
            if self._job is None or self._job.finished.is_set():
                self._job = _Job(served.catalogue.chunk_count)
                self._thread = threading.Thread(
                    target=self._run, args=(served, self._job), name="gossamer-slim", daemon=True
                )
                self._thread.start()
            return self._job

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
            self._index, self._version = None, 0  # as the file has it, next time
        finally:
            job.finished.set()

    def _advance(self, served: Served, job: _Job) -> Built:
        if self._epoch != served.epoch:
            self._index, self._version, self._epoch = None, 0, served.epoch
        if self._index is None:
            self._reopen()
        path = self._path(served.version)
        if self._version == served.version and self._index is not None:
            return Built(served, self._history.state(self._mode.profile, served.version), path)
        ids = served.catalogue.chunk_ids
        have = np.zeros(0, np.int64) if self._index is None else np.sort(self._index.ids)
        gone = np.setdiff1d(have, ids, assume_unique=True)
        new, vectors = self._vectors_of(served, np.setdiff1d(ids, have, assume_unique=True), job)
        delta = None
        if self._index is None or len(gone) == len(have):
            self._index = _build(self._mode, new, vectors, job)
        else:
            delta = self._change(self._index, gone, new, vectors)
        return self._keep(served, delta, job)

    def _vectors_of(self, served: Served, ids: Ids, job: _Job) -> tuple[Ids, NDArray[np.float32]]:
        """Give vectors of those chunks whose text can be had; others come with a later version."""
        job.done, job.total = 0, len(ids)
        with self._journal(served) as journal:
            mask, vectors = served.vectors(ids, job.note, self._donor(), journal)
        return ids[mask], vectors

    def _change(
        self, index: VectorIndex, gone: Ids, new: Ids, vectors: NDArray[np.float32]
    ) -> bytes | None:
        """Change the index; give how, or None where it was put in order and is as good as new."""
        if len(gone):
            index.delete(gone)
        if len(new):
            index.add(vectors, new)
        if index.stats().rebuild_hint:
            index.compact()
            return None
        return index.take_delta()

    def _keep(self, served: Served, delta: bytes | None, job: _Job) -> Built:
        """Write the file, then the history, and only then forget the old file."""
        profile, before = self._mode.profile, self._version
        path: Path | None = None
        digest = b""
        if self._index is not None:
            path = self._path(served.version)
            self._index.save(path)
            digest = bytes.fromhex(state_of_file(path))
        state = state_of(served.catalogue, digest)
        job.note(0)
        recorded = None if delta is None else (before, delta)
        self._history.put_replica(profile, served.epoch, (served.version, state), recorded)
        self._version = served.version
        if self._index is not None and delta is None:
            # What was built or put in order begins to record.
            self._index = VectorIndex.open(self._path(served.version))
            self._index.track()
        _delete_files(self._folder, self._mode, path)
        with suppress(OSError):
            self._journal_path.unlink(missing_ok=True)
        return Built(served, state, path)

    def _reopen(self) -> None:
        """Open the file that the history speaks of; without one the replica is built anew."""
        version = self._history.replicas().get(self._mode.profile)
        if version is None:
            return
        with suppress(GossamerError, OSError):
            index = VectorIndex.open(self._path(version), verify=True)
            index.track()
            self._index, self._version = index, version

    def _path(self, version: int) -> Path:
        return _path_of(self._folder, self._mode, version)

    @property
    def _journal_path(self) -> Path:
        return self._folder / f"slim-{self._mode.scalar}-{self._mode.degree}.gsj"

    @contextmanager
    def _journal(self, served: Served) -> Iterator[Journal]:
        """Log vectors that are embedded: a server that is stopped goes on where it was."""
        model = served.manifest.model
        journal = Journal(self._journal_path, model.fingerprint, model.dim, _MOST_JOURNAL_BYTES)
        try:
            yield journal
        finally:
            journal.close()


def _path_of(folder: Path, mode: Mode, version: int) -> Path:
    return folder / f"slim-{mode.scalar}-{mode.degree}-{version}.gsm"


def slim_options(degree: int) -> SlimOptions:
    """Give how far a replica is pruned."""
    return SlimOptions(low_degree0=degree)


def _build(mode: Mode, ids: Ids, vectors: NDArray[np.float32], job: _Job) -> VectorIndex | None:
    if not len(ids):
        return None
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


def _delete_files(folder: Path, mode: Mode, kept: Path | None) -> None:
    for path in folder.glob(f"slim-{mode.scalar}-{mode.degree}-*.gsm"):
        if path != kept:
            with suppress(OSError):  # in use, where such files stay until the next time
                path.unlink()
