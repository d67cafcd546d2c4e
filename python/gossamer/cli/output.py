"""The only module that prints: text for people, plain where it goes to a file, JSON for programs.

Answers go to standard output; notes, progress and errors to standard error.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

__all__ = ["Column", "Line", "Output", "Piece", "printable", "printable_path"]

# A stretch of text and what it is: a key of _STYLES, or "" for plain text.
Piece = tuple[str, str]
Line = Sequence[Piece | str]

# What breaks a line or is no character.
_UNSHOWN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")

_STYLES = {
    "": "",
    "path": "bold magenta",
    "title": "bold",
    "match": "bold red",
    "code": "cyan",
    "quiet": "dim",
    "head": "bold",
    "good": "green",
    "warning": "yellow",
    "error": "bold red",
}


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    name: str
    is_number: bool = False
    style: str = ""
    may_fold: bool = False  # takes what room is left, and goes on below


class Output:
    """Where a command's answers go."""

    def __init__(self, is_quiet: bool = False) -> None:
        self.is_quiet = is_quiet

    def line(self, *pieces: Piece | str, indent: int = 0) -> None:
        """Print a line; in a terminal a long one goes on below, indented alike."""
        self._write(sys.stdout, pieces, indent)

    def path(self, path: str, rest: str = "", end: str = "\n") -> None:
        """Print a path for programs, with what is said of it: its own bytes, unless a person sees.

        It cannot be taken for an option.
        """
        path = f".{os.sep}{path}" if path.startswith("-") else path
        if self.is_terminal:
            print(printable_path(path) + printable(rest), end=end, file=sys.stdout)
            return
        sys.stdout.flush()
        sys.stdout.buffer.write(os.fsencode(path) + (rest + end).encode("utf-8", "replace"))
        sys.stdout.buffer.flush()

    def note(self, *pieces: Piece | str) -> None:
        """Say something beside the answer, unless only answers are wanted."""
        if not self.is_quiet:
            self._write(sys.stderr, pieces)

    def error(self, message: str) -> None:
        """Say what went wrong."""
        self._write(sys.stderr, [("error: ", "error"), message])

    def ask(self, question: str) -> bool:
        """Ask a person for a yes; no where there is nobody to ask."""
        if self.is_quiet or not (_is_terminal(sys.stdin) and _is_terminal(sys.stderr)):
            return False
        self._write(sys.stderr, [(f"{question} [y/N]", "warning")])
        return sys.stdin.readline().strip().lower() in ("y", "yes")

    def json(self, record: object) -> None:
        """Print one object for a program to read.

        In a terminal what `printable` replaces is written as \\uXXXX: the object is the same.
        """
        encoding = (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "")
        text = json.dumps(record, indent=2, ensure_ascii=encoding != "utf8")
        if self.is_terminal:
            text = _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
        print(text.encode("utf-8", "replace").decode("utf-8"), file=sys.stdout)

    def table(self, columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
        """Print rows below the columns' names."""
        columns = [replace(column, name=printable(column.name)) for column in columns]
        clean = [[printable(cell) for cell in row] for row in rows]
        if self.is_terminal:
            self._rich_table(columns, clean)
        else:
            self._plain_table(columns, clean)

    @property
    def is_terminal(self) -> bool:
        """Whether a person sees standard output."""
        return _is_terminal(sys.stdout)

    @property
    def is_interactive(self) -> bool:
        """Whether a person sees standard output and types, in a terminal that can be drawn on."""
        return self.is_terminal and _is_terminal(sys.stdin) and os.environ.get("TERM") != "dumb"

    @cached_property
    def errors_console(self) -> Console | None:
        """What draws on standard error; None if no person sees it, or wants to."""
        if self.is_quiet or not _is_terminal(sys.stderr):
            return None
        return _console(sys.stderr)

    @cached_property
    def _console(self) -> Console:
        return _console(sys.stdout)

    def _write(self, file: IO[str], pieces: Line, indent: int = 0) -> None:
        clean = [_as_piece(piece) for piece in pieces]
        if not _is_terminal(file):
            lines = "".join(text for text, _ in clean).split("\n")
            print("\n".join(" " * indent + line for line in lines).rstrip(), file=file)
            return
        from rich.padding import Padding

        console = self._console if file is sys.stdout else _console(file)
        text = _rich_text(clean)
        if indent:
            console.print(Padding(text, (0, 0, 0, indent), expand=False))
        else:
            # The terminal may break a path, but no line end gets into it: it can be copied.
            console.print(text, soft_wrap=any(style == "path" for _, style in clean))

    def _rich_table(self, columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
        from rich.table import Table

        has_names = any(column.name for column in columns)
        table = Table(
            box=None,
            pad_edge=False,
            padding=(0, 2, 0, 0),
            header_style="dim",
            show_header=has_names,
        )
        for column in columns:
            table.add_column(
                column.name,
                justify="right" if column.is_number else "left",
                style=_STYLES[column.style],
                no_wrap=not column.may_fold,
                overflow="fold",
            )
        for row in rows:
            table.add_row(*(_rich_text([(cell, "")]) for cell in row))
        self._console.print(table)

    def _plain_table(self, columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
        names = [column.name for column in columns]
        shown = [names, *rows] if any(names) else list(rows)
        widths = [max(len(row[i]) for row in shown) for i in range(len(columns))]
        for row in shown:
            cells = [
                cell.rjust(width) if column.is_number else cell.ljust(width)
                for cell, width, column in zip(row, widths, columns, strict=True)
            ]
            print("  ".join(cells).rstrip(), file=sys.stdout)


def printable(text: str) -> str:
    """Replace what would move the cursor, colour the screen or turn the direction of writing."""
    return text.translate(_HARMLESS)


def printable_path(path: str) -> str:
    """Write what would break a line as in a program's source: a path stays on one line."""
    return printable(_UNSHOWN.sub(lambda found: repr(found[0])[1:-1], path))


def _harmless() -> dict[int, str]:
    """Controls, marks of direction and lone surrogates, and what stands in their place."""
    controls = [*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
    controls += range(0xD800, 0xE000)
    table: dict[int, str] = dict.fromkeys(controls, "\N{REPLACEMENT CHARACTER}")
    spaces = dict.fromkeys((0x0B, 0x0C, 0x85, 0x2028, 0x2029), " ")
    return table | spaces | {9: "\t", 10: "\n", 13: ""}


_HARMLESS = _harmless()
# In JSON, where an end of line is never part of a string.
_UNSAFE = re.compile(f"[{re.escape(''.join(map(chr, _HARMLESS.keys() - {10})))}]")


def _as_piece(piece: Piece | str) -> Piece:
    text, style = (piece, "") if isinstance(piece, str) else piece
    return (printable_path(text) if style == "path" else printable(text)), style


def _rich_text(pieces: Sequence[Piece]) -> Text:
    from rich.text import Text

    text = Text(overflow="fold")
    for part, style in pieces:
        text.append(part, style=_STYLES[style])
    return text


def _is_terminal(file: Any) -> bool:
    try:
        return bool(file.isatty())
    except (AttributeError, ValueError):  # closed, or none at all
        return False


def _console(file: IO[str]) -> Console:
    from rich.console import Console

    return Console(file=file, highlight=False, markup=False, emoji=False)
