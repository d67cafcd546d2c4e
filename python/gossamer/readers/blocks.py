"""What office documents are made of, paragraphs, lists and tables, on its way into text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby

from gossamer.readers.pieces import Pieces

__all__ = ["Block", "Layout", "Paragraph", "write_blocks"]

_MAX_RUN = 200  # list items or rows that share a place, so that places stay near
_MAX_HEADING = 6
_MAX_INDENT = 9


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, heading, list item or table row, and the number of the page it is on."""

    text: str
    page: int = 1
    kind: str = "text"  # "list" and "row" go on from line to line; others stand alone


@dataclass(slots=True)
class Paragraph:
    """A paragraph while its text comes in."""

    text: list[str] = field(default_factory=list)
    level: int = 0  # of a heading, from 1; 0 for other paragraphs
    list_level: int = -1  # how deep in a list, from 0; -1 outside


@dataclass(slots=True)
class _Table:
    row: list[str] = field(default_factory=list)
    cell: list[str] = field(default_factory=list)


class Layout:
    """Follows paragraphs and tables, however they are nested, and gives finished blocks.

    What stands inside a table cell becomes part of its row. An end without its begin is ignored.
    """

    def __init__(self) -> None:
        self.page = 1
        self._paragraphs: list[Paragraph] = []
        self._tables: list[_Table] = []

    @property
    def paragraph(self) -> Paragraph | None:
        """The innermost paragraph that is open."""
        return self._paragraphs[-1] if self._paragraphs else None

    def write(self, text: str) -> None:
        """Put text into the open paragraph; outside of one it is dropped."""
        if self._paragraphs:
            self._paragraphs[-1].text.append(text)

    def begin_paragraph(self, level: int = 0, list_level: int = -1) -> None:
        """Open a paragraph."""
        self._paragraphs.append(Paragraph(level=level, list_level=list_level))

    def end_paragraph(self) -> Block | None:
        """Close the open paragraph; None if it is empty or stands in a table."""
        if not self._paragraphs:
            return None
        paragraph = self._paragraphs.pop()
        text = "".join(paragraph.text).strip()
        if not text:
            return None
        if self._tables:
            self._tables[-1].cell.append(text)
            return None
        if paragraph.level > 0:
            marks = "#" * min(paragraph.level, _MAX_HEADING)
            return Block(f"{marks} {' '.join(text.split())}", self.page)
        if paragraph.list_level >= 0:
            indent = "  " * min(paragraph.list_level, _MAX_INDENT)
            return Block(f"{indent}- {' '.join(text.split())}", self.page, "list")
        return Block(text, self.page)

    def begin_table(self) -> None:
        """Open a table, maybe inside a cell of another."""
        self._tables.append(_Table())

    def begin_row(self) -> None:
        """Open a row of the open table."""
        if self._tables:
            self._tables[-1].row = []

    def begin_cell(self) -> None:
        """Open a cell of the open row."""
        if self._tables:
            self._tables[-1].cell = []

    def end_cell(self) -> None:
        """Close the open cell."""
        if self._tables:
            table = self._tables[-1]
            table.row.append("\n\n".join(table.cell))
            table.cell = []

    def end_row(self) -> Block | None:
        """Close the open row; None if it is empty or stands in a cell of another table."""
        if not self._tables or not any(self._tables[-1].row):
            return None
        row = self._tables[-1].row
        # A row of one cell is layout, not a table: its paragraphs stay what they are.
        is_layout = len(row) == 1
        text = row[0] if is_layout else " | ".join(" ".join(cell.split()) for cell in row)
        if len(self._tables) > 1:
            self._tables[-2].cell.append(text)
            return None
        return Block(text.strip(), self.page, "text" if is_layout else "row")

    def end_table(self) -> None:
        """Close the open table."""
        if self._tables:
            self._tables.pop()


def write_blocks(blocks: Iterable[Block], pieces: Pieces) -> tuple[tuple[int, int], ...]:
    """Write blocks as pieces numbered from 1; give the places where the pages begin."""
    pages = [0]
    for number, (text, page) in enumerate(_runs(blocks), 1):
        pieces.add(number, text)
        pages.append(page)
    places: list[tuple[int, int]] = []
    for offset, number in pieces.places:
        if not places or pages[number] != places[-1][1]:
            places.append((offset, pages[number]))
    return tuple(places)


def _runs(blocks: Iterable[Block]) -> Iterator[tuple[str, int]]:
    """Join list items and rows that follow one another on a page into one text."""
    for (kind, page), run in groupby(blocks, lambda block: (block.kind, block.page)):
        lines: list[str] = []
        for block in run:
            lines.append(block.text)
            if kind == "text" or len(lines) == _MAX_RUN:
                yield "\n".join(lines), page
                lines = []
        if lines:
            yield "\n".join(lines), page
