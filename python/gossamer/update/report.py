"""What an update did, and how far it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

__all__ = ["UpdateProgress", "UpdateReport", "Watcher"]


@dataclass(slots=True)
class UpdateProgress:
    """How far an update is; the same object is shown again and again."""

    phase: str = "looking"  # looking, embedding, writing
    files_done: int = 0
    files_total: int = 0
    bytes_done: int = 0
    bytes_total: int = 0
    chunks_done: int = 0
    chunks_embedded: int = 0


Watcher = Callable[[UpdateProgress], None]


@dataclass(slots=True)
class UpdateReport:
    """What an update did."""

    added: int = 0  # sources
    updated: int = 0
    removed: int = 0
    lost: int = 0  # indexed before, and now skipped or failed
    unchanged: int = 0
    skipped: int = 0
    failed: int = 0
    chunks_embedded: int = 0
    chunks_reused: int = 0  # unchanged chunks of changed files
    chunks_resumed: int = 0  # embedded by a run that was interrupted
    seconds: float = 0.0
    problems: list[tuple[str, str]] = field(default_factory=list)  # path, and what is wrong there
    # Folders below the roots that are empty now, and how many files stay indexed of each. They are
    # among the problems too: a disk may not be mounted, or the files were deleted.
    emptied: dict[str, int] = field(default_factory=dict)

    @property
    def is_nothing(self) -> bool:
        """Whether the index is as it was."""
        return not (self.added or self.updated or self.removed or self.lost)
