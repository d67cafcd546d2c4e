"""`gossamer check`: verify the index, and say how to repair it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from gossamer.cli.failures import ExitCode
from gossamer.cli.output import Column
from gossamer.cli.session import Session, as_json_option, common_options, pass_session
from gossamer.errors import Damaged, Truncated

if TYPE_CHECKING:
    from gossamer.store.check import Finding

__all__ = ["command"]


@click.command("check", short_help="Verify the index, and say how to repair it.")
@click.option("--quick", is_flag=True, help="Compare sizes and tables only; do not read it all.")
@as_json_option
@common_options()
@pass_session
def command(session: Session, quick: bool, as_json: bool) -> None:
    """Verify every byte of the index, and say how to repair what is wrong.

    Exit code 1 if the index is damaged.
    """
    findings = _check(session, is_deep=not quick)
    is_damaged = any(finding.severity == "error" for finding in findings)
    if as_json:
        records = [asdict(finding) for finding in findings]
        session.output.json({"is_damaged": is_damaged, "findings": records})
    elif findings:
        columns = [Column(""), Column("what", may_fold=True), Column("repair", may_fold=True)]
        rows = [(finding.severity, finding.what, finding.repair) for finding in findings]
        session.output.table(columns, rows)
    else:
        session.output.line("all is well")
    if is_damaged:
        raise SystemExit(ExitCode.NO)


def _check(session: Session, is_deep: bool) -> list[Finding]:
    """Check the index, even one that is too damaged to be opened."""
    from gossamer.store.check import check

    try:
        return session.open_index().check(deep=is_deep)
    except (Damaged, Truncated):
        return check(session.folder, is_deep)
