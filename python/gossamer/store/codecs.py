"""What the core asks for to pack and unpack: zstd, for columns and for texts."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from gossamer import _core
from gossamer.text.zstd import ZstdDict, ZstdError, compress, decompress_exactly

__all__ = ["BLOCK_BYTES", "QUICK", "SINGLE", "SINGLE_BLOCK_BYTES", "TRAVEL", "USUAL"]

BLOCK_BYTES = 1 << 17  # of text that are packed as one
_BASE_BYTES = 1 << 23  # that blocks after it refer to
_LEAST_PLANE = 16  # bytes: fewer are not worth packing


def _unpack_column(packed: bytes, size: int) -> bytes | None:
    try:
        return decompress_exactly(packed, size)
    except ZstdError:
        return None


@lru_cache(8)
def _dictionary(content: bytes) -> ZstdDict | None:
    return ZstdDict(content) if content else None


def _unpack_text(packed: bytes, dictionary: bytes, size: int) -> bytes | None:
    try:
        return decompress_exactly(packed, size, _dictionary(dictionary))
    except (ZstdError, ValueError):
        return None


def _prepare(base: bytes) -> ZstdDict:
    return ZstdDict(base, is_raw=True)


def _unpack_after(packed: bytes, base: Any, size: int) -> bytes | None:
    try:
        return decompress_exactly(packed, size, base.as_prefix)
    except ZstdError:
        return None


def _codecs(columns: int, texts: int, base_bytes: int) -> _core.Codecs:
    """Give what packs columns and texts at these levels, texts after bases of so many bytes."""

    def pack_column(plane: bytes) -> bytes:
        return compress(plane, columns) if len(plane) > _LEAST_PLANE else b""

    def pack_text(text: bytes, dictionary: bytes) -> bytes:
        known = _dictionary(dictionary)
        return compress(text, texts, zstd_dict=known and known.as_digested_dict)

    def pack_after(text: bytes, base: Any) -> bytes:
        return compress(text, texts, zstd_dict=base.as_digested_dict)

    return _core.Codecs(
        *(pack_column, _unpack_column, pack_text, _unpack_text),
        *(_prepare, pack_after, _unpack_after, base_bytes),
    )


# A group of columns is small: what 19 takes is not noticed. Of texts it takes 1.5 s a megabyte, as
# long as a reader of HTML.
USUAL = _codecs(19, 19, _BASE_BYTES)
# A tenth of the time and a little more room, until it is written anew.
QUICK = _codecs(19, 3, 0)
# For a catalogue in one piece. All columns at once: 19 takes 13 times as long and saves 2 %.
TRAVEL = _codecs(9, 12, 0)
# For a single file: small blocks, of which pages fetch those that their hits stand in, and whose
# zstd knows no dictionaries.
SINGLE = _codecs(19, 19, 0)
SINGLE_BLOCK_BYTES = 1 << 12
