"""The hashes of the store, one place for each."""

from __future__ import annotations

from hashlib import blake2b

__all__ = ["HASH_BYTES", "check_of", "digest_of", "hash_of_bytes", "hash_of_text"]

HASH_BYTES = 16


def hash_of_text(text: str) -> bytes:
    """Name an embedded text, or a question, in 16 bytes."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=HASH_BYTES).digest()


def check_of(text: str) -> int:
    """Give the 32 bits that a chunk keeps of its embedded text: it is only shown if they match."""
    return int.from_bytes(hash_of_text(text)[:4], "little")


def hash_of_bytes(content: bytes) -> int:
    """Give 64 bits that tell the contents of files apart."""
    return int.from_bytes(blake2b(content, digest_size=8).digest(), "little")


def digest_of(*parts: bytes | memoryview) -> str:
    """Give the checksum of a whole file, in hexadecimal."""
    digest = blake2b(digest_size=HASH_BYTES)
    for part in parts:
        digest.update(part)
    return digest.hexdigest()
