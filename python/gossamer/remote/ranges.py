"""A file at an address, read by HTTP range requests."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from threading import Lock
from typing import TypeVar

from gossamer.errors import (
    Damaged,
    InvalidArgument,
    NoIndex,
    NotGossamer,
    TooLarge,
    Unreachable,
    WrongState,
)
from gossamer.web import Answer, NoAnswer, Web, is_loopback, short, split_address

__all__ = ["Changed", "Part", "RemoteFile"]

T = TypeVar("T")

_TIMEOUT_S, _CONNECT_S = 30.0, 10.0
_TRIES, _PAUSE_S = 3, 0.25
_MOST_WHOLE = 1 << 26  # bytes of a file whose host has no ranges
_MOST_SHORT = 64  # answers that give less of a range than was asked for
_RANGE = re.compile(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18})", re.ASCII)
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})  # what may be over soon


class Changed(Damaged):
    """There is another file at the address than there was: it has to be opened anew."""


class _Passing(Unreachable):
    """What may go well if it is tried again."""


@dataclass(frozen=True, slots=True)
class Part:
    """Bytes of a file, from some place on."""

    data: bytes
    size: int  # of the whole file
    version: str  # what its host calls it; "" if it does not say


class RemoteFile:
    """Asks for parts of one file, from any thread, and counts what came."""

    def __init__(self, url: str) -> None:
        """InvalidArgument for what is no address of a file; nothing is asked yet."""
        parts = split_address(url)
        if parts is None or parts.fragment or not parts.path.strip("/"):
            raise InvalidArgument(
                f"the address of an index is like https://host/index.gossamer, got {url!r}"
            )
        if parts.scheme == "http" and not is_loopback(parts.hostname):
            raise InvalidArgument(
                f"{parts.netloc} is asked by https alone: by plain http anybody on the way could "
                "put another file in its place; use https://, or fetch the file and import it"
            )
        # What stands behind a question mark may be a key.
        self.shown = f"{parts.scheme}://{parts.netloc}{parts.path}"
        self.name = parts.path.rstrip("/").rpartition("/")[2]
        self.requests = 0
        self.bytes_fetched = 0
        self._target = parts.path + (f"?{parts.query}" if parts.query else "")
        self._web = Web(url, _TIMEOUT_S, None, _CONNECT_S)
        self._lock = Lock()

    def begin(self, length: int) -> Part:
        """Give the first bytes of the file; all of it if its host has no ranges and it is small."""
        part = self._try(0, length, may_be_whole=True)
        if not part.data:
            raise NotGossamer(f"the file at {self.shown} is empty")
        return part

    def read(self, at: int, length: int, size: int) -> Part:
        """Give a range of the file of which the size is known; Changed if it is another one."""
        blocks: list[bytes] = []
        done, version = 0, ""
        while done < length:
            if len(blocks) == _MOST_SHORT:
                raise Unreachable(f"{self.shown} gives too little of what it is asked for")
            part = self._try(at + done, length - done)
            if part.size != size or (blocks and part.version != version):
                raise self.changed()
            version = part.version
            blocks.append(part.data)
            done += len(part.data)
        return Part(b"".join(blocks), size, version)

    def changed(self) -> Changed:
        """Give the error that says that the file was replaced."""
        return Changed(f"the file at {self.shown} was replaced meanwhile; ask again")

    def _try(self, at: int, length: int, *, may_be_whole: bool = False) -> Part:
        """Ask up to three times, where it may be better the next time."""
        for left in reversed(range(_TRIES)):
            try:
                return self._ask(at, length, may_be_whole)
            except _Passing as error:
                if not left:
                    raise Unreachable(str(error)) from error
                time.sleep(_PAUSE_S * (_TRIES - left))
        raise AssertionError("the last try returns or raises")

    def _ask(self, at: int, length: int, may_be_whole: bool) -> Part:
        asked = {"Range": f"bytes={at}-{at + length - 1}", "Accept-Encoding": "identity"}
        try:
            with self._web.send("GET", self._target, headers=asked) as answer:
                self._count(1, 0)
                self._check_status(answer)
                if answer.status == 206:
                    return self._take_range(answer, at, length)
                if answer.status == 200 and may_be_whole:
                    return self._take_whole(answer)
                if at == 0 and answer.status == 416:
                    return Part(b"", 0, "")
                raise self.changed()  # 416: it is shorter now; 200: it has no ranges any more
        except NoAnswer as error:
            raise _Passing(f"{self.shown} {error.what}") from error

    def _check_status(self, answer: Answer) -> None:
        """Raise what a status means that brings nothing of the file."""
        status, shown = answer.status, self.shown
        if status in _REDIRECTS:
            where = short(answer.header("Location"))
            raise Unreachable(
                f"{shown} leads to {where!r}, and that is not followed; give it as address"
            )
        if status in (404, 410):
            raise NoIndex(f"there is no file at {shown} ({status}); check the address")
        if status in (401, 403):
            raise WrongState(f"{shown} may not be read ({status}); use an address that may")
        if status in _PASSING:
            raise _Passing(f"{shown} answered {status}; try again later")
        if status not in (200, 206, 416):
            raise Unreachable(f"{shown} answered {status}, where a range of a file was expected")
        if answer.header("Content-Encoding").lower() not in ("", "identity"):
            raise Unreachable(
                f"the host of {shown} compresses the file, so that ranges of it mean nothing; "
                "have it served as it is"
            )

    def _take_range(self, answer: Answer, at: int, length: int) -> Part:
        found = _RANGE.fullmatch(answer.header("Content-Range").strip())
        if found is None:
            raise Unreachable(f"{self.shown} does not say which of how many bytes it gives")
        first, last, size = map(int, found.groups())
        count = last - first + 1
        if first != at or not 0 < count <= length or last >= size:
            raise Unreachable(f"{self.shown} gives bytes {first} to {last}, asked for {at} and on")
        data = answer.read_whole(length)
        self._count(0, len(data))
        if len(data) != count:
            raise _Passing(f"{self.shown} gave {len(data):,} bytes, and said {count:,}")
        return Part(data, size, _version(answer))

    def _take_whole(self, answer: Answer) -> Part:
        """Take the file as a whole from a host that gives nothing less."""
        announced = answer.header("Content-Length")
        length = int(announced) if re.fullmatch(r"\d{1,18}", announced, re.ASCII) else _MOST_WHOLE
        if length > _MOST_WHOLE:
            raise TooLarge(
                f"the host of {self.shown} gives no byte ranges, and the whole file has {length:,} "
                "bytes; put it on another host, or fetch it and import it"
            )
        blocks, size = [], 0
        while block := answer.read(1 << 16):
            blocks.append(block)
            size += len(block)
            if size > _MOST_WHOLE:
                raise TooLarge(f"{self.shown} has no byte ranges, and more than {size:,} bytes")
        self._count(0, size)
        return Part(b"".join(blocks), size, _version(answer))

    def _count(self, requests: int, count: int) -> None:
        with self._lock:
            self.requests += requests
            self.bytes_fetched += count


def _version(answer: Answer) -> str:
    return answer.header("ETag") or answer.header("Last-Modified")
