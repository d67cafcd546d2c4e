"""What the core asks for to pack and unpack: zstd, for columns and for texts."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from gossamer import _core
from gossamer.text.zstd import ZstdDict, ZstdError, compress, decompress_exactly, train_dict

__all__ = ["BLOCK_BYTES", "QUICK", "SINGLE", "SINGLE_BLOCK_BYTES", "TRAVEL", "USUAL"]

BLOCK_BYTES = 1 << 17  # of text that are packed as one
_SAMPLE_BYTES = 1 << 13
_DICTIONARY_SHARE, _DICTIONARY_MOST = 40, 112_640
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


def _learn(text: bytes) -> bytes:
    """Learn a dictionary from the first texts; none from what has nothing in common."""
    samples = [text[at : at + _SAMPLE_BYTES] for at in range(0, len(text), _SAMPLE_BYTES)]
    try:
        return train_dict(
            samples, min(_DICTIONARY_MOST, len(text) // _DICTIONARY_SHARE)
        ).dict_content
    except ZstdError:
        return b""


def _codecs(columns: int, texts: int, learns: Callable[[bytes], bytes] | None) -> _core.Codecs:
    """Give what packs columns and texts at these levels."""

    def pack_column(plane: bytes) -> bytes:
        return compress(plane, columns) if len(plane) > _LEAST_PLANE else b""

    def pack_text(text: bytes, dictionary: bytes) -> bytes:
        known = _dictionary(dictionary)
        return compress(text, texts, zstd_dict=known and known.as_digested_dict)

    return _core.Codecs(pack_column, _unpack_column, pack_text, _unpack_text, learns)


# A group of columns is small: what 19 takes is not noticed.
USUAL = _codecs(19, 12, _learn)
# A tenth of the time and a little more room, until it is written anew.
QUICK = _codecs(19, 3, None)
# For a catalogue in one piece. All columns at once: 19 takes 13 times as long and saves 2 %.
TRAVEL = _codecs(9, 12, _learn)
# For a single file: small blocks, of which pages fetch those that their hits stand in, and whose
# zstd knows no dictionaries.
SINGLE = _codecs(19, 19, None)
SINGLE_BLOCK_BYTES = 1 << 13
