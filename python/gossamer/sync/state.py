"""What server and edge compare to know that they hold the same."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gossamer.store import Catalogue

__all__ = ["base_hash", "digest_of_rows", "state_of"]

_BYTES = 16


def state_of(catalogue: Catalogue, vectors_digest: bytes) -> str:
    """Name a state in hexadecimal: what is indexed, and the digest of what is kept of it.

    Where texts stand is no part of it: edges that keep texts and those that do not share it.
    """
    return blake2b(catalogue.digest() + vectors_digest, digest_size=_BYTES).hexdigest()


def digest_of_rows(ids: ArrayLike, rows: Iterable[NDArray[np.generic]]) -> bytes:
    """Give the digest of a codes edge's vectors: rising ids, then their rows, block by block.

    Rows are codes (bytes), or 16-bit floats where the server has no codes yet.
    """
    digest = blake2b(np.ascontiguousarray(ids, "<i8").tobytes(), digest_size=_BYTES)
    for block in rows:
        little = block.astype(block.dtype.newbyteorder("<"), copy=False)
        digest.update(np.ascontiguousarray(little).tobytes())
    return digest.digest()


def base_hash(content_hash: int | None) -> str:
    """Give what a push names as the content that it replaces; "" for none."""
    return "" if content_hash is None else f"{content_hash:016x}"
