"""OpenDocument text, slides and workbooks as Markdown-like text."""

from __future__ import annotations

from collections.abc import Iterator

from gossamer.errors import Unreadable
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
    """Read an OpenDocument file; places are slides, pages where they are marked, or paragraphs."""
    mime = archive.read("mimetype", 1000).decode("ascii", "replace").strip()
    kind = _MIME_KINDS.get(mime.removesuffix("-template"))
    if kind is None:
        raise Unreadable(f"an OpenDocument file of type {mime[:80]!r}, which is not read")
    if "META-INF/manifest.xml" in archive and _is_encrypted(archive):
        raise Unreadable("password-protected")
    layout = Layout()
    pieces = Pieces(limits.max_text_bytes)
    pages = write_blocks(_Walk(layout, kind == "ods").blocks(archive), pieces)
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

    def __init__(self, layout: Layout, is_workbook: bool) -> None:
        self._layout = layout
        self._is_workbook = is_workbook
        self._skipping = 0
        self._list_depth = 0
        self._notes = 0  # how deep inside footnotes
        self._is_title = False  # inside the title of a slide
        self._slides = 0

    def blocks(self, archive: Archive) -> Iterator[Block]:
        """Give headings, paragraphs, list items and table rows."""
        for event in xml_events(archive.stream(_CONTENT), _CONTENT):
            block = None
            if event.kind == "start":
                block = self._start(event)
            elif event.kind == "end":
                block = self._end(event.name)
            elif not self._skipping:
                self._layout.write(event.name)
            if block is not None:
                yield block

    def _start(self, event: XmlEvent) -> Block | None:
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
            return self._start_table(event)
        elif name == "table-row":
            layout.begin_row()
        elif name in ("table-cell", "covered-table-cell"):
            layout.begin_cell()
        else:
            self._start_other(event)
        return None

    def _start_table(self, event: XmlEvent) -> Block | None:
        heading = None
        if self._is_workbook:
            self._layout.begin_paragraph(level=1)
            self._layout.write(event.attributes.get("name", ""))
            heading = self._layout.end_paragraph()
        self._layout.begin_table()
        return heading

    def _start_other(self, event: XmlEvent) -> None:
        layout, name = self._layout, event.name
        if name == "list":
            self._list_depth += 1
        elif name == "note-body":
            self._notes += 1
        elif name == "page":
            self._slides += 1
            layout.page = self._slides
        elif name == "frame":
            self._is_title = event.attributes.get("class") == "title"
        elif name == "soft-page-break":
            layout.page += 1
        elif name in ("s", "tab"):
            layout.write(" ")
        elif name == "line-break":
            layout.write("\n")

    def _end(self, name: str) -> Block | None:
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
        elif name == "frame":
            self._is_title = False
        return None
