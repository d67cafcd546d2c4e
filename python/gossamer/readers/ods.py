"""OpenDocument workbooks: each sheet a document, each row a line of cells."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from gossamer.readers.archive import Archive, XmlEvent, xml_events
from gossamer.readers.limits import Limits
from gossamer.readers.ooxml import properties_of
from gossamer.readers.pieces import one_line
from gossamer.readers.sheets import MAX_COLUMNS, cell_text, make_sheets
from gossamer.records import Document

__all__ = ["read_archive"]

_CONTENT = "content.xml"
# What reviewers wrote beside the cells, and drawings.
_SKIPPED = {"annotation", "tracked-changes", "automatic-styles", "forms", "shapes"}
_CELLS = {"table-cell", "covered-table-cell"}
_SPACES = {"p", "s", "tab", "line-break"}
_MAX_REPEATED = 1 << 20  # sheets say how often their last, empty row is repeated


class _Row(NamedTuple):
    sheet: tuple[int, str]  # its number and name
    number: int
    cells: list[str]


def read_archive(archive: Archive, limits: Limits) -> list[Document]:
    """Read a workbook; rows count as the sheet shows them, empty ones too."""
    rows = _Walk().rows(archive)
    sheets = (
        (name, ((row.number, row.cells) for row in group))
        for (_, name), group in groupby(rows, lambda row: row.sheet)
    )
    return make_sheets("ods", sheets, properties_of(archive, "meta.xml"), archive.bound(limits))


class _Walk:
    """Goes through the content once; a table inside a cell is part of the cell."""

    def __init__(self) -> None:
        self._skipping = 0
        self._depth = 0  # of tables
        self._sheet = (0, "")
        self._number = 0
        self._row_repeated = 1
        self._cells: list[str] = []
        self._repeated = 1
        self._empty = 0  # cells since the last with text
        self._cell: list[str] = []

    def rows(self, archive: Archive) -> Iterator[_Row]:
        """Give the rows that have text."""
        for event in xml_events(archive.stream(_CONTENT), _CONTENT):
            if self._skipping or (event.kind == "start" and event.name in _SKIPPED):
                self._skipping += {"start": 1, "end": -1}.get(event.kind, 0)
            elif event.kind == "text":
                self._cell.append(event.name)
            elif event.name == "table":
                self._pass_table(event)
            elif self._depth == 1 and event.name == "table-row":
                if event.kind == "start":
                    self._begin_row(event)
                elif any(self._cells):
                    yield _Row(self._sheet, self._number, self._cells)
            elif self._depth == 1 and event.name in _CELLS:
                self._pass_cell(event)
            elif event.name in _SPACES:
                self._cell.append(" ")

    def _pass_table(self, event: XmlEvent) -> None:
        self._depth += 1 if event.kind == "start" else -1
        if event.kind == "start" and self._depth == 1:
            number = self._sheet[0] + 1
            self._sheet = (number, one_line(event.attributes.get("name")) or f"Sheet{number}")
            self._number, self._row_repeated = 0, 1

    def _begin_row(self, event: XmlEvent) -> None:
        self._number += self._row_repeated
        self._row_repeated = _repeated(event, "number-rows-repeated")
        self._cells, self._empty = [], 0

    def _pass_cell(self, event: XmlEvent) -> None:
        if event.kind == "start":
            self._repeated = _repeated(event, "number-columns-repeated")
            self._cell = []
            return
        text = cell_text("".join(self._cell))
        if not text:
            self._empty += self._repeated
            return
        room = MAX_COLUMNS - len(self._cells)
        self._cells += [""] * min(self._empty, room)
        self._cells += [text] * max(min(self._repeated, room - self._empty), 1)
        self._empty = 0


def _repeated(event: XmlEvent, name: str) -> int:
    value = event.attributes.get(name, "1")
    is_number = value.isascii() and value.isdecimal() and len(value) < 9
    return min(max(int(value), 1), _MAX_REPEATED) if is_number else 1
