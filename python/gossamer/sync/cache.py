"""Packages that were made, kept for a while: a request that comes again gets the same bytes."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from threading import Lock

from gossamer.files import make_folder
from gossamer.io_errors import explaining

__all__ = ["PACKAGES", "PackageCache"]

PACKAGES = "packages"
_ENDING = ".gsp"
# Of packages that lack texts: they are good for as long as those cannot be had.
_LACKING = f"-lacking{_ENDING}"
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

    What was given out stays for a while, so that whoever asked can open it.
    """

    def __init__(self, folder: Path, most_bytes: int = _MOST_BYTES) -> None:
        self._folder = folder
        self._most_bytes = most_bytes
        self._lock = Lock()
        self._making: dict[str, _Making] = {}
        self._used: dict[str, float] = {}
        self._lacking: dict[str, Sequence[int]] = {}  # documents, by the name of a package
        self._outdated: set[str] = set()  # names of packages that are given out no more
        with explaining(folder):
            make_folder(folder)
            for path in folder.iterdir():
                if path.is_dir() and not path.is_symlink():  # of one that was never finished
                    shutil.rmtree(path, ignore_errors=True)
                elif path.is_symlink() or path.suffix != _ENDING or path.name.endswith(_LACKING):
                    path.unlink(missing_ok=True)

    def get(
        self,
        request: str,
        make: Callable[[Path], Sequence[int]],
        is_back: Callable[[int], bool],
    ) -> Path:
        """Give the package for a request; `make` writes it, once, if it is not here.

        `make` gives the documents whose texts it could not read; once `is_back` says of one of
        them that it can, the package is made anew.
        """
        key = blake2b(request.encode("utf-8"), digest_size=12).hexdigest()
        with self._alone(key), explaining(self._folder):
            make_folder(self._folder)
            path = self._take(key, is_back)
            if path is None:
                aside = self._folder / f"{key}.part"
                lacking = make(aside)
                ending = _LACKING if lacking else _ENDING
                path = self._folder / f"{key}-{_mac_of(aside)}{ending}"
                self._add(aside, path, lacking)
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

    def _take(self, key: str, is_back: Callable[[int], bool]) -> Path | None:
        """Give the package of a request, which from then on is in use; None if it is to be made."""
        with self._lock:
            found = sorted(self._folder.glob(f"{key}-*{_ENDING}"))
            path = next((one for one in found if one.name not in self._outdated), None)
            if path is None:
                return None
            self._used[path.name] = time.monotonic()
            lacking = self._lacking.get(path.name, ())
        if any(is_back(document) for document in lacking):
            with self._lock:
                self._outdated.add(path.name)
            return None
        with suppress(OSError):
            os.utime(path)
        return path

    def _add(self, aside: Path, path: Path, lacking: Sequence[int]) -> None:
        """Give a package its name; it is in use before anybody could find and delete it."""
        with self._lock:
            self._used[path.name] = time.monotonic()
            if lacking:
                self._lacking[path.name] = lacking
            self._outdated.discard(path.name)
            os.replace(aside, path)

    def _trim(self) -> None:
        """Delete the packages that were asked for longest ago, beyond what may be kept."""
        with self._lock:
            kept, size = 0, 0
            for path, used_at, file_size in self._newest_first():
                kept, size = kept + 1, size + file_size
                is_too_much = kept > _MOST_FILES or size > self._most_bytes
                is_done_with = is_too_much or path.name in self._outdated
                if is_done_with and time.monotonic() - used_at > _IN_USE_S:
                    with suppress(OSError):  # read by someone, where such files stay
                        path.unlink()
                        self._used.pop(path.name, None)
                        self._lacking.pop(path.name, None)
                        self._outdated.discard(path.name)

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
