"""What has to be done: files that are new or changed, sources that are gone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gossamer.sources.folder import FoundFile
from gossamer.store.segments import SegmentCatalogue

__all__ = ["Plan", "plan_update"]


@dataclass(frozen=True, slots=True)
class Plan:
    """Files to read, rows of sources that are gone, and how many need nothing."""

    to_read: Sequence[FoundFile]
    gone_rows: Sequence[int]
    unchanged: int


def plan_update(
    catalogue: SegmentCatalogue,
    found: Iterable[FoundFile],
    roots: Sequence[Path],
    stale: set[str],
    version: int,
) -> Plan:
    """Compare the files below `roots` with what is indexed of them.

    A file counts as unchanged while its size and time are those it had, unless a search found
    other text in it (`stale`, by path) or it would be read differently now: `version` is that of
    the readers and their limits.
    """
    to_read: list[FoundFile] = []
    seen: set[int] = set()
    unchanged = 0
    for file in found:
        path = file.path.as_posix()
        row = catalogue.find_path(path)
        if row is not None:
            seen.add(row)
        if row is None or path in stale or not _is_same(catalogue, row, file, version):
            to_read.append(file)
        else:
            unchanged += 1
    gone = [row for row in _rows_below(catalogue, roots) if row not in seen]
    return Plan(to_read, gone, unchanged)


def _is_same(catalogue: SegmentCatalogue, row: int, file: FoundFile, version: int) -> bool:
    return catalogue.core.stat(row) == (file.size, file.mtime_ns, version)


def _rows_below(catalogue: SegmentCatalogue, roots: Sequence[Path]) -> list[int]:
    """Rows of the files that stand below one of the folders, or are one of the files."""
    return sorted({row for root in roots for row in catalogue.files_below(root)})
