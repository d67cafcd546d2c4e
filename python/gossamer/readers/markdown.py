"""Markdown: the text as it is, with its title and what its front matter says."""

from __future__ import annotations

import re
from pathlib import Path

from gossamer.readers.front_matter import split_front_matter
from gossamer.readers.limits import Limits
from gossamer.records import Document
from gossamer.text.encoding import decode

__all__ = ["read"]

_HEAD_BYTES = 1 << 16  # a title that comes later is none
_FENCE = re.compile(r" {0,3}(```|~~~)")
_ATX = re.compile(r" {0,3}# +(\S.*?)(?: +#+)? *$")
_UNDERLINE = re.compile(r" {0,3}=+ *$")
_MAX_TITLE = 300


def read(path: Path, data: bytes, limits: Limits) -> list[Document]:  # noqa: ARG001
    """Read Markdown; the title is that of the front matter, or else the first top heading."""
    text = decode(data)
    head = text.text[:_HEAD_BYTES].decode("utf-8", "ignore").removeprefix("\ufeff")
    metadata, body = split_front_matter(head)
    title = str(metadata.get("title") or _first_heading(body))
    return [
        Document(
            text.text,
            "markdown",
            "markdown",
            title=title[:_MAX_TITLE],
            is_verbatim=text.is_verbatim,
            metadata=metadata,
            has_slugs=True,
        )
    ]


def _first_heading(body: str) -> str:
    """Give the first heading of the top level that stands outside code; "" if there is none."""
    fence = ""
    above = ""
    for line in body.splitlines():
        if (mark := _FENCE.match(line)) and fence in ("", mark[1]):
            fence = "" if fence else mark[1]
        elif not fence:
            if found := _ATX.match(line):
                return found[1]
            if above and _UNDERLINE.match(line):
                return above
        above = "" if fence else line.strip()
    return ""
