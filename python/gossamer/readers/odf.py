"""OpenDocument text and slides as Markdown-like text; workbooks are read by ods.py."""

from __future__ import annotations

from collections.abc import Iterator

from gossamer.errors import Unreadable
from gossamer.readers import ods
from gossamer.readers.archive import Archive, XmlEvent, xml_events
from gossamer.readers.blocks import Block, Layout, write_blocks
from gossamer.readers.limits import Limits
from gossamer.readers.ooxml import properties_of
from gossamer.readers.pieces import Pieces, one_line
from gossamer.records import Document

__all__ = ["read_archive"]

_CONTENT = "content.xml"
_MIME_KINDS = {
    "application/vnd.oasis.opendocument.text": "odt",
    "application/vnd.oasis.opendocument.presentation": "odp",
    "application/vnd.oasis.opendocument.spreadsheet": "ods",
}
# What reviewers wrote beside the text, deleted text, and styles.
_SKIPPED = {"annotation", "tracked-changes", "automatic-styles", "forms", "note-citation"}


def read_archive(archive: Archive, limits: Limits) -> list[Document]:
    """Read an OpenDocument file; places are slides, pages where they are marked, or paragraphs.

    A workbook gives a document for each sheet.
    """
    mime = archive.read("mimetype", 1000).decode("ascii", "replace").strip()
    kind = _MIME_KINDS.get(mime.removesuffix("-template"))
    if kind is None:
        raise Unreadable(f"an OpenDocument file of type {mime[:80]!r}, which is not read")
    if "META-INF/manifest.xml" in archive and _is_encrypted(archive):
        raise Unreadable("password-protected")
    if kind == "ods":
        return ods.read_archive(archive, limits)
    layout = Layout()
    pieces = Pieces(limits.max_text_bytes)
    pages = write_blocks(_Walk(layout).blocks(archive), pieces)
    if not pieces.text:
        raise Unreadable("no text in it")
    metadata = properties_of(archive, "meta.xml")
    has_pages = layout.page > 1 or kind == "odp"
    return [
        Document(
            text=pieces.text,
            kind=kind,
            markup="markdown",
            title=one_line(metadata.pop("title", "")),
            unit=("slide" if kind == "odp" else "page") if has_pages else "paragraph",
            places=pages if has_pages else pieces.places,
            metadata=metadata,
        )
    ]


def _is_encrypted(archive: Archive) -> bool:
    manifest = "META-INF/manifest.xml"
    return any(
        event.kind == "start" and event.name == "encryption-data"
        for event in xml_events(archive.stream(manifest), manifest)
    )


class _Walk:
    """Goes through the content once and gives its blocks in order."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._skipping = 0
        self._list_depth = 0
        self._notes = 0  # how deep inside footnotes
        self._is_title = False  # inside the title of a slide
        self._slides = 0

    def blocks(self, archive: Archive) -> Iterator[Block]:
        """Give headings, paragraphs, list items and table rows."""
        for event in xml_events(archive.stream(_CONTENT), _CONTENT):
            if event.kind == "start":
                self._start(event)
            elif event.kind == "end":
                yield from self._end(event.name)
            elif not self._skipping:
                self._layout.write(event.name)

    def _start(self, event: XmlEvent) -> None:
        layout, name = self._layout, event.name
        if self._skipping or name in _SKIPPED:
            self._skipping += 1
        elif name == "h":
            level = event.attributes.get("outline-level", "1")
            layout.begin_paragraph(level=int(level) if level in set("123456") else 6)
        elif name == "p":
            layout.begin_paragraph(int(self._is_title), self._list_depth - 1)
            layout.write("Footnote: " if self._notes else "")
        elif name == "table":
            layout.begin_table()
        elif name == "table-row":
            layout.begin_row()
        elif name in ("table-cell", "covered-table-cell"):
            layout.begin_cell()
        else:
            self._start_other(event)

    def _start_other(self, event: XmlEvent) -> None:
        layout, name = self._layout, event.name
        if name == "list":
            self._list_depth += 1
        elif name == "note-body":
            layout.note = layout.note or layout.here
            self._notes += 1
        elif name == "page":
            self._slides += 1
            layout.page = self._slides
        elif name == "frame":
            self._is_title = event.attributes.get("class") == "title"
        elif name == "soft-page-break":
            layout.begin_page()
        elif name in ("s", "tab"):
            layout.write(" ")
        elif name == "line-break":
            layout.write("\n")

    def _end(self, name: str) -> list[Block]:
        layout = self._layout
        if self._skipping:
            self._skipping -= 1
        elif name in ("h", "p"):
            return layout.end_paragraph()
        elif name == "table-row":
            return layout.end_row()
        elif name in ("table-cell", "covered-table-cell"):
            layout.end_cell()
        elif name == "table":
            layout.end_table()
        elif name == "list":
            self._list_depth -= 1
        elif name == "note-body":
            self._notes -= 1
            layout.note = layout.note if self._notes else None
        elif name == "frame":
            self._is_title = False
        return []
