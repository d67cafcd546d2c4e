"""Word documents: paragraphs, headings, lists, tables and footnotes as Markdown-like text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from gossamer.errors import Unreadable
from gossamer.readers.archive import Archive, XmlEvent, xml_events
from gossamer.readers.blocks import Block, Layout, NotePlace, Paragraph, write_blocks
from gossamer.readers.limits import Limits
from gossamer.readers.ooxml import make_document
from gossamer.readers.pieces import Pieces
from gossamer.records import Document

__all__ = ["read_archive"]

_DOCUMENT = "word/document.xml"
_STYLES = "word/styles.xml"
_NOTES = {"word/footnotes.xml": "", "word/endnotes.xml": "e"}
# The old place of moved text, the second copy of a text box, and tab stops that are no tabs.
_SKIPPED = {"moveFrom", "Fallback", "tabs", "rPr", "tblPr", "trPr", "tcPr", "sectPr"}
_INLINE = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_HEADING_NAME = re.compile(r"heading ([1-9])$", re.IGNORECASE)
_MAX_STYLES = 20_000


def read_archive(archive: Archive, limits: Limits) -> list[Document]:
    """Read a Word document. Pages are counted where Word left marks of them, else paragraphs."""
    layout = Layout()
    pieces = Pieces(limits.max_text_bytes)
    pages = write_blocks(_all_blocks(archive, layout), pieces)
    if not pieces.text:
        raise Unreadable("no text in it")
    has_pages = layout.page > 1
    places = pages if has_pages else pieces.places
    unit = "page" if has_pages else "paragraph"
    return [make_document(archive, "docx", pieces.text, unit, places)]


def _all_blocks(archive: Archive, layout: Layout) -> Iterator[Block]:
    levels = _heading_levels(archive)
    walk = _Walk(layout, levels)
    yield from walk.blocks(archive, _DOCUMENT)
    for part, prefix in _NOTES.items():
        if part in archive:
            yield from _Walk(layout, levels, prefix, walk.references).blocks(archive, part)


class _Walk:
    """Goes through one part and gives its blocks in reading order."""

    def __init__(
        self,
        layout: Layout,
        levels: Mapping[str, int],
        note_prefix: str = "",
        references: Mapping[str, NotePlace] = MappingProxyType({}),
    ) -> None:
        self.references = dict(references)  # the prefix and id of a footnote -> where it belongs
        self._layout = layout
        self._levels = levels
        self._note_prefix = note_prefix
        self._note = ""  # id of the footnote whose first paragraph comes next
        self._skipping = 0
        self._is_text = False

    def blocks(self, archive: Archive, part: str) -> Iterator[Block]:
        """Give the paragraphs and table rows of a part."""
        for event in xml_events(archive.stream(part), part):
            if event.kind == "text":
                if self._is_text and not self._skipping:
                    self._layout.write(event.name)
            elif event.kind == "start":
                self._start(event)
            else:
                yield from self._end(event.name)

    def _start(self, event: XmlEvent) -> None:
        layout, name = self._layout, event.name
        if self._skipping or name in _SKIPPED:
            self._skipping += 1
        elif name == "p":
            layout.begin_paragraph()
            if self._note:
                layout.write(f"[^{self._note_prefix}{self._note}]: ")
                self._note = ""
        elif name == "t":
            self._is_text = True
        elif name == "tbl":
            layout.begin_table()
        elif name == "tr":
            layout.begin_row()
        elif name == "tc":
            layout.begin_cell()
        elif name == "lastRenderedPageBreak":
            layout.begin_page()
        elif name in ("footnote", "endnote"):
            # Word keeps the lines that separate notes from text as notes with a type.
            self._note = "" if "type" in event.attributes else event.attributes.get("id", "")
            layout.note = self.references.get(self._note_prefix + self._note)
        elif layout.paragraph is not None:
            self._inside_paragraph(event, layout.paragraph)

    def _inside_paragraph(self, event: XmlEvent, paragraph: Paragraph) -> None:
        name, value = event.name, event.attributes.get("val", "")
        if name in _INLINE:
            paragraph.text.append(_INLINE[name])
        elif name in ("footnoteReference", "endnoteReference"):
            note = ("e" if name.startswith("end") else "") + event.attributes.get("id", "")
            paragraph.text.append(f"[^{note}]")
            self.references.setdefault(note, self._layout.here)
        elif name == "pStyle":
            paragraph.level = self._levels.get(value, 0)
        elif name == "outlineLvl":
            paragraph.level = _level_of(value)
        elif name == "ilvl":
            paragraph.list_level = int(value) if value in set("0123456789") else 0
        elif name == "numId":
            paragraph.list_level = -1 if value == "0" else max(paragraph.list_level, 0)

    def _end(self, name: str) -> list[Block]:
        layout = self._layout
        if self._skipping:
            self._skipping -= 1
        elif name == "p":
            return layout.end_paragraph()
        elif name == "t":
            self._is_text = False
        elif name == "tc":
            layout.end_cell()
        elif name == "tr":
            return layout.end_row()
        elif name == "tbl":
            layout.end_table()
        elif name in ("footnote", "endnote"):
            layout.note = None
        return []


@dataclass(slots=True)
class _Style:
    level: int | None = None  # None: that of the parent
    parent: str = ""


def _heading_levels(archive: Archive) -> dict[str, int]:
    """Give style id -> level of the styles that make a heading, inherited levels included."""
    if _STYLES not in archive:
        return {f"Heading{level}": level for level in range(1, 7)} | {"Title": 1}
    styles: dict[str, _Style] = {}
    style = _Style()
    for event in xml_events(archive.stream(_STYLES), _STYLES):
        if event.kind != "start" or len(styles) > _MAX_STYLES:
            continue
        value = event.attributes.get("val", "")
        if event.name == "style":
            style = styles.setdefault(event.attributes.get("styleId", ""), _Style())
        elif event.name == "basedOn":
            style.parent = value
        elif event.name == "outlineLvl":
            style.level = _level_of(value)
        elif event.name == "name" and value.lower() == "title":
            style.level = 1
        elif event.name == "name" and (matched := _HEADING_NAME.match(value)):
            style.level = int(matched.group(1))
    levels = {name: _inherited_level(name, styles) for name in styles}
    return {name: level for name, level in levels.items() if level}


def _inherited_level(name: str, styles: Mapping[str, _Style]) -> int:
    for _ in range(20):  # bounded, because styles may name one another in a circle
        style = styles.get(name)
        if style is None:
            break
        if style.level is not None:
            return style.level
        name = style.parent
    return 0


def _level_of(outline: str) -> int:
    """Turn an outline level, which counts from 0 and calls body text 9, into a heading's."""
    return int(outline) + 1 if outline in set("012345678") else 0
