"""One update from its plan to its commit."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from gossamer.store import SourceRecord
from gossamer.update.ahead import work_ahead
from gossamer.update.apply import Applier
from gossamer.update.prepare import Prepared
from gossamer.update.report import UpdateProgress, Watcher

__all__ = ["Work", "run_update"]

# A long update commits so often: what is done can be searched, and is never done again.
_COMMIT_EVERY_S = 60.0
# Chunks that are worth a batch.
_CHUNKS_AT_ONCE = 512
# Bytes of text prepared ahead; a source without text counts too, and there are at most so many.
_BYTES_AHEAD = 32 << 20
_SOURCES_AHEAD = 256


@dataclass(frozen=True, slots=True)
class Work:
    """Sources to prepare with the size of each, made as they are needed, and what is gone.

    How many there are and what they take together is for the progress bar.
    """

    items: Iterable[tuple[Callable[[], Prepared], int]]
    count: int = 0
    size: int = 0
    gone: Sequence[SourceRecord] = ()


def run_update(
    applier: Applier,
    work: Work,
    commit: Callable[[bool], None],
    watcher: Watcher,
    *,
    must_commit: bool,
) -> None:
    """Prepare, embed and put in every source of the work, and commit if anything is new.

    Whole sources only: a file is in the index as it was or as it is. What an interrupted update
    has embedded since its last commit is in the journal, and is not embedded again by the next.
    """
    progress = UpdateProgress("embedding", 0, work.count, 0, work.size)
    watcher(progress)
    committed_at, is_committed = time.monotonic(), False
    for wave in _waves(work_ahead(work.items, _prepare, _weight, _BYTES_AHEAD)):
        applier.apply([source for source, _ in wave], _counter(progress, watcher))
        _advance(progress, wave)
        watcher(progress)
        if time.monotonic() - committed_at > _COMMIT_EVERY_S:
            commit(False)
            committed_at, is_committed = time.monotonic(), True
    applier.remove(work.gone)
    # Looked at, and found as it was: the state that is there can stay.
    if not is_committed and applier.changes.is_empty and not must_commit:
        return
    progress.phase = "writing"
    watcher(progress)
    commit(True)


def _prepare(item: tuple[Callable[[], Prepared], int]) -> tuple[Prepared, int]:
    prepare, size = item
    return prepare(), size


def _weight(prepared: tuple[Prepared, int]) -> int:
    return prepared[0].text_bytes + _BYTES_AHEAD // _SOURCES_AHEAD


def _waves(prepared: Iterable[tuple[Prepared, int]]) -> Iterator[list[tuple[Prepared, int]]]:
    """Gather sources until there are enough chunks to be worth a batch."""
    wave: list[tuple[Prepared, int]] = []
    chunks = 0
    for source, size in prepared:
        wave.append((source, size))
        chunks += source.chunk_count
        if chunks >= _CHUNKS_AT_ONCE:
            yield wave
            wave, chunks = [], 0
    if wave:
        yield wave


def _counter(progress: UpdateProgress, watcher: Watcher) -> Callable[[int], None]:
    def count(chunks: int) -> None:
        progress.chunks_embedded += chunks
        watcher(progress)

    return count


def _advance(progress: UpdateProgress, wave: Sequence[tuple[Prepared, int]]) -> None:
    progress.files_done += len(wave)
    progress.bytes_done += sum(size for _, size in wave)
    progress.chunks_done += sum(source.chunk_count for source, _ in wave)
