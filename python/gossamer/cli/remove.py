"""`gossamer remove`: take files, folders and texts out of the index."""

from __future__ import annotations

from pathlib import Path

import click

from gossamer.cli.session import Session, common_options, pass_session
from gossamer.cli.words import counted
from gossamer.errors import UnknownId

__all__ = ["command"]


@click.command("remove", short_help="Take files and folders out of the index.")
@click.argument("paths", nargs=-1, required=True)
@common_options()
@pass_session
def command(session: Session, paths: tuple[str, ...]) -> None:
    """Take PATHS out of the index; a folder with all below it, a text by its id.

    The files themselves are not touched.
    """
    from gossamer.files import absolute
    from gossamer.store.folder import read_manifest

    index = session.open_index()
    roots = read_manifest(index.folder).roots
    report = index.remove(paths)
    left = read_manifest(index.folder).roots
    if not report.removed and left == roots:
        raise UnknownId(f"there is nothing of {', '.join(paths)} in the index")
    session.output.note(f"{counted(report.removed, 'file')} removed")
    if any(Path(root) in path.parents for root in left for path in map(absolute, paths)):
        session.output.note(
            "the next `gossamer add` of the folder above brings back what is still there; "
            "name it in a .gossamerignore file to keep it out"
        )
