"""`gossamer export`: an index as one file, or as a whole site."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gossamer.cli.output import Column, Output
from gossamer.cli.progress import show_steps
from gossamer.cli.session import (
    Session,
    as_json_option,
    common_options,
    pass_session,
    site_options,
)
from gossamer.cli.words import counted, near_path, size
from gossamer.errors import InvalidArgument

if TYPE_CHECKING:
    from gossamer.single.export import ExportReport
    from gossamer.store import Manifest

__all__ = ["command"]

_MOST_NAMED = 10  # of the sources that are not in the file


@click.command("export", short_help="Write an index as one file, or as a site.")
@click.argument("names", metavar="[INDEX] [FILE]", nargs=-1)
@click.option(
    "--site",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Write a page to search with, the index and its model into a folder, for any web host.",
)
@click.option(
    "--vectors",
    type=click.Choice(["none", "f16", "int8"]),
    default="none",
    show_default=True,
    help="Put all vectors in, for pages that fetch the few they need; with none they are computed "
    "from the texts.",
)
@click.option(
    "--graph",
    type=click.Choice(["none", "slim", "full"]),
    default="none",
    show_default=True,
    help="Put a graph in, to walk over the vectors.",
)
@click.option(
    "--model-file",
    is_flag=True,
    help="Put the model beside FILE, as MODEL.model.gossamer, if pages can load it.",
)
@click.option("--root-name", default="", metavar="NAME", help="What to call the folders.")
@site_options
@click.option(
    "--replace",
    is_flag=True,
    help="Let what is written take the place of files that this command did not write.",
)
@as_json_option
@common_options()
@pass_session
def command(
    session: Session,
    names: tuple[str, ...],
    site: Path | None,
    vectors: str,
    graph: str,
    model_file: bool,
    root_name: str,
    base_url: str,
    url_style: str | None,
    replace: bool,
    as_json: bool,
) -> None:
    """Write an index and all its texts as one FILE, for the page, a static host or to take along.

    INDEX is a name or a folder, as for --index; without it there is FILE alone, as in `gossamer
    export notes.gossamer`. With --site there is no FILE. Only an export of the same index is
    replaced, and in DIR what this command wrote there and nobody changed since; anything else
    that is in the way is named, and nothing is written, unless --replace is given. Links are
    never followed nor replaced. Other files in DIR stay.

    Files that have changed since they were indexed are left out. Folders are called by the last
    part of their path, or NAME: no path of this machine is in the file. `gossamer import` makes an
    index of it again.
    """
    from gossamer.targets import is_readable_by_others

    file = None if site is not None or not names else Path(os.path.expanduser(names[-1]))
    indexes = names if file is None else names[:-1]
    if len(indexes) > 1 or (file is None) == (site is None):
        raise InvalidArgument("say where to write: [INDEX] FILE, or [INDEX] --site DIR")
    if indexes:
        session.index = indexes[0]
    elif file is not None and not session.is_named and _is_index(names[0]):
        raise InvalidArgument(
            f"{names[0]} is an index; say where to write it: gossamer export {names[0]} FILE"
        )
    index = session.open_index()
    with show_steps(session.output) as progress:

        def export(path: Path) -> ExportReport:
            return index.export(
                path,
                vectors=vectors,
                graph=graph,
                root_name=root_name,
                base_url=base_url,
                url_style=url_style or "",
                replace=replace,
                progress=progress,
            )

        manifest = index.snapshot.manifest
        if site is not None:
            made = _write_site(export, site, manifest, replace)
        else:
            assert file is not None
            made = _write_file(export, file, manifest, model_file, replace)
    if as_json:
        files = [str(path) for path in made.files]
        session.output.json({**asdict(made.report), "files": files})
    else:
        _show(session.output, made.report, made.files)
    if any(map(is_readable_by_others, made.files)):
        session.output.note(
            "other users of this machine may read what was written; `chmod go-r` keeps it yours"
        )
    if not made.has_model and (model_file or site is not None) and not as_json:
        session.output.note(
            (
                f"pages cannot load the model {manifest.model.name} and will search this by words "
                "only; for meaning too, make an index with `gossamer add --model pocket`, or "
                "serve it",
                "warning",
            )
        )


@dataclass(frozen=True)
class _Made:
    """What was written."""

    report: ExportReport
    files: list[Path]
    has_model: bool


def _write_site(
    export: Callable[[Path], ExportReport], folder: Path, manifest: Manifest, may_replace: bool
) -> _Made:
    from gossamer.single.site import site_of

    site = site_of(folder, manifest)
    return _Made(site.write(export, may_replace), site.files, site.has_model)


def _write_file(
    export: Callable[[Path], ExportReport],
    file: Path,
    manifest: Manifest,
    with_model: bool,
    may_replace: bool,
) -> _Made:
    from gossamer.single.site import model_copy

    model = model_copy(manifest.model, file) if with_model else None
    if model is None:
        return _Made(export(file), [file], False)
    model.check(may_replace)
    report = export(file)
    model.write()
    return _Made(report, [file, model.target], True)


def _is_index(name: str) -> bool:
    from gossamer.store.manifest import MANIFEST

    return (Session(name).folder / MANIFEST).is_file()


def _show(output: Output, report: ExportReport, files: list[Path]) -> None:
    columns = [Column("section"), Column("bytes", is_number=True)]
    rows = [[name, size(count)] for name, count in report.bytes_by_section.items()]
    output.table(columns, [*rows, ["in all", size(report.total_bytes)]])
    output.note(
        f"{counted(report.chunks, 'chunk')} of {counted(report.documents, 'document')} in ",
        (", ".join(near_path(str(path)) for path in files), "path"),
    )
    if report.left_out:
        output.note(
            (
                f"{counted(len(report.left_out), 'source')} left out, changed or gone since; "
                "`gossamer add` brings the index up to date:",
                "warning",
            )
        )
        for path in report.left_out[:_MOST_NAMED]:
            output.note("  ", (near_path(path), "path"))
