"""What the public calls do: folders brought up to date, texts put in, sources taken out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path

from gossamer.chunking import Chunker
from gossamer.errors import InvalidArgument
from gossamer.model import IndexModel
from gossamer.progress import silent
from gossamer.readers import READER_VERSION, Limits
from gossamer.sources.folder import FoundFile, WalkOptions
from gossamer.store import Catalogue, Status, Writer
from gossamer.store.snapshot import segments_of
from gossamer.store.stale import forget_stale, read_stale
from gossamer.update.left_out import LeftOutFiles
from gossamer.update.looking import look
from gossamer.update.plan import plan_update
from gossamer.update.prepare import GivenText, Prepared, hash_of_given, version_of_reading
from gossamer.update.report import UpdateReport, Watcher
from gossamer.update.run import Work
from gossamer.update.session import UpdateSession, open_session

__all__ = ["PathsToAdd", "add_paths", "add_texts", "forget_notes", "remove_sources"]


@dataclass(frozen=True, slots=True)
class PathsToAdd:
    """Which roots to bring up to date, and how: None for all that were added before.

    `options` are added to those that are remembered for the roots, and remembered with them;
    with `are_options_new` they take their place.
    """

    given: Sequence[Path] | None
    options: WalkOptions | None = None
    are_options_new: bool = False
    limits: Limits = field(default_factory=Limits)
    chunker: Chunker | None = None


def add_paths(
    writer: Writer, model: IndexModel, to_add: PathsToAdd, watcher: Watcher = silent
) -> UpdateReport:
    """Bring what is indexed below the roots up to date: new, changed and vanished files.

    Of roots that were not given now and are not there, and of folders that are empty now,
    everything is kept.
    """
    _check_roots(to_add.given or ())
    with open_session(writer, model) as (session, report):
        are_all = to_add.given is None
        given = [Path(root) for root in session.roots] if to_add.given is None else to_add.given
        session.choose_roots(given, to_add.options, are_new=to_add.are_options_new)
        roots = [Path(root) for root in _and_below(given, session.roots)]
        options = {root: session.walk_options(root) for root in roots}
        looked = look(options, watcher, [Path(root) for root in session.roots])
        catalogue, stale = segments_of(session.snapshot), read_stale(writer.folder)
        version = version_of_reading(to_add.limits)
        plan = plan_update(catalogue, looked.found, roots, stale, version)
        notes = LeftOutFiles(catalogue, roots, looked, plan)
        gone = [catalogue.source(row) for row in notes.gone()]
        report.unchanged = plan.unchanged
        report.problems += notes.problems()
        report.emptied = notes.emptied
        session.is_complete = are_all and not looked.hidden and not notes.emptied
        if plan.to_read or gone or notes.items or session.has_new_settings:
            items = chain(notes.items, _file_items(session, plan.to_read, to_add))
            count = len(notes.items) + len(plan.to_read)
            size = sum(size for _, size in notes.items) + sum(file.size for file in plan.to_read)
            session.run(Work(items, count, size, gone), watcher)
        if session.is_complete:
            writer.forget_journal()
        done = {file.path.as_posix() for file in looked.found}
        forget_notes(writer.folder, session.snapshot.catalogue, stale, done)
    return report


def add_texts(
    writer: Writer,
    model: IndexModel,
    batches: Iterable[Sequence[GivenText]],
    watcher: Watcher = silent,
    chunker: Chunker | None = None,
) -> UpdateReport:
    """Put texts in; one whose id is there already takes its place, unless it says the same.

    Each batch is a commit of its own.
    """
    with open_session(writer, model) as (session, report):
        for batch in batches:
            given = {text.id: text for text in batch}
            catalogue = session.snapshot.catalogue
            # In the order of names, in which the index keeps them: their chunks' ids rise with it.
            new = [text for _, text in sorted(given.items()) if not _is_indexed(catalogue, text)]
            report.unchanged += len(given) - len(new)
            if new:
                preparer = session.preparer(Limits(), chunker)
                items = ((partial(preparer.prepare_text, text), len(text.text)) for text in new)
                size = sum(len(text.text) for text in new)
                session.run(Work(items, len(new), size), watcher)
    return report


def remove_sources(
    writer: Writer,
    model: IndexModel,
    names: Sequence[tuple[str, Path]],
    watcher: Watcher = silent,
) -> UpdateReport:
    """Take out texts by id, files by path, and everything below folders, which are no more roots.

    Each name is an id to try ("" for none), and the path that it is if no text has that id. Names
    of nothing are passed over.
    """
    with open_session(writer, model) as (session, report):
        catalogue = segments_of(session.snapshot)
        found = {id: row for id, _ in names if (row := catalogue.find_text(id)) is not None}
        paths = [path for id, path in names if id not in found]
        below = (row for path in paths for row in catalogue.files_below(path))
        rows = {*found.values(), *below}
        session.forget_roots(paths)
        if rows or session.has_new_settings:
            session.run(Work([], gone=[catalogue.source(row) for row in sorted(rows)]), watcher)
    return report


def _check_roots(roots: Sequence[Path]) -> None:
    """Refuse paths that are not there: a disk that is not mounted must not empty the index."""
    missing = [str(root) for root in roots if not os.path.exists(root)]
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


def _file_items(
    session: UpdateSession, files: Sequence[FoundFile], to_add: PathsToAdd
) -> Iterator[tuple[partial[Prepared], int]]:
    if not files:
        return
    preparer = session.preparer(to_add.limits, to_add.chunker)
    catalogue = session.snapshot.catalogue
    for file in files:
        row = catalogue.find_path(file.path)
        known = None if row is None else catalogue.source(row)
        yield partial(preparer.prepare_file, file, known), file.size


def _is_indexed(catalogue: Catalogue, text: GivenText) -> bool:
    """Whether a text is in the index as it is given."""
    row = catalogue.find_text(text.id)
    if row is None:
        return False
    known = catalogue.source(row)
    is_read_alike = known.status == Status.INDEXED and known.reader_version == READER_VERSION
    return is_read_alike and known.content_hash == hash_of_given(text)


def forget_notes(folder: Path, catalogue: Catalogue, stale: set[str], done: set[str]) -> None:
    """Forget what searches noted of files that were read now or are not indexed any more."""
    if stale:
        kept = {path for path in stale - done if catalogue.find_path(path) is not None}
        forget_stale(folder, kept)
