"""What a walk could not take: noted in the index, so that its status says why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path, PurePosixPath

from gossamer.readers import READER_VERSION
from gossamer.sources.folder import FoundFile
from gossamer.store import Catalogue, SourceRecord, Status
from gossamer.update.looking import EMPTY, Looked
from gossamer.update.plan import Plan
from gossamer.update.prepare import Prepared

__all__ = ["LeftOutFiles"]


class LeftOutFiles:
    """Paths that were reported with a reason, as sources that are skipped.

    What is indexed of a file or below a folder that the disk would not show stays as it is. So it
    does below a folder that is empty now, unless it has moved: `emptied` says of how many files.
    """

    def __init__(
        self, catalogue: Catalogue, roots: Sequence[Path], looked: Looked, plan: Plan
    ) -> None:
        self._catalogue = catalogue
        self._reasons = {path.as_posix(): reason for path, reason in looked.left_out.items()}
        self._hidden = {path.as_posix(): reason for path, reason in looked.hidden.items()}
        self._missing = {row: _at_or_above(catalogue.source(row).path) for row in plan.gone_rows}
        self._moved = self._find_moved(plan.to_read)
        self.emptied = self._find_emptied({path.as_posix() for path in looked.empty})
        self.items = [
            (partial(Prepared, _source_of(path, reason, roots)), 0)
            for path, reason in looked.left_out.items()
            if not self._is_known(path.as_posix())
        ]

    def gone(self) -> list[int]:
        """Give those of the sources that were not found which are not there any more."""
        return [
            row
            for row in self._missing
            if self._catalogue.source(row).path not in self._reasons and not self._is_kept(row)
        ]

    def problems(self) -> list[tuple[str, str]]:
        """Say of which hidden paths something is indexed that was not found, and why it stays."""
        known = {
            path for row in self._missing if self._is_indexed(row) for path in self._missing[row]
        }
        hidden = {path: reason for path, reason in self._hidden.items() if path in known}
        return [
            (path, f"{reason}; what is indexed of it is kept (`gossamer remove` takes it out)")
            for path, reason in (hidden | dict.fromkeys(self.emptied, EMPTY)).items()
        ]

    def _is_kept(self, row: int) -> bool:
        above = self._missing[row]
        if above & self._hidden.keys():
            return True
        return row not in self._moved and bool(above & self.emptied.keys())

    def _find_moved(self, files: Sequence[FoundFile]) -> set[int]:
        """Find sources whose size and time a file elsewhere has now: nothing of them is lost."""
        found = {(file.size, file.mtime_ns) for file in files}
        return {row for row in self._missing if self._catalogue.stat_of(row) in found}

    def _find_emptied(self, empty: set[str]) -> dict[str, int]:
        """Say how many files are indexed below each of the empty folders, where there are any."""
        counts: Counter[str] = Counter()
        for row, above in self._missing.items():
            if row not in self._moved and self._is_indexed(row):
                counts.update(above & empty)
        return dict(sorted(counts.items()))

    def _is_known(self, path: str) -> bool:
        row = self._catalogue.find_path(path)
        if row is None:
            return False
        is_kept = path in self._hidden and self._is_indexed(row)
        return is_kept or self._catalogue.source(row).reason == self._reasons[path]

    def _is_indexed(self, row: int) -> bool:
        return bool(self._catalogue.source(row).status == Status.INDEXED)


def _at_or_above(path: str) -> set[str]:
    """Give a path and all folders that it is below."""
    return {path, *(above.as_posix() for above in PurePosixPath(path).parents)}


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
