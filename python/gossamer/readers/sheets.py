"""Sheets of a workbook, of whatever format, as documents of rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gossamer.errors import Unreadable
from gossamer.readers.limits import Limits
from gossamer.readers.pieces import Pieces, one_line
from gossamer.records import Document, Value

__all__ = ["MAX_COLUMNS", "Rows", "cell_text", "make_sheets"]

MAX_COLUMNS = 256  # cells beyond it are kept, but no longer aligned
_BETWEEN = " | "
_MAX_CELL_CHARS = 32_767  # what Excel holds; repeated longer ones would make a small file large

# The number of each row, as the sheet shows it, and its cells.
Rows = Iterable[tuple[int, list[str]]]


def make_sheets(
    kind: str, sheets: Iterable[tuple[str, Rows]], about: Mapping[str, Value], limits: Limits
) -> list[Document]:
    """Make a document for each sheet that has text, its key the sheet's name."""
    metadata = dict(about)
    book_title = one_line(metadata.pop("title", ""))
    documents: dict[str, Document] = {}
    room = limits.max_text_bytes
    for name, rows in sheets:
        pieces = Pieces(limits.max_text_bytes, separator="\n")
        for number, cells in rows:
            # Counted before they are joined: cells that show one long string share it until then.
            room -= sum(map(_size, cells)) + len(_BETWEEN) * len(cells)
            if room < 0:
                raise Unreadable(
                    f"more than {limits.max_text_bytes / 1e6:,.1f} MB of text, too much for a "
                    "workbook of its size; split it"
                )
            if any(cells):
                pieces.add(number, _BETWEEN.join(cells))
        key = name if name not in documents else f"{name} ({len(documents) + 1})"
        if pieces.text and len(documents) < limits.max_documents:
            documents[key] = Document(
                text=pieces.text,
                kind=kind,
                markup="rows",
                title=f"{book_title}: {name}" if book_title else name,
                unit="row",
                places=pieces.places,
                key=key,
                metadata=metadata | {"sheet": name},
            )
    if not documents:
        raise Unreadable("no text in it")
    return list(documents.values())


def cell_text(value: str) -> str:
    """Give what stands in a cell as one line."""
    return " ".join(value[:_MAX_CELL_CHARS].split())


def _size(cell: str) -> int:
    return len(cell) if cell.isascii() else len(cell.encode("utf-8", "replace"))
