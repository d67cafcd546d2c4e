"""Jupyter notebooks: prose as it is, code in fences, the text that code printed in short."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from gossamer.errors import Unreadable
from gossamer.readers.limits import Limits
from gossamer.readers.loose_json import JsonObject, as_list, as_object, parse
from gossamer.readers.pieces import Pieces, one_line
from gossamer.records import Document

__all__ = ["MAX_OUTPUT_CHARS", "read"]

# Of what one cell printed: enough to find it by, too little for tables of data to take over.
MAX_OUTPUT_CHARS = 1_000

_ANSI = re.compile(r"\x1b\[[0-9;?]{0,20}[A-Za-z]")
_LINE_ENDS = "\r\n"
_HEADING = re.compile(r"#{1,3} +(\S.{0,300})")
_LANGUAGE = re.compile(r"[A-Za-z0-9_+#.-]{1,30}")


def read(path: Path, data: bytes, limits: Limits) -> list[Document]:  # noqa: ARG001
    """Read a notebook of version 3 or 4; its places are its cells, counted from 1.

    The title is that of its metadata, or else its first heading.
    """
    notebook = _parse(data)
    language = _language(notebook)
    pieces = Pieces(limits.max_text_bytes)
    title = one_line(as_object(notebook.get("metadata")).get("title"))
    for number, cell in enumerate(_cells(notebook), 1):
        for text in _cell_texts(cell, language):
            pieces.add(number, text)
        if not title and cell.get("cell_type") in ("markdown", "heading"):
            title = _first_heading(cell)
    if not pieces.text:
        raise Unreadable("a notebook without text")
    return [
        Document(
            text=pieces.text,
            kind="notebook",
            markup="markdown",
            title=title,
            unit="cell",
            places=pieces.places,
            metadata={"language": language} if language else {},
        )
    ]


def _parse(data: bytes) -> JsonObject:
    notebook = as_object(parse(data))
    if not ("cells" in notebook or "worksheets" in notebook):
        raise Unreadable("JSON, but not a notebook: it has no cells")
    return notebook


def _language(notebook: JsonObject) -> str:
    metadata = as_object(notebook.get("metadata"))
    names = (
        as_object(metadata.get("kernelspec")).get("language"),
        as_object(metadata.get("language_info")).get("name"),
    )
    for name in names:
        if isinstance(name, str) and _LANGUAGE.fullmatch(name):
            return name.lower()
    return "python" if "worksheets" in notebook else ""


def _cells(notebook: JsonObject) -> Iterator[JsonObject]:
    """Give the cells, of all worksheets in version 3; what is no cell counts but is empty."""
    sheets = [notebook, *map(as_object, as_list(notebook.get("worksheets")))]
    for sheet in sheets:
        yield from map(as_object, as_list(sheet.get("cells")))


def _cell_texts(cell: JsonObject, language: str) -> Iterator[str]:
    source = _joined(cell.get("source", cell.get("input")))
    if cell.get("cell_type") == "code":
        if source.strip():
            fence = _fence(source)
            yield f"{fence}{language}\n{source.strip(_LINE_ENDS)}\n{fence}"
        output = "\n".join(filter(None, map(_output_text, as_list(cell.get("outputs")))))
        if output:
            short = _shortened(output)
            fence = _fence(short)
            yield f"{fence}text\n{short}\n{fence}"
    elif cell.get("cell_type") == "heading":  # version 3
        level = cell.get("level")
        marks = "#" * level if isinstance(level, int) and 1 <= level <= 6 else "#"
        yield f"{marks} {source.strip()}"
    else:
        yield source


def _output_text(output: object) -> str:
    """Give what an output shows as text; pictures, widgets and HTML are left out."""
    shown = as_object(output)
    if shown.get("output_type") in ("error", "pyerr"):
        return f"{one_line(shown.get('ename'))}: {one_line(shown.get('evalue'))}"
    data = as_object(shown.get("data"))
    return _joined(shown.get("text") or data.get("text/plain")).strip("\n")


def _shortened(text: str) -> str:
    text = _ANSI.sub("", text)
    if len(text) <= MAX_OUTPUT_CHARS:
        return text
    return text[:MAX_OUTPUT_CHARS].rpartition("\n")[0] or text[:MAX_OUTPUT_CHARS]


def _fence(text: str) -> str:
    """Give a fence that does not stand in `text` itself."""
    longest = max(
        (len(run) for run in re.findall(r"^\s{0,3}(`{3,})", text, re.MULTILINE)), default=2
    )
    return "`" * (longest + 1)


def _first_heading(cell: JsonObject) -> str:
    source = _joined(cell.get("source")).lstrip()
    if cell.get("cell_type") == "heading":
        return one_line(source)
    matched = _HEADING.match(source)
    return one_line(matched.group(1).rstrip("# ")) if matched else ""


def _joined(source: object) -> str:
    """Give text that stands as one string or as a list of lines."""
    if isinstance(source, str):
        return source
    return "".join(line for line in as_list(source) if isinstance(line, str))
