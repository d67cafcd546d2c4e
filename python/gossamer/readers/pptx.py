"""Slides: the title of each as a heading, its text as lines, its notes after it."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from gossamer.errors import Unreadable
from gossamer.readers.archive import Archive, XmlEvent, xml_events
from gossamer.readers.blocks import Block, Layout
from gossamer.readers.limits import Limits
from gossamer.readers.ooxml import make_document, relationships
from gossamer.readers.pieces import Pieces
from gossamer.records import Document

__all__ = ["read_archive"]

_PRESENTATION = "ppt/presentation.xml"
_MAX_SLIDES = 10_000
_TITLES = {"title", "ctrTitle"}
# Page numbers, dates and running lines, which say nothing of the slide itself.
_DECORATION = {"sldNum", "dt", "ftr", "hdr", "sldImg"}


def read_archive(archive: Archive, limits: Limits) -> list[Document]:
    """Read a presentation in the order in which it is shown; slides are numbered from 1."""
    pieces = Pieces(limits.max_text_bytes)
    for number, slide in enumerate(_slides(archive), 1):
        blocks = list(_SlideWalk({"body", "obj"}).blocks(archive, slide))
        pieces.add(number, _as_text(blocks))
        for kind, target in relationships(archive, slide).values():
            if kind == "notesSlide" and target in archive:
                notes = [block.text for block in _SlideWalk(set()).blocks(archive, target)]
                if notes:
                    pieces.add(number, "Notes: " + "\n".join(notes))
    if not pieces.text:
        raise Unreadable("no text in it; slides of pictures? OCR is not done")
    return [make_document(archive, "pptx", pieces.text, "slide", pieces.places)]


def _slides(archive: Archive) -> list[str]:
    """Give the parts of the slides in order; those that are missing in the file are left out."""
    parts = relationships(archive, _PRESENTATION)
    found: list[str] = []
    for event in xml_events(archive.stream(_PRESENTATION), _PRESENTATION):
        if event.kind == "start" and event.name == "sldId" and len(found) < _MAX_SLIDES:
            _, target = parts.get(event.attributes.get("r:id", ""), ("", ""))
            # A number is kept for a missing slide, so that those after it keep theirs.
            found.append(target)
    if not found:
        raise Unreadable("damaged: a presentation that names no slides")
    return found


def _as_text(blocks: list[Block]) -> str:
    """Put the headings first, wherever they stand in the drawing order, then the lines."""
    headings = [block.text for block in blocks if block.text.startswith("# ")]
    lines = [block.text for block in blocks if not block.text.startswith("# ")]
    return "\n\n".join([*headings, "\n".join(lines)])


class _SlideWalk:
    """Goes through the shapes of one slide or notes page."""

    def __init__(self, listing: set[str]) -> None:
        self._listing = listing  # what placeholders hold points, not prose
        self._layout = Layout()
        self._placeholder: str | None = None  # what the open shape is a place for; None for a box
        self._is_text = False

    def blocks(self, archive: Archive, part: str) -> Iterator[Block]:
        """Give paragraphs, list items and table rows in drawing order; none if it is missing."""
        if part not in archive:
            return
        for event in xml_events(archive.stream(part), posixpath.basename(part)):
            if event.kind == "text":
                if self._is_text:
                    self._layout.write(event.name)
            elif event.kind == "start":
                self._start(event)
            else:
                yield from self._end(event.name)

    def _start(self, event: XmlEvent) -> None:
        layout, name = self._layout, event.name
        if name == "sp":
            self._placeholder = None
        elif name == "ph":
            self._placeholder = event.attributes.get("type", "body")
        elif name == "p":
            is_point = self._placeholder in self._listing
            layout.begin_paragraph(int(self._placeholder in _TITLES), 0 if is_point else -1)
        elif name == "pPr" and layout.paragraph is not None:
            level = event.attributes.get("lvl", "0")
            if layout.paragraph.list_level == 0 and level in set("012345678"):
                layout.paragraph.list_level = int(level)
        elif name == "t":
            self._is_text = self._placeholder not in _DECORATION
        elif name == "br":
            layout.write("\n")
        elif name == "tbl":
            layout.begin_table()
        elif name == "tr":
            layout.begin_row()
        elif name == "tc":
            layout.begin_cell()

    def _end(self, name: str) -> list[Block]:
        layout = self._layout
        if name == "p":
            return layout.end_paragraph()
        if name == "tr":
            return layout.end_row()
        if name == "t":
            self._is_text = False
        elif name == "sp":
            self._placeholder = None
        elif name == "tc":
            layout.end_cell()
        elif name == "tbl":
            layout.end_table()
        return []
