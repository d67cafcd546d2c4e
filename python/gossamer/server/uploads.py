"""Files that clients put: kept below one folder of the index, and nowhere else."""

from __future__ import annotations

import asyncio
import os
import re
import tempfile
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

from gossamer.errors import InvalidArgument
from gossamer.files import absolute
from gossamer.store.unwritable import explaining

__all__ = ["Uploads", "check_name"]

UPLOADS = "uploads"
_PREFIX, _SUFFIX = ".put-", ".part"
_MOST_NAME, _MOST_PART, _MOST_PARTS = 1000, 200, 16
_BLOCK = 1 << 20
# What Windows takes for something else than a part of a name, and what nobody can type.
_BAD = re.compile('[\x00-\x1f\x7f<>:"|?*\\\\]')
_DEVICES = frozenset(
    {"con", "prn", "aux", "nul", *(f"{kind}{n}" for kind in ("com", "lpt") for n in range(10))}
)


class Uploads:
    """The folder of files that were put."""

    def __init__(self, index_folder: Path) -> None:
        self.folder = absolute(index_folder / UPLOADS)
        # What a server that was killed had not received in full.
        for left_behind in self.folder.glob(f"{_PREFIX}*{_SUFFIX}"):
            left_behind.unlink(missing_ok=True)

    def path_of(self, name: str) -> Path:
        """Give where the file of this name belongs; InvalidArgument for what is no name."""
        return self.folder.joinpath(*check_name(name))

    def name_of(self, path: Path) -> str | None:
        """Give the name of a file that was put; None for any other path."""
        is_here = path.is_relative_to(self.folder) and path != self.folder
        return path.relative_to(self.folder).as_posix() if is_here else None

    async def receive(self, body: AsyncIterator[bytes]) -> Path:
        """Write a body to a file aside; give its path."""
        with explaining(self.folder):
            self.folder.mkdir(exist_ok=True)
            handle, aside = tempfile.mkstemp(prefix=_PREFIX, suffix=_SUFFIX, dir=self.folder)
        try:
            with os.fdopen(handle, "wb", buffering=_BLOCK) as file:
                async for block in body:
                    with explaining(self.folder):
                        await asyncio.to_thread(file.write, block)
                with explaining(self.folder):
                    await asyncio.to_thread(_sync, file.fileno(), file.flush)
        except BaseException:
            os.unlink(aside)
            raise
        return Path(aside)

    def put(self, aside: Path, name: str) -> Path:
        """Give a file that was received its name, in place of any that has it."""
        path = self.path_of(name)
        with explaining(self.folder):
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                os.replace(aside, path)
            except (FileExistsError, NotADirectoryError, IsADirectoryError, PermissionError):
                if not (path.is_dir() or any(one.is_file() for one in path.parents)):
                    raise
                raise InvalidArgument(
                    f"{name!r} is a folder here, or is below a file; choose another name"
                ) from None
        return path

    def remove(self, path: Path) -> None:
        """Delete a file that was put; nothing if there is none."""
        if self.name_of(path) is not None and not path.is_dir():
            with suppress(FileNotFoundError, NotADirectoryError), explaining(self.folder):
                path.unlink()


def check_name(name: str) -> list[str]:
    """Give the parts of a name such as "notes/2024.md"; InvalidArgument for what is no name."""
    parts = name.split("/")
    is_name = len(name) <= _MOST_NAME and len(parts) <= _MOST_PARTS and all(map(_is_part, parts))
    if not is_name:
        raise InvalidArgument(
            "a file's name is like notes/2024.md: parts that do not begin with a dot, without "
            f'\\ : * ? " < > |, of up to {_MOST_PART} bytes each; got {name[:_MOST_PART]!r}'
        )
    return parts


def _is_part(part: str) -> bool:
    is_good = bool(part) and not _BAD.search(part) and not part.startswith(".")
    is_good = is_good and part.rstrip(". ") == part
    try:
        is_good = is_good and len(part.encode("utf-8")) <= _MOST_PART
    except UnicodeEncodeError:
        return False
    return is_good and part.split(".")[0].lower() not in _DEVICES


def _sync(handle: int, flush: object) -> None:
    assert callable(flush)
    flush()
    os.fsync(handle)
