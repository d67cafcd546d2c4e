"""A file as an answer, whole or from where a client stopped."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from starlette.datastructures import Headers
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from gossamer.files import open_regular
from gossamer.server.answers import problem

__all__ = ["OpenFile", "answer_with_file"]

_RANGE = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})")
_BLOCK = 1 << 18
_TAG_BYTES = 32


@dataclass(frozen=True, slots=True)
class OpenFile:
    """A file that can be read though it is deleted meanwhile."""

    file: BinaryIO
    size: int
    tag: str  # of its content, with quotes

    @classmethod
    def open(cls, path: Path) -> OpenFile:
        """Open a package: what it ends with is a code of all that stands before."""
        file = open_regular(path, follow=False)  # closed when it was sent
        size = os.fstat(file.fileno()).st_size
        file.seek(max(0, size - _TAG_BYTES))
        return cls(file, size, f'"{file.read().hex()}"')


def answer_with_file(found: OpenFile, headers: Headers) -> Response:
    """Answer with a file, or with the part of it that a client asks for.

    One that began with another content (If-Range) gets all of it.
    """
    start, end = 0, found.size
    is_part = headers.get("if-range", found.tag) == found.tag
    asked = _RANGE.fullmatch(headers.get("range", "").strip()) if is_part else None
    # What is no range, or several, is answered with everything.
    asked = asked if asked is not None and any(asked.groups()) else None
    if asked is not None:
        start, end = _bounds(asked[1], asked[2], found.size)
        if start >= end:
            found.file.close()
            said = f"the file has {found.size} bytes; ask for it from the beginning"
            where = {"Content-Range": f"bytes */{found.size}", "ETag": found.tag}
            return problem(416, "range_not_satisfiable", said, where)
    about = {"ETag": found.tag, "Accept-Ranges": "bytes", "Content-Length": str(end - start)}
    if asked is not None:
        about["Content-Range"] = f"bytes {start}-{end - 1}/{found.size}"
    return _FileResponse(found.file, start, end, 206 if asked is not None else 200, about)


class _FileResponse(StreamingResponse):
    """A part of a file, which is closed also if nobody ever reads of it."""

    def __init__(
        self, file: BinaryIO, start: int, end: int, status: int, headers: Mapping[str, str]
    ) -> None:
        super().__init__(_blocks(file, start, end), status, headers, "application/octet-stream")
        self._file = file

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it; see ASGI."""
        with self._file:
            await super().__call__(scope, receive, send)


def _bounds(first: str, last: str, size: int) -> tuple[int, int]:
    """Give where the part begins and ends; nothing lies between if there is no such part."""
    if not first:
        return max(0, size - int(last)), size
    end = min(int(last) + 1, size) if last else size
    return int(first), end


async def _blocks(file: BinaryIO, start: int, end: int) -> AsyncIterator[bytes]:
    file.seek(start)
    while start < end:
        block = await asyncio.to_thread(file.read, min(_BLOCK, end - start))
        if not block:
            raise OSError("a file ended before its end")
        start += len(block)
        yield block
