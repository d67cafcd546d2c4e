"""E-books: the chapters of an EPUB in reading order, and its other parts."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

from gossamer.errors import Unreadable
from gossamer.readers.archive import Archive, XmlEvent, xml_events
from gossamer.readers.dates import iso_of_text
from gossamer.readers.epub_chapters import Section, cut, number
from gossamer.readers.epub_contents import path_in_book, read_contents
from gossamer.readers.html import extract_html
from gossamer.readers.limits import Limits
from gossamer.readers.pieces import Pieces, one_line
from gossamer.records import Document, Value
from gossamer.text.encoding import declared_encoding, decode

__all__ = ["read"]

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_MAX_CHAPTERS = 20_000
_MAX_CONTENTS = 10  # a book has one in each of two forms
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
_NCX = "application/x-dtbncx+xml"
_MAX_CHARS = 2_000
_XML = '<?xml version="1.0"?>'
_FRONT = "front matter"  # names what comes before all that the contents name


def read(path: Path, data: bytes, limits: Limits) -> list[Document]:  # noqa: ARG001
    """Read an EPUB: a document of its chapters, and one for each part that is no chapter.

    Chapters are numbered as the contents or their headings say, or else counted; a cover or a
    preface is none, and names its document. Where each part counts its own chapters, it has a
    document of them. Pages that are missing or damaged are left out; `Unreadable` if none has text.
    """
    archive = Archive(data)
    package = _read_package(archive)
    title = str(package.metadata.get("title", ""))
    pages, damaged = _pages(archive, package)
    contents = read_contents(archive, package.contents)
    if not contents.begin:
        contents = replace(contents, begin=package.begin)
    sections = cut(pages, contents, title)
    for section in sections:
        section.text = "\n\n".join(filter(None, (_text(one, limits) for one in section.sources)))
    if not any(section.text for section in sections):
        is_locked = _ENCRYPTION in archive
        raise Unreadable("copy-protected" if is_locked else "no text in it; a book of pictures?")
    number(sections, contents, title)
    if damaged:
        package.metadata["damaged_chapters"] = damaged
    return _documents(sections, package.metadata, limits)


def _pages(archive: Archive, package: _Package) -> tuple[list[tuple[str, str]], int]:
    """Give names and sources of the pages in reading order, and how many are damaged (empty)."""
    pages: list[tuple[str, str]] = []
    damaged = 0
    for name in package.pages():
        source = ""
        try:
            data = archive.read(name)
            source = decode(data, declared_encoding(data)).text.decode("utf-8", "replace")
        except Unreadable:
            damaged += 1
        pages.append((name, source))
    return pages, damaged


def _text(source: str, limits: Limits) -> str:
    if not source:
        return ""
    # What is cut out of a page is XML as well, and no longer says so.
    page = extract_html(_XML + source, limits.max_text_bytes)
    return page.text.decode("utf-8", "replace").strip()


def _documents(
    sections: Sequence[Section], metadata: Mapping[str, Value], limits: Limits
) -> list[Document]:
    about = dict(metadata)
    title = str(about.pop("title", ""))
    counted = {one.part: Pieces(limits.max_text_bytes) for one in sections if one.number}
    others: dict[str, Pieces] = {}
    for section in sections:
        if section.number:
            counted[section.part].add(section.number, section.text)
            continue
        key = section.name or _FRONT
        if key in counted:  # what stands in a part before its chapters
            key = f"{key}: {_FRONT}"
        pieces = others.setdefault(key, Pieces(limits.max_text_bytes))
        for paragraph in section.text.split("\n\n"):
            pieces.add(pieces.count + 1, paragraph)
    documents = [(key, "chapter", pieces) for key, pieces in counted.items()]
    documents += [(key, "paragraph", pieces) for key, pieces in others.items()]
    return [
        Document(
            text=pieces.text,
            kind="epub",
            markup="markdown",
            title=": ".join(filter(None, (title, key))),
            unit=unit,
            places=pieces.places,
            key=key,
            metadata=about,
        )
        for key, unit, pieces in documents
        if pieces.text
    ]


def _read_package(archive: Archive) -> _Package:
    """Read what the book says of itself, and of its pages in reading order."""
    name = _package_name(archive)
    package = _Package(posixpath.dirname(name))
    for event in xml_events(archive.stream(name), name):
        package.take(event)
    if not package.spine:
        raise Unreadable("damaged: an e-book that names no chapters")
    return package


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
        self.manifest: dict[str, str] = {}  # id -> name of the page's file
        self.spine: list[str] = []  # ids in reading order
        self.metadata: dict[str, Value] = {}
        self.contents: list[str] = []  # names of files that hold the table of contents
        self.begin = ""  # name of the page at which reading begins
        self._folder = folder
        self._wanted: str | None = None
        self._text = ""

    def pages(self) -> Iterator[str]:
        """Give the names of the pages in reading order, each once, without the contents."""
        names = dict.fromkeys(self.manifest.get(id_, "") for id_ in self.spine)
        return (name for name in names if name and name not in self.contents)

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
            self._list(attributes)
        elif event.name == "itemref" and len(self.spine) < _MAX_CHAPTERS:
            self.spine.append(attributes.get("idref", ""))
        elif event.name == "reference" and attributes.get("type") == "text":
            self.begin = path_in_book(self._folder, attributes.get("href", "").partition("#")[0])

    def _list(self, attributes: Mapping[str, str]) -> None:
        kind = attributes.get("media-type", "")
        name = path_in_book(self._folder, attributes.get("href", ""))
        self.manifest[attributes.get("id", "")] = name if kind in _HTML_TYPES else ""
        if len(self.contents) >= _MAX_CONTENTS:
            return
        if "nav" in attributes.get("properties", "").split():
            self.contents.insert(0, name)
        elif kind == _NCX:
            self.contents.append(name)
