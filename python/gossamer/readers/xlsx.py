"""Workbooks: each sheet a document, each row a line of cells."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from gossamer.errors import Unreadable
from gossamer.readers.archive import Archive, XmlEvent, xml_events
from gossamer.readers.limits import Limits
from gossamer.readers.ooxml import core_properties, relationships
from gossamer.readers.pieces import one_line
from gossamer.readers.sheets import MAX_COLUMNS, cell_text, make_sheets
from gossamer.records import Document

__all__ = ["read_archive"]

_WORKBOOK = "xl/workbook.xml"
_STRINGS = "xl/sharedStrings.xml"
_STYLES = "xl/styles.xml"
_MAX_SHEETS = 1_000
_MAX_STRINGS = 10_000_000
_COLUMN = re.compile(r"[A-Z]{1,3}")
_DATE_FORMATS = {*range(14, 23), *range(45, 48)}
# Quoted text and colours of a custom number format say nothing of whether it is a date.
_NO_DATE_CODES = re.compile(r'"[^"]*"|\[[^\]]*\]|\\.')
_EPOCH = datetime(1899, 12, 30)


def read_archive(archive: Archive, limits: Limits) -> list[Document]:
    """Read a workbook: a document for each sheet that has text, its key the sheet's name."""
    strings = _shared_strings(archive, limits)
    date_styles = _date_styles(archive)
    sheets = ((name, _rows(archive, part, strings, date_styles)) for name, part in _sheets(archive))
    return make_sheets("xlsx", sheets, core_properties(archive), archive.bound(limits))


def _sheets(archive: Archive) -> list[tuple[str, str]]:
    """Give (name, part) of the sheets that are there; no two have the same name."""
    parts = relationships(archive, _WORKBOOK)
    found: dict[str, str] = {}
    for event in xml_events(archive.stream(_WORKBOOK), _WORKBOOK):
        if event.kind == "start" and event.name == "sheet" and len(found) < _MAX_SHEETS:
            kind, part = parts.get(event.attributes.get("r:id", ""), ("", ""))
            name = one_line(event.attributes.get("name", "")) or f"Sheet{len(found) + 1}"
            if kind == "worksheet" and part in archive:
                found[name if name not in found else f"{name} ({len(found) + 1})"] = part
    return list(found.items())


def _shared_strings(archive: Archive, limits: Limits) -> list[str]:
    """Give the strings that cells refer to by number; phonetic guides are left out."""
    found: list[str] = []
    if _STRINGS not in archive:
        return found
    parts: list[str] = []
    is_text = False
    phonetic = 0
    room = limits.max_text_bytes
    for event in xml_events(archive.stream(_STRINGS), _STRINGS):
        if event.kind == "text":
            if is_text and not phonetic:
                parts.append(event.name)
        elif event.name == "rPh":
            phonetic += 1 if event.kind == "start" else -1
        elif event.name == "t":
            is_text = event.kind == "start"
        elif event.name == "si" and event.kind == "end":
            text = cell_text("".join(parts))
            room -= len(text) + 1
            if room < 0 or len(found) >= _MAX_STRINGS:
                raise Unreadable("more text than the limit; split the workbook")
            found.append(text)
            parts = []
    return found


def _date_styles(archive: Archive) -> set[int]:
    """Give the numbers of the cell styles that show a number as a date or time."""
    if _STYLES not in archive:
        return set()
    custom: set[str] = set()
    found: set[int] = set()
    style = -1  # number of the cell style that comes next; -1 outside of their list
    for event in xml_events(archive.stream(_STYLES), _STYLES):
        if event.name == "cellXfs":
            style = 0 if event.kind == "start" else -1
        elif event.kind == "start" and event.name == "numFmt":
            code = _NO_DATE_CODES.sub("", event.attributes.get("formatCode", "")).lower()
            if any(letter in code for letter in "dyh"):
                custom.add(event.attributes.get("numFmtId", ""))
        elif event.kind == "start" and event.name == "xf" and style >= 0:
            number = event.attributes.get("numFmtId", "")
            if number in custom or number in {str(known) for known in _DATE_FORMATS}:
                found.add(style)
            style += 1
    return found


@dataclass(slots=True)
class _Cell:
    column: int
    kind: str
    style: str
    value: list[str]


def _rows(
    archive: Archive, part: str, strings: list[str], date_styles: set[int]
) -> Iterator[tuple[int, list[str]]]:
    """Give (row number, cells) of a sheet; empty cells between others are kept as ""."""
    number = 0
    cells: list[str] = []
    cell: _Cell | None = None
    is_value = False
    for event in xml_events(archive.stream(part), part):
        if event.kind == "text":
            if is_value and cell is not None:
                cell.value.append(event.name)
        elif event.name in ("v", "t"):
            is_value = event.kind == "start"
        elif event.name == "row" and event.kind == "start":
            given = event.attributes.get("r", "")
            follows = given.isascii() and given.isdecimal() and len(given) < 9
            number = max(int(given), number + 1) if follows else number + 1
            cells = []
        elif event.name == "row":
            yield number, cells
        elif event.name == "c" and event.kind == "start":
            cell = _begin_cell(event, len(cells))
        elif event.name == "c" and cell is not None:
            cells += [""] * (cell.column - len(cells)) + [_shown(cell, strings, date_styles)]
            cell = None


def _begin_cell(event: XmlEvent, following: int) -> _Cell:
    """Read a cell's attributes; one without a reference stands after the last."""
    column = following
    if matched := _COLUMN.match(event.attributes.get("r", "")):
        column = 0
        for letter in matched.group():
            column = column * 26 + ord(letter) - ord("A") + 1
        column -= 1
    column = max(following, column) if column < MAX_COLUMNS else following
    return _Cell(column, event.attributes.get("t", "n"), event.attributes.get("s", ""), [])


def _shown(cell: _Cell, strings: list[str], date_styles: set[int]) -> str:
    """Give what a reader of the sheet sees in a cell, as far as it is text, number or date."""
    value = cell_text("".join(cell.value))
    if cell.kind == "s":
        is_known = value.isascii() and value.isdecimal() and int(value[:9]) < len(strings)
        return strings[int(value[:9])] if is_known else ""
    if cell.kind == "b":
        return {"1": "TRUE", "0": "FALSE"}.get(value, value)
    if cell.kind == "n" and cell.style.isdecimal() and int(cell.style[:9]) in date_styles:
        return _as_date(value)
    return value


def _as_date(value: str) -> str:
    """Turn days since the end of 1899 into an ISO date, with the time if there is one."""
    try:
        when = _EPOCH + timedelta(days=float(value), microseconds=500_000)
    except (ValueError, OverflowError):
        return value
    when = when.replace(microsecond=0)
    has_time = when.hour or when.minute or when.second
    return when.isoformat(" ") if has_time else when.date().isoformat()
