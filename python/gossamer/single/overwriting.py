"""Which files an export may take the place of: exports of the same index."""

from __future__ import annotations

import json
from pathlib import Path

from gossamer.errors import GossamerError, InvalidArgument, NotGossamer
from gossamer.files import map_file
from gossamer.single.container import Container
from gossamer.single.kinds import MANIFEST
from gossamer.targets import REPLACING, check_folder, check_place

__all__ = ["check_export", "objection_to_export"]

_MOST_MANIFEST_BYTES = 1 << 24


def check_export(path: Path, uuid: str, may_replace: bool) -> None:
    """Refuse to write the index of this uuid over anything but an earlier export of it.

    InvalidArgument says what is there; with `may_replace` any plain file goes, but no link,
    folder or device.
    """
    check_folder(path)
    check_place(path)
    if not may_replace and (objection := objection_to_export(path, uuid)):
        raise InvalidArgument(
            f"{path} is there already and is {objection}; name another file, or let it be "
            f"replaced with {REPLACING}"
        )


def objection_to_export(path: Path, uuid: str) -> str:
    """Say why a file must stay where the index of this uuid is to go; "" if it need not."""
    if not check_place(path) or not path.stat().st_size:
        return ""
    try:
        found = _read_uuid(path)
    except NotGossamer:
        return "no Gossamer file"
    except (GossamerError, ValueError, RecursionError):
        return "no export that this release can read"
    return "" if found == uuid else "the export of another index"


def _read_uuid(path: Path) -> str:
    """Give the uuid of the index in a single file; ValueError or a GossamerError if none."""
    container = Container(map_file(path))
    if container.lengths.get(MANIFEST, 0) > _MOST_MANIFEST_BYTES:
        raise ValueError("a manifest of this size")
    values = json.loads(container.section(MANIFEST).tobytes())
    if not isinstance(values, dict) or not isinstance(values.get("uuid"), str):
        raise ValueError("a manifest without a uuid")
    return str(values["uuid"])
