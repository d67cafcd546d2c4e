"""An index as it may leave a machine: without folders of that machine, without what was skipped."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath, PurePosixPath, PureWindowsPath
from typing import Any

import numpy as np

from gossamer.errors import InvalidArgument
from gossamer.store import Catalogue, Manifest, Status
from gossamer.store.catalogue import encode_name
from gossamer.store.changes import counts_of
from gossamer.store.columns import Ints
from gossamer.store.manifest import FORMAT, VERSION

__all__ = ["SINGLE", "Portable", "manifest_values", "portable", "with_short_roots"]

SINGLE = 2  # version of the single file, as its manifest says it
_NAMELESS = "files"  # a folder without a name: the root of a disk


@dataclass(frozen=True)
class Portable:
    """Sources that may leave, in their new order, and which rows they have in the old catalogue."""

    catalogue: Catalogue
    rows: Ints


def portable(catalogue: Catalogue, root_name: str = "") -> Portable:
    """Choose the sources that are indexed, under short names of their folders."""
    (rows,) = np.nonzero(catalogue.tables["status"] == Status.INDEXED)
    return with_short_roots(catalogue.part(rows), rows, root_name)


def with_short_roots(catalogue: Catalogue, rows: Ints, root_name: str = "") -> Portable:
    """Name folders by the last part of their path, or all by one name.

    `rows` are those of the sources elsewhere; they come back in the new order.
    """
    words = list(catalogue.words)
    used = [number for number in np.unique(catalogue.tables["root"]).tolist() if number]
    for number, name in zip(
        used, _short_names([words[number] for number in used], root_name), strict=True
    ):
        words[number] = name
    renamed = catalogue.listing.rename_roots([encode_name(word) for word in words])
    order = renamed.order()
    return Portable(Catalogue(renamed.take(order)), rows[order])


def manifest_values(manifest: Manifest, catalogue: Catalogue) -> dict[str, Any]:
    """Give what the manifest of a single file says; nothing in it names a place of this machine."""
    values = {
        "format": FORMAT,
        "version": VERSION,
        "single": SINGLE,
        **manifest.values(),
    }
    del values["files"]
    values["roots"], values["origin"] = [], {}
    values["counts"] = counts_of(catalogue)
    values["settings"] |= {"store_text": True, "walk": {}}
    name = manifest.model.name
    if any(kind(name).is_absolute() for kind in (PurePosixPath, PureWindowsPath)):
        values["model"]["name"] = _last_part(name)
    return values


def _short_names(roots: list[str], root_name: str) -> list[str]:
    """Give each folder a name of its own."""
    if root_name.startswith("/") or root_name.endswith("/") or "\\" in root_name:
        raise InvalidArgument(
            f"a name for the folders is relative, such as docs or site/docs; got {root_name!r}"
        )
    if root_name and len(roots) == 1:
        return [root_name]
    names: dict[str, None] = {}
    for root in roots:
        last = _last_part(root) or _NAMELESS
        name, number = last, 1
        while name in names:
            number += 1
            name = f"{last}-{number}"
        names[name] = None
    return [f"{root_name}/{name}" for name in names] if root_name else list(names)


def _last_part(path: str) -> str:
    kind: type[PurePath] = PurePosixPath if path.startswith("/") else PureWindowsPath
    return kind(path).name
