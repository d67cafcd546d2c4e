"""`gossamer open`: a hit of the last search, in the user's editor or viewer."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

import click

from gossamer.cli.formats import line_of
from gossamer.cli.session import Session, common_options, pass_session
from gossamer.errors import UnknownId

if TYPE_CHECKING:
    from gossamer.cli.last_search import Place
    from gossamer.cli.programs import Program
    from gossamer.index import Index

__all__ = ["command", "open_place"]


@click.command("open", short_help="Open a hit of the last search in your editor.")
@click.argument("number", type=click.IntRange(min=1), required=False)
@click.option("--id", type=click.IntRange(min=0), metavar="ID", help="Open the chunk with this id.")
@click.option("--print", "is_shown", is_flag=True, help="Print the command; do not run it.")
@common_options()
@pass_session
def command(session: Session, number: int | None, id: int | None, is_shown: bool) -> None:
    """Open hit NUMBER of the last search (or `similar`) at its place, or the chunk with an ID.

    Texts open in $VISUAL or $EDITOR at the line, PDFs at the page in $GOSSAMER_VIEWER (such as
    'evince -i {page} {path}') or a viewer that is found, office files in what your desktop opens
    them with. A text that a program added is printed. With --id, --index says of which index.
    """
    from gossamer.cli.answers import Asked
    from gossamer.cli.last_search import place_of, read_place

    if (number is None) == (id is None):
        raise click.UsageError("give the number of a hit, or the --id of a chunk")
    if number is not None:
        place = read_place(number)
        session.index = place.index
        index = session.open_index()
    else:
        index = session.open_index()
        assert id is not None
        place = place_of(Asked(session.index, index), index.get(id))
    open_place(session, index, place, is_shown)


def open_place(session: Session, index: Index, place: Place, is_shown: bool = False) -> None:
    """Open a place, or print the command that would; print a text that is in no file here.

    Untrusted if the index is; UnknownId if the file is gone.
    """
    program = _program_for(index, place)
    if program is None:
        if not place.id:  # a passage of a file that was not up to date
            raise UnknownId(f"{place.path} is not in the index any more; search again")
        from gossamer.cli.show import show_chunk

        show_chunk(session.output, index, place.id)
    elif is_shown:
        session.output.path(shlex.join(program.arguments))
    else:
        from gossamer.cli.programs import start

        start(program)


def _program_for(index: Index, place: Place) -> Program | None:
    from gossamer.cli.programs import choose_program

    snapshot = index.snapshot
    if snapshot.catalogue.find_path(place.path) is None:
        return None
    if not snapshot.is_trusted:
        raise snapshot.refusal("the files that it names are not opened")
    if not snapshot.may_look_at(place.path):  # it is a server's
        return None
    if not os.path.isfile(place.path):
        raise UnknownId(
            f"{place.path} is gone; `gossamer add` brings the index up to date with its folders"
        )
    page = place.line if place.unit == "page" else 1
    return choose_program(place.path, place.kind, line_of(place), page)
