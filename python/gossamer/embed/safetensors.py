"""Tensors of a safetensors file, mapped into memory. The file is not trusted."""

from __future__ import annotations

import json
import math
import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gossamer.errors import Damaged, Truncated
from gossamer.files import map_file

__all__ = ["read_tensors"]

_MAX_HEADER_BYTES = 16 << 20
_MAX_AXES = 8
_TYPES: dict[str, np.dtype[Any]] = {
    "F64": np.dtype("<f8"),
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "I64": np.dtype("<i8"),
    "I32": np.dtype("<i4"),
    "I8": np.dtype("i1"),
}


def read_tensors(path: Path) -> dict[str, NDArray[Any]]:
    """Give the tensors of a file by name; those of a type that is not known are left out.

    Raises Damaged or Truncated when the header does not describe the file's own bytes.
    """
    data = map_file(path)
    if data.size < 8:
        raise Truncated(f"{path} has {data.size} bytes, too few for a safetensors file")
    (length,) = struct.unpack("<Q", data[:8].tobytes())
    if length > min(_MAX_HEADER_BYTES, data.size - 8):
        raise Truncated(
            f"{path} announces a header of {length:,} bytes, but {data.size - 8:,} follow; "
            "fetch the file again"
        )
    try:
        header = json.loads(data[8 : 8 + length].tobytes())
    except (ValueError, RecursionError) as error:
        raise _damaged(path, f"its header is not JSON ({error})") from error
    if not isinstance(header, dict):
        raise _damaged(path, "its header is not an object")
    body = data[8 + length :]
    header.pop("__metadata__", None)
    tensors = {name: _tensor(path, name, entry, body) for name, entry in header.items()}
    return {name: tensor for name, tensor in tensors.items() if tensor is not None}


def _tensor(path: Path, name: str, entry: Any, body: NDArray[np.uint8]) -> NDArray[Any] | None:
    if not isinstance(entry, dict) or "dtype" not in entry:
        raise _damaged(path, f"{name!r} is not described")
    kind = _TYPES.get(str(entry["dtype"]))
    if kind is None:
        return None
    shape, place = _counts(entry.get("shape")), _counts(entry.get("data_offsets"))
    if shape is None or place is None or len(place) != 2:
        raise _damaged(path, f"shape or place of {name!r} are not counts")
    start, end = place
    if not start <= end <= body.size:
        raise _damaged(path, f"{name!r} lies outside the file")
    if math.prod(shape) * kind.itemsize != end - start:
        raise _damaged(path, f"{name!r} of shape {shape} does not fill {end - start:,} bytes")
    tensor: NDArray[Any] = body[start:end].view(kind).reshape(shape)
    return tensor


def _counts(values: Any) -> list[int] | None:
    """Give the list if all of it are counts."""
    if not isinstance(values, list) or len(values) > _MAX_AXES:
        return None
    return values if all(type(value) is int and value >= 0 for value in values) else None


def _damaged(path: Path, what: str) -> Damaged:
    return Damaged(f"{path} is not a safetensors file that can be used: {what}; fetch it again")
