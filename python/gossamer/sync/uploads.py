"""Files that clients and edges put: kept below one folder of the index, and nowhere else."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
import unicodedata
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

from gossamer.errors import Damaged, InvalidArgument
from gossamer.files import absolute, make_folder, open_regular, write_file
from gossamer.io_errors import explaining
from gossamer.sources.folder import WalkOptions
from gossamer.sources.junk import INDEX_MARKER
from gossamer.store import SourceRecord, Status

__all__ = ["UPLOADED", "UPLOADS", "Uploads", "check_name", "why_left_out"]

UPLOADS = "uploads"  # the folder within an index
# Whatever was put was meant to be indexed.
UPLOADED = WalkOptions(include_junk=True, use_ignore_files=False)
_PREFIX, _SUFFIX = ".put-", ".part"
_MOST_NAME_BYTES, _MOST_PART_BYTES, _MOST_PARTS = 1000, 200, 16
_BLOCK = 1 << 20
_LEFT_BEHIND_S = 86_400.0
# What Windows takes for something else than a part of a name.
_FORBIDDEN = frozenset('\\:*?"<>|')
_DEVICES = frozenset(
    (
        "con",
        "prn",
        "aux",
        "nul",
        *(f"{kind}{n}" for kind in ("com", "lpt") for n in "0123456789¹²³"),
    )
)


class Uploads:
    """Files by names such as `reports/may.pdf`."""

    def __init__(self, folder: Path) -> None:
        self.folder = absolute(folder)

    def path_of(self, name: str) -> Path:
        """Give where the file of this name belongs; InvalidArgument for what is no name."""
        return self.folder.joinpath(*check_name(name))

    def path_to_put(self, name: str) -> Path:
        """Give where to put a file; InvalidArgument also for a name that others are in the way of.

        Names that differ in nothing but capital letters are one file on some systems.
        """
        folder = self.folder
        for part in (parts := check_name(name)):
            others = _names_in(folder)
            folded = part.casefold()
            if part not in others and any(other.casefold() == folded for other in others):
                raise InvalidArgument(
                    f"{name!r} is there in other letters, capital or small; use its own name, or "
                    "choose another"
                )
            folder /= part
        path = self.folder.joinpath(*parts)
        above = [folder for folder in path.parents if folder.is_relative_to(self.folder)]
        if path.is_dir() or any(folder.is_file() for folder in above):
            raise InvalidArgument(f"{name!r} cannot be both a file and a folder; choose another")
        return path

    def name_of(self, path: str | Path) -> str | None:
        """Give the name of a file that was put by its path; None for any other path.

        A path that only begins like one of ours, and leads elsewhere by "..", is another one.
        """
        below = f"{self.folder.as_posix().rstrip('/')}/"
        given = path if isinstance(path, str) else path.as_posix()
        if not given.startswith(below):
            return None
        name = given.removeprefix(below)
        try:
            return name if "/".join(check_name(name)) == name else None
        except InvalidArgument:
            return None

    def read(self, path: Path) -> bytes | None:
        """Give what is in a file that was put; None if there is none."""
        if self.name_of(path) is None:
            return None
        self._check_no_links(path)
        try:
            with open_regular(path, follow=False) as file:
                return file.read()
        except (OSError, Damaged):
            return None

    def write(self, path: Path, content: bytes) -> None:
        """Put a file there, whole or not at all."""
        with explaining(self.folder):
            self._check_no_links(path)
            make_folder(path.parent)
            write_file(path, [content])

    async def receive(self, body: AsyncIterator[bytes]) -> Path:
        """Write a body to a file aside; give its path."""
        with explaining(self.folder):
            make_folder(self.folder)
            handle, aside = tempfile.mkstemp(prefix=_PREFIX, suffix=_SUFFIX, dir=self.folder)
            try:
                # Closing writes too, what a full disk did not take before.
                with os.fdopen(handle, "wb", buffering=_BLOCK) as file:
                    async for block in body:
                        await asyncio.to_thread(file.write, block)
                    await asyncio.to_thread(file.flush)
                    await asyncio.to_thread(os.fsync, file.fileno())
            except BaseException:
                os.unlink(aside)
                raise
        return Path(aside)

    def put(self, aside: Path, name: str) -> Path:
        """Give a file that was received its name, in place of any that has it."""
        path = self.path_to_put(name)
        with explaining(self.folder):
            self._check_no_links(path)
            make_folder(path.parent)
            os.replace(aside, path)
        return path

    def remove(self, path: Path) -> None:
        """Delete a file that was put, and folders that are empty then; nothing if there is none."""
        if self.name_of(path) is None or path.is_dir():
            return
        self._check_no_links(path)
        with suppress(FileNotFoundError, NotADirectoryError), explaining(self.folder):
            path.unlink(missing_ok=True)
        for folder in path.parents:
            if folder == self.folder:
                break
            with suppress(OSError):
                folder.rmdir()

    def remove_all(self, path: Path) -> None:
        """Delete a file that was put, or all that were put below a folder, if there is any.

        Whatever is left would be indexed again with the next file.
        """
        if self.folder.is_relative_to(path):
            path = self.folder
        elif self.name_of(path) is None:
            return
        self._check_no_links(path)
        below = [Path(folder, name) for folder, _, names in os.walk(path) for name in names]
        for file in below or [path]:
            if not _is_aside(file.name):
                self.remove(file)

    def _check_no_links(self, path: Path) -> None:
        """Raise Damaged if a folder on the way to a file is a link: it would lead elsewhere."""
        between = (path, *path.parents)
        for folder in between[: len(path.parts) - len(self.folder.parts) + 1]:
            if folder.is_symlink() and (folder.is_dir() or folder != path):
                raise Damaged(f"{folder} is a link, where a folder of uploads belongs; delete it")

    def sweep(self) -> None:
        """Delete what a server that was killed had not received in full, a day ago or earlier.

        Another server may be receiving a file in the same folder now.
        """
        before = time.time() - _LEFT_BEHIND_S
        if self.folder.is_symlink():
            return
        with suppress(OSError):
            for file in self.folder.iterdir():
                if _is_aside(file.name) and file.stat().st_mtime < before:
                    file.unlink(missing_ok=True)


def check_name(name: str) -> list[str]:
    """Give the parts of a name such as "notes/2024.md"; InvalidArgument for what is no name.

    Letters that can be written in two ways are in their composed form.
    """
    parts = unicodedata.normalize("NFC", name[: _MOST_NAME_BYTES + 1]).split("/")
    try:
        sizes = [len(part.encode("utf-8")) for part in parts]
    except UnicodeEncodeError:
        sizes = [0]
    is_name = (
        len(parts) <= _MOST_PARTS
        and max(sizes) <= _MOST_PART_BYTES
        and sum(sizes) + len(sizes) - 1 <= _MOST_NAME_BYTES
        and all(map(_is_part, parts))
    )
    if not is_name:
        raise InvalidArgument(
            "a file's name is like reports/may.pdf: parts that do not begin with a dot, without "
            f'\\ : * ? " < > |, of up to {_MOST_PART_BYTES} bytes each; got {name[:100]!r}'
        )
    return parts


def why_left_out(source: SourceRecord | None) -> str:
    """Say why what was put cannot be found, by what the index knows of it; nothing if it can."""
    if source is None:
        return "it is kept, but not indexed"
    if source.status != Status.INDEXED:
        return f"it is kept, but not indexed: {source.reason}"
    return ""


def _is_part(part: str) -> bool:
    return (
        bool(part)
        and part.isprintable()
        and part == part.strip()
        and not part.startswith(".")
        and not part.endswith(".")
        and not set(part) & _FORBIDDEN
        and part.casefold() != INDEX_MARKER.casefold()
        and part.partition(".")[0].rstrip().casefold() not in _DEVICES
    )


def _is_aside(name: str) -> bool:
    return name.startswith(_PREFIX) and name.endswith(_SUFFIX)


def _names_in(folder: Path) -> set[str]:
    try:
        return set(os.listdir(folder))
    except OSError:
        return set()
