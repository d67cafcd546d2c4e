"""reStructuredText: the text as it is, with the title it begins with."""

from __future__ import annotations

import re
from pathlib import Path

from gossamer.readers.limits import Limits
from gossamer.records import Document
from gossamer.text.encoding import decode

__all__ = ["read"]

_HEAD_BYTES = 1 << 16
_ADORNMENT = re.compile(r"([!-/:-@[-`{-~])\1{2,}$")
_MAX_TITLE = 300


def read(path: Path, data: bytes, limits: Limits) -> list[Document]:  # noqa: ARG001
    """Read reStructuredText; the title is its first heading."""
    text = decode(data)
    title = _first_heading(text.text[:_HEAD_BYTES].decode("utf-8", "ignore"))
    is_verbatim = text.is_verbatim
    return [Document(text.text, "rst", "rst", title=title, is_verbatim=is_verbatim, has_slugs=True)]


def _first_heading(head: str) -> str:
    """Give the first line that is underlined with punctuation at least as long; "" for none."""
    above = ""
    for line in head.removeprefix("\ufeff").splitlines():
        line = line.rstrip()
        is_adorned = _ADORNMENT.match(line) is not None
        if is_adorned and above and len(line) >= len(above):
            return above.strip()[:_MAX_TITLE]
        above = "" if is_adorned else line
    return ""
