"""What is kept on disk of files elsewhere: a folder for each, all together within a bound."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from gossamer.errors import TooLarge
from gossamer.places import cache_folder
from gossamer.remote.sparse import DATA, MAP
from gossamer.vectors.options import parse_bytes

__all__ = ["LIMIT", "Outgrown", "folder_of", "is_known", "limit", "make_room", "remove", "sweep"]

LIMIT = "GOSSAMER_REMOTE_CACHE"
_USUAL = "1GB"


class Outgrown(TooLarge):
    """What is kept of one file leaves no room for what is needed next."""


def limit() -> int:
    """Give how many bytes of all files together are kept."""
    return parse_bytes(os.environ.get(LIMIT) or _USUAL)


def folder_of(url: str, tag: str) -> Path:
    """Give where a file is kept: by its address and what it holds."""
    return _home() / f"{_name(url)}-{tag}"


def is_known(url: str) -> bool:
    """Whether something of an address was kept."""
    return next(_home().glob(f"{_name(url)}-*"), None) is not None


def sweep(url: str, folder: Path) -> None:
    """Delete what was kept of other files that were at an address."""
    for old in _home().glob(f"{_name(url)}-*"):
        if old != folder:
            remove(old)


def remove(folder: Path) -> None:
    """Delete a folder; processes that use it go on with what they have open."""
    shutil.rmtree(folder, ignore_errors=True)


def make_room(folder: Path, needed: int) -> None:
    """Delete files that were used longest ago, but not this one, until so many bytes fit in.

    Outgrown if it does not fit in beside what is kept of the file itself.
    """
    most, own = limit(), _taken(folder)
    if own + needed > most:
        raise Outgrown(
            f"{needed:,} bytes more are needed, {own:,} are kept, and {most:,} may be in all; "
            f"{LIMIT}=4GB allows more, or fetch the file and import it"
        )
    others = sorted((_used(one), _taken(one), one) for one in _kept() if one != folder)
    total = own + needed + sum(taken for _, taken, _ in others)
    for _, taken, other in others:
        if total <= most:
            break
        remove(other)
        total -= taken


def _home() -> Path:
    return cache_folder() / "remote"


def _name(url: str) -> str:
    return blake2b(url.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _kept() -> Iterator[Path]:
    with suppress(FileNotFoundError), os.scandir(_home()) as entries:
        yield from (Path(entry) for entry in entries if entry.is_dir(follow_symlinks=False))


def _used(folder: Path) -> float:
    with suppress(OSError):
        return (folder / MAP).stat().st_mtime
    return 0.0


def _taken(folder: Path) -> int:
    """Give the bytes that the data of a file take on the disk, without its holes."""
    with suppress(OSError):
        found = (folder / DATA).stat()
        blocks: int | None = getattr(found, "st_blocks", None)  # not on Windows
        return found.st_size if blocks is None else min(blocks * 512, found.st_size)
    return 0
