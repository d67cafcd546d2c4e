"""What has to be done: files that are new or changed, sources that are gone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from gossamer.sources.folder import FoundFile
from gossamer.store import Catalogue

__all__ = ["Plan", "plan_update"]


@dataclass(frozen=True, slots=True)
class Plan:
    """Files to read, rows of sources that are gone, and how many need nothing."""

    to_read: Sequence[FoundFile]
    gone_rows: Sequence[int]
    unchanged: int


def plan_update(
    catalogue: Catalogue,
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


def _is_same(catalogue: Catalogue, row: int, file: FoundFile, version: int) -> bool:
    is_read_alike = catalogue.tables["reader_version"][row] == version
    return bool(is_read_alike) and catalogue.stat_of(row) == (file.size, file.mtime_ns)


def _rows_below(catalogue: Catalogue, roots: Sequence[Path]) -> list[int]:
    """Rows of the files that stand below one of the folders, or are one of the files."""
    exact = {root.as_posix() for root in roots}
    prefixes = tuple(f"{root.as_posix().rstrip('/')}/" for root in roots)
    return [
        row
        for row, path in enumerate(catalogue.paths)
        if (path in exact or path.startswith(prefixes)) and catalogue.find_path(path) == row
    ]
