"""Mail: a message in a file of its own (.eml, .emlx, maildir), or a mailbox of many (mbox)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from gossamer.errors import Unreadable
from gossamer.readers.dates import iso_of_mail
from gossamer.readers.limits import Limits
from gossamer.readers.mail_lines import MarkedText
from gossamer.readers.mime import header_lines, header_of, parse_headers, text_of
from gossamer.readers.pieces import MARK, Pieces, one_line
from gossamer.records import Document, Value

__all__ = ["read"]

# Mailers differ in how they escape "From " inside a text, so a time and a header must follow it.
_FROM_LINE = re.compile(
    rb"^From [^\n]{0,300}\d\d:\d\d[^\n]{0,100}\n(?=[!-9;-~]{1,80}:|>From )", re.MULTILINE
)
_ESCAPED_FROM = re.compile(rb"^>(>*From )", re.MULTILINE)
_APPLE_COUNT = re.compile(rb"\s{0,20}(\d{1,12})\s{0,20}\n")
_SHOWN = (("from", "From"), ("to", "To"), ("cc", "Cc"), ("date", "Date"), ("subject", "Subject"))
_KNOWN_HEADERS = ("from", "to", "subject", "date", "message-id", "received", "mime-version")
_MAILDIR_FOLDERS = {"cur", "new", "tmp"}


def read(path: Path, data: bytes, limits: Limits) -> list[Document]:
    """Read mail: one document for each message, its key the Message-ID in a mailbox of many."""
    if data.lstrip(b"\r\n").startswith(b"From "):
        return _read_mailbox(path, data, limits)
    first_line = 1
    if path.suffix.lower() == ".emlx" and (matched := _APPLE_COUNT.match(data)):
        first_line += data.count(b"\n", 0, matched.end())
        data = data[matched.end() : matched.end() + int(matched.group(1))]
    headers = parse_headers(data)
    if not any(name in headers for name in _KNOWN_HEADERS):
        raise Unreadable("no headers of a mail message in it")
    document = _document(data, _folder_of(path), limits.max_text_bytes, first_line=first_line)
    if not document.text:
        raise Unreadable("a message without text")
    return [document]


def _read_mailbox(path: Path, data: bytes, limits: Limits) -> list[Document]:
    documents: list[Document] = []
    keys: set[str] = set()
    room = limits.max_text_bytes
    for number, message in enumerate(_messages(data), 1):
        if number > limits.max_documents:
            raise Unreadable(f"more than the limit of {limits.max_documents} messages")
        document = _document(message, path.stem, room, number)
        if not document.text:
            continue
        room -= len(document.text)
        if document.key in keys:
            document = replace(document, key=f"{document.key} ({number})")
        keys.add(document.key)
        documents.append(document)
    if not documents:
        raise Unreadable("a mailbox without messages")
    return documents


def _messages(data: bytes) -> Iterator[bytes]:
    """Give the messages of a mailbox one by one, each without its "From " line."""
    begin: int | None = None
    for found in _FROM_LINE.finditer(data):
        if begin is not None:
            yield _unescaped(data[begin : found.start()])
        begin = found.end()
    if begin is None:
        # Even a mailbox with an odd first line holds at least one message.
        begin = data.find(b"\n") + 1 or len(data)
    yield _unescaped(data[begin:])


def _unescaped(message: bytes) -> bytes:
    return _ESCAPED_FROM.sub(rb"\1", message)


def _document(
    data: bytes, folder: str, max_bytes: int, number: int = 0, first_line: int = 1
) -> Document:
    """Make a document of a message; `number` counts it in its mailbox, 0 if it stands alone.

    One that stands alone is cited by the lines of its file, the first of which is `first_line`.
    """
    headers = parse_headers(data)
    found = {name: header_of(headers, name) for name, _ in _SHOWN}
    found["date"] = iso_of_mail(found["date"])
    body = text_of(data, max_bytes, first_line)
    found["attachments"] = one_line(", ".join(body.attachments))
    shown = {name: label for name, label in _SHOWN if found[name]}
    begins = header_lines(data)
    head = MarkedText(
        "\n".join(f"{MARK}{label}: {found[name]}" for name, label in shown.items()),
        [first_line + begins.get(name, 0) for name in shown],
    )
    attached = MarkedText(f"{MARK}Attachments: {found['attachments']}", [body.attached_at])

    pieces = Pieces(max_bytes)
    lines: dict[int, int] = {}  # where each begins in the text
    for part in (head, *body.parts, *([attached] if body.attachments else [])):
        _, *marks = pieces.add(number, part.text) or [0]
        lines |= dict(zip(marks, part.lines, strict=False))
    metadata: dict[str, Value] = {key: value for key, value in found.items() if value}
    if folder:
        metadata["folder"] = folder
    return Document(
        text=pieces.text,
        kind="mail",
        markup="markdown" if body.is_html else "plain",
        title=found["subject"],
        unit="message" if number else "line",
        places=pieces.places if number else tuple(lines.items()),
        key=(header_of(headers, "message-id").strip("<> ") or str(number)) if number else "",
        metadata=metadata,
    )


def _folder_of(path: Path) -> str:
    """Name the mail folder: for a maildir the one above cur, without the dot of sub-folders."""
    folder = path.parent.parent if path.parent.name in _MAILDIR_FOLDERS else path.parent
    return folder.name.lstrip(".")
