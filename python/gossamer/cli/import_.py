"""`gossamer import`: an index folder of a single file."""

from __future__ import annotations

import click

from gossamer.cli.progress import show_steps
from gossamer.cli.session import Session, as_json_option, common_options, pass_session
from gossamer.cli.words import counted, near_path, size

__all__ = ["command"]


@click.command("import", short_help="Make an index of an exported file.")
@click.argument("file")
@click.argument("name", metavar="[INDEX]", required=False)
@click.option("--model", default="", metavar="PLACE", help="Where its model is on this machine.")
@click.option("--replace", is_flag=True, help="Let it take the place of an index that is there.")
@as_json_option
@common_options()
@pass_session
def command(
    session: Session, file: str, name: str | None, model: str, replace: bool, as_json: bool
) -> None:
    """Make an index of a FILE that `gossamer export` or a page wrote.

    INDEX is a name or a folder, as for --index. All of the file is checked first; if something is
    wrong with it, nothing is made and nothing is changed.
    """
    from gossamer.files import absolute
    from gossamer.index import Index

    if name is not None:
        session.index = name
    folder = session.folder
    with show_steps(session.output) as progress:
        made = Index.import_file(
            absolute(file),
            folder,
            replace=replace,
            model=model,
            threads=session.threads,
            progress=progress,
        )
    status = made.status()
    if as_json:
        session.output.json(
            {
                "folder": status.folder,
                "model": status.model,
                "sources": status.indexed,
                "documents": status.documents,
                "chunks": status.chunks,
                "total_bytes": status.total_bytes,
            }
        )
        return
    session.output.note(
        f"{counted(status.chunks, 'chunk')} of {counted(status.documents, 'document')}, "
        f"{size(status.total_bytes)} in ",
        (near_path(status.folder), "path"),
    )
