"""What the small sections of a package hold, written and read in one place each.

Whatever was signed may still be wrong: reading gives Damaged for anything but what was written.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gossamer import _core
from gossamer.errors import Damaged
from gossamer.sync.records import Conflict

__all__ = [
    "Key",
    "Touched",
    "pack_absent",
    "pack_conflicts",
    "pack_hot",
    "pack_removed",
    "pack_touched",
    "unpack_absent",
    "unpack_conflicts",
    "unpack_hot",
    "unpack_removed",
    "unpack_touched",
]

Key = tuple[bool, str]  # whether it is a file, and its path (or the id of a text)


@dataclass(frozen=True, slots=True)
class Touched:
    """A source whose content is the same, read at another time or by another reader."""

    key: Key
    mtime_ns: int
    reader_version: int


def pack_removed(keys: Iterable[Key]) -> bytes:
    """Write the names of sources that are gone."""
    return _dump([[is_file, path] for is_file, path in keys])


def unpack_removed(data: bytes) -> list[Key]:
    """Read what `pack_removed` wrote; nothing from no bytes."""
    return [(is_file, path) for is_file, path in _read(data, "bt")]


def pack_touched(touched: Iterable[Touched]) -> bytes:
    """Write the times of sources that are as they were."""
    return _dump([[*one.key, one.mtime_ns, one.reader_version] for one in touched])


def unpack_touched(data: bytes) -> list[Touched]:
    """Read what `pack_touched` wrote; nothing from no bytes."""
    return [
        Touched((is_file, path), int(mtime_ns), version)
        for is_file, path, mtime_ns, version in _read(data, "btin")
    ]


def pack_absent(first_chunks: Sequence[int]) -> bytes:
    """Write the first chunk of each document whose text is not in the package."""
    return _dump(list(first_chunks))


def unpack_absent(data: bytes) -> set[int]:
    """Read what `pack_absent` wrote; nothing from no bytes."""
    return set(_read(data, "N"))


def pack_conflicts(conflicts: Iterable[Conflict]) -> bytes:
    """Write conflicts, without the texts that they replaced."""
    rows = [[one.number, one.id, one.at, one.version, one.note] for one in conflicts]
    return _dump(rows)


def unpack_conflicts(data: bytes) -> list[Conflict]:
    """Read what `pack_conflicts` wrote; nothing from no bytes."""
    return [Conflict(*row) for row in _read(data, "nttnt")]


def pack_hot(ids: Sequence[int] | NDArray[np.int64], rows: ArrayLike) -> bytes:
    """Write vectors for a cache: a line with their ids, then the rows."""
    numbers = np.asarray(ids, np.int64).tolist()
    return _dump(numbers) + b"\n" + np.ascontiguousarray(rows, "<f2").tobytes()


def unpack_hot(data: bytes, dim: int) -> tuple[NDArray[np.int64], NDArray[np.float16]]:
    """Read what `pack_hot` wrote; nothing from no bytes."""
    line, _, rows = data.partition(b"\n")
    ids = _read(line, "N")
    if len(rows) != 2 * dim * len(ids):
        raise Damaged(
            "a section of the package does not hold what it should "
            f"({len(rows)} bytes are not {len(ids)} vectors); pull again"
        )
    vectors = np.frombuffer(rows, "<f2").astype(np.float16).reshape(len(ids), dim)
    return np.asarray(ids, np.int64), vectors


def _dump(values: list[Any]) -> bytes:
    return json.dumps(values, separators=(",", ":"), ensure_ascii=True).encode("ascii")


def _read(data: bytes, letters: str) -> list[Any]:
    """Read rows of values whose kinds the letters say (core/store/package.h)."""
    rows: list[Any] = json.loads(_core.read_package_rows(data, letters))
    return rows
