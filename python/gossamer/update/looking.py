"""What stands on the disk below the roots, and what the disk would not show."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gossamer.sources.folder import FoundFile, WalkOptions, walk_each
from gossamer.update.report import UpdateProgress, Watcher

__all__ = ["EMPTY", "Looked", "look"]

EMPTY = "the folder is empty"


@dataclass(slots=True)
class Looked:
    """The files that were found, and paths with the reason why they are not among them."""

    found: list[FoundFile] = field(default_factory=list)
    left_out: dict[Path, str] = field(default_factory=dict)
    # What is indexed at or below these is not gone: the disk did not show whether it is there.
    hidden: dict[Path, str] = field(default_factory=dict)
    # Folders below the roots with nothing in them, of which something may be indexed.
    empty: set[Path] = field(default_factory=set)


def look(
    roots: Mapping[Path, WalkOptions], watcher: Watcher, other_roots: Iterable[Path] = ()
) -> Looked:
    """Walk each root by its own options.

    A root that is not there may be a disk that is not mounted: what it holds is hidden, not gone.
    An empty folder is the place for such a disk. Links may lead below `other_roots` too.
    """
    looked = Looked()
    # One of another system is no path here, though it may look like one from some folder.
    there = {
        root: options
        for root, options in roots.items()
        if root.is_absolute() and os.path.exists(root)
    }
    looked.hidden.update((root, "it is not there") for root in roots if root not in there)

    def note_empty(folder: Path) -> None:
        if folder in there:
            looked.hidden[folder] = EMPTY
        else:
            looked.empty.add(folder)

    progress = UpdateProgress("looking")
    for file in walk_each(
        there, looked.left_out.__setitem__, looked.hidden.__setitem__, note_empty, other_roots
    ):
        looked.found.append(file)
        progress.files_total = len(looked.found)
        if len(looked.found) % 256 == 0:
            watcher(progress)
    return looked
