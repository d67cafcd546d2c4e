"""`gossamer trust`: accept an index that was made elsewhere, or moved."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gossamer.cli.failures import ExitCode
from gossamer.cli.output import Column
from gossamer.cli.session import Session, as_json_option, common_options, pass_session
from gossamer.cli.words import counted, near_path

if TYPE_CHECKING:
    from gossamer.store.trust import Claims

__all__ = ["command"]


@click.command("trust", short_help="Accept an index that was made elsewhere, or moved.")
@click.argument("name", metavar="[INDEX]", required=False)
@click.option("--forget", is_flag=True, help="Trust it no more.")
@click.option("--show", is_flag=True, help="Only show what it names; exit code 1 if not trusted.")
@as_json_option
@common_options()
@pass_session
def command(session: Session, name: str | None, forget: bool, show: bool, as_json: bool) -> None:
    """Show what an index would have this machine do, and accept it.

    INDEX is a name or a folder, as for --index. An index names folders to read again, a model and
    perhaps a server. Those of one that was made or accepted on this machine are followed; one that
    was copied here, or moved, is searched by what it holds itself until it is accepted.
    """
    from gossamer.store import trust
    from gossamer.store.folder import read_manifest

    if name is not None:
        session.index = name
    folder = session.folder
    manifest = read_manifest(folder)
    if forget:
        trust.forget(folder)
    elif not show:
        trust.accept(folder, manifest)
    claims, is_trusted = trust.claims_of(manifest), trust.is_trusted(folder, manifest)
    if as_json:
        session.output.json({"folder": str(folder), **claims.as_json(), "is_trusted": is_trusted})
    else:
        _show(session, folder.as_posix(), claims, is_trusted)
    if show and not is_trusted:
        click.get_current_context().exit(ExitCode.NO)


def _shown(root: str) -> str:
    """Write a folder on one line, with where it leads if it is a link."""
    real = os.path.realpath(root)
    said = root if real == root else f"{root} (leads to {real})"
    return said if said.isprintable() else repr(said)[1:-1]


def _show(session: Session, folder: str, claims: Claims, is_trusted: bool) -> None:
    from gossamer.sync.outbox import count_waiting

    roots = [("" if place else "folders", _shown(root)) for place, root in enumerate(claims.roots)]
    waiting = count_waiting(Path(folder)) if claims.server else 0
    rows = [
        ("index", near_path(folder)),
        *(roots or [("folders", "none")]),
        *([("read with", json.dumps(claims.as_json()["walk"]))] if claims.walk else []),
        ("model", claims.model),
        *([("server", claims.server)] if claims.server else []),
        *([("to be sent", counted(waiting, "change"))] if waiting else []),
        ("trusted", "yes: these are followed" if is_trusted else "no: none of these is followed"),
    ]
    session.output.table([Column("", style="quiet"), Column("", may_fold=True)], rows)
