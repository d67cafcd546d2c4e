"""Whether a folder may become an index: it is new, or holds nothing of anybody's."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

from gossamer.errors import InvalidArgument
from gossamer.sources.junk import is_junk
from gossamer.store.writer import is_own_file

__all__ = ["check_is_free"]


def check_is_free(folder: Path, own_names: Collection[str] = ()) -> None:
    """Refuse a folder that holds anything but `own_names`, and what a killed writer left."""
    try:
        names = sorted(os.listdir(folder))
    except FileNotFoundError:
        return
    except NotADirectoryError:
        raise InvalidArgument(f"{folder} is a file; choose a new or empty folder") from None
    for name in names:
        if not (name in own_names or is_own_file(name) or is_junk(name)):
            raise InvalidArgument(
                f"{folder} is not empty (it holds {name}); an index needs a folder of its own: "
                "choose a new or empty one"
            )
