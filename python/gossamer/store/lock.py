"""One writer at a time: a lock of the operating system, which dies with its process."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import socket
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from gossamer.errors import Locked
from gossamer.files import file_mode

__all__ = ["LOCK", "hold_lock", "try_lock"]

LOCK = "lock"
_POLL_S = 0.05
_O_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)  # or a link would have another file cut and written to
_UNSUPPORTED = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL}
# Windows refuses to read locked bytes; the owner's name stands before this one.
_LOCKED_BYTE = 1 << 30


@contextlib.contextmanager
def hold_lock(folder: Path, command: str, wait_s: float = 0) -> Iterator[None]:
    """Hold the folder's lock; raise Locked, which names the owner, if it is not free in time."""
    path = folder / LOCK
    until = time.monotonic() + wait_s
    while (release := try_lock(path, command)) is None:
        if time.monotonic() >= until:
            raise Locked(_describe(path, folder))
        time.sleep(_POLL_S)
    try:
        yield
    finally:
        release.close()


def try_lock(path: Path, command: str) -> contextlib.ExitStack | None:
    """Take the lock in this file; give what releases it when closed, or None if it is taken."""
    stack = contextlib.ExitStack()
    handle = os.open(path, os.O_RDWR | os.O_CREAT | _O_NOFOLLOW, file_mode(path.parent))
    stack.callback(os.close, handle)
    try:
        _lock(handle)
    except OSError as error:
        stack.close()
        if error.errno in _UNSUPPORTED:
            return _try_lock_file(path.with_name(path.name + ".held"), command)
        if error.errno in (errno.EACCES, errno.EAGAIN, errno.EDEADLK):
            return None
        raise
    with contextlib.suppress(OSError):
        # Who it is, as a courtesy: a full disk may refuse it, and the lock holds nonetheless.
        stack.callback(os.ftruncate, handle, 0)
        os.ftruncate(handle, 0)
        os.write(handle, _owner(command))
    return stack


def _lock(handle: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        os.lseek(handle, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        os.lseek(handle, 0, os.SEEK_SET)
    else:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _try_lock_file(path: Path, command: str) -> contextlib.ExitStack | None:
    """Where the file system knows no locks: a file that only one process can create."""
    for _ in range(2):
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, file_mode(path.parent))
        except FileExistsError:
            if not _remove_stale(path):
                return None
            continue
        os.write(handle, _owner(command))
        os.close(handle)
        stack = contextlib.ExitStack()
        stack.callback(path.unlink, missing_ok=True)
        return stack
    return None


def _remove_stale(path: Path) -> bool:
    """Remove the file of a process of this machine that is gone; say whether it was one."""
    owner = _read_owner(path)
    if owner.get("host") != socket.gethostname() or _is_alive(owner.get("pid")):
        return False
    aside = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        os.replace(path, aside)
        # Another process may have been faster and hold the lock now: then it is put back.
        if _read_owner(aside) != owner:
            os.replace(aside, path)
            return False
        aside.unlink()
    except OSError:
        return False
    return True


def _is_alive(pid: object) -> bool:
    if sys.platform == "win32" or not isinstance(pid, int) or pid <= 0:
        return True  # nothing to ask without harm: believe the file
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _owner(command: str) -> bytes:
    owner = {
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "command": command,
        "since": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    return json.dumps(owner).encode("ascii") + b"\n"


def _read_owner(path: Path) -> dict[str, object]:
    try:
        owner = json.loads(path.read_bytes()[:4096])
    except (OSError, ValueError, RecursionError):
        return {}
    return owner if isinstance(owner, dict) else {}


def _describe(path: Path, folder: Path) -> str:
    owner = _read_owner(path) or _read_owner(path.with_name(path.name + ".held"))
    who = "another process"
    if owner:
        who = (
            f"process {owner.get('pid')} on {owner.get('host')} "
            f"({owner.get('command')}, since {owner.get('since')})"
        )
    return f"{who} is changing {folder}; wait for it to finish and try again"
