"""Deltas of vector indexes: what one index sends so that others stay equal to it."""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Sequence
from pathlib import Path

from gossamer import _core
from gossamer.errors import GossamerError
from gossamer.files import map_file

__all__ = ["delta_bytes", "join_deltas", "state_of_file"]

# Kinds of sections in docs/format.md that one of two equal indexes may lack: the codebook (in
# 'meta' by its fingerprint), the source graph, the calibration.
_LEFT_OUT = frozenset({2, 7, 10})
_STATE_BYTES = 16


def join_deltas(deltas: Sequence[bytes]) -> bytes:
    """Put consecutive deltas together: what `take_delta` would have given over all of them.

    What was added and removed again is gone from it. WrongState if one does not follow the one
    before, Empty if there are none, Damaged for bytes that are no delta.
    """
    return _core.join_deltas(list(deltas))


def delta_bytes(delta: bytes) -> dict[str, int]:
    """Say how many bytes of a delta are graph, nodes (ids and deletions), codes and vectors."""
    parts = _core.measure_delta(delta)
    return {
        "graph": parts.graph,
        "nodes": parts.nodes,
        "codes": parts.codes,
        "vectors": parts.vectors,
    }


def state_of_file(path: str | os.PathLike[str]) -> str:
    """Name the content of an index file, in hexadecimal; files with equal content have equal names.

    Codebook, source graph and calibration do not count: an index that follows another need not
    have them. Only the file's table of sections is read, which holds a checksum of each: what is
    damaged behind it is left to `VectorIndex.open(verify=True)`.
    """
    try:
        sections = _core.sections(map_file(Path(path)))
    except GossamerError as error:
        raise type(error)(f"{os.fspath(path)}: {error}") from None
    state = hashlib.blake2b(digest_size=_STATE_BYTES)
    for kind, length, checksum in sorted(sections):
        if kind not in _LEFT_OUT:
            state.update(struct.pack("<IQI", kind, length, checksum))
    return state.hexdigest()
