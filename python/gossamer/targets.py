"""Where a file may be written outside of an index: where none is, or one that may go."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from gossamer.errors import InvalidArgument

__all__ = ["REPLACING", "check_folder", "check_place", "check_vacant", "is_readable_by_others"]

REPLACING = "--replace (replace=True in a program)"
_SHARED = stat.S_IRGRP | stat.S_IROTH


def check_vacant(path: Path, may_replace: bool) -> None:
    """Refuse to write where a file is, unless it may be replaced.

    InvalidArgument says so, and what stands in the way else: no folder, a link, a device.
    """
    check_folder(path)
    if check_place(path) and not may_replace:
        raise InvalidArgument(
            f"{path} is there already; name another file, or let it be replaced with {REPLACING}"
        )


def check_folder(path: Path) -> None:
    """Refuse a path in no folder, and one that is a folder itself, with InvalidArgument."""
    if path.is_dir():
        raise InvalidArgument(f"{path} is a folder; name a file in it")
    if not path.parent.is_dir():
        raise InvalidArgument(f"there is no folder {path.parent} to write to; make it first")


def check_place(path: Path) -> bool:
    """Say whether a file is there; InvalidArgument for a link, a folder, a device or a pipe.

    None of these is ever replaced: a link would be lost, or lead to a file that nobody named.
    """
    try:
        mode = path.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return False
    if stat.S_ISREG(mode):
        return True
    if stat.S_ISLNK(mode):
        raise InvalidArgument(
            f"{path} is a link to {os.readlink(path)}; name the file that it leads to, or remove it"
        )
    kind = "a folder" if stat.S_ISDIR(mode) else "no plain file"
    raise InvalidArgument(f"{path} is {kind}, and a file is to be written there; move it away")


def is_readable_by_others(path: Path) -> bool:
    """Whether the permissions of a file let other users of this machine read it."""
    return os.name == "posix" and bool(path.stat().st_mode & _SHARED)
