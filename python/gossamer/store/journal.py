"""Vectors of a build in progress, so that one that was killed goes on where it was."""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gossamer.errors import Damaged
from gossamer.files import make_file, map_file, open_regular
from gossamer.io_errors import explaining
from gossamer.store.hashes import HASH_BYTES, digest_of

__all__ = ["JOURNAL", "Journal", "as_kept", "fits"]

JOURNAL = "journal.gsj"
_HEADER = struct.Struct("<8sII32s")  # magic, version, dimension, digest of the fingerprint
_BATCH = struct.Struct("<4sII")  # magic, records, checksum of what follows
_MAGIC, _BATCH_MAGIC, _VERSION = b"GSMJOURN", b"BTCH", 1
_BATCH_MOST = 1 << 20


class Journal:
    """A log of vectors by the hash of their text, in 16-bit floats.

    A vector that was found here is the rounded one; round all vectors of a build like this
    (`as_kept`), and it makes no difference to the index whether the build was interrupted.
    """

    def __init__(self, path: Path, fingerprint: str, dim: int, max_bytes: int) -> None:
        self._path = path
        self._dim = dim
        self._max_bytes = max_bytes
        self._hashes = np.zeros((0, 2), "<u8")
        self._offsets = np.zeros(0, np.int64)
        self._mapped = np.zeros(0, np.uint8)
        self._is_used = np.zeros(0, bool)
        header = _header(fingerprint, dim)
        whole = self._load(path, header)
        if whole and whole < path.stat().st_size:
            # What follows the last whole batch was torn off by a kill. Windows does not cut a
            # file that is mapped, so it is let go of first.
            self._mapped = self._mapped[:0].copy()
            os.truncate(path, whole)
            self._load(path, header)
        if not whole:
            path.unlink(missing_ok=True)
            make_file(path, is_new=True)
        self._file = open(path, "r+b", buffering=0)  # noqa: SIM115
        self._size = whole or len(header)
        try:
            self._file.seek(whole)
            if not whole:
                _write_all(self._file.fileno(), header)
        except BaseException:
            self._file.close()
            raise

    def __len__(self) -> int:
        return len(self._hashes)

    def find(self, hashes: Sequence[bytes]) -> tuple[NDArray[np.bool_], NDArray[np.float32]]:
        """Say which of these texts were in the log when it was opened, and give their vectors."""
        keys = np.frombuffer(b"".join(hashes), "<u8").reshape(-1, 2)
        if not len(self._hashes):
            return np.zeros(len(keys), bool), np.zeros((0, self._dim), np.float32)
        places = np.searchsorted(self._hashes[:, 0], keys[:, 0])
        places = np.minimum(places, len(self._hashes) - 1)
        known = (self._hashes[places] == keys).all(axis=1)
        self._is_used[places[known]] = True
        starts = self._offsets[places[known]]
        rows = self._mapped[starts[:, None] + np.arange(2 * self._dim)]
        return known, rows.view("<f2").astype(np.float32)

    def add(self, hashes: Sequence[bytes], vectors: ArrayLike) -> None:
        """Log vectors; nothing is done once the log has reached its size."""
        rows = np.ascontiguousarray(vectors, "<f2").reshape(len(hashes), self._dim)
        for at in range(0, len(hashes), _BATCH_MOST):
            some = hashes[at : at + _BATCH_MOST]
            body = b"".join(some) + rows[at : at + _BATCH_MOST].tobytes()
            batch = _BATCH.pack(_BATCH_MAGIC, len(some), zlib.crc32(body)) + body
            if self._size + len(batch) > self._max_bytes:
                return
            with explaining(self._path.parent):
                self._append(batch)

    def _append(self, batch: bytes) -> None:
        try:
            _write_all(self._file.fileno(), batch)
        except BaseException:
            # What follows half a batch would never be read.
            with suppress(OSError):
                self._file.truncate(self._size)
                self._file.seek(self._size)
            raise
        self._size += len(batch)

    def close_unused(self, max_bytes: int) -> bytes:
        """Close the file; give a log of what was there when it was opened and not found since.

        Nothing where that is nothing, or more than `max_bytes`.
        """
        (rows,) = np.nonzero(~self._is_used)
        log = b""
        if 0 < len(rows) * (HASH_BYTES + 2 * self._dim) <= max_bytes:
            log = self._mapped[: _HEADER.size].tobytes()
        for at in range(0, len(rows) if log else 0, _BATCH_MOST):
            some = rows[at : at + _BATCH_MOST]
            vectors = self._mapped[self._offsets[some][:, None] + np.arange(2 * self._dim)]
            body = self._hashes[some].tobytes() + vectors.tobytes()
            log += _BATCH.pack(_BATCH_MAGIC, len(some), zlib.crc32(body)) + body
        self.close()
        return log

    def close(self) -> None:
        """Close the file; the log stays."""
        self._mapped = np.zeros(0, np.uint8)
        self._hashes, self._offsets = self._hashes[:0], self._offsets[:0]
        self._is_used = self._is_used[:0]
        self._file.close()

    def _load(self, path: Path, header: bytes) -> int:
        """Read the log; give the length of what is whole, 0 if it is another model's or none."""
        if not path.exists() or path.stat().st_size < len(header):
            return 0
        mapped = map_file(path, follow=False)
        if mapped[: len(header)].tobytes() != header:
            return 0
        at, hashes, offsets = len(header), [], []
        while (batch := _open_batch(mapped, at, self._dim)) is not None:
            count, end = batch
            first = at + _BATCH.size
            vectors = first + count * HASH_BYTES
            hashes.append(mapped[first:vectors].view("<u8").reshape(-1, 2))
            offsets.append(vectors + np.arange(count, dtype=np.int64) * 2 * self._dim)
            at = end
        if hashes:
            keys = np.concatenate(hashes)
            order = np.argsort(keys[:, 0], kind="stable")
            self._hashes, self._offsets = keys[order], np.concatenate(offsets)[order]
            self._mapped = mapped
        self._is_used = np.zeros(len(self._hashes), bool)
        return at


def as_kept(vectors: ArrayLike) -> NDArray[np.float32]:
    """Give vectors as the log keeps them: rounded to 16 bits."""
    return np.asarray(vectors, np.float16).astype(np.float32)


def fits(path: Path, fingerprint: str, dim: int) -> bool:
    """Say whether this is a log of vectors of this model."""
    header = _header(fingerprint, dim)
    try:
        with open_regular(path, follow=False) as file:
            return file.read(len(header)) == header
    except (OSError, Damaged):
        return False


def _header(fingerprint: str, dim: int) -> bytes:
    stamp = digest_of(fingerprint.encode("utf-8")).encode("ascii")
    return _HEADER.pack(_MAGIC, _VERSION, dim, stamp)


def _open_batch(mapped: NDArray[np.uint8], at: int, dim: int) -> tuple[int, int] | None:
    """Give the records of the batch that begins here and its end; None if it is not whole."""
    if at + _BATCH.size > len(mapped):
        return None
    magic, count, checksum = _BATCH.unpack_from(mapped.data, at)
    end = at + _BATCH.size + count * (HASH_BYTES + 2 * dim)
    if magic != _BATCH_MAGIC or not 0 < count <= _BATCH_MOST or end > len(mapped):
        return None
    if zlib.crc32(mapped[at + _BATCH.size : end].data) != checksum:
        return None
    return count, end


def _write_all(handle: int, data: bytes) -> None:
    """Write all of it: the system may take less at a time, on a full disk."""
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]
