"""An index that is open: its current state and model, and the changes of its folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from gossamer.chunking import Chunker
from gossamer.errors import GossamerError, InvalidArgument, WrongState
from gossamer.files import absolute
from gossamer.model import IndexModel
from gossamer.progress import silent
from gossamer.readers import Limits
from gossamer.sources.folder import WalkOptions
from gossamer.store import Snapshot, Writer, begin, open_index
from gossamer.store.folder import read_manifest
from gossamer.update.add import PathsToAdd, add_paths, add_texts, remove_sources
from gossamer.update.compare import Known
from gossamer.update.given import in_batches
from gossamer.update.prepare import GivenText
from gossamer.update.report import UpdateReport, Watcher
from gossamer.update.together import add_texts_together

if TYPE_CHECKING:
    from gossamer.update.adopt import AdoptReport

__all__ = ["ChangeableIndex", "asks"]

Asked = TypeVar("Asked", bound="ChangeableIndex")
P = ParamSpec("P")
T = TypeVar("T")


def asks(ask: Callable[Concatenate[Asked, P], T]) -> Callable[Concatenate[Asked, P], T]:
    """Let a question be asked once more if the file at the address was replaced meanwhile."""

    @wraps(ask)
    def ask_twice(index: Asked, /, *args: P.args, **options: P.kwargs) -> T:
        snapshot = index._current[0]
        try:
            return ask(index, *args, **options)
        except GossamerError:
            if not snapshot.is_lost:
                raise
            return ask(index, *args, **options)

    return ask_twice


class ChangeableIndex:
    """The state of an index that was committed last, and what changes it."""

    def __init__(self, snapshot: Snapshot, model: IndexModel) -> None:
        self._current = (snapshot, model)
        self._lock = Lock()
        self.known = Known()

    @property
    def folder(self) -> Path:
        """Where the index is; WrongState for one that is a file at an address."""
        return self._current[0].home

    @property
    def trust(self) -> bool:
        """Whether it was opened with `trust`."""
        return self._current[0].trust

    @property
    def snapshot(self) -> Snapshot:
        """The state that was committed last, which questions read."""
        return self.now()[0]

    @property
    def model(self) -> IndexModel:
        """The model of the state that was committed last."""
        return self.now()[1]

    def now(self) -> tuple[Snapshot, IndexModel]:
        """Give the state that was committed last, and its model."""
        now = self._current
        if now[0].is_current():
            return now
        # One thread opens the new state for all that ask.
        with self._lock:
            old, model = self._current
            if self._current is now or not old.is_current():
                snapshot = old.reopen()
                snapshot.site_named = old.site_named
                if old.is_trusted and not snapshot.is_trusted:
                    raise snapshot.refusal("it is not used any more as one that is")
                # Where the folder was deleted and made anew, the model may be another one too.
                self._current = (snapshot, model.fitting(snapshot))
                old.save_hot(at_once=True)
            return self._current

    def save_hot(self) -> None:
        """Keep what searches learnt of hot vectors and is not kept yet, before all is let go."""
        self._current[0].save_hot(at_once=True)

    def add_paths(
        self,
        paths: Sequence[str | os.PathLike[str]] | None = None,
        *,
        options: WalkOptions | None = None,
        reset_options: bool = False,
        limits: Limits | None = None,
        chunker: Chunker | None = None,
        wait_s: float = 0.0,
        progress: Watcher | None = None,
        prepare: Callable[[], object] | None = None,
    ) -> UpdateReport:
        """Bring files and folders into the index: only what is new or changed is read.

        What was indexed below them and is gone from the disk leaves the index. Without `paths`
        everything that was added before is brought up to date; of what is not there or cannot be
        read then, what was indexed is kept, and `problems` of the report names it. `options` are
        added to those that the paths came with before, or take their place (`reset_options`).
        `chunker` cuts what is read, in place of Gossamer: see `add_texts`.
        Locked if another process changes the index and does not finish within `wait_s`.
        `prepare` is called once none does, and may still change the files.
        """
        given = None if paths is None else [absolute(path) for path in paths]
        to_add = PathsToAdd(given, options, reset_options, limits or Limits(), chunker)
        with self.begin_change("add", wait_s) as writer:
            if prepare is not None:
                prepare()
            return add_paths(writer, self.model, to_add, progress or silent)

    def add_texts(
        self,
        texts: Iterable[GivenText | Mapping[str, object]],
        *,
        chunker: Chunker | None = None,
        wait_s: float = 0.0,
        progress: Watcher | None = None,
    ) -> UpdateReport:
        """Put texts in under ids of their own; one whose id is there already takes its place.

        One that is there just so is left as it is.

        Texts of a list are one change; those of an iterator are taken in as they come, some
        thousands at a time, and never all in memory.

        A text is a GivenText, or a mapping with "id" and "text", and "title", "markup" ("plain",
        "markdown", ...) and "metadata" if wanted. Their text is kept, compressed.

        `chunker` cuts texts in place of Gossamer: it is called with a `Document` and how many
        tokens a chunk may have, and gives `ChunkSpan`s in bytes of the text, which may overlap.
        It is not remembered: what is added without it later is cut as usual.
        """
        batches = in_batches(texts)
        first = next(batches)  # what is wrong with them is said before anything is done
        with self.begin_change("add", wait_s) as writer:
            given = chain([first], batches)
            return add_texts(writer, self.model, given, progress or silent, chunker)

    def add_texts_together(
        self,
        groups: Sequence[Sequence[GivenText]],
        *,
        wait_s: float = 0.0,
        progress: Watcher | None = None,
    ) -> list[UpdateReport]:
        """Put texts of several givers in as one change, with a report for each of them.

        No id may be in two groups. It takes hardly longer than one group alone.
        """
        with self.begin_change("add", wait_s) as writer:
            return add_texts_together(writer, self.model, groups, progress or silent)

    def remove(
        self, names: Sequence[str | os.PathLike[str]], *, wait_s: float = 0.0
    ) -> UpdateReport:
        """Take out texts by id, files by path, and everything below folders.

        A str is the id of a text if there is such a text, else a path. Names of nothing are
        passed over.
        """
        if not all(os.fspath(name) for name in names):
            raise InvalidArgument("a name to remove is the id of a text or a path, not empty")
        known = [(name if isinstance(name, str) else "", absolute(name)) for name in names]
        with self.begin_change("remove", wait_s) as writer:
            return remove_sources(writer, self.model, known, silent)

    def adopt(
        self, other: str | os.PathLike[str], *, trust: bool = False, wait_s: float = 0.0
    ) -> AdoptReport:
        """Put all that the index in another folder holds into this one; say what came.

        Nothing is read or embedded again: its texts and codes are taken over, and its files are
        followed from now on. Its sources take the place of those of the same path or id. The
        other index stays as it is. Untrusted if that was neither made nor accepted on this
        machine, unless it is to be trusted. ModelMismatch, WrongState or InvalidArgument if the
        two are not of one kind.
        """
        from gossamer.update.adopt import adopt_index

        folder = absolute(other)
        if folder == self.folder:
            raise InvalidArgument("an index holds already what it holds; give another one")
        snapshot = open_index(folder, trust=trust)
        if not snapshot.is_trusted:
            raise snapshot.refusal("it is not put into another one")
        with self.begin_change("adopt", wait_s) as writer:
            return adopt_index(writer, snapshot)

    @contextmanager
    def _begin(self, command: str, wait_s: float) -> Iterator[Writer]:
        """Open the index for changes; NoIndex, and nothing is made, if it has gone meanwhile."""
        read_manifest(self.folder)
        with begin(self.folder, command, wait_s, trust=self.trust) as writer:
            yield writer

    @contextmanager
    def begin_change(self, command: str, wait_s: float = 0) -> Iterator[Writer]:
        """Open the index for changes of its own; WrongState if it follows a server's."""
        with self._begin(command, wait_s) as writer:
            if writer.snapshot is not None and (origin := writer.snapshot.manifest.origin):
                raise WrongState(
                    f"this index follows {origin.get('url', 'a server')}; "
                    "`gossamer push` sends changes there"
                )
            yield writer
