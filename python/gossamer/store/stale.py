"""Files that a search found changed though they look unchanged; the next update reads them again.

Readers may not commit, so they leave a note: a line of JSON for each path, appended.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable
from pathlib import Path

from gossamer.errors import Damaged
from gossamer.files import file_mode, open_regular, write_file

__all__ = ["STALE", "forget_stale", "note_stale", "read_stale"]

STALE = "stale.jsonl"
_MOST_BYTES = 1 << 20  # an update that reads everything again needs no more notes than this


def note_stale(folder: Path, paths: Iterable[str]) -> None:
    """Leave a note of these paths, where the folder can be written to; nothing depends on it."""
    known = read_stale(folder)
    lines = "".join(json.dumps(path) + "\n" for path in paths if path not in known)
    if not lines:
        return
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    with contextlib.suppress(OSError):
        handle = os.open(folder / STALE, flags, file_mode(folder))
        try:
            if os.fstat(handle).st_size < _MOST_BYTES:
                os.write(handle, lines.encode("ascii"))
        finally:
            os.close(handle)


def read_stale(folder: Path) -> set[str]:
    """Give the paths that were noted; lines that make no sense are passed over."""
    try:
        with open_regular(folder / STALE, follow=False) as file:
            lines = file.read(2 * _MOST_BYTES).splitlines()
    except (OSError, Damaged):
        return set()
    paths = set()
    for line in lines:
        with contextlib.suppress(ValueError):
            path = json.loads(line)
            if isinstance(path, str):
                paths.add(path)
    return paths


def forget_stale(folder: Path, kept: Iterable[str] = ()) -> None:
    """Remove all notes but those of the paths in `kept`, once the other files were read again."""
    lines = "".join(json.dumps(path) + "\n" for path in sorted(kept))
    with contextlib.suppress(OSError):
        if lines:
            write_file(folder / STALE, [lines.encode("ascii")])
        else:
            (folder / STALE).unlink(missing_ok=True)
