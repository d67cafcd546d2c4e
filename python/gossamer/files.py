"""Index files: written aside and renamed, read through a memory map."""

from __future__ import annotations

import contextlib
import mmap
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gossamer.errors import Truncated

__all__ = ["absolute", "map_file", "sync_folder", "write_file"]


def write_file(
    path: Path, parts: Iterable[NDArray[np.uint8] | bytes], *, is_secret: bool = False
) -> int:
    """Write a whole file or none of it; give its length. Only its owner may read a secret one.

    The parts go to a new file beside `path`, which takes its place only once every byte is on the
    disk: a full disk or a killed process leaves the old file as it was.
    """
    path = Path(path)
    handle, aside = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    written = 0
    try:
        with os.fdopen(handle, "wb") as file:
            for part in parts:
                written += file.write(part.data if isinstance(part, np.ndarray) else part)
            file.flush()
            os.fsync(file.fileno())
        if not is_secret:
            os.chmod(aside, _mode_of(path))
        os.replace(aside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(aside)
        raise
    sync_folder(path.parent)
    return written


def absolute(path: str | os.PathLike[str]) -> Path:
    """Give a path from the root of the disk, without "..": the same file has the same path."""
    return Path(os.path.abspath(os.path.expanduser(path)))


def map_file(path: Path) -> NDArray[np.uint8]:
    """Map a file into memory; nothing is read before it is touched."""
    with open(path, "rb") as file:
        if os.fstat(file.fileno()).st_size == 0:
            raise Truncated("the file is empty; copy or build it again")
        mapped: Any = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return np.frombuffer(mapped, np.uint8)


def _mode_of(path: Path) -> int:
    """Permissions of the file that is replaced, or those a new file would get."""
    try:
        return path.stat().st_mode & 0o7777
    except FileNotFoundError:
        umask = os.umask(0)
        os.umask(umask)
        return 0o666 & ~umask


def sync_folder(folder: Path) -> None:
    """Make it durable that files in a folder were made or renamed, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
