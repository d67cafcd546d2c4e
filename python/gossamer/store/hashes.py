"""The hashes of the store, one place for each."""

from __future__ import annotations

from functools import partial
from hashlib import blake2b, file_digest
from pathlib import Path
from typing import BinaryIO

from gossamer.files import open_regular

__all__ = [
    "HASH_BYTES",
    "check_of",
    "digest_of",
    "digest_of_file",
    "hash_of_bytes",
    "hash_of_start",
    "hash_of_text",
]

HASH_BYTES = 16
_BLOCK = 1 << 20


def hash_of_text(text: str) -> bytes:
    """Name an embedded text, or a question, in 16 bytes."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=HASH_BYTES).digest()


def check_of(text: str) -> int:
    """Give the 32 bits that a chunk keeps of its embedded text: it is only shown if they match."""
    return int.from_bytes(hash_of_text(text)[:4], "little")


def hash_of_bytes(content: bytes) -> int:
    """Give 64 bits that tell the contents of files apart."""
    return int.from_bytes(blake2b(content, digest_size=8).digest(), "little")


def hash_of_start(file: BinaryIO, size: int) -> int:
    """Give the same for the first bytes of a file, which may be larger than the memory."""
    digest = blake2b(digest_size=8)
    file.seek(0)
    while size and (block := file.read(min(size, _BLOCK))):
        digest.update(block)
        size -= len(block)
    return int.from_bytes(digest.digest(), "little")


def digest_of(data: bytes) -> str:
    """Give the checksum of a file's bytes, in hexadecimal."""
    return blake2b(data, digest_size=HASH_BYTES).hexdigest()


def digest_of_file(path: Path) -> str:
    """Give the checksum of a file, which may be larger than the memory."""
    with open_regular(path, follow=False) as file:
        return file_digest(file, partial(blake2b, digest_size=HASH_BYTES)).hexdigest()
