"""Faults on purpose: a process killed, or a disk full, at the n-th call to the file system."""

import builtins
import errno
import io
import os
import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

# What changes files or folders; reading cannot hurt.
_CALLS = (
    *("chmod", "fsync", "ftruncate", "mkdir", "open", "remove", "rename"),
    *("replace", "rmdir", "truncate", "unlink", "utime", "write"),
)

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork to kill a process")


def count_calls(function: Callable[[], object]) -> int:
    """Run the function to its end in a child process; give how many calls there are to fail."""
    reading, writing = os.pipe()

    def counted() -> None:
        with _hooked(lambda _: None) as calls:
            function()
        os.write(writing, str(calls[0]).encode())

    status = _run_in_child(counted)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        answer = pipe.read()
    assert status == 0, f"the function itself failed: {status}"
    return int(answer)


def run_killed_at(n: int, function: Callable[[], object]) -> bool:
    """Run the function in a child process that is killed (-9) at its n-th call, counted from 1.

    A write that is killed has written half of its data. Say whether it came to that: False means
    that the function had finished before.
    """

    def killed() -> None:
        with _hooked(lambda number: os.kill(os.getpid(), signal.SIGKILL) if number == n else None):
            function()

    status = _run_in_child(killed)
    assert status in (0, -signal.SIGKILL), f"the function itself failed: {status}"
    return status != 0


@contextmanager
def failing_at(n: int, error: int = errno.ENOSPC, for_good: bool = True) -> Iterator[list[int]]:
    """Fail the n-th call, and all later ones, that need room on the disk."""

    def fail(number: int) -> None:
        if number == n or (for_good and number > n):
            raise OSError(error, os.strerror(error))

    with _hooked(fail, ("fsync", "mkdir", "open", "write")) as calls:
        yield calls


def _run_in_child(function: Callable[[], object]) -> int:
    with warnings.catch_warnings():
        # Newer Pythons warn of forks beside threads; ours only wait.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        status = 1
        try:
            function()
            status = 0
        except BaseException:
            import traceback

            traceback.print_exc()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@contextmanager
def _hooked(before: Callable[[int], None], names: tuple[str, ...] = _CALLS) -> Iterator[list[int]]:
    """Call `before(number)` ahead of every call of these names; give their running count."""
    calls = [0]

    def note() -> None:
        calls[0] += 1
        before(calls[0])

    originals = {name: getattr(os, name) for name in names}
    fdopen, plain_open, io_open = os.fdopen, builtins.open, io.open

    def hook(name: str) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            if name == "open" and not args[1] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
                return originals[name](*args, **options)
            if name == "write":
                return _write_with(note, lambda data: originals[name](args[0], data), args[1])
            note()
            return originals[name](*args, **options)

        return call

    def open_file(file: Any, mode: str = "r", *args: Any, **options: Any) -> Any:
        if not set(mode) & set("wax+"):
            return plain_open(file, mode, *args, **options)
        if not isinstance(file, int):
            note()
        return _File(plain_open(file, mode, *args, **options), note)

    for name in names:
        setattr(os, name, hook(name))
    os.fdopen = open_file
    builtins.open = io.open = open_file
    try:
        yield calls
    finally:
        for name, original in originals.items():
            setattr(os, name, original)
        os.fdopen, builtins.open, io.open = fdopen, plain_open, io_open


def _write_with(note: Callable[[], None], write: Callable[[Any], int], data: Any) -> int:
    """Write in two halves with the fault between them, as a torn write is."""
    view = memoryview(data).cast("B")
    if len(view) < 2:
        note()
        return write(view)
    written = write(view[: len(view) // 2])
    note()
    return written + write(view[written:])


class _File:
    """A file whose writes are calls to the file system, one each."""

    def __init__(self, file: Any, note: Callable[[], None]) -> None:
        self._file, self._note = file, note

    def write(self, data: Any) -> int:
        def write_through(part: Any) -> int:
            written = self._file.write(part)
            self._file.flush()
            return written

        return _write_with(self._note, write_through, data)

    def truncate(self, size: int) -> int:
        self._note()
        return self._file.truncate(size)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __enter__(self) -> "_File":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
