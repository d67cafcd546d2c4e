"""`gossamer adopt`: one index into another, without embedding."""

from __future__ import annotations

from dataclasses import asdict

import click

from gossamer.cli.session import Session, as_json_option, common_options, pass_session
from gossamer.cli.words import counted

__all__ = ["command"]


@click.command("adopt", short_help="Put all that another index holds into this one.")
@click.argument("other", metavar="INDEX")
@as_json_option
@common_options()
@pass_session
def command(session: Session, other: str, as_json: bool) -> None:
    """Put all that another INDEX, a name or a folder, holds into this one (--index).

    Nothing is read or embedded again: parts that were built apart, or on other machines, become
    one index. Sources of the same path or id are replaced. INDEX stays as it is.
    """
    theirs = Session(index=other, trust=session.trust, output=session.output)
    trust = theirs.settle_trust(theirs.folder)
    report = session.open_index().adopt(theirs.folder, trust=trust)
    if as_json:
        session.output.json(asdict(report))
        return
    session.output.note(
        f"{counted(report.chunks, 'chunk')} of {counted(report.sources, 'source')}, "
        f"{report.replaced} of them in place of others"
    )
