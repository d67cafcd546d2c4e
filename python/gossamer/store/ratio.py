"""How much a file of somebody else may come to once it is unpacked."""

from __future__ import annotations

__all__ = ["least_packed", "most_unpacked"]

_BASE, _RATIO = 1 << 26, 64


def most_unpacked(packed: int) -> int:
    """Give the bytes that so many bytes of a file or a package may unpack to, in all."""
    return _BASE + _RATIO * packed


def least_packed(unpacked: int) -> int:
    """Give the bytes that a file must have, if need be zeros, that unpacks to so many."""
    return max(0, -(-(unpacked - _BASE) // _RATIO))
