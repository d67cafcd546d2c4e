"""What a walk could not take: noted in the index, so that its status says why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from gossamer.readers import READER_VERSION
from gossamer.store import Catalogue, SourceRecord, Status
from gossamer.update.looking import Looked
from gossamer.update.prepare import Prepared

__all__ = ["LeftOutFiles"]


class LeftOutFiles:
    """Paths that were reported with a reason, as sources that are skipped.

    What is indexed of a file or below a folder that the disk would not show stays as it is.
    """

    def __init__(self, catalogue: Catalogue, roots: Sequence[Path], looked: Looked) -> None:
        self._catalogue = catalogue
        self._reasons = {path.as_posix(): reason for path, reason in looked.left_out.items()}
        self._hidden = {path.as_posix(): reason for path, reason in looked.hidden.items()}
        self.items = [
            (partial(Prepared, _source_of(path, reason, roots)), 0)
            for path, reason in looked.left_out.items()
            if not self._is_known(path.as_posix())
        ]

    def gone_of(self, rows: Sequence[int]) -> list[int]:
        """Give those of the sources that were not found which are not there any more."""
        paths = self._catalogue.paths
        hidden = _prefixes(self._hidden)
        return [
            row
            for row in rows
            if paths[row] not in self._reasons
            and paths[row] not in self._hidden
            and not paths[row].startswith(hidden)
        ]

    def problems(self, rows: Sequence[int]) -> list[tuple[str, str]]:
        """Say of which hidden paths something is indexed that was not found, and why it stays."""
        indexed = [self._catalogue.paths[row] for row in rows if self._is_indexed(row)]
        return [
            (path, f"{reason}; what is indexed of it is kept (`gossamer remove` takes it out)")
            for path, reason in self._hidden.items()
            if any(one == path or one.startswith(_prefixes([path])) for one in indexed)
        ]

    def _is_known(self, path: str) -> bool:
        row = self._catalogue.find_path(path)
        if row is None:
            return False
        is_kept = path in self._hidden and self._is_indexed(row)
        return is_kept or self._catalogue.source(row).reason == self._reasons[path]

    def _is_indexed(self, row: int) -> bool:
        return bool(self._catalogue.tables["status"][row] == Status.INDEXED)


def _prefixes(paths: Mapping[str, str] | Sequence[str]) -> tuple[str, ...]:
    return tuple(f"{path.rstrip('/')}/" for path in paths)


def _source_of(path: Path, reason: str, roots: Sequence[Path]) -> SourceRecord:
    above = [root for root in roots if root in path.parents]
    root = above[0] if above else path.parent
    return SourceRecord(
        root=root.as_posix(),
        name=path.relative_to(root).as_posix(),
        size=0,
        mtime_ns=0,
        content_hash=0,
        status=Status.SKIPPED,
        reason=reason,
        reader_version=READER_VERSION,
    )
