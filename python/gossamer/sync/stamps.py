"""What is remembered of each source, so that two versions of an index are compared at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gossamer.store import Catalogue

__all__ = ["Difference", "Stamps", "decode_path", "encode_path", "first_chunks", "key_number"]

Ids = NDArray[np.int64]
Numbers = NDArray[np.uint64]

# Multipliers of two independent hashes of a row of numbers.
_SEEDS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F)
_NONE = np.iinfo(np.int64).max


class Difference(NamedTuple):
    """How a later version differs from an earlier one."""

    bodies: Ids  # rows of the later one that are new, or of another content
    touched: Ids  # rows of the later one that are of another time only
    gone: Ids  # key numbers of sources that are not there any more


@dataclass(frozen=True)
class Stamps:
    """Of each source a number for its key, a stamp of all that is said of it, and its time.

    Whoever puts a source in gives it new chunks, so that their ids stand for its whole content.
    """

    keys: Ids  # comparable within this process
    bodies: Numbers  # two a source
    touches: Ids  # when it was read, and by which reader

    @classmethod
    def of(cls, catalogue: Catalogue) -> Stamps:
        """Give the stamps of all sources, by row."""
        table = catalogue.tables
        words = np.array([_number_of(word) for word in catalogue.words], np.int64)
        chunks = np.zeros(catalogue.source_count, np.int64)
        np.add.at(chunks, catalogue.source_rows, table.children["documents"]["chunks"])
        columns = [
            *(words[table[name]] for name in ("root", "kind", "reason")),
            *(table[name] for name in ("status", "size", "content_hash", "documents")),
            *(first_chunks(catalogue), chunks),
        ]
        is_file = (table["root"] != 0).tolist()
        keys = np.fromiter(
            map(key_number, is_file, catalogue.paths), np.int64, catalogue.source_count
        )
        touches = np.stack([table["mtime_ns"], table["reader_version"]], axis=1).astype("<i8")
        return cls(keys, np.stack([_mixed(columns, seed) for seed in _SEEDS], axis=1), touches)

    @classmethod
    def recorded(cls, rows: Iterable[tuple[int, bytes, bytes, bytes]]) -> Stamps:
        """Give the stamps of rows of a database: is_file, path, stamp, touch."""
        keys, bodies, touches = [], [], []
        for is_file, path, body, touch in rows:
            keys.append(key_number(bool(is_file), decode_path(path)))
            bodies.append(body)
            touches.append(touch)
        return cls(
            np.array(keys, np.int64),
            np.frombuffer(b"".join(bodies), "<u8").reshape(-1, 2),
            np.frombuffer(b"".join(touches), "<i8").reshape(-1, 2),
        )

    def to_row(self, row: int) -> tuple[bytes, bytes]:
        """Give stamp and touch of a source as a database keeps them."""
        return self.bodies[row].tobytes(), self.touches[row].tobytes()

    def since(self, old: Stamps) -> Difference:
        """Say how these differ from those of an earlier version."""
        count = len(self.keys)
        is_known, rows = np.zeros(count, bool), np.zeros(count, np.int64)
        if len(old.keys):
            order = np.argsort(old.keys)
            places = np.searchsorted(old.keys, self.keys, sorter=order)
            rows = order[np.minimum(places, len(order) - 1)]
            is_known = old.keys[rows] == self.keys
        is_same = is_known.copy()
        is_same[is_known] = (self.bodies[is_known] == old.bodies[rows[is_known]]).all(axis=1)
        is_touched = is_same.copy()
        is_touched[is_same] = (self.touches[is_same] != old.touches[rows[is_same]]).any(axis=1)
        return Difference(
            np.flatnonzero(~is_same),
            np.flatnonzero(is_touched),
            np.setdiff1d(old.keys, self.keys, assume_unique=True),
        )


def first_chunks(catalogue: Catalogue) -> Ids:
    """Give the first chunk of every source, by row; a number beyond all for one without any."""
    firsts = np.full(catalogue.source_count, _NONE)
    np.minimum.at(
        firsts, catalogue.source_rows, catalogue.tables.children["documents"]["first_chunk"]
    )
    return firsts


def key_number(is_file: bool, path: str) -> int:
    """Give a number for a source, the same one within this process."""
    return hash((is_file, path))


def encode_path(path: str) -> bytes:
    """Give a path as a database keeps it: names of files need not be text, which its texts are."""
    return path.encode("utf-8", "surrogatepass")


def decode_path(path: bytes) -> str:
    """Give back what `encode_path` was given."""
    return path.decode("utf-8", "surrogatepass")


def _mixed(columns: Iterable[Ids], seed: int) -> Numbers:
    """Hash rows of numbers: every bit of a number moves every bit of what comes after."""
    mixed: Numbers | None = None
    for column in columns:
        values = column.astype(np.int64).view(np.uint64)
        mixed = values + np.uint64(seed) if mixed is None else mixed ^ values
        mixed = (mixed ^ (mixed >> np.uint64(31))) * np.uint64(seed)
        mixed ^= mixed >> np.uint64(29)
    assert mixed is not None, "there are columns"
    return mixed.astype("<u8")


def _number_of(word: str) -> int:
    digest = blake2b(encode_path(word), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)
