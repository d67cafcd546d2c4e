"""Packages that were made, kept for a while: a request that comes again gets the same bytes."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from threading import Lock

from gossamer.store.unwritable import explaining

__all__ = ["PACKAGES", "PackageCache"]

PACKAGES = "packages"
_ENDING = ".gsp"
_MAC_BYTES = 32
_MOST_FILES = 8
_MOST_BYTES = 256_000_000
# What was given out so lately is still being read.
_IN_USE_S = 60.0


@dataclass
class _Making:
    """A request that is being served, and by how many threads."""

    lock: Lock = field(default_factory=Lock)
    count: int = 0


class PackageCache:
    """A folder of packages, each named by what was asked for and by what it holds.

    The name without its ending tells one content from another: it serves as an ETag.
    """

    def __init__(self, folder: Path, most_bytes: int = _MOST_BYTES) -> None:
        self._folder = folder
        self._most_bytes = most_bytes
        self._lock = Lock()
        self._making: dict[str, _Making] = {}
        self._used: dict[str, float] = {}
        with explaining(folder):
            folder.mkdir(parents=True, exist_ok=True)
            for path in folder.iterdir():
                if path.is_dir():  # of a package that was never finished
                    shutil.rmtree(path, ignore_errors=True)
                elif path.suffix != _ENDING:
                    path.unlink(missing_ok=True)

    def get(self, request: str, make: Callable[[Path], object]) -> Path:
        """Give the package for a request; `make` writes it, once, if it is not here."""
        key = blake2b(request.encode("utf-8"), digest_size=12).hexdigest()
        with self._alone(key), explaining(self._folder):
            path = self._find(key)
            if path is None:
                aside = self._folder / f"{key}.part"
                make(aside)
                path = self._folder / f"{key}-{_mac_of(aside)}{_ENDING}"
                os.replace(aside, path)
            self._note_use(path)
        self._trim()
        return path

    @contextmanager
    def _alone(self, key: str) -> Iterator[None]:
        """Let one thread at a time through for a request."""
        with self._lock:
            making = self._making.setdefault(key, _Making())
            making.count += 1
        try:
            with making.lock:
                yield
        finally:
            with self._lock:
                making.count -= 1
                if not making.count:
                    del self._making[key]

    def _find(self, key: str) -> Path | None:
        return next(iter(sorted(self._folder.glob(f"{key}-*{_ENDING}"))), None)

    def _note_use(self, path: Path) -> None:
        with suppress(OSError):
            os.utime(path)
        with self._lock:
            self._used[path.name] = time.monotonic()

    def _trim(self) -> None:
        """Delete the packages that were asked for longest ago, beyond what may be kept."""
        with self._lock:
            kept, size = 0, 0
            for path, used_at, file_size in self._newest_first():
                kept, size = kept + 1, size + file_size
                is_too_much = kept > _MOST_FILES or size > self._most_bytes
                if is_too_much and time.monotonic() - used_at > _IN_USE_S:
                    with suppress(OSError):  # read by someone, where such files stay
                        path.unlink()
                    self._used.pop(path.name, None)

    def _newest_first(self) -> list[tuple[Path, float, int]]:
        found = []
        for path in self._folder.glob(f"*{_ENDING}"):
            with suppress(OSError):
                status = path.stat()
                used_at = self._used.get(path.name, float("-inf"))
                found.append(((used_at, status.st_mtime), path, status.st_size))
        found.sort(key=lambda one: one[0], reverse=True)
        return [(path, order[0], size) for order, path, size in found]


def _mac_of(path: Path) -> str:
    with open(path, "rb") as file:
        file.seek(-_MAC_BYTES, os.SEEK_END)
        return file.read()[:12].hex()
