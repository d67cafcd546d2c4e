"""Zstandard, from the standard library where it has it; the one place that knows."""

from __future__ import annotations

import sys

if sys.version_info >= (3, 14):
    from compression.zstd import (
        CompressionParameter,
        ZstdCompressor,
        ZstdDecompressor,
        ZstdDict,
        ZstdError,
        compress,
        train_dict,
    )
else:
    from backports.zstd import (
        CompressionParameter,
        ZstdCompressor,
        ZstdDecompressor,
        ZstdDict,
        ZstdError,
        compress,
        train_dict,
    )

__all__ = [
    "CompressionParameter",
    "ZstdCompressor",
    "ZstdDecompressor",
    "ZstdDict",
    "ZstdError",
    "compress",
    "decompress_exactly",
    "train_dict",
]


def decompress_exactly(
    data: bytes, size: int, dictionary: ZstdDict | tuple[ZstdDict, int] | None = None
) -> bytes:
    """Decompress one frame of exactly `size` bytes; ZstdError for anything else.

    Never takes more memory than `size`, whatever the frame says of itself.
    """
    decompressor = ZstdDecompressor(zstd_dict=dictionary)
    text = decompressor.decompress(data, max_length=size)
    if len(text) == size and not decompressor.eof:  # the end of the frame may not be read yet
        text += decompressor.decompress(b"", max_length=1)
    if len(text) != size or not decompressor.eof or decompressor.unused_data:
        raise ZstdError(f"expected a frame of {size} bytes")
    return text
