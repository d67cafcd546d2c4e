"""`gossamer show`: a chunk, with what stands around it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gossamer.cli.output import Output, Piece
from gossamer.cli.session import Session, as_json_option, common_options, pass_session
from gossamer.cli.words import near_path
from gossamer.query.results import record_chunk

if TYPE_CHECKING:
    from gossamer.index import Index
    from gossamer.records import Hit

__all__ = ["command", "show_chunk"]

# More than most lines have; what is too much is cut off again.
_LINE_BYTES = 400


@click.command("show", short_help="Show a chunk and what stands around it.")
@click.argument("id", type=click.IntRange(min=0))
@click.option(
    "--lines",
    default=3,
    show_default=True,
    type=click.IntRange(min=0, max=10_000),
    help="Lines of text before and after it.",
)
@as_json_option
@common_options()
@pass_session
def command(session: Session, id: int, lines: int, as_json: bool) -> None:
    """Show the chunk with this ID (search says it), and what stands around it."""
    index = session.open_index()
    if as_json:
        before, hit, after = _read(index, id, lines)
        session.output.json({**record_chunk(hit), "before": before, "after": after})
        return
    show_chunk(session.output, index, id, lines)


def show_chunk(output: Output, index: Index, id: int, lines: int = 3) -> None:
    """Print a chunk with lines before and after it."""
    before, hit, after = _read(index, id, lines)
    place = near_path(hit.source) + hit.location[len(hit.source) :]
    end = f"-{hit.last}" if hit.last > hit.first else ""
    title: list[Piece] = [("  ", ""), (hit.title, "title")] if hit.title else []
    output.line((place + end, "path"), *title)
    said = [hit.kind, f"id {hit.id}", *(f"{name}: {v}" for name, v in hit.metadata.items())]
    output.line((" · ".join(said), "quiet"))
    output.line()
    output.line((before, "quiet"), hit.text, (after, "quiet"))


def _read(index: Index, id: int, lines: int) -> tuple[str, Hit, str]:
    before, hit, after = index.context(id, lines * _LINE_BYTES)
    return _last_lines(before, lines), hit, _first_lines(after, lines)


def _last_lines(text: str, count: int) -> str:
    """Give the end of a text: this many lines, and what stands before the chunk on its own."""
    return "".join(text.splitlines(keepends=True)[-count - 1 :]) if count else ""


def _first_lines(text: str, count: int) -> str:
    """Give the beginning of a text: the rest of the chunk's line, and this many more."""
    return "".join(text.splitlines(keepends=True)[: count + 1]).rstrip("\n") if count else ""
