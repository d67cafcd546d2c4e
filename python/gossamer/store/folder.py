"""An index folder: where it is, its manifest, and its files as that names them."""

from __future__ import annotations

import os
from pathlib import Path

from gossamer.errors import Damaged, GossamerError, InvalidArgument, NoIndex
from gossamer.files import open_regular
from gossamer.places import indexes_folder
from gossamer.store.hashes import digest_of
from gossamer.store.manifest import MANIFEST, MOST_BYTES, FileEntry, Manifest

__all__ = ["check_size", "default_folder", "list_indexes", "read_manifest", "read_whole"]


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of a folder; NoIndex if it has none."""
    try:
        with open_regular(folder / MANIFEST, follow=False) as file:
            size = os.fstat(file.fileno()).st_size
            return Manifest.from_bytes(file.read(min(size, MOST_BYTES) + 1))
    except (FileNotFoundError, NotADirectoryError):
        raise NoIndex(f"there is no index in {folder}; `gossamer add FOLDER` makes one") from None
    except GossamerError as error:
        raise type(error)(f"{folder}: {error}") from None


def default_folder(name: str = "default") -> Path:
    """Give where the index of this name lives: below GOSSAMER_HOME, or the user's data."""
    if not name or name.startswith(".") or set(name) & set('/\\:*?"<>|\0'):
        raise InvalidArgument(
            f"an index is named like a file, without slashes and no dot first; got {name!r}"
        )
    return indexes_folder() / name


def list_indexes() -> list[str]:
    """Give the names of all indexes in the usual place."""
    home = indexes_folder()
    if not home.is_dir():
        return []
    return sorted(folder.name for folder in home.iterdir() if (folder / MANIFEST).is_file())


def check_size(folder: Path, entry: FileEntry) -> Path:
    """Give the path of a file that a manifest names; Damaged if it has another size."""
    path = folder / entry.name
    if (size := path.stat().st_size) != entry.size:
        raise Damaged(f"{entry.name} has {size} bytes, where the manifest says {entry.size}")
    return path


def read_whole(folder: Path, entry: FileEntry) -> bytes:
    """Read a small file and compare its checksum."""
    with open_regular(check_size(folder, entry), follow=False) as file:
        data = file.read(entry.size)
    if digest_of(data) != entry.digest:
        raise Damaged(f"the checksum of {entry.name} does not fit")
    return data
