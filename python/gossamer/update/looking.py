"""What stands on the disk below the roots, and what the disk would not show."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gossamer.sources.folder import FoundFile, WalkOptions, walk_each
from gossamer.update.report import UpdateProgress, Watcher

__all__ = ["Looked", "look"]


@dataclass(slots=True)
class Looked:
    """The files that were found, and paths with the reason why they are not among them."""

    found: list[FoundFile] = field(default_factory=list)
    left_out: dict[Path, str] = field(default_factory=dict)
    # What is indexed at or below these is not gone: the disk did not show whether it is there.
    hidden: dict[Path, str] = field(default_factory=dict)


def look(roots: Mapping[Path, WalkOptions], watcher: Watcher) -> Looked:
    """Walk each root by its own options.

    A root that is not there may be a disk that is not mounted: what it holds is hidden, not gone.
    An empty root is the place for such a disk.
    """
    looked = Looked()
    there = {root: options for root, options in roots.items() if os.path.exists(root)}
    looked.hidden.update((root, "it is not there") for root in roots if root not in there)
    looked.hidden.update((root, "the folder is empty") for root in there if _is_empty(root))
    progress = UpdateProgress("looking")
    for file in walk_each(there, looked.left_out.__setitem__, looked.hidden.__setitem__):
        looked.found.append(file)
        progress.files_total = len(looked.found)
        if len(looked.found) % 256 == 0:
            watcher(progress)
    return looked


def _is_empty(root: Path) -> bool:
    try:
        with os.scandir(root) as entries:
            return next(entries, None) is None
    except OSError:
        return False  # a file; or a folder that the walk reports
