"""`gossamer compact`: give back the space of what was removed."""

from __future__ import annotations

import click

from gossamer.cli.session import Session, common_options, pass_session
from gossamer.cli.words import size

__all__ = ["command"]


@click.command("compact")
@common_options()
@pass_session
def command(session: Session) -> None:
    """Give back all space of what was removed or changed."""
    before, after = session.open_index().compact()
    session.output.note(f"{size(before)} before, {size(after)} now")
