"""What a walk could not take: noted in the index, so that its status says why."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from gossamer.readers import READER_VERSION
from gossamer.store import Catalogue, SourceRecord, Status
from gossamer.update.prepare import Prepared

__all__ = ["LeftOutFiles"]


class LeftOutFiles:
    """Paths that were reported with a reason, as sources that are skipped."""

    def __init__(
        self, catalogue: Catalogue, roots: Sequence[Path], left_out: Sequence[tuple[Path, str]]
    ) -> None:
        self._catalogue = catalogue
        self._reasons = {path.as_posix(): reason for path, reason in left_out}
        self.items = [
            (partial(Prepared, _source_of(path, reason, roots)), 0)
            for path, reason in dict(left_out).items()
            if not self._is_known(path.as_posix())
        ]

    def is_noted(self, row: int) -> bool:
        """Whether a source of the catalogue is one of them, so that it is not gone."""
        return self._catalogue.paths[row] in self._reasons

    def _is_known(self, path: str) -> bool:
        row = self._catalogue.find_path(path)
        return row is not None and self._catalogue.source(row).reason == self._reasons[path]


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
