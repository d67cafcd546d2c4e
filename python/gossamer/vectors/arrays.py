"""What users give us, as the arrays the core wants; wrong types and shapes are named here."""

from __future__ import annotations

import math
import operator
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gossamer.errors import InvalidArgument, NotFinite

__all__ = [
    "as_codes",
    "as_count",
    "as_ids",
    "as_mask_or_ids",
    "as_matrix",
    "as_number",
    "as_seed",
    "as_supplied",
    "as_threads",
    "check_finite",
]

_LARGEST_COUNT = 2**31 - 1
_ROWS_AT_ONCE = 4096


def as_matrix(vectors: ArrayLike, what: str = "vectors") -> NDArray[np.float32]:
    """Vectors as rows of 32-bit floats; copies only where it must."""
    array = np.asarray(vectors)
    if array.dtype.kind not in "fiu":
        raise InvalidArgument(f"{what} must be numbers, not {array.dtype}")
    if array.ndim != 2:
        raise InvalidArgument(
            f"{what} must have two dimensions, one row for each; "
            f"{array.ndim} came, of shape {array.shape}"
        )
    # A number too large for 32 bits becomes infinite, which the core refuses by row.
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(array, dtype=np.float32)


def as_supplied(vectors: ArrayLike, count: int, dim: int) -> NDArray[np.float32]:
    """Vectors that were asked for: one row of `dim` numbers for each of `count` ids."""
    matrix = as_matrix(vectors, "what vectors_of gives")
    if matrix.shape != (count, dim):
        raise InvalidArgument(
            f"expected {count} vectors of {dim} numbers, one for each wanted id; "
            f"an array of shape {matrix.shape} came"
        )
    return matrix


def as_codes(codes: ArrayLike) -> NDArray[np.uint8]:
    """Codes as rows of bytes."""
    array = np.asarray(codes)
    if array.dtype != np.uint8 or array.ndim != 2:
        raise InvalidArgument(
            f"codes must be rows of bytes (uint8), not {array.dtype} of shape {array.shape}"
        )
    return np.ascontiguousarray(array)


def check_finite(vectors: NDArray[np.float32], first: int = 0, what: str = "vector") -> None:
    """Refuse NaN and infinity, naming the row, where the first row is number `first`."""
    # In blocks: a table of truth values for all would take a quarter of the vectors again.
    for start in range(0, len(vectors), _ROWS_AT_ONCE):
        block = vectors[start : start + _ROWS_AT_ONCE]
        is_finite = np.isfinite(block)
        if not is_finite.all():
            row, column = np.argwhere(~is_finite)[0]
            raise NotFinite(
                f"{what} {first + start + row} has {block[row, column]} at position {column}; "
                "every value must be a finite number"
            )


def as_count(value: int, what: str, least: int = 0, most: int = _LARGEST_COUNT) -> int:
    """Give a whole number within bounds."""
    try:
        count = operator.index(value)
    except TypeError:
        raise InvalidArgument(f"{what} must be a whole number, not {value!r}") from None
    if not least <= count <= most:
        raise InvalidArgument(f"{what} must be between {least} and {most}, not {count}")
    return count


def as_threads(threads: int) -> int:
    """Give a number of threads; 0 is one for each core."""
    return as_count(threads, "threads")


def as_seed(seed: int) -> int:
    """Give a seed that every file can hold."""
    return as_count(seed, "seed", most=2**63 - 1)


def as_number(value: float, what: str, least: float = -math.inf, most: float = math.inf) -> float:
    """Give a finite number within bounds."""
    if not isinstance(value, Real):
        raise InvalidArgument(f"{what} must be a number, not {value!r}")
    number = float(value)
    if not math.isfinite(number):
        raise InvalidArgument(f"{what} must be a finite number, not {number}")
    if not least <= number <= most:
        raise InvalidArgument(f"{what} must be between {least} and {most}, not {number}")
    return number


def as_ids(ids: ArrayLike, what: str = "ids") -> NDArray[np.uint64]:
    """Ids as the core counts them: whole numbers from 0 to 2^63 - 1."""
    array = np.atleast_1d(np.asarray(ids))
    if array.size == 0:
        return np.zeros(0, np.uint64)
    if array.dtype.kind not in "iu" or array.ndim != 1:
        raise InvalidArgument(
            f"{what} must be a row of whole numbers, not {array.dtype} of shape {array.shape}"
        )
    if (array.dtype.kind == "i" and array.min() < 0) or array.max() > np.iinfo(np.int64).max:
        raise InvalidArgument(f"{what} must lie between 0 and 2^63 - 1")
    return np.ascontiguousarray(array, dtype=np.uint64)


def as_mask_or_ids(allow: ArrayLike) -> dict[str, Any]:
    """An allow-filter as the core's arguments: booleans are a mask over ids, numbers are ids."""
    array = np.asarray(allow)
    if array.dtype == np.bool_:
        if array.ndim != 1:
            raise InvalidArgument(f"a mask must be a row of booleans, not of shape {array.shape}")
        return {"allow_ids": None, "allow_mask": np.ascontiguousarray(array)}
    return {"allow_ids": as_ids(array, "allow"), "allow_mask": None}
