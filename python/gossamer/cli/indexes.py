"""`gossamer list`: all indexes in the usual place."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import click

from gossamer.cli.output import Column
from gossamer.cli.session import Session, as_json_option, common_options, pass_session
from gossamer.cli.words import size, when
from gossamer.errors import GossamerError

__all__ = ["command"]


@dataclass(frozen=True, slots=True)
class _Listed:
    """A line of the list."""

    name: str
    folder: str
    files: int
    chunks: int
    text_bytes: int
    index_bytes: int
    changed: str
    problem: str = ""  # why nothing else is known


@click.command("list")
@as_json_option
@common_options()
@pass_session
def command(session: Session, as_json: bool) -> None:
    """List all indexes in the usual place."""
    from gossamer.store import default_folder, list_indexes

    listed = [_look_at(name) for name in list_indexes()]
    if as_json:
        session.output.json({"indexes": [asdict(one) for one in listed]})
    elif not listed:
        session.output.note(f"there are no indexes in {default_folder().parent}")
    else:
        session.output.table(_COLUMNS, [_row(one) for one in listed])


_COLUMNS = [
    Column("name", style="title"),
    Column("files", is_number=True),
    Column("chunks", is_number=True),
    Column("text", is_number=True),
    Column("index", is_number=True),
    Column("changed", may_fold=True),
    Column("folder", may_fold=True),
]


def _row(one: _Listed) -> tuple[str, ...]:
    if one.problem:
        return one.name, "", "", "", "", "", one.problem
    return (
        one.name,
        f"{one.files:,}",
        f"{one.chunks:,}",
        size(one.text_bytes),
        size(one.index_bytes),
        when(one.changed),
        one.folder,
    )


def _look_at(name: str) -> _Listed:
    from gossamer.status import bytes_by_part
    from gossamer.store import default_folder
    from gossamer.store.folder import read_manifest

    folder = default_folder(name)
    try:
        manifest = read_manifest(folder)
    except (GossamerError, OSError) as error:
        return _Listed(name, str(folder), 0, 0, 0, 0, "", str(error))
    return _Listed(
        name=name,
        folder=str(folder),
        files=manifest.counts.get("indexed", 0),
        chunks=manifest.counts.get("chunks", 0),
        text_bytes=manifest.counts.get("text_bytes", 0),
        index_bytes=sum(bytes_by_part(folder).values()),
        changed=manifest.changed,
    )
