"""PDF: the text of each page, taken out in a process of its own.

PDFium has no bounds: a small hostile file can make it use all memory, hang or crash. In another
process that costs one file and not the run.
"""

from __future__ import annotations

import atexit
import json
import os
import struct
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO, Any

from gossamer.errors import Unreadable
from gossamer.readers.limits import Limits
from gossamer.readers.pdf_worker import READY, answer
from gossamer.records import Document

__all__ = ["read"]

_PATIENCE_S = 300.0
_WORKER = "gossamer.readers.pdf_worker"
_LOCK = threading.Lock()  # one document at a time: the worker has one pair of pipes


def read(path: Path, data: bytes, limits: Limits) -> list[Document]:  # noqa: ARG001
    """Read a PDF as one document with its pages as places.

    Raises `Unreadable` for a PDF that is damaged, asks for a password, holds no text, or asks for
    more time or memory than any honest one.
    """
    with _LOCK:
        worker = _Worker.running()
        if worker is None:
            reply = answer(data, limits.max_text_bytes)
        else:
            reply = worker.ask(data, limits.max_text_bytes)
    found = json.loads(reply)
    if "unreadable" in found:
        raise Unreadable(found["unreadable"])
    return [
        Document(
            text=found["text"].encode(),
            kind="pdf",
            title=found["title"],
            unit="page",
            places=tuple((offset, page) for offset, page in found["places"]),
            metadata=found["metadata"],
        )
    ]


class _Worker:
    """A process that answers one question after another until its input ends."""

    _current: _Worker | None = None
    _cannot_start = False

    @classmethod
    def running(cls) -> _Worker | None:
        """Give the worker of this process, started if need be; None where none can be started."""
        worker = cls._current
        if worker is not None and worker.owner != os.getpid():
            worker.forget()  # this process was forked, and the worker is its parent's
            worker = cls._current = None
        if worker is not None and worker.has_ended():
            worker.stop()
            worker = None
        if worker is None and not cls._cannot_start:
            try:
                worker = cls._current = cls()
            except (OSError, EOFError):
                cls._cannot_start = True
        return worker

    def __init__(self) -> None:
        if not sys.executable or getattr(sys, "frozen", False):
            raise OSError("there is no interpreter to start")
        self.owner = os.getpid()
        self._is_late = False
        self._process = subprocess.Popen(
            [sys.executable, "-m", _WORKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for the program, which ends the worker itself
        )
        atexit.register(self.stop)
        try:
            _read_exactly(self._process.stdout, len(READY))
        except EOFError:
            self.stop()
            raise

    def ask(self, data: bytes, max_text_bytes: int) -> bytes:
        """Give the worker's answer; a worker that fails or takes too long is ended for good."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        timer = threading.Timer(_PATIENCE_S, self._give_up)
        timer.start()
        try:
            stdin.write(struct.pack("<QQ", len(data), max_text_bytes))
            stdin.write(data)
            stdin.flush()
            (size,) = struct.unpack("<Q", _read_exactly(stdout, 8))
            return _read_exactly(stdout, size)
        except (OSError, EOFError) as error:
            self.stop()
            if self._is_late:
                raise Unreadable(f"reading it took more than {_PATIENCE_S:.0f} seconds") from error
            raise Unreadable("the PDF library failed on it: damaged, or far too large") from error
        except BaseException:
            self.stop()  # interrupted: the pipes are in the middle of an answer
            raise
        finally:
            timer.cancel()

    def has_ended(self) -> bool:
        """Say whether the process is gone, as when someone ended it between two files."""
        return self._process.poll() is not None

    def stop(self) -> None:
        """End the process; the next PDF starts another."""
        if _Worker._current is self:
            _Worker._current = None
        atexit.unregister(self.stop)
        if self.owner != os.getpid():
            self.forget()
            return
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            _close(pipe)
        self._process.wait()

    def forget(self) -> None:
        """Leave the process alone: it belongs to the parent of this one."""
        self._process.returncode = 0

    def _give_up(self) -> None:
        self._is_late = True
        self._process.kill()


def _read_exactly(pipe: IO[bytes] | None, size: int) -> bytes:
    found = pipe.read(size) if pipe is not None else b""
    if len(found) < size:
        raise EOFError("the worker has ended")
    return found


def _close(pipe: IO[Any] | None) -> None:
    try:
        if pipe is not None:
            pipe.close()
    except OSError:  # what was not sent yet can no longer be
        pass
