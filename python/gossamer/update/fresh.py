"""A few changed files brought up to date while somebody waits for an answer.

Whole files only, and no more than there is time for: what is left is for `add`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as LateError
from functools import partial
from pathlib import Path
from threading import Thread
from typing import TypeVar

from gossamer.model import IndexModel
from gossamer.readers import Limits
from gossamer.sources.folder import Bounds, FoundFile
from gossamer.store import Snapshot, Status, Writer
from gossamer.store.snapshot import segments_of
from gossamer.store.stale import read_stale
from gossamer.update.add import forget_notes
from gossamer.update.prepare import Prepared, Preparer
from gossamer.update.session import open_session

__all__ = ["MOST_FILES", "MOST_S", "choose_files", "prepare_in_time", "update_files"]

MOST_FILES = 20
MOST_S = 2.0
# Of all files together: more takes longer to read and to cut.
_MOST_BYTES = 4 << 20
_FEW = 4  # chunks that any model embeds soon enough
T = TypeVar("T")


def choose_files(snapshot: Snapshot, changed: Sequence[FoundFile], most: int) -> list[FoundFile]:
    """Give those that there is time for, as far as their sizes tell: the newest, small ones first.

    A file that became a link out of the folders that were added is left to `add`.
    """
    bounds = Bounds(map(Path, snapshot.manifest.roots))
    newest = sorted(changed, key=lambda file: file.mtime_ns, reverse=True)[:most]
    chosen, size = [], 0
    for file in sorted(newest, key=lambda file: file.size):
        size += file.size
        if size <= _MOST_BYTES and bounds.holds(os.path.realpath(file.path)):
            chosen.append(file)
    return chosen


def update_files(
    writer: Writer, model: IndexModel, files: Sequence[FoundFile], until: float
) -> dict[str, bool]:
    """Bring files up to date that there is time for, in one commit.

    Give the path of each, and whether it says anything else than before. A file that cannot be
    read any more stays as it is in the index: `add` says why, and takes it out.
    """
    done = {}
    with open_session(writer, model) as (session, _):
        preparer, pace = session.preparer(Limits(), None), _Pace(model)
        for file in files:
            prepared = prepare_in_time(session.snapshot, preparer, file, until)
            if prepared is not None and pace.allows(session.new_texts(prepared), until):
                session.put(prepared)
                done[file.path.as_posix()] = not prepared.is_same
        if session.has_changes:
            session.commit(True)
    known = session.snapshot.catalogue
    forget_notes(writer.folder, known, read_stale(writer.folder), set(done))
    return done


def prepare_in_time(
    snapshot: Snapshot, preparer: Preparer, file: FoundFile, until: float
) -> Prepared | None:
    """Read and cut a file that is indexed; None if it gives no text now, or takes longer.

    A file may be hostile: whoever waits for an answer waits no longer than that for it.
    """
    catalogue = segments_of(snapshot)
    row = catalogue.find_path(file.path)
    if row is None:
        return None
    prepare = partial(preparer.prepare_file, file, catalogue.source(row))
    prepared = _do_in_time(prepare, until)
    if prepared is None or prepared.problem or prepared.source.status != Status.INDEXED:
        return None
    return prepared


class _Pace:
    """How long it takes to embed a chunk here, measured before there are many to embed."""

    def __init__(self, model: IndexModel) -> None:
        self._model = model
        self._seconds: float | None = None

    def allows(self, texts: Sequence[str], until: float) -> bool:
        """Say whether there is time to embed these."""
        if len(texts) > _FEW and self._seconds is None:
            self._seconds = self._measure(texts[:1])
        return time.monotonic() + len(texts) * (self._seconds or 0) <= until

    def _measure(self, texts: Sequence[str]) -> float:
        embed = self._model.update_embedder.embed
        embed(texts)  # the first takes longer: a model is loaded for it
        started = time.monotonic()
        embed(texts)
        return time.monotonic() - started


def _do_in_time(work: Callable[[], T], until: float) -> T | None:
    """Give what the work gives; None if that is not in time: it goes on, and nobody waits."""
    result = Future[T]()

    def run() -> None:
        try:
            result.set_result(work())
        except BaseException as error:
            result.set_exception(error)

    # Not of a pool, whose threads are waited for when the process ends.
    Thread(target=run, name="gossamer-fresh", daemon=True).start()
    try:
        return result.result(max(until - time.monotonic(), 0))
    except LateError:
        return None
