"""Adding vectors to an index: by those at hand, or by asking for the few that matter."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from gossamer import _core
from gossamer.errors import DuplicateId, InvalidArgument
from gossamer.progress import ProgressCallback, run_with_progress
from gossamer.vectors.arrays import as_ids, as_supplied
from gossamer.vectors.session import Supplied, VectorsOf

__all__ = ["add_asking", "add_at_once"]

_Fetch = Callable[[NDArray[np.int64]], NDArray[np.float32]]

# New vectors that are linked together: later ones can link to earlier batches only.
_ADDED_AT_ONCE = 64


def add_at_once(
    core: _core.Index,
    ids: NDArray[np.uint64],
    vectors: NDArray[np.float32],
    progress: ProgressCallback | None,
) -> None:
    """Add by the vectors at hand; an interrupt or a callback that raises takes them out again.

    The core undoes what it is stopped in; this is for what is raised once it has finished.
    """
    is_finished = False

    def add(counters: _core.Progress) -> None:
        nonlocal is_finished
        core.add(ids, vectors, counters)
        is_finished = True

    try:
        run_with_progress(add, progress)
    except BaseException:
        if is_finished:
            core.remove(ids)
        raise


def add_asking(
    core: _core.Index,
    ids: NDArray[np.uint64],
    vectors: NDArray[np.float32],
    vectors_of: VectorsOf | None,
    progress: ProgressCallback | None,
) -> None:
    """Add to a graph whose vectors are not kept: ask for the few that matter. All or none."""
    _check_new_ids(core, ids)
    fetch = None if vectors_of is None else _answering(ids, vectors, vectors_of)
    added = 0
    try:
        while added < len(ids):
            stop = min(added + _ADDED_AT_ONCE, len(ids))
            _add_batch(core, ids[added:stop], vectors[added:stop], fetch)
            added = stop
            if progress is not None:
                progress("adding", added, len(ids))
    except BaseException:
        # All or none. Another thread may have deleted some of them meanwhile.
        held = [id for id in ids[:added].tolist() if core.contains(id)]
        core.remove(as_ids(held))
        raise


def _add_batch(
    core: _core.Index,
    ids: NDArray[np.uint64],
    vectors: NDArray[np.float32],
    fetch: _Fetch | None,
) -> None:
    batch = core.begin_add(ids, vectors)
    wanted = batch.wanted().astype(np.int64)
    if fetch is not None and wanted.size:
        batch.supply(fetch(wanted))
    batch.finish()


def _check_new_ids(core: _core.Index, ids: NDArray[np.uint64]) -> None:
    """Refuse a used id before the first batch goes in, so that all are added or none."""
    unique, counts = np.unique(ids, return_counts=True)
    used = [int(id) for id in unique if core.contains(int(id))]
    for id in [*unique[counts > 1].tolist(), *used]:
        raise DuplicateId(f"id {id} is in use already; delete it first, or choose another")


def _answering(
    ids: NDArray[np.uint64], vectors: NDArray[np.float32], vectors_of: VectorsOf
) -> _Fetch:
    """Answer for vectors that are being added, which the host may not have yet; ask for others."""
    rows = {id: row for row, id in enumerate(ids.tolist())}

    def fetch(wanted: NDArray[np.int64]) -> NDArray[np.float32]:
        places = np.array([rows.get(id, -1) for id in wanted.tolist()])
        is_known = places >= 0
        supplied = np.empty((len(wanted), vectors.shape[1]), np.float32)
        supplied[is_known] = vectors[places[is_known]]
        others = wanted[~is_known]
        if others.size:
            given = vectors_of(others)
            if isinstance(given, Supplied):
                raise InvalidArgument("add links by every vector it asks for: none may be missing")
            supplied[~is_known] = as_supplied(given, len(others), vectors.shape[1])
        return supplied

    return fetch
