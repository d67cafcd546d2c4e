"""Texts of version 1, written from docs/format.md alone."""

from __future__ import annotations

import struct
import zlib

from gossamer.text.zstd import ZstdDict, compress, train_dict


def write_old_texts(
    text: bytes, block_bytes: int = 1 << 13, *, has_dictionary: bool = False
) -> bytes:
    """Give a file of this text."""
    dictionary = b""
    if has_dictionary:
        samples = [text[at : at + 4096] for at in range(0, len(text), 4096)]
        dictionary = train_dict(samples, len(text) // 40).dict_content
    known = ZstdDict(dictionary).as_digested_dict if dictionary else None
    blocks = [
        compress(text[at : at + block_bytes], 12, zstd_dict=known)
        for at in range(0, len(text), block_bytes)
    ]
    return join_old_texts(blocks, len(text), block_bytes, dictionary)


def join_old_texts(
    blocks: list[bytes], length: int, block_bytes: int, dictionary: bytes = b""
) -> bytes:
    """Give a file of blocks that are packed already."""
    packed = compress(dictionary, 19) if dictionary else b""
    head = (
        struct.pack("<8sIIII", b"GSMTEXTS", 1, block_bytes, len(dictionary), len(packed)) + packed
    )
    table = b"".join(struct.pack("<II", len(one), zlib.crc32(one)) for one in blocks)
    table += struct.pack("<QI", length, len(blocks))
    checksum = zlib.crc32(head + table).to_bytes(4, "little")
    return head + b"".join(blocks) + table + checksum
