"""The folder for files that edges push: names are checked, and nothing is ever outside of it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from gossamer.errors import InvalidArgument
from gossamer.files import absolute, write_file
from gossamer.sources.folder import WalkOptions
from gossamer.sources.junk import INDEX_MARKER
from gossamer.store.unwritable import explaining

__all__ = ["UPLOADED", "Uploads"]

# Whatever was pushed was meant to be indexed.
UPLOADED = WalkOptions(include_junk=True, use_ignore_files=False)
_MOST_NAME_BYTES, _MOST_PART_BYTES = 1024, 200
_FORBIDDEN = frozenset('\\:*?"<>|')
_ON_WINDOWS = frozenset(
    ("con", "prn", "aux", "nul", *(f"{name}{n}" for name in ("com", "lpt") for n in range(1, 10)))
)


class Uploads:
    """Files by names such as `reports/may.pdf`."""

    def __init__(self, folder: Path) -> None:
        self.folder = absolute(folder)

    def path_of(self, name: str) -> Path:
        """Give where a file of this name is or would be; InvalidArgument if it cannot be one."""
        parts = name.split("/")
        try:
            sizes = [len(part.encode("utf-8")) for part in parts]
        except UnicodeEncodeError:
            sizes = [0]
        is_sound = (
            min(sizes) > 0
            and max(sizes) <= _MOST_PART_BYTES
            and sum(sizes) + len(sizes) <= _MOST_NAME_BYTES
            and all(map(_is_sound, parts))
        )
        if not is_sound:
            raise InvalidArgument(
                f'a file is pushed under a name such as reports/may.pdf, without "..", hidden '
                f"parts or signs that some systems refuse; got {name[:100]!r}"
            )
        path = self.folder.joinpath(*parts)
        above = [folder for folder in path.parents if folder.is_relative_to(self.folder)]
        if path.is_dir() or any(folder.is_file() for folder in above):
            raise InvalidArgument(f"{name!r} cannot be both a file and a folder; choose another")
        return path

    def name_of(self, path: str) -> str | None:
        """Give the name of a pushed file by its path; None if it is none."""
        below = f"{self.folder.as_posix().rstrip('/')}/"
        return path.removeprefix(below) if path.startswith(below) else None

    def read(self, path: Path) -> bytes | None:
        """Give what is in a file; None if there is none."""
        try:
            return path.read_bytes() if path.is_file() else None
        except OSError:
            return None

    def write(self, path: Path, content: bytes) -> None:
        """Put a file there, whole or not at all."""
        with explaining(self.folder):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_file(path, [content])

    def remove(self, path: Path) -> None:
        """Delete a file, and folders that are empty then."""
        with explaining(self.folder):
            path.unlink(missing_ok=True)
        for folder in path.parents:
            if folder == self.folder:
                break
            with suppress(OSError):
                folder.rmdir()


def _is_sound(part: str) -> bool:
    return not (
        part.startswith(".")
        or part.endswith((".", " "))
        or part != part.strip()
        or set(part) & _FORBIDDEN
        or not part.isprintable()
        or part.casefold() == INDEX_MARKER.casefold()
        or part.partition(".")[0].casefold() in _ON_WINDOWS
    )
