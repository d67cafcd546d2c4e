"""E-books: the chapters of an EPUB in reading order."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from urllib.parse import unquote

from gossamer.errors import Unreadable
from gossamer.readers.archive import Archive, XmlEvent, xml_events
from gossamer.readers.dates import iso_of_text
from gossamer.readers.html import extract_html
from gossamer.readers.limits import Limits
from gossamer.readers.pieces import Pieces, one_line
from gossamer.records import Document, Value
from gossamer.text.encoding import declared_encoding, decode

__all__ = ["read"]

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_MAX_CHAPTERS = 20_000
_METADATA = {
    "title": "title",
    "creator": "author",
    "language": "language",
    "publisher": "publisher",
    "date": "date",
    "subject": "subject",
}
_HTML_TYPES = ("application/xhtml+xml", "text/html", "")
_YEAR = re.compile(r"\d{4}(-\d\d)?")
_MAX_CHARS = 2_000


def read(path: Path, data: bytes, limits: Limits) -> list[Document]:  # noqa: ARG001
    """Read an EPUB as one document with its chapters, counted from 1, as places.

    Chapters that are missing or damaged are left out; `Unreadable` if none has text.
    """
    archive = Archive(data)
    chapters, metadata = _read_package(archive)
    pieces = Pieces(limits.max_text_bytes)
    damaged = 0
    for number, name in enumerate(chapters, 1):
        if not name:  # a picture, or a chapter that the book does not list
            continue
        try:
            text = _chapter_text(archive, name, limits)
        except Unreadable:
            damaged += 1
            continue
        pieces.add(number, text)
    if not pieces.text:
        is_locked = _ENCRYPTION in archive
        raise Unreadable("copy-protected" if is_locked else "no text in it; a book of pictures?")
    if damaged:
        metadata["damaged_chapters"] = damaged
    return [
        Document(
            text=pieces.text,
            kind="epub",
            markup="markdown",
            title=str(metadata.pop("title", "")),
            unit="chapter",
            places=pieces.places,
            metadata=metadata,
        )
    ]


def _chapter_text(archive: Archive, name: str, limits: Limits) -> str:
    data = archive.read(name)
    source = decode(data, declared_encoding(data)).text.decode("utf-8", "replace")
    return extract_html(source, limits.max_text_bytes).text.decode("utf-8", "replace")


def _read_package(archive: Archive) -> tuple[list[str], dict[str, Value]]:
    """Give the names of the chapters in reading order, and what the book says of itself."""
    name = _package_name(archive)
    package = _Package(posixpath.dirname(name))
    for event in xml_events(archive.stream(name), name):
        package.take(event)
    if not package.spine:
        raise Unreadable("damaged: an e-book that names no chapters")
    return [package.manifest.get(id_, "") for id_ in package.spine], package.metadata


def _package_name(archive: Archive) -> str:
    if _CONTAINER not in archive:
        raise Unreadable("not an e-book: META-INF/container.xml is missing inside it")
    for event in xml_events(archive.stream(_CONTAINER), _CONTAINER):
        if event.kind == "start" and event.name == "rootfile":
            return unquote(event.attributes.get("full-path", ""))
    raise Unreadable("damaged: an e-book that names no package")


class _Package:
    """The package file of a book, read event by event."""

    def __init__(self, folder: str) -> None:
        self.manifest: dict[str, str] = {}  # id -> name of the chapter's file
        self.spine: list[str] = []  # ids in reading order
        self.metadata: dict[str, Value] = {}
        self._folder = folder
        self._wanted: str | None = None
        self._text = ""

    def take(self, event: XmlEvent) -> None:
        """Note what one event says."""
        if event.kind == "start":
            self._start(event)
        elif event.kind == "text" and self._wanted and len(self._text) < _MAX_CHARS:
            self._text += event.name
        elif event.kind == "end" and self._wanted:
            value = one_line(self._text)
            if self._wanted == "date":
                value = iso_of_text(value) or (value if _YEAR.fullmatch(value) else "")
            if value:
                self.metadata.setdefault(self._wanted, value)
            self._wanted = None

    def _start(self, event: XmlEvent) -> None:
        attributes = event.attributes
        self._wanted, self._text = _METADATA.get(event.name), ""
        if event.name == "item" and len(self.manifest) < _MAX_CHAPTERS:
            is_page = attributes.get("media-type", "") in _HTML_TYPES
            name = posixpath.join(self._folder, unquote(attributes.get("href", "")))
            self.manifest[attributes.get("id", "")] = name if is_page else ""
        elif event.name == "itemref" and len(self.spine) < _MAX_CHAPTERS:
            self.spine.append(attributes.get("idref", ""))
