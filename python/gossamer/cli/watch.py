"""`gossamer watch`: keep the index up to date while files change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gossamer.cli.add import describe_changes, walk_options, walk_options_from
from gossamer.cli.output import Output
from gossamer.cli.progress import show_update
from gossamer.cli.session import Session, common_options, pass_session
from gossamer.cli.words import counted, duration, near_path
from gossamer.errors import GossamerError, InvalidArgument, WrongState

if TYPE_CHECKING:
    from gossamer.index import Index

__all__ = ["command"]

# Another process may be in the middle of a long update.
_WAIT_S = 60.0
# A failed update is tried again so often, though nothing changes.
_AGAIN_MS = 30_000


@click.command("watch", short_help="Keep the index up to date while files change.")
@click.argument("paths", nargs=-1, type=click.Path(exists=True, path_type=Path))
@walk_options
@click.option(
    "--settle",
    type=click.IntRange(min=50),
    metavar="MS",
    default=1600,
    show_default=True,
    help="Gather changes for so long before an update.",
)
@common_options()
@pass_session
def command(session: Session, /, paths: tuple[Path, ...], settle: int, **options: Any) -> None:
    """Keep the index up to date while files below PATHS change; all that was added, without them.

    Runs until Ctrl-C. Needs an index: `gossamer add` first.
    """
    from gossamer.store.folder import read_manifest

    walk = walk_options_from(options, bool(paths))
    index = session.open_index()
    if not index.is_trusted:
        raise index.snapshot.refusal("its folders are not watched")
    manifest = read_manifest(index.folder)
    if manifest.origin:
        raise WrongState(
            f"this index follows {manifest.origin.get('url', 'a server')}; `gossamer pull --watch` "
            "keeps it up to date"
        )
    roots = list(paths) or [Path(root) for root in manifest.roots]
    if not roots:
        raise InvalidArgument("nothing was added to this index yet; `gossamer add FOLDER` first")
    output = session.output
    output.note(f"watching {counted(len(roots), 'place')}; Ctrl-C stops")
    try:
        said: set[tuple[str, str]] = set()
        is_done = _update(output, index, paths or None, walk, said)
        for has_changed in _changes(roots, session.folder, settle):
            if has_changed or not is_done:
                is_done = _update(output, index, paths or None, walk, said)
    except KeyboardInterrupt:
        pass  # also in the middle of an update: what was embedded is kept for the next
    output.note("stopped watching")


def _update(
    output: Output,
    index: Index,
    paths: Sequence[Path] | None,
    walk: Mapping[str, Any],
    said: set[tuple[str, str]],
) -> bool:
    """Bring the index up to date; say what happened, and whether it went well.

    `said` are the problems that the user knows of already.
    """
    now = datetime.now().strftime("%H:%M:%S")
    try:
        with show_update(output) as progress:
            report = index.add_paths(paths, wait_s=_WAIT_S, progress=progress, **walk)
    except (GossamerError, OSError) as error:
        output.note((f"{now}  not updated: {error}; it is tried again", "warning"))
        return False
    if not report.is_nothing:
        output.line(f"{now}  {describe_changes(report)} in {duration(report.seconds)}")
    for path, why in report.problems:
        if (path, why) not in said:
            output.note((f"{now}  {near_path(path)} not updated: {why}", "warning"))
    said.clear()
    said.update(report.problems)
    # To look again helps where something cannot be read, but not where a folder is empty.
    return all(path in report.emptied for path, _ in report.problems)


def _changes(roots: Sequence[Path], index_folder: Path, settle_ms: int) -> Iterator[bool]:
    """Wait for changes: True when there were some, False now and then while there are none."""
    import watchfiles

    # The index may stand below a folder that is watched: its own changes are none.
    ignored = watchfiles.DefaultFilter(ignore_paths=[str(index_folder.absolute())])
    for changes in watchfiles.watch(
        *(root for root in roots if root.exists()),
        watch_filter=ignored,
        debounce=settle_ms,
        rust_timeout=_AGAIN_MS,
        yield_on_timeout=True,
        raise_interrupt=True,
    ):
        yield bool(changes)
