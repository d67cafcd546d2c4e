"""Zip archives and the XML inside them, read with bounds: what office files and e-books are."""

from __future__ import annotations

import io
import posixpath
import re
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple
from xml.parsers import expat

from gossamer.errors import Unreadable
from gossamer.readers.limits import Limits

__all__ = ["Archive", "XmlEvent", "xml_events"]

_MAX_MEMBERS = 20_000
# Office XML packs 5 to 40 times smaller; a bomb a thousand times. Small files may unpack freely.
_MAX_RATIO = 100
_FREE_BYTES = 16_000_000
_MAX_UNPACKED_BYTES = 512_000_000
_BLOCK_BYTES = 1 << 16
_MAX_DEPTH = 2_000
_MAX_EVENTS = 20_000_000
# Old versions of expat read a token again from its start with each block it is given.
_MAX_TOKEN_BYTES = 8_000_000
_CENTRAL_ENTRY = b"PK\x01\x02"
# What zipfile raises for archives that are broken, encrypted or packed in ways it does not know.
_ZIP_ERRORS = (
    zipfile.BadZipFile,
    zipfile.LargeZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    RuntimeError,  # also NotImplementedError
    ValueError,
    OverflowError,
    IndexError,
)


class Archive:
    """The members of a zip archive held in memory, unpacked one by one within a budget."""

    def __init__(self, data: bytes) -> None:
        if data.count(_CENTRAL_ENTRY) > _MAX_MEMBERS:
            raise Unreadable(f"an archive of more than {_MAX_MEMBERS} members")
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
            self._members = {_plain(info.filename): info for info in self._zip.infolist()}
        except _ZIP_ERRORS as error:
            raise Unreadable(f"damaged: its zip archive cannot be opened ({error})") from error
        self._most_bytes = min(_MAX_UNPACKED_BYTES, max(_FREE_BYTES, _MAX_RATIO * len(data)))
        self._budget = self._most_bytes

    @property
    def names(self) -> tuple[str, ...]:
        """Every member, with slashes and without a leading one."""
        return tuple(self._members)

    def __contains__(self, name: str) -> bool:
        return _plain(name) in self._members

    def read(self, name: str, max_bytes: int = _MAX_UNPACKED_BYTES) -> bytes:
        """Give a whole member; `Unreadable` if it is missing, damaged or larger than allowed."""
        found = bytearray()
        for block in self.stream(name):
            found += block
            if len(found) > max_bytes:
                raise Unreadable(f"{name!r} inside it is larger than {max_bytes // 1_000_000} MB")
        return bytes(found)

    def bound(self, limits: Limits) -> Limits:
        """Give limits that allow no more text than the archive may unpack to.

        For formats in which a few bytes stand for a long text: a string that many cells show.
        """
        return replace(limits, max_text_bytes=min(limits.max_text_bytes, self._most_bytes))

    def stream(self, name: str) -> Iterator[bytes]:
        """Give a member block by block, so that a large one never stands in memory whole."""
        info = self._members.get(_plain(name))
        if info is None:
            raise Unreadable(f"damaged: {name!r} is missing inside it")
        if info.flag_bits & 0x1:
            raise Unreadable("password-protected")
        # The other methods unpack without a bound on what one step may give.
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise Unreadable(f"{name!r} inside it is packed in a way that is not read")
        self._spend(info.file_size, is_checked_only=True)
        try:
            with self._zip.open(info) as member:
                while block := member.read(_BLOCK_BYTES):
                    self._spend(len(block))
                    yield block
        except _ZIP_ERRORS as error:
            raise Unreadable(f"damaged: {name!r} inside it cannot be unpacked") from error

    def _spend(self, size: int, is_checked_only: bool = False) -> None:
        if size > self._budget:
            raise Unreadable("it unpacks to far more than its size, as a zip bomb does")
        if not is_checked_only:
            self._budget -= size


class XmlEvent(NamedTuple):  # there are millions in a file: a tuple is made in half the time
    """One step through an XML file: an element's start or end, or text.

    Names come without their namespace; attributes that refer to a relationship begin with "r:".
    """

    kind: str  # "start", "end" or "text"
    name: str  # of the element; the text itself for "text"
    attributes: Mapping[str, str] = MappingProxyType({})


def xml_events(blocks: Iterable[bytes], name: str) -> Iterator[XmlEvent]:
    """Walk through XML of any size in constant memory.

    Entity declarations are refused, so that nothing expands and nothing outside is asked for.
    Raises `Unreadable`, which calls the file `name`, for what is not well-formed.
    """
    walker = _Walker(name)
    for block in _as_utf8(blocks):
        yield from walker.feed(block)
    yield from walker.feed(b"", is_final=True)


class _Walker:
    """Expat with the guards, its callbacks turned into a list of events for each block."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._events: list[XmlEvent] = []
        self._depth = 0
        self._count = 0
        self._silent_bytes = 0
        parser = expat.ParserCreate("utf-8", namespace_separator=" ")
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.EntityDeclHandler = self._refuse_entity
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        self._parser = parser

    def feed(self, block: bytes, is_final: bool = False) -> list[XmlEvent]:
        """Parse one block and give the events that were completed in it."""
        self._events = []
        try:
            self._parser.Parse(block, is_final)
        except (expat.ExpatError, ValueError) as error:
            raise Unreadable(f"damaged: {self._name!r} is not well-formed XML ({error})") from error
        self._count += len(self._events)
        if self._count > _MAX_EVENTS:
            raise Unreadable(f"{self._name!r} holds more than {_MAX_EVENTS:,} XML elements")
        self._silent_bytes = 0 if self._events else self._silent_bytes + len(block)
        if self._silent_bytes > _MAX_TOKEN_BYTES:
            raise Unreadable(f"{self._name!r} holds a tag or comment of many megabytes")
        return self._events

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise Unreadable(f"{self._name!r} is nested more than {_MAX_DEPTH} levels deep")
        local = name.rpartition(" ")[2]
        if attributes:
            named = {_attribute_name(key): value for key, value in attributes.items()}
            self._events.append(XmlEvent("start", local, named))
        else:
            self._events.append(XmlEvent("start", local))

    def _end(self, name: str) -> None:
        self._depth -= 1
        self._events.append(XmlEvent("end", name.rpartition(" ")[2]))

    def _text(self, text: str) -> None:
        self._events.append(XmlEvent("text", text))

    def _refuse_entity(self, *_: object) -> None:
        raise Unreadable(f"{self._name!r} declares XML entities, which are refused for safety")


_DECLARED = re.compile(rb"""^\s*<\?xml[^>]{0,100}?encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})""")
_ONE_BYTE = {"iso-8859-1", "latin1", "latin-1", "us-ascii", "ascii", "windows-1252", "cp1252"}


def _as_utf8(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Recode the few encodings that occur, so that expat never looks one up by its name."""
    iterator = iter(blocks)
    head = next(iterator, b"")
    declared = _DECLARED.match(head[:300])
    name = declared.group(1).decode("ascii").lower() if declared else "utf-8"
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        name = "utf-16"
    elif name not in _ONE_BYTE:
        yield head
        yield from iterator
        return
    whole = head + b"".join(iterator)
    yield whole.decode("utf-16" if name == "utf-16" else "cp1252", "replace").encode(
        "utf-8", "replace"
    )


def _attribute_name(key: str) -> str:
    namespace, _, local = key.rpartition(" ")
    return f"r:{local}" if namespace.endswith("/relationships") else local


def _plain(name: str) -> str:
    """Give a member's name as one spelling: slashes, no leading one, no steps up and down."""
    return posixpath.normpath(name.replace("\\", "/")).lstrip("/")
