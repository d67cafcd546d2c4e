"""Plain text: notes, logs, licences, and any file that has text in it."""

from __future__ import annotations

from pathlib import Path

from gossamer.errors import Unreadable
from gossamer.readers.limits import Limits
from gossamer.records import Document
from gossamer.text.encoding import decode

__all__ = ["read"]

_HEAD_BYTES = 4096


def read(path: Path, data: bytes, limits: Limits) -> list[Document]:
    """Read a text file; a chat that was exported as text goes to the reader of chats."""
    text = decode(data)
    if path.suffix.lower() == ".txt" and (chat := _chat(path, text.text, limits)) is not None:
        return chat
    return [Document(text.text, "text", is_verbatim=text.is_verbatim)]


def _chat(path: Path, text: bytes, limits: Limits) -> list[Document] | None:
    """Read text as a chat; None if it is none."""
    # Each message begins with a date, so most texts are told from a chat by their first byte:
    # after a byte order mark, a left-to-right mark and a bracket comes a digit.
    if not text[:16].lstrip(b"\xef\xbb\xbf\xe2\x80\x8e[ ")[:1].isdigit():
        return None
    from gossamer.readers import chats

    if chats.recognise(text[:_HEAD_BYTES]) is None:
        return None
    try:
        return chats.read(path, text, limits)
    except Unreadable:
        return None  # it only began like one
