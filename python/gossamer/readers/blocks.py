"""What office documents are made of, paragraphs, lists and tables, on its way into text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from gossamer.readers.pieces import MARK, Pieces

__all__ = ["Block", "Layout", "NotePlace", "Paragraph", "write_blocks"]

_MAX_HEADING = 6
_MAX_INDENT = 9


@dataclass(frozen=True, slots=True)
class NotePlace:
    """Where a footnote belongs: the paragraph, and the page of what refers to it."""

    number: int
    page: int


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, heading, list item or table row, and where it begins.

    Each `MARK` in its text is the beginning of a page.
    """

    text: str
    number: int
    page: int
    kind: str = "text"  # "list" and "row" go on from line to line; others stand alone


@dataclass(slots=True)
class Paragraph:
    """A paragraph while its text comes in."""

    page: int
    text: list[str] = field(default_factory=list)
    level: int = 0  # of a heading, from 1; 0 for other paragraphs
    list_level: int = -1  # how deep in a list, from 0; -1 outside


@dataclass(slots=True)
class _Table:
    page: int
    row: list[list[str]] = field(default_factory=list)  # the paragraphs of each cell
    cell: list[str] = field(default_factory=list)


class Layout:
    """Follows paragraphs and tables, however they are nested, and gives finished blocks.

    What stands inside a table cell becomes part of its row. An end without its begin is ignored.
    Paragraphs with text are numbered from 1, headings and list items among them; a table row
    counts as one.
    """

    def __init__(self) -> None:
        self.page = 1
        self.note: NotePlace | None = None  # what blocks belong to while a footnote is open
        self._count = 0
        self._paragraphs: list[Paragraph] = []
        self._tables: list[_Table] = []

    @property
    def paragraph(self) -> Paragraph | None:
        """The innermost paragraph that is open."""
        return self._paragraphs[-1] if self._paragraphs else None

    @property
    def here(self) -> NotePlace:
        """Where a footnote belongs that is referred to now: the block that is open."""
        return NotePlace(self._count + 1, self.page)

    def write(self, text: str) -> None:
        """Put text into the open paragraph; outside of one it is dropped."""
        if self._paragraphs:
            self._paragraphs[-1].text.append(text)

    def begin_page(self) -> None:
        """Go to the next page, maybe in the middle of a paragraph."""
        self.page += 1
        self.write(MARK)

    def begin_paragraph(self, level: int = 0, list_level: int = -1) -> None:
        """Open a paragraph."""
        self._paragraphs.append(Paragraph(self.page, level=level, list_level=list_level))

    def end_paragraph(self) -> list[Block]:
        """Close the open paragraph; nothing if it is empty or stands in a table."""
        if not self._paragraphs:
            return []
        paragraph = self._paragraphs.pop()
        text = "".join(paragraph.text).strip()
        if not text.replace(MARK, "").strip():
            return []
        if self._tables:
            self._tables[-1].cell.append(text)
            return []
        # What stands before the text of a paragraph that begins a page is on that page too.
        page = paragraph.page + len(text) - len(text.lstrip(MARK))
        text = text.lstrip(MARK).lstrip()
        if paragraph.level > 0:
            marks = "#" * min(paragraph.level, _MAX_HEADING)
            return [self._block(f"{marks} {_one_line(text)}", page)]
        if paragraph.list_level >= 0:
            indent = "  " * min(paragraph.list_level, _MAX_INDENT)
            return [self._block(f"{indent}- {_one_line(text)}", page, "list")]
        return [self._block(text, page)]

    def begin_table(self) -> None:
        """Open a table, maybe inside a cell of another."""
        self._tables.append(_Table(self.page))

    def begin_row(self) -> None:
        """Open a row of the open table."""
        if self._tables:
            self._tables[-1].row = []
            self._tables[-1].page = self.page

    def begin_cell(self) -> None:
        """Open a cell of the open row."""
        if self._tables:
            self._tables[-1].cell = []

    def end_cell(self) -> None:
        """Close the open cell."""
        if self._tables:
            table = self._tables[-1]
            table.row.append(table.cell)
            table.cell = []

    def end_row(self) -> list[Block]:
        """Close the open row; nothing if it is empty or stands in a cell of another table."""
        if not self._tables or not any(self._tables[-1].row):
            return []
        table = self._tables[-1]
        # A row of one cell is layout, not a table: its paragraphs stay what they are.
        is_layout = len(table.row) == 1
        texts = table.row[0]
        if not is_layout:
            texts = [" | ".join(_one_line(" ".join(cell)) for cell in table.row)]
        if len(self._tables) > 1:
            self._tables[-2].cell += texts
            return []
        blocks, page = [], table.page
        for text in texts:
            blocks.append(self._block(text, page, "text" if is_layout else "row"))
            page += text.count(MARK)
        return blocks

    def end_table(self) -> None:
        """Close the open table."""
        if self._tables:
            self._tables.pop()

    def _block(self, text: str, page: int, kind: str = "text") -> Block:
        if self.note is not None:
            return Block(text.replace(MARK, ""), self.note.number, self.note.page, kind)
        self._count += 1
        return Block(text.strip(), self._count, page, kind)


def write_blocks(blocks: Iterable[Block], pieces: Pieces) -> tuple[tuple[int, int], ...]:
    """Write blocks as pieces of their numbers; give the places where the pages begin."""
    places: list[tuple[int, int]] = []
    kind = ""
    for block in blocks:
        is_run = block.kind == kind and kind != "text"
        begins = pieces.add(block.number, block.text, "\n" if is_run else None)
        kind = block.kind if begins else kind
        for page, begin in enumerate(begins, block.page):
            if not places or page != places[-1][1]:
                # A page that begins where another does is empty.
                places = places[:-1] if places and places[-1][0] == begin else places
                places.append((begin, page))
    return tuple(places)


def _one_line(text: str) -> str:
    return " ".join(text.split())
