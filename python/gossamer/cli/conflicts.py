"""`gossamer conflicts`: changes that took the place of others, and what they replaced."""

from __future__ import annotations

from dataclasses import asdict

import click

from gossamer.cli.output import Column
from gossamer.cli.session import Session, as_json_option, common_options, pass_session
from gossamer.cli.words import when

__all__ = ["command"]


@click.command("conflicts", short_help="Show changes that took the place of others.")
@click.argument("number", required=False, type=click.IntRange(min=1))
@as_json_option
@common_options()
@pass_session
def command(session: Session, number: int | None, as_json: bool) -> None:
    """Ask the server for changes that took the place of others that they did not know of.

    With NUMBER, print the text that was replaced: nothing is lost.
    """
    from gossamer.sync.follow import Edge

    output = session.output
    trust = session.settle_trust(session.folder)
    with Edge.open(session.folder, trust=trust).client() as client:
        found = client.conflicts() if number is None else [client.conflict(number)]
    if as_json:
        output.json({"conflicts": [asdict(one) for one in found]})
    elif number is not None:
        output.note((found[0].note, "warning"))
        output.line(found[0].lost)
    elif not found:
        output.note("there are no conflicts")
    else:
        columns = [
            Column("number", is_number=True),
            Column("when"),
            Column("id", may_fold=True),
            Column("note", may_fold=True),
        ]
        output.table(columns, [(str(o.number), when(o.at), o.id, o.note) for o in found])
