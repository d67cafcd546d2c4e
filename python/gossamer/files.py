"""Index files: written aside and renamed, read through a memory map."""

from __future__ import annotations

import contextlib
import errno
import mmap
import os
import re
import stat
import tempfile
from collections.abc import Iterable
from io import BufferedReader, BufferedWriter
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gossamer.errors import Damaged, Truncated

__all__ = [
    "PLAIN_NAME",
    "absolute",
    "check_plain_name",
    "file_mode",
    "make_file",
    "make_folder",
    "make_private_folder",
    "map_file",
    "open_regular",
    "open_to_append",
    "read_small",
    "release_pages",
    "sync_folder",
    "write_file",
]

# What a name may be that comes from a file or a server: never a path.
PLAIN_NAME = r"^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$"
_O_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
# What a system says that syncs files but no folders, as some network disks are.
_CANNOT_SYNC = {errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EBADF}
_UMASK = Lock()


def write_file(
    path: Path,
    parts: Iterable[NDArray[np.uint8] | bytes],
    *,
    is_secret: bool = False,
    is_public: bool = False,
) -> int:
    """Write a whole file or none of it; give its length.

    The parts go to a new file beside `path`, which takes its place only once every byte is on the
    disk: a full disk or a killed process leaves the old file as it was. Whoever may read the
    folder may read the file: its owner alone if it `is_secret`, and if it `is_public` whoever the
    user lets read new files, or the file that is replaced.
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
            os.chmod(aside, _public_mode(path) if is_public else file_mode(path.parent))
        os.replace(aside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(aside)
        raise
    sync_folder(path.parent)
    return written


def make_file(path: Path, *, is_new: bool = False) -> None:
    """Make an empty file that whoever may read the folder may read, unless there is one.

    FileExistsError if it must be new.
    """
    flags = os.O_RDWR | os.O_CREAT | _O_NOFOLLOW | (os.O_EXCL if is_new else 0)
    os.close(os.open(path, flags, file_mode(path.parent)))


def make_folder(folder: Path) -> None:
    """Make a folder within an index, unless it is there, for those who may read the index.

    Damaged where there is a link: what is written there would be elsewhere.
    """
    if folder.is_symlink():
        raise Damaged(f"{folder} is a link, where a folder of the index belongs")
    if not folder.is_dir():
        make_folder(folder.parent)
        folder.mkdir(mode=folder.parent.stat().st_mode & 0o777, exist_ok=True)
        sync_folder(folder.parent)


def make_private_folder(folder: Path) -> None:
    """Make a folder for an index that its owner alone may look into.

    One that was there and empty becomes such a folder too, unless others may write to it: then
    somebody meant it to be shared. One that holds something is left as it is.
    """
    if not folder.is_dir():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        sync_folder(folder.parent)
    elif not any(folder.iterdir()) and not folder.stat().st_mode & 0o022:
        with contextlib.suppress(PermissionError):  # it is somebody else's, who lets us write
            folder.chmod(0o700)


def file_mode(folder: Path) -> int:
    """Give the permissions of a file for those who may read its folder."""
    return folder.stat().st_mode & 0o666 & ~_umask() | 0o600


def open_regular(path: str | os.PathLike[str], *, follow: bool) -> BufferedReader:
    """Open a file to read it; Damaged for what is none: a folder, a device, a pipe to wait for.

    A link is none either, unless it is to be followed. Those of an index never are: whoever made
    it could have other files of this machine read in the place of its own.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(path, flags if follow else flags | _O_NOFOLLOW)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _no_file(path) from None
        raise
    mode = os.fstat(handle).st_mode
    if stat.S_ISREG(mode):
        return open(handle, "rb")
    os.close(handle)
    if follow and stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    raise _no_file(path)


def read_small(path: Path, most: int) -> bytes:
    """Read a small file of an index; Damaged if it is larger than `most`, a link or no file."""
    with open_regular(path, follow=False) as file:
        if (size := os.fstat(file.fileno()).st_size) > most:
            raise Damaged(f"{path} has {size:,} bytes, where {most:,} at most belong")
        return file.read(size)


def open_to_append(path: Path) -> BufferedWriter:
    """Open a file of an index to write at its end, made if need be; Damaged for a link."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | _O_NOFOLLOW | getattr(os, "O_BINARY", 0)
    try:
        return open(os.open(path, flags, file_mode(path.parent)), "ab")
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _no_file(path) from None
        raise


def check_plain_name(name: str, what: str) -> str:
    """Give a name that came from a file or a server; Damaged unless it can be no path.

    Letters, digits, dots, dashes and underscores, and no dot first: up to 100 of them.
    """
    if not re.fullmatch(PLAIN_NAME, name):
        raise Damaged(
            f"{what} is called {name[:100]!r}, where a name of letters, digits, '.', '-' and '_' "
            "belongs"
        )
    return name


def absolute(path: str | os.PathLike[str]) -> Path:
    """Give a path from the root of the disk, without "..": the same file has the same path."""
    return Path(os.path.abspath(os.path.expanduser(path)))


def map_file(path: Path, *, follow: bool = True) -> NDArray[np.uint8]:
    """Map a file into memory; nothing is read before it is touched. `follow` as above."""
    with open_regular(path, follow=follow) as file:
        if os.fstat(file.fileno()).st_size == 0:
            raise Truncated("the file is empty; copy or build it again")
        mapped: Any = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return np.frombuffer(mapped, np.uint8)


def release_pages(mapped: NDArray[np.uint8]) -> None:
    """Give the memory of a mapped file back that was read; it is read again when it is touched."""
    file = getattr(mapped.base, "obj", None)  # of the view that numpy has
    if hasattr(mmap, "MADV_DONTNEED") and isinstance(file, mmap.mmap):
        file.madvise(mmap.MADV_DONTNEED)


def _public_mode(path: Path) -> int:
    """Permissions of the file that is replaced, or those a new file would get."""
    try:
        return path.stat().st_mode & 0o7777
    except FileNotFoundError:
        return 0o666 & ~_umask()


def _umask() -> int:
    """Give what the user takes away from new files; it can be read only by setting it."""
    with _UMASK:
        umask = os.umask(0o077)  # a file that another thread makes now is private, not public
        os.umask(umask)
    return umask


def _no_file(path: str | os.PathLike[str]) -> Damaged:
    return Damaged(f"{os.fspath(path)} is a link, a folder or a device, where a file belongs")


def sync_folder(folder: Path) -> None:
    """Make it durable that files in a folder were made or renamed, where the system can.

    OSError where it can and fails: what was renamed may not be there after a loss of power.
    """
    try:
        handle = os.open(folder, os.O_RDONLY)
    except (PermissionError, IsADirectoryError):
        return  # Windows opens no folder; and one may write to a folder that one may not list
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in _CANNOT_SYNC:
            raise
    finally:
        os.close(handle)
