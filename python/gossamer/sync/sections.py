"""What the small sections of a package hold, written and read in one place each.

Whatever was signed may still be wrong: reading gives Damaged for anything but what was written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

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

_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"')

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
    return [_key(row) for row in _rows(data, 2)]


def pack_touched(touched: Iterable[Touched]) -> bytes:
    """Write the times of sources that are as they were."""
    return _dump([[*one.key, one.mtime_ns, one.reader_version] for one in touched])


def unpack_touched(data: bytes) -> list[Touched]:
    """Read what `pack_touched` wrote; nothing from no bytes."""
    return [
        Touched(_key(row[:2]), _int(row[2], -(1 << 63)), _int(row[3])) for row in _rows(data, 4)
    ]


def pack_absent(first_chunks: Sequence[int]) -> bytes:
    """Write the first chunk of each document whose text is not in the package."""
    return _dump(list(first_chunks))


def unpack_absent(data: bytes) -> set[int]:
    """Read what `pack_absent` wrote; nothing from no bytes."""
    return {_int(id) for id in _list(data)}


def pack_conflicts(conflicts: Iterable[Conflict]) -> bytes:
    """Write conflicts, without the texts that they replaced."""
    rows = [[one.number, one.id, one.at, one.version, one.note] for one in conflicts]
    return _dump(rows)


def unpack_conflicts(data: bytes) -> list[Conflict]:
    """Read what `pack_conflicts` wrote; nothing from no bytes."""
    return [
        Conflict(_int(number), _text(id), _text(at), _int(version), _text(note))
        for number, id, at, version, note in _rows(data, 5)
    ]


def pack_hot(ids: Sequence[int] | NDArray[np.int64], rows: ArrayLike) -> bytes:
    """Write vectors for a cache: a line with their ids, then the rows."""
    numbers = np.asarray(ids, np.int64).tolist()
    return _dump(numbers) + b"\n" + np.ascontiguousarray(rows, "<f2").tobytes()


def unpack_hot(data: bytes, dim: int) -> tuple[NDArray[np.int64], NDArray[np.float16]]:
    """Read what `pack_hot` wrote; nothing from no bytes."""
    line, _, rows = data.partition(b"\n")
    ids = [_int(id) for id in _list(line)]
    if len(rows) != 2 * dim * len(ids):
        raise _damaged(f"{len(rows)} bytes are not {len(ids)} vectors")
    vectors = np.frombuffer(rows, "<f2").astype(np.float16).reshape(len(ids), dim)
    return np.asarray(ids, np.int64), vectors


def _dump(values: list[Any]) -> bytes:
    return json.dumps(values, separators=(",", ":"), ensure_ascii=True).encode("ascii")


def _list(data: bytes) -> list[Any]:
    return _parse(data, 0)


def _rows(data: bytes, width: int) -> list[list[Any]]:
    rows = _parse(data, width)
    if not all(type(row) is list and len(row) == width for row in rows):
        raise _damaged(f"rows of {width} values were expected")
    return rows


def _parse(data: bytes, width: int) -> list[Any]:
    """Read a list, of lists of so many values; 0 for one without lists in it."""
    if not data:
        return []
    # Empty lists take twenty times as much as they are long: they are counted, not made.
    bare = _STRING.sub(b"", data)
    rows = (bare.count(b",") + 1) // width if width else 0
    if bare.count(b"[") + bare.count(b"{") > 1 + rows:
        raise _damaged("more lists than values")
    try:
        values = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _damaged(str(error)) from None
    if type(values) is not list:
        raise _damaged("no list")
    return values


def _key(row: list[Any]) -> Key:
    if type(row[0]) is not bool:
        raise _damaged(f"{row[0]!r} in place of true or false")
    return row[0], _text(row[1])


def _text(value: Any) -> str:
    if type(value) is not str:
        raise _damaged(f"{value!r} in place of a text")
    return value


def _int(value: Any, least: int = 0) -> int:
    if type(value) is not int or not least <= value < 1 << 63:
        raise _damaged(f"{value!r} in place of a number")
    return value


def _damaged(what: str) -> Damaged:
    return Damaged(f"a section of the package does not hold what it should ({what}); pull again")
