"""Mail: a message in a file of its own (.eml, .emlx, maildir), or a mailbox of many (mbox)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from gossamer.errors import Unreadable
from gossamer.readers.dates import iso_of_mail
from gossamer.readers.limits import Limits
from gossamer.readers.mime import header_of, parse_headers, text_of
from gossamer.readers.pieces import Pieces, one_line
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
    if path.suffix.lower() == ".emlx" and (matched := _APPLE_COUNT.match(data)):
        data = data[matched.end() : matched.end() + int(matched.group(1))]
    headers = parse_headers(data)
    if not any(name in headers for name in _KNOWN_HEADERS):
        raise Unreadable("no headers of a mail message in it")
    document = _document(data, _folder_of(path), limits.max_text_bytes)
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


def _document(data: bytes, folder: str, max_bytes: int, number: int = 0) -> Document:
    """Make a document of a message; `number` counts it in its mailbox, 0 if it stands alone."""
    headers = parse_headers(data)
    found = {name: header_of(headers, name) for name, _ in _SHOWN}
    found["date"] = iso_of_mail(found["date"])
    body = text_of(data, max_bytes)
    found["attachments"] = one_line(", ".join(body.attachments))

    pieces = Pieces(max_bytes)
    pieces.add(
        number, "\n".join(f"{label}: {found[name]}" for name, label in _SHOWN if found[name])
    )
    pieces.add(number, body.text)
    if body.attachments:
        pieces.add(number, f"Attachments: {found['attachments']}")
    metadata: dict[str, Value] = {key: value for key, value in found.items() if value}
    if folder:
        metadata["folder"] = folder
    return Document(
        text=pieces.text,
        kind="mail",
        markup="markdown" if body.is_html else "plain",
        title=found["subject"],
        unit="message" if number else "line",
        places=pieces.places if number else (),
        key=(header_of(headers, "message-id").strip("<> ") or str(number)) if number else "",
        metadata=metadata,
    )


def _folder_of(path: Path) -> str:
    """Name the mail folder: for a maildir the one above cur, without the dot of sub-folders."""
    folder = path.parent.parent if path.parent.name in _MAILDIR_FOLDERS else path.parent
    return folder.name.lstrip(".")
