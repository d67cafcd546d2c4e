"""The inside of a mail message: its headers decoded, its parts found, its text chosen.

The body is cut at its boundaries here and not by the standard parser, which follows nested parts
by recursion and makes objects without bound.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from email.errors import MessageError
from email.header import decode_header
from email.message import Message
from email.parser import BytesHeaderParser
from email.policy import compat32
from typing import TypeAlias

from gossamer.errors import Unreadable
from gossamer.readers.mail_lines import MarkedText, mark_html, mark_plain, transfer_decoded
from gossamer.readers.pieces import one_line
from gossamer.text.encoding import decode

__all__ = ["MailText", "header_lines", "header_of", "parse_headers", "text_of"]

_MAX_HEADER_BYTES = 200_000
_MAX_PART_HEADER_BYTES = 16_000
_MAX_HEADER_CHARS = 2_000
_MAX_PARTS = 1_000
_MAX_DEPTH = 20
_MAX_NAMES = 100
# A plain part shorter than this often only says that the mail is to be read as HTML.
_MIN_PLAIN_BYTES = 40
_PART_HEADERS = {"content-type", "content-transfer-encoding", "content-disposition"}
_HEADERS_END = re.compile(rb"\r?\n\r?\n")
# Seven-bit encodings, which pass for ASCII unless one believes what is declared.
_SEVEN_BIT = {"iso-2022-jp", "iso-2022-kr", "iso-2022-jp-2", "hz-gb-2312", "utf-7"}
# What header parsing of the standard library raises for headers that are broken enough.
_HEADER_ERRORS = (MessageError, LookupError, ValueError, TypeError, AttributeError)

_Headers: TypeAlias = "Message[str, str]"


@dataclass(frozen=True, slots=True)
class MailText:
    """What a reader of a message sees, and the names of what is attached to it."""

    parts: tuple[MarkedText, ...]
    is_html: bool  # some of the text was HTML and is Markdown-like now
    attachments: tuple[str, ...]
    attached_at: int  # line of the file that names the first attachment; 0 for none


@dataclass(frozen=True, slots=True)
class _Part:
    """Headers and the span of the body they describe."""

    headers: _Headers
    head: int  # where the headers begin
    begin: int
    end: int
    depth: int

    @property
    def type(self) -> str:
        try:
            return self.headers.get_content_type()
        except _HEADER_ERRORS:
            return "text/plain"


def parse_headers(data: bytes) -> _Headers:
    """Parse the headers that `data` begins with; what follows them is not looked at."""
    head = data[:_MAX_HEADER_BYTES]
    found = _HEADERS_END.search(head)
    return BytesHeaderParser(policy=compat32).parsebytes(head[: found.end()] if found else head)


def header_of(headers: _Headers, name: str) -> str:
    """Give a header decoded, as one line; "" where there is none."""
    values = (str(value) for known, value in headers.raw_items() if known.lower() == name)
    # Headers that are not ASCII at all are against the rules and yet common.
    value = _guessed(next(values, "")[:_MAX_HEADER_CHARS].encode("utf-8", "surrogateescape"))
    try:
        parts = decode_header(value)
    except _HEADER_ERRORS:
        return one_line(value)
    return one_line("".join(_decoded_word(word, charset) for word, charset in parts))


def header_lines(data: bytes) -> dict[str, int]:
    """Say on which line, from 0, each header begins that `data` begins with; the first of each."""
    head = data[:_MAX_HEADER_BYTES]
    found = _HEADERS_END.search(head)
    lines: dict[str, int] = {}
    for number, line in enumerate((head[: found.start()] if found else head).split(b"\n")):
        name, colon, _ = line.partition(b":")
        if colon and not name[:1].isspace():
            lines.setdefault(name.decode("latin-1").lower(), number)
    return lines


def text_of(data: bytes, max_bytes: int, first_line: int = 1) -> MailText:
    """Give the text of a message that begins on this line of its file: plain where there is a
    choice, HTML turned into text."""
    texts: list[MarkedText] = []
    names: list[str] = []
    is_html = False
    attached_at = 0
    at, line = 0, first_line
    for part in _leaves(data):
        line += data.count(b"\n", at, part.begin) - data.count(b"\n", part.begin, at)
        at = part.begin
        name = _file_name(part.headers)
        is_text = part.type in ("text/plain", "text/html")
        if name or not is_text or _is_attachment(part.headers):
            head = data[part.head : part.begin]
            attached_at = attached_at or line - head.count(b"\n") + _naming_line(head)
            names.append(name or part.type)
            continue
        text = _body_text(part, data)
        is_page = part.type == "text/html"
        is_html = is_html or is_page
        texts.append(mark_html(text, line, max_bytes) if is_page else mark_plain(text, line))
    return MailText(tuple(texts), is_html, tuple(names[:_MAX_NAMES]), attached_at)


def _naming_line(head: bytes) -> int:
    """Say on which line of a part's headers its name stands, or else its type."""
    lines = header_lines(head)
    return lines.get("content-disposition", lines.get("content-type", 0))


def _leaves(data: bytes) -> Iterator[_Part]:
    """Give the parts that hold something, in order; of alternatives only the best."""
    waiting = [_part_at(data, 0, len(data), 0)]
    count = 0
    while waiting and count < _MAX_PARTS:
        part = waiting.pop()
        count += 1
        if part.depth >= _MAX_DEPTH:
            continue
        if part.type == "message/rfc822":
            waiting.append(_part_at(data, part.begin, part.end, part.depth + 1))
        elif part.type.startswith("multipart/"):
            children = _children(part, data)
            if part.type == "multipart/alternative" and children:
                children = [_best(children)]
            waiting += reversed(children)
        else:
            yield part


def _part_at(data: bytes, begin: int, end: int, depth: int) -> _Part:
    # A part may begin with the blank line that says that it has no headers.
    if data[begin : begin + 1] == b"\n" or data[begin : begin + 2] == b"\r\n":
        return _Part(Message(), begin, begin, end, depth)
    found = _HEADERS_END.search(data, begin, min(end, begin + _MAX_HEADER_BYTES))
    body = found.end() if found else end
    most = _MAX_PART_HEADER_BYTES if depth else _MAX_HEADER_BYTES
    headers = parse_headers(data[begin : min(body, begin + most)])
    # Parts wait for their turn: only what says how to read them is kept meanwhile.
    kept: _Headers = Message()
    for name, value in headers.raw_items():
        if name.lower() in _PART_HEADERS and name not in kept:
            kept[name] = str(value)[:_MAX_HEADER_CHARS]
    return _Part(kept, begin, body, end, depth)


def _children(part: _Part, data: bytes) -> list[_Part]:
    try:
        boundary = part.headers.get_boundary()
    except _HEADER_ERRORS:
        boundary = None
    if not boundary:
        return []
    escaped = re.escape(boundary.encode("utf-8", "surrogateescape")[:200])
    line = re.compile(rb"^--" + escaped + rb"(--)?[ \t]*\r?$", re.MULTILINE)
    children: list[_Part] = []
    begin: int | None = None
    for found in line.finditer(data, part.begin, part.end):
        if begin is not None:
            children.append(_part_at(data, begin, found.start(), part.depth + 1))
        begin = found.end() + 1
        if found.group(1) or len(children) >= _MAX_PARTS:
            return children
    if begin is not None:  # cut off before its last boundary
        children.append(_part_at(data, begin, part.end, part.depth + 1))
    return children


def _best(children: list[_Part]) -> _Part:
    plain = [part for part in children if part.type == "text/plain"]
    if plain and plain[0].end - plain[0].begin >= _MIN_PLAIN_BYTES:
        return plain[0]
    others = [part for part in children if part.type != "text/plain"]
    shown = [part for part in others if part.type.startswith(("text/html", "multipart/"))]
    return (shown or plain or children)[0]


def _body_text(part: _Part, data: bytes) -> str:
    """Decode a part; the marks of its lines are in it."""
    encoding = str(part.headers.get("content-transfer-encoding", "")).strip().lower()
    try:
        charset = part.headers.get_content_charset() or ""
    except _HEADER_ERRORS:
        charset = ""
    has_shifts = charset.lower() in _SEVEN_BIT
    return _decoded(transfer_decoded(data[part.begin : part.end], encoding, has_shifts), charset)


def _decoded(body: bytes, charset: str) -> str:
    if charset.lower() in _SEVEN_BIT:
        return body.decode(charset.lower(), "replace")
    try:
        return decode(body, charset).text.decode("utf-8", "replace")
    except Unreadable:
        return ""


def _decoded_word(word: bytes | str, charset: str | None) -> str:
    if isinstance(word, str):
        return word
    return (_decoded(word, charset) if charset else "") or _guessed(word)


def _guessed(word: bytes) -> str:
    """Decode a few words without a charset; loading a detector for them is not worth it."""
    try:
        return word.decode("utf-8")
    except UnicodeDecodeError:
        return word.decode("cp1252", "replace")


def _file_name(headers: _Headers) -> str:
    try:
        return one_line(headers.get_filename())
    except _HEADER_ERRORS:
        return ""


def _is_attachment(headers: _Headers) -> bool:
    try:
        return headers.get_content_disposition() == "attachment"
    except _HEADER_ERRORS:
        return False
