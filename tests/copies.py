"""Copies of index folders, for tests that change or damage one."""

import shutil
from pathlib import Path

from gossamer.store.folder import read_manifest
from gossamer.store.trust import accept


def copy_index(folder: Path, target: Path) -> Path:
    """Copy an index, and accept the copy as its owner would."""
    copy = Path(shutil.copytree(folder, target))
    accept(copy, read_manifest(copy))
    return copy
