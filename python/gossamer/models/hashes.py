"""SHA-256 of model files, each computed once per machine."""

from __future__ import annotations

import contextlib
import hashlib
import json
from pathlib import Path
from typing import Any

from gossamer.errors import Damaged
from gossamer.files import write_file
from gossamer.places import cache_folder

__all__ = ["check_sha256", "hash_file", "sha256_of"]

_BLOCK = 1 << 20


def check_sha256(path: Path, expected: str) -> None:
    """Raise Damaged unless the file holds what was pinned."""
    found = sha256_of(path)
    if found != expected:
        raise Damaged(
            f"{path} is not the file that was expected: its SHA-256 is {found}, not {expected}; "
            "delete it, or install its package again"
        )


def sha256_of(path: Path) -> str:
    """Hash a file, or give the hash from last time if its size and time are the same.

    A cold search must not read 23 MB to learn what it knew yesterday.
    """
    status = path.stat()
    key = str(path.resolve())
    stamp = [status.st_size, status.st_mtime_ns]
    known = _read_cache()
    entry = known.get(key)
    if isinstance(entry, list) and entry[:2] == stamp and isinstance(entry[-1], str):
        return entry[-1]
    digest = hash_file(path)
    known[key] = [*stamp, digest]
    _write_cache(known)
    return digest


def hash_file(path: Path) -> str:
    """Hash a file, whatever was known of it."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _read_cache() -> dict[str, Any]:
    try:
        known = json.loads((cache_folder() / "hashes.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return known if isinstance(known, dict) else {}


def _write_cache(known: dict[str, Any]) -> None:
    # A cache that cannot be kept (a read-only home) costs time, not correctness.
    with contextlib.suppress(OSError):
        cache_folder().mkdir(parents=True, exist_ok=True)
        write_file(cache_folder() / "hashes.json", [json.dumps(known).encode()])
