"""Signed answers: what a server says to a request, by whoever knows the token and at no other time.

A client sends a nonce with each request, and the server a code over the request, the nonce and the
answer. docs/format.md has the fields.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import unquote

__all__ = [
    "NONCE",
    "SIGNATURE",
    "Answered",
    "Asked",
    "digest_of",
    "is_nonce",
    "is_signed",
    "new_nonce",
    "sign",
]

NONCE, SIGNATURE = "Gossamer-Nonce", "Gossamer-Signature"
_TAG = "gossamer answer 1"  # nothing else that is signed with a token begins so
_NONCE_BYTES = 16
_IS_NONCE = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Asked:
    """A request. The path is decoded, since proxies write it anew; the query is as it was sent."""

    nonce: str
    method: str
    path: str
    query: str
    body: str  # its digest; "" for none, or if the server did not read it to its end

    @classmethod
    def of(cls, nonce: str, method: str, target: str, body: bytes | None) -> Asked:
        """Describe a request for a target: a path below the server's address, and a query."""
        path, _, query = target.partition("?")
        return cls(nonce, method, unquote(path), query, digest_of(body) if body else "")


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer. A file is signed by its head alone: what it holds has a code of its own."""

    status: int
    etag: str
    content_range: str
    body: str  # its digest; of a file its length, in digits

    @classmethod
    def of(cls, status: int, header: Callable[[str], str], body: bytes | None) -> Answered:
        """Describe an answer by its headers ("" for one that is not there); no body for a file."""
        said = header("Content-Length") if body is None else digest_of(body)
        return cls(status, header("ETag"), header("Content-Range"), said)


def new_nonce() -> str:
    """Give what no request had before."""
    return secrets.token_hex(_NONCE_BYTES)


def is_nonce(text: str) -> bool:
    """Whether a text is 32 hexadecimal digits."""
    return _IS_NONCE.fullmatch(text) is not None


def digest_of(body: bytes) -> str:
    """Give the SHA-256 of a body, in hexadecimal digits."""
    return hashlib.sha256(body).hexdigest()


def sign(token: str, asked: Asked, answered: Answered) -> str:
    """Give the code of an answer to a request, in hexadecimal digits."""
    fields = (
        *(_TAG, asked.nonce, asked.method, asked.path, asked.query, asked.body),
        *(str(answered.status), answered.etag, answered.content_range, answered.body),
    )
    code = hmac.new(_bytes(token), digestmod="sha256")
    for field in map(_bytes, fields):
        code.update(len(field).to_bytes(4, "little") + field)
    return code.hexdigest()


def is_signed(token: str, asked: Asked, answered: Answered, signature: str) -> bool:
    """Whether a code is that of this answer to this request, compared in constant time."""
    return hmac.compare_digest(_bytes(sign(token, asked, answered)), _bytes(signature))


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
