"""A question and the files that changed before it: a few are brought up to date files."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from gossamer.errors import GossamerError, InvalidArgument
from gossamer.lexical import WORDS
from gossamer.query.results import Results
from gossamer.query.run import Query
from gossamer.sources.folder import FoundFile
from gossamer.store import Snapshot
from gossamer.store.segments import SegmentCatalogue
from gossamer.update.compare import find_files, part_gone, tell_gone
from gossamer.update.fresh import MOST_FILES, MOST_S, choose_files, update_files
from gossamer.update.unindexed import add_unindexed

if TYPE_CHECKING:
    from gossamer.update.index import ChangeableIndex

__all__ = ["UPDATES", "answer"]

UPDATES = ("never", "auto", "always")
# Files of an index that each change writes or reads as a whole; larger ones are left to `add`.
_MOST_WHOLE_BYTES = 64 << 20


@dataclass(slots=True)
class _Update:
    """Files brought up to date for one question."""

    index: ChangeableIndex
    updated: set[str] = field(default_factory=set)
    left: dict[str, FoundFile] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0
    tried: int = 0

    def bring(self, changed: Sequence[FoundFile]) -> bool:
        """Bring changed files up to date, as many as may be; say whether any had new text."""
        self.left |= {file.path.as_posix(): file for file in changed}
        snapshot = self.index.snapshot
        files = choose_files(snapshot, changed, MOST_FILES - self.tried)
        if not files:
            return False
        self.tried += len(files)
        started = time.monotonic()
        done = self._update(snapshot, files, started + MOST_S - self.seconds)
        self.seconds += time.monotonic() - started
        for path in done:
            del self.left[path]
        new = {path for path, is_new in done.items() if is_new}
        self.updated |= new
        return bool(new)

    def search_left(self, query: Query, results: Results) -> Results:
        """Search by words what is not up to date, as far as there is time."""
        if not self.left:
            return results
        results, read = replace(results, absent=()), 0  # it may be there
        snapshot, model = self.index.now()
        with suppress(GossamerError, OSError):  # what it needs of the model was said above
            results, read = add_unindexed(snapshot, model, query, results, [*self.left.values()])
        unread = len(self.left) - read
        self.notes.append(
            f"{_files(len(self.left), 'is', 'are')} not up to date: {read} searched by words alone"
            + (f", {unread:,} not at all" if unread else "")
        )
        return results

    def _update(
        self, snapshot: Snapshot, files: Sequence[FoundFile], until: float
    ) -> dict[str, bool]:
        if (size := _whole_bytes(snapshot)) > _MOST_WHOLE_BYTES:
            said = f"each change of this index takes in {size / 1e6:,.0f} MB of it"
        else:
            try:
                with self.index.begin_change("search") as writer:
                    return update_files(writer, self.index.model, files, until)
            except (GossamerError, OSError) as error:
                said = str(error)
        self.notes.append(f"{_files(len(files), 'was', 'were')} not brought up to date: {said}")
        return {}


def answer(
    index: ChangeableIndex, query: Query, ask: Callable[[Query], Results], update: str
) -> Results:
    """Ask with changed files brought up to date before, as `update` says; tell what is gone.

    With "auto" files are looked at first; what only the question finds to be changed is brought
    up to date behind it, and the question asked once more.
    """
    if update not in UPDATES:
        raise InvalidArgument(f"update must be one of {', '.join(UPDATES)}, got {update!r}")
    started = time.perf_counter()
    if update == "always":
        index.add_paths()
    if update == "never" or not _may_change(index.snapshot):
        return _tell(index.snapshot, ask(query), _Update(index), ())
    seen = index.known.look(index.snapshot)
    looked = time.perf_counter()
    files = _Update(index)
    files.bring(seen.changed)
    results = ask(query)
    late = set(results.stale) - files.updated - files.left.keys()
    if late and files.bring(find_files(index.snapshot, late)):
        results = ask(query)
    results = files.search_left(query, results)
    results = _tell(index.snapshot, results, files, seen.gone)
    stages = {"look at files": (looked - started) * 1e3, "update": files.seconds * 1e3}
    explanation = replace(results.explanation, stages=stages | dict(results.explanation.stages))
    took_ms = (time.perf_counter() - started) * 1e3
    return replace(results, explanation=explanation, took_ms=took_ms)


def _files(count: int, one: str, several: str) -> str:
    return f"1 changed file {one}" if count == 1 else f"{count:,} changed files {several}"


def _tell(snapshot: Snapshot, results: Results, update: _Update, gone: Sequence[str]) -> Results:
    """Add what became of files; those of others are on no disk of ours."""
    if not snapshot.is_trusted or snapshot.manifest.origin:
        return results
    changed, missing = part_gone(snapshot, {*results.stale, *update.left, *gone})
    return replace(
        results,
        stale=tuple(sorted(changed)),
        updated=tuple(sorted(update.updated)),
        gone=tuple(missing),
        notes=(*results.notes, *update.notes, *tell_gone(snapshot, missing)),
    )


def _may_change(snapshot: Snapshot) -> bool:
    """Whether it is an index of files of this machine, which nobody else decides about.

    One of an old format would have to be written anew.
    """
    is_ours = snapshot.is_trusted and not snapshot.manifest.origin and not snapshot.remote
    return is_ours and isinstance(snapshot.catalogue, SegmentCatalogue)


def _whole_bytes(snapshot: Snapshot) -> int:
    """Give the bytes of what a change of any size writes or compares as a whole."""
    words = snapshot.folder / WORDS
    vectors = sum(entry.size for entry in snapshot.manifest.files_of("vectors"))
    return vectors + (words.stat().st_size if words.exists() else 0)
