"""Models that ship as one file, which a page can load: their codebooks are in there."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

from gossamer.errors import GossamerError
from gossamer.files import map_file
from gossamer.single.container import Container
from gossamer.single.kinds import MODEL
from gossamer.store import ModelStamp

__all__ = ["model_file_of"]

_ENDING = ".gossamer"
_PLAIN = "abcdefghijklmnopqrstuvwxyz0123456789-"


def model_file_of(stamp: ModelStamp) -> Path | None:
    """Give the file of a model that ships as one; None if this one does not."""
    if not stamp.name or set(stamp.name) - set(_PLAIN):
        return None
    path = Path(str(resources.files("gossamer.models") / "data" / f"{stamp.name}{_ENDING}"))
    if not path.is_file():
        return None
    try:
        about = json.loads(Container(map_file(path)).section(MODEL).tobytes())
    except (GossamerError, ValueError):
        return None
    return path if about.get("fingerprint") == stamp.fingerprint else None
