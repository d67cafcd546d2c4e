"""What DOCX, PPTX and XLSX share: relationships between parts, and core properties."""

from __future__ import annotations

import posixpath
import re

from gossamer.readers.archive import Archive, xml_events
from gossamer.readers.pieces import one_line
from gossamer.records import Document, Value

__all__ = ["core_properties", "make_document", "properties_of", "relationships"]

_MAX_RELATIONSHIPS = 100_000
_WANTED = {
    "title": "title",
    "creator": "author",
    "initial-creator": "author",
    "modified": "date",
    "date": "date",
    "subject": "subject",
    "keywords": "keywords",
}
_ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?)?")


def make_document(
    archive: Archive, kind: str, text: bytes, unit: str, places: tuple[tuple[int, int], ...]
) -> Document:
    """Make a document of Markdown-like text, with what the archive says of its title and author."""
    metadata = core_properties(archive)
    return Document(
        text=text,
        kind=kind,
        markup="markdown",
        title=one_line(metadata.pop("title", "")),
        unit=unit,
        places=places,
        metadata=metadata,
    )


def relationships(archive: Archive, part: str) -> dict[str, tuple[str, str]]:
    """Give id -> (last word of the type, name of the other part) of a part; {} if it has none."""
    folder, name = posixpath.split(part)
    listing = posixpath.join(folder, "_rels", f"{name}.rels")
    found: dict[str, tuple[str, str]] = {}
    if listing not in archive:
        return found
    for event in xml_events(archive.stream(listing), listing):
        if event.kind != "start" or event.name != "Relationship":
            continue
        attributes = event.attributes
        if attributes.get("TargetMode") == "External" or len(found) >= _MAX_RELATIONSHIPS:
            continue
        kind = attributes.get("Type", "").rpartition("/")[2]
        target = posixpath.normpath(posixpath.join(folder, attributes.get("Target", "")))
        found[attributes.get("Id", "")] = (kind, target.lstrip("/"))
    return found


def core_properties(archive: Archive) -> dict[str, Value]:
    """Give title, author, date and the like out of docProps/core.xml; {} where there is none."""
    return properties_of(archive, "docProps/core.xml")


def properties_of(archive: Archive, part: str) -> dict[str, Value]:
    """Give the Dublin Core properties in a part; dates are cut to what ISO 8601 says of them."""
    found: dict[str, Value] = {}
    if part not in archive:
        return found
    wanted: str | None = None
    text = ""
    for event in xml_events(archive.stream(part), part):
        if event.kind == "start":
            wanted, text = _WANTED.get(event.name), ""
        elif event.kind == "text" and wanted and len(text) < 1000:
            text += event.name
        elif event.kind == "end" and wanted:
            value = one_line(text)
            if wanted == "date":
                value = matched.group() if (matched := _ISO_DATE.match(value)) else ""
            if value:
                found.setdefault(wanted, value)
            wanted = None
    return found
