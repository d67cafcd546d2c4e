"""What ships with an embedding model: its codebook, and what each recall costs with it."""

from __future__ import annotations

from gossamer import _core
from gossamer._core import Calibration, Codebook

__all__ = ["Calibration", "pack_codebook", "unpack_codebook"]


def pack_codebook(codebook: Codebook, calibration: Calibration | None = None) -> bytes:
    """Put a codebook and its calibration into one file's bytes, versioned and checksummed."""
    return _core.pack_codebook(codebook, calibration or Calibration())


def unpack_codebook(data: bytes) -> tuple[Codebook, Calibration | None]:
    """Read what `pack_codebook` wrote; the calibration is None if there was none.

    Bytes from anywhere are safe to try: what does not fit is refused as NotGossamer,
    UnknownVersion, Truncated or Damaged.
    """
    codebook, calibration = _core.unpack_codebook(data)
    return codebook, None if calibration.is_empty else calibration
