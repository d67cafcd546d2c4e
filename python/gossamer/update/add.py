"""What the public calls do: folders brought up to date, texts put in, sources taken out."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from gossamer.errors import InvalidArgument
from gossamer.model import IndexModel
from gossamer.readers import READER_VERSION, Limits
from gossamer.sources.folder import FoundFile, WalkOptions, walk
from gossamer.store import Catalogue, Status, Writer
from gossamer.store.stale import forget_stale, read_stale
from gossamer.update.left_out import LeftOutFiles
from gossamer.update.plan import plan_update
from gossamer.update.prepare import READ_AGAIN, GivenText, Prepared
from gossamer.update.report import UpdateProgress, UpdateReport, Watcher
from gossamer.update.run import Work
from gossamer.update.session import UpdateSession

__all__ = ["add_paths", "add_texts", "remove_sources"]

_SAME_READING = (READER_VERSION, READ_AGAIN)


def add_paths(
    writer: Writer,
    model: IndexModel,
    given: Sequence[Path],
    options: WalkOptions | None,
    limits: Limits,
    watcher: Watcher,
) -> UpdateReport:
    """Bring what is indexed below the roots up to date: new, changed and vanished files.

    `options` are remembered for the roots they are given with; without them the remembered ones
    count, each root's own.
    """
    _check_roots(given)
    with _session(writer, model) as (session, report):
        session.choose_roots(given, options)
        roots = [Path(root) for root in _and_below(given, session.roots)]
        left_out: list[tuple[Path, str]] = []
        found = _find(session, roots, UpdateProgress("looking"), watcher, left_out)
        catalogue = session.snapshot.catalogue
        plan = plan_update(catalogue, found, roots, read_stale(writer.folder))
        report.unchanged = plan.unchanged
        notes = LeftOutFiles(catalogue, roots, left_out)
        gone = [catalogue.source(row) for row in plan.gone_rows if not notes.is_noted(row)]
        if plan.to_read or gone or notes.items or session.has_new_settings:
            files = _file_items(session, plan.to_read, limits)
            session.run(Work([*notes.items, *files], gone), watcher)
        forget_stale(writer.folder)
    return report


def add_texts(
    writer: Writer, model: IndexModel, texts: Iterable[GivenText], watcher: Watcher
) -> UpdateReport:
    """Put texts in; one whose id is there already takes its place."""
    with _session(writer, model) as (session, report):
        given = {text.id: text for text in texts}
        if not given:
            return report
        preparer = session.preparer(Limits())
        items = [(partial(preparer.prepare_text, text), len(text.text)) for text in given.values()]
        session.run(Work(items), watcher)
    return report


def remove_sources(
    writer: Writer, model: IndexModel, names: Sequence[str], watcher: Watcher
) -> UpdateReport:
    """Take out files, everything below folders, and texts; a folder is no longer a root."""
    with _session(writer, model) as (session, report):
        catalogue = session.snapshot.catalogue
        rows = sorted({row for name in names for row in _rows_of(catalogue, name)})
        session.forget_roots(names)
        if rows or session.has_new_settings:
            session.run(Work([], [catalogue.source(row) for row in rows]), watcher)
    return report


@contextmanager
def _session(writer: Writer, model: IndexModel) -> Iterator[tuple[UpdateSession, UpdateReport]]:
    report = UpdateReport()
    started = time.monotonic()
    session = UpdateSession(writer, model, report)
    try:
        yield session, report
    finally:
        session.close()
        report.seconds = time.monotonic() - started


def _check_roots(roots: Sequence[Path]) -> None:
    """Refuse paths that are not there: a disk that is not mounted must not empty the index."""
    missing = [str(root) for root in roots if not root.exists()]
    if missing:
        raise InvalidArgument(
            f"there is no {', '.join(missing)}; nothing was changed. To take what was indexed of "
            "it out of the index, remove it"
        )


def _and_below(given: Sequence[Path], known: Sequence[str]) -> list[str]:
    """Give the roots and those known ones that stand below them, whose options are their own."""
    roots = {root.as_posix() for root in given}
    below = tuple(f"{root.rstrip('/')}/" for root in roots)
    return sorted(roots | {root for root in known if root.startswith(below)})


def _find(
    session: UpdateSession,
    roots: Sequence[Path],
    progress: UpdateProgress,
    watcher: Watcher,
    left_out: list[tuple[Path, str]],
) -> list[FoundFile]:
    """Walk each root by its own options; give every file once."""
    found: dict[Path, FoundFile] = {}
    for root in roots:
        if not root.exists():
            continue  # a root below a given one, and gone with it
        for file in walk([root], session.walk_options(root), lambda *why: left_out.append(why)):
            found.setdefault(file.path, file)
            progress.files_total = len(found)
            if len(found) % 256 == 0:
                watcher(progress)
    return list(found.values())


def _file_items(
    session: UpdateSession, files: Sequence[FoundFile], limits: Limits
) -> Iterator[tuple[partial[Prepared], int]]:
    if not files:
        return
    preparer = session.preparer(limits)
    catalogue = session.snapshot.catalogue
    for file in files:
        known = _content_hash(catalogue, catalogue.find_path(file.path))
        yield partial(preparer.prepare_file, file, known), file.size


def _content_hash(catalogue: Catalogue, row: int | None) -> int:
    """Hash of what is indexed of a file; 0 if nothing is, or it would be read differently now."""
    if row is None:
        return 0
    source = catalogue.source(row)
    is_indexed = source.status == Status.INDEXED
    return source.content_hash if is_indexed and source.reader_version in _SAME_READING else 0


def _rows_of(catalogue: Catalogue, name: str) -> list[int]:
    """Rows of a text by its id, of a file by its path, or of all files below a folder."""
    if (row := catalogue.find_text(name)) is not None:
        return [row]
    path = Path(name).as_posix()
    below = f"{path.rstrip('/')}/"
    return [
        row
        for row, known in enumerate(catalogue.paths)
        if (known == path or known.startswith(below)) and catalogue.find_path(known) == row
    ]
