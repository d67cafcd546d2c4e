"""`gossamer similar`: what else is like this place."""

from __future__ import annotations

from typing import Any

import click

from gossamer.cli.failures import ExitCode
from gossamer.cli.formats import Format, format_options
from gossamer.cli.search import count_option, filter_options
from gossamer.cli.session import Session, common_options, model_option, pass_session

__all__ = ["command"]


@click.command("similar", short_help="Find what is like a place or a chunk.")
@click.argument("place", metavar="PATH:LINE|ID")
@count_option
@filter_options
@click.option("--full", is_flag=True, help="Show whole chunks, not their best lines.")
@model_option
@format_options
@common_options()
@pass_session
def command(
    session: Session, /, place: str, full: bool, format: Format, model: str, **options: Any
) -> None:
    """Find chunks like the one at PATH:LINE, or the one with this ID.

    Exit code 1 if nothing was found.
    """
    from gossamer.cli.answers import Asked, answer_of_one
    from gossamer.cli.hits import show_results

    index = session.open_index(model)
    results = index.similar(int(place) if place.isdecimal() else place, full=full, **options)
    answer = answer_of_one(Asked(session.index, index), place, results)
    show_results(session.output, answer, format)
    if not answer.found.hits:
        raise SystemExit(ExitCode.NO)
