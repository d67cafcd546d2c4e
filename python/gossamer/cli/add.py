"""`gossamer add`: bring files and folders into the index, or up to date."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gossamer.cli.failures import ExitCode
from gossamer.cli.output import Column, Output
from gossamer.cli.progress import show_update
from gossamer.cli.session import Session, as_json_option, common_options, pass_session
from gossamer.cli.words import counted, duration, near_path, taken
from gossamer.errors import InvalidArgument

if TYPE_CHECKING:
    from gossamer.index import Index
    from gossamer.store import Manifest
    from gossamer.update.report import UpdateReport

__all__ = ["bring_up_to_date", "command", "describe_changes", "walk_options", "walk_options_from"]

_SHOWN_PROBLEMS = 10
# Options that are chosen once, when an index is made, and what each is called.
_CHOSEN_ONCE = {
    "model": "--model",
    "chunk_tokens": "--chunk-tokens",
    "code_bytes": "--code-bytes",
    "store_text": "--store-text",
    "keep": "--keep",
    "lexical": "--lexical",
}


def walk_options(command: Any) -> Any:
    """Take --exclude, --include, --hidden and --reset-options."""
    for option in (
        click.option(
            "--reset-options",
            is_flag=True,
            help="Forget the options above that PATHS were added with before.",
        ),
        click.option("--hidden", is_flag=True, help="Also files and folders whose name has a dot."),
        click.option(
            "--include", metavar="GLOB", multiple=True, help="Only files like this (*.md, docs/)."
        ),
        click.option("--exclude", metavar="GLOB", multiple=True, help="No files like this."),
    ):
        command = option(command)
    return command


def walk_options_from(options: dict[str, Any], has_paths: bool) -> dict[str, Any]:
    """Take what `walk_options` gave out of a command's options, for `Index.add_paths`."""
    from gossamer.sources.folder import WalkOptions

    chosen = WalkOptions(
        exclude=options.pop("exclude"),
        include=options.pop("include"),
        include_hidden=options.pop("hidden"),
    )
    is_reset = options.pop("reset_options")
    is_usual = chosen == WalkOptions()
    if not has_paths and (is_reset or not is_usual):
        raise InvalidArgument(
            "--exclude, --include, --hidden and --reset-options are remembered with the folders "
            "they are given with; name the folders too, as in `gossamer add FOLDER --exclude GLOB`"
        )
    return {"options": None if is_usual else chosen, "reset_options": is_reset}


@click.command("add", short_help="Bring files and folders into the index, or up to date.")
@click.argument("paths", nargs=-1, type=click.Path(exists=True, path_type=Path))
@walk_options
@click.option(
    "--wait",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    default=10.0,
    show_default=True,
    help="Wait so long for another process, such as a server, that changes the index.",
)
@click.option("--model", metavar="NAME", help="New index: the model (see `gossamer models list`).")
@click.option("--chunk-tokens", type=int, metavar="N", help="New index: most tokens of a chunk.")
@click.option("--code-bytes", type=int, metavar="N", help="New index: bytes kept of each vector.")
@click.option(
    "--store-text",
    is_flag=True,
    default=None,
    help="New index: keep a compressed copy of all text, for files that will move.",
)
@click.option(
    "--keep", metavar="WHAT", help="New index: vectors to keep, none, all or such as hot:50MB."
)
@click.option(
    "--lexical",
    type=click.Choice(["scan", "fts5"]),
    help="New index: words by reading the files (no bytes), or by an SQLite index.",
)
@as_json_option
@common_options()
@pass_session
def command(
    session: Session, /, paths: tuple[Path, ...], wait: float, as_json: bool, **options: Any
) -> None:
    """Bring PATHS into the index: makes it if there is none, reads only what is new or changed.

    Files that are gone leave the index; those of a folder that is empty now stay, since a disk may
    not be mounted there: `gossamer remove FOLDER` takes them out. Without PATHS everything added
    before is brought up to date. It can be stopped at any time; repeating it goes on where it
    stopped. What --exclude, --include and --hidden say is remembered with PATHS, and added to what
    was said before.
    """
    walk = walk_options_from(options, bool(paths))
    chosen = {name: value for name, value in options.items() if value is not None}
    index = _open_or_create(session, chosen, has_paths=bool(paths))
    report = _add(session.output, index, paths or None, wait_s=wait, **walk)
    _show_report(session.output, index, report, as_json)
    if report.emptied and not as_json:
        _ask_about_emptied(session.output, index, report, wait)


def bring_up_to_date(output: Output, index: Index) -> None:
    """Bring all that was added up to date, before something else is done."""
    report = _add(output, index)
    if not report.is_nothing:
        output.note(f"{describe_changes(report)} in {duration(report.seconds)}")
    if report.problems:
        count = counted(len(report.problems), "path")
        output.note((f"{count} could not be updated; `gossamer add` names them", "warning"))


def _add(
    output: Output, index: Index, paths: Sequence[Path] | None = None, **options: Any
) -> UpdateReport:
    with show_update(output) as progress:
        try:
            return index.add_paths(paths, progress=progress, **options)
        except KeyboardInterrupt:
            raise _Stopped from None


class _Stopped(click.ClickException):
    """The user stopped an update."""

    exit_code = ExitCode.INTERRUPTED

    def __init__(self) -> None:
        super().__init__(
            "stopped. The index is whole, and what was embedded is kept: run the same command "
            "again to go on where it stopped"
        )

    def show(self, file: Any = None) -> None:  # noqa: ARG002
        Output().note(self.message)


def _open_or_create(session: Session, chosen: Mapping[str, Any], has_paths: bool) -> Index:
    from gossamer.errors import NoIndex
    from gossamer.index import Index
    from gossamer.store.folder import read_manifest

    folder = session.folder
    trust = session.settle_trust(folder)
    try:
        manifest = read_manifest(folder)
    except NoIndex:
        if not has_paths:
            raise NoIndex(
                f"there is no index in {folder}, so there is nothing to bring up to date; "
                "`gossamer add FOLDER` makes one"
            ) from None
        session.output.note(f"making an index in {near_path(str(folder))}")
        return Index.create(folder, threads=session.threads, **chosen)
    if not has_paths and not manifest.roots:
        raise InvalidArgument("no folder was added to this index yet; `gossamer add FOLDER` does")
    _refuse_other_settings(manifest, chosen)
    return Index.open(folder, threads=session.threads, trust=trust)


def _refuse_other_settings(manifest: Manifest, chosen: Mapping[str, Any]) -> None:
    """Refuse what is chosen once, unless it is what the index has."""
    settings = {
        "model": manifest.model.name,
        "chunk_tokens": manifest.model.chunk_tokens,
        **asdict(manifest.settings),
    }
    for name, value in chosen.items():
        if value != settings[name] and not (name == "model" and _is_same_model(manifest, value)):
            raise InvalidArgument(
                f"this index was made with {_CHOSEN_ONCE[name]} {settings[name]}, which cannot be "
                f"changed to {value}; leave the option out, or make another index with --index"
            )


def _is_same_model(manifest: Manifest, name: str) -> bool:
    """Whether this is another name of the index's model."""
    from gossamer.embed import load_embedder

    return load_embedder(name).fingerprint == manifest.model.fingerprint


def _show_report(output: Output, index: Index, report: UpdateReport, as_json: bool) -> None:
    from gossamer.status import bytes_by_part
    from gossamer.store.folder import read_manifest

    # Not index.status(), which looks at every file once more.
    counts = read_manifest(index.folder).counts
    sizes = {
        "text_bytes": counts["text_bytes"],
        "source_bytes": index.snapshot.catalogue.source_bytes,
        "index_bytes": sum(bytes_by_part(index.folder).values()),
    }
    if as_json:
        output.json({**asdict(report), **sizes})
        return
    if output.is_quiet:
        return
    if report.problems:
        _show_problems(output, report)
    output.line(f"{describe_changes(report)} in {duration(report.seconds)}")
    left_out = [(report.skipped, "skipped"), (report.failed, "failed")]
    if any(number for number, _ in left_out):
        said = ", ".join(f"{number:,} {what}" for number, what in left_out if number)
        output.line(f"{said}: `gossamer status` says why")
    output.line(
        f"index: {counted(counts['indexed'], 'file')}, {counted(counts['chunks'], 'chunk')}, "
        f"{taken(**sizes)}"
    )


def _show_problems(output: Output, report: UpdateReport) -> None:
    output.line((f"{counted(len(report.problems), 'path')} could not be updated:", "warning"))
    rows = [(near_path(path), why) for path, why in report.problems[:_SHOWN_PROBLEMS]]
    output.table([Column("", style="path", may_fold=True), Column("", may_fold=True)], rows)
    if len(report.problems) > _SHOWN_PROBLEMS:
        output.line(f"... and {len(report.problems) - _SHOWN_PROBLEMS:,} more")


def _ask_about_emptied(output: Output, index: Index, report: UpdateReport, wait: float) -> None:
    """Ask a person once whether the files of empty folders were deleted; nobody else is asked."""
    kept = counted(sum(report.emptied.values()), "file")
    if output.ask(f"{kept} in emptied folders: remove them from the index?"):
        removed = index.remove([Path(folder) for folder in report.emptied], wait_s=wait).removed
        output.note(f"{counted(removed, 'file')} removed")


def describe_changes(report: UpdateReport) -> str:
    """Say what an update did, in a line."""
    if report.is_nothing:
        return f"nothing changed among {counted(report.unchanged, 'file')}"
    files = [
        f"{number:,} {what}"
        for number, what in (
            (report.added, "added"),
            (report.updated, "updated"),
            (report.removed, "removed"),
            (report.lost, "lost"),
            (report.unchanged, "unchanged"),
        )
        if number
    ]
    chunks = [
        f"{counted(number, 'chunk')} {what}"
        for number, what in (
            (report.chunks_embedded, "embedded"),
            (report.chunks_reused, "reused"),
            (report.chunks_resumed, "resumed"),
        )
        if number
    ]
    return "; ".join(filter(None, [", ".join(files), ", ".join(chunks)]))
