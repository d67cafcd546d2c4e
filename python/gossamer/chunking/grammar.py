"""The way to the grammars: which definitions a source text has, asked of a process of its own."""

from __future__ import annotations

import atexit
import os
import struct
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

__all__ = ["MAX_PARSED_BYTES", "captures"]

MAX_PARSED_BYTES = 2_000_000
Captures = NDArray[np.uint32]
# Where the worker cannot limit its own time, or hangs without using any.
_WALL_SECONDS = 60.0
_MAX_STARTS_IN_VAIN = 2


def captures(text: bytes, language: str) -> Captures | None:
    """Find definitions, and the comments and decorators that may belong to them.

    One row each, in no order: 1 for a definition or 0, start, end, start of its body or 0. None
    where the language has no grammar, the text is too large, or parsing it failed.
    """
    if len(text) > MAX_PARSED_BYTES:
        return None
    with _lock:
        return _workers.setdefault(os.getpid(), _Worker()).ask(text, language)


class _Worker:
    """The process, started when it is first needed and again after it ended."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._starts_in_vain = 0
        self._without_grammar: set[str] = set()

    def ask(self, text: bytes, language: str) -> Captures | None:
        if language in self._without_grammar or self._starts_in_vain >= _MAX_STARTS_IN_VAIN:
            return None
        try:
            return self._answer(text, language)
        except (OSError, EOFError):
            self.close()
            return None
        except BaseException:
            # An answer that nobody waited for must not be taken for the next one.
            self.close()
            raise

    def close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()

    def _answer(self, text: bytes, language: str) -> Captures | None:
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        name = language.encode("utf-8")
        watch = threading.Timer(_WALL_SECONDS, process.kill)
        watch.start()
        try:
            process.stdin.write(struct.pack("<II", len(name), len(text)) + name + text)
            process.stdin.flush()
            (count,) = struct.unpack("<i", _read(process.stdout, 4))
            rows = _read(process.stdout, max(count, 0) * 16)
        finally:
            watch.cancel()
        self._starts_in_vain = 0
        if count < 0:
            self._without_grammar.add(language)
            return None
        return np.frombuffer(rows, np.uint32).reshape(-1, 4)

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self._starts_in_vain += 1
            script = Path(__file__).with_name("grammar_worker.py")
            # -P: the modules beside the script must not stand before those of the library.
            self._process = subprocess.Popen(
                [sys.executable, "-P", str(script)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        return self._process


_lock = threading.Lock()
# By the process that asks: after a fork a worker must not answer two of them.
_workers: dict[int, _Worker] = {}


@atexit.register
def _close() -> None:
    if worker := _workers.get(os.getpid()):
        worker.close()


def _read(stream: IO[bytes], length: int) -> bytes:
    data = stream.read(length)
    if len(data) < length:
        raise EOFError
    return data
