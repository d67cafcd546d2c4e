"""A lexical index in SQLite (FTS5), for collections too large to read for every question.

It holds our own terms, so that it finds what the native pass finds, in every script.
"""

from __future__ import annotations

import sqlite3
import weakref
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import RLock

import numpy as np
from numpy.typing import NDArray

from gossamer import _core
from gossamer.errors import (
    Damaged,
    DuplicateId,
    GossamerError,
    InvalidArgument,
    Locked,
    NotGossamer,
    TooLarge,
    UnknownVersion,
    Unreadable,
    WrongState,
)
from gossamer.lexical.scan import terms_of

__all__ = ["FtsIndex"]

_APPLICATION = 0x676F7373  # "goss"
_VERSION = 1
_NOTHING = -1  # the generation before the first
_WAIT_S = 30.0
_REPAIR = "delete this file: the next update makes it anew from the texts"
_ROWS_AT_ONCE = 4096
# The tokenizer that splits at ASCII signs and spaces only: terms hold none of them.
_TABLE = "CREATE VIRTUAL TABLE chunks USING fts5(terms, tokenize='ascii'{})"
_WITHOUT_TEXT = ", content='', contentless_delete=1"  # SQLite 3.43 and later


class FtsIndex:
    """The chunks' terms, by chunk id, as one generation of the whole index sees them.

    The manifest decides which generation is valid. A change is committed here first, under the
    number of the generation to come, and takes nothing away yet: chunks that leave are only
    listed, and chunks that came have ids from `next_id` on. So readers of the old generation
    still see what they did, and after a crash before the manifest was written the next `begin`
    undoes it. Any thread may search.
    """

    def __init__(
        self, path: Path, generation: int, next_id: int, *, is_read_only: bool = False
    ) -> None:
        """Open the index for a generation of the manifest.

        `next_id` is larger than every id of that generation. If there is none, an empty one is
        made, unless `is_read_only`: then nothing is ever written, and it is Unreadable.
        """
        self._path = path
        self._generation = generation
        self._next_id = self._free_id = next_id
        self._lock = RLock()  # a connection serves one thread at a time
        with self._translated():
            self._database = sqlite3.connect(
                f"{path.absolute().as_uri()}?mode={'ro' if is_read_only else 'rwc'}",
                uri=True,
                timeout=_WAIT_S,
                isolation_level=None,
                check_same_thread=False,
            )
        # Whoever searches may forget it, as an opened index does when there is a newer state.
        weakref.finalize(self, self._database.close)
        try:
            with self._translated():
                self._prepare(is_read_only)
                self._stored = self._stored_generation()
        except BaseException:
            self._database.close()
            raise

    @classmethod
    def create(cls, path: Path) -> FtsIndex:
        """Begin an index anew, in place of any that is there.

        Add every chunk and commit them under the generation the manifest has; until then
        it is not complete.
        """
        path.unlink(missing_ok=True)
        # What an interrupted change left beside it belongs to the old one.
        path.with_name(f"{path.name}-journal").unlink(missing_ok=True)
        return cls(path, _NOTHING, 0)

    @property
    def is_complete(self) -> bool:
        """False when chunks of this generation never came here: it must be built anew."""
        return self._stored >= self._generation

    def begin(self) -> None:
        """Begin a change, and finish or undo the one before it."""
        if not self.is_complete:
            raise WrongState(
                f"{self._path} holds generation {self._stored}, but the index is at "
                f"{self._generation}; create it anew and add every chunk"
            )
        with self._translated():
            self._database.execute("BEGIN IMMEDIATE")
            self._stored = self._stored_generation()
            if self._stored == self._generation:
                self._database.execute("DELETE FROM chunks WHERE rowid IN (SELECT id FROM leaving)")
            else:
                self._database.execute("DELETE FROM chunks WHERE rowid >= ?", (self._next_id,))
            self._database.execute("DELETE FROM leaving")
        self._free_id = self._next_id

    def add(self, ids: Iterable[int], texts: Iterable[bytes]) -> None:
        """Add chunks, between `begin` and `commit`; their ids are new, from `next_id` on."""
        self._expect_change()
        with self._translated():
            self._database.executemany(
                "INSERT INTO chunks(rowid, terms) VALUES (?, ?)", self._new_rows(ids, texts)
            )

    def flush(self) -> None:
        """Write what was added to an index that is made anew, of which nothing counts yet.

        A change is held in memory until it is committed, which a whole index may not fit in.
        """
        self._expect_change()
        if self._generation != _NOTHING:
            raise WrongState("readers use this index: only commit() may write the change")
        with self._translated():
            self._database.execute("COMMIT")
            self._database.execute("BEGIN IMMEDIATE")

    def remove(self, ids: Iterable[int]) -> None:
        """Remove chunks, between `begin` and `commit`; unknown ids are ignored."""
        self._expect_change()
        rows = ((int(id_),) for id_ in ids)
        with self._translated():
            self._database.executemany("INSERT OR IGNORE INTO leaving VALUES (?)", rows)

    def commit(self, generation: int, next_id: int) -> None:
        """Make the change durable as `generation`; the manifest is to be written after this."""
        self._expect_change()
        if generation <= self._generation:
            raise InvalidArgument(
                f"generations must rise: got {generation} after {self._generation}"
            )
        if next_id < self._free_id:
            raise InvalidArgument(
                f"next_id must be larger than every id: got {next_id} after {self._free_id - 1}"
            )
        with self._translated():
            self._database.execute("UPDATE state SET generation = ?", (generation,))
            self._database.execute("COMMIT")
        self._generation = self._stored = generation
        self._next_id = next_id

    def compact(self) -> None:
        """Give the space of removed chunks back, once the manifest names this generation."""
        self.begin()
        with self._translated():
            self._database.execute("COMMIT")
            self._database.execute("INSERT INTO chunks(chunks) VALUES ('optimize')")
            self._database.execute("VACUUM")

    def verify(self) -> None:
        """Read all of it; Damaged if it is not as SQLite wrote it."""
        with self._lock, self._translated():
            (found,) = self._database.execute("PRAGMA integrity_check(1)").fetchone()
        if found != "ok":
            raise Damaged(f"{self._path}: {' '.join(str(found).split())}; {_REPAIR}")

    def search(
        self, question: str, n: int, allowed: NDArray[np.bool_] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return ids and scores of the `n` best chunks by BM25; ties by id.

        `allowed` says for each id whether the chunk takes part; all do without it.
        """
        if n < 0:
            raise InvalidArgument(f"n must not be negative, got {n}")
        terms = terms_of(question)
        ids: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
        scores: list[NDArray[np.float32]] = [np.empty(0, np.float32)]
        missing = n
        # Closed at once: an unfinished question would keep a writer from committing.
        with self._lock, closing(self._ranked(terms if n else [])) as ranked:
            for found, values in ranked:
                keep = _is_allowed(found, allowed)
                ids.append(found[keep][:missing])
                scores.append(values[keep][:missing])
                missing -= len(ids[-1])
                if missing <= 0:
                    break
        return np.concatenate(ids), np.concatenate(scores)

    def count_terms(self, question: str) -> dict[str, int]:
        """Say of each term of a question how many chunks hold it."""
        with self._lock, self._translated():
            is_hidden = self._hides_leaving()
            return {
                term: self._database.execute(
                    "SELECT count(*) FROM chunks WHERE chunks MATCH ? "
                    "AND rowid < ? AND NOT (? AND rowid IN leaving)",
                    (f'"{term}"', self._next_id, is_hidden),
                ).fetchone()[0]
                for term in terms_of(question)
            }

    def __len__(self) -> int:
        """How many chunks there are."""
        with self._lock, self._translated():
            (count,) = self._database.execute(
                "SELECT count(*) FROM chunks_docsize WHERE id < ? AND NOT (? AND id IN leaving)",
                (self._next_id, self._hides_leaving()),
            ).fetchone()
        return int(count)

    def close(self) -> None:
        """Let go of the file; a change that was not committed is forgotten."""
        self._database.close()

    def __enter__(self) -> FtsIndex:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ranked(
        self, terms: list[str]
    ) -> Generator[tuple[NDArray[np.int64], NDArray[np.float32]], None, None]:
        """All chunks with any of the terms, best first, some at a time."""
        if not terms:
            return
        match = " OR ".join(f'"{term}"' for term in terms)
        with self._translated():
            rows = self._database.execute(
                "SELECT rowid, -bm25(chunks) AS score FROM chunks WHERE chunks MATCH ? "
                "AND rowid < ? AND NOT (? AND rowid IN leaving) ORDER BY score DESC, rowid",
                (match, self._next_id, self._hides_leaving()),
            )
            while some := rows.fetchmany(_ROWS_AT_ONCE):
                ids, scores = zip(*some, strict=True)
                yield np.array(ids, np.int64), np.array(scores, np.float32)

    def _new_rows(self, ids: Iterable[int], texts: Iterable[bytes]) -> Iterator[tuple[int, str]]:
        """Check the ids: SQLite would take one twice where it keeps no text."""
        for given, text in zip(ids, texts, strict=True):
            id_ = int(given)
            if id_ < self._next_id:
                raise DuplicateId(f"expected an id of {self._next_id} or more, got {id_}")
            self._free_id = max(self._free_id, id_ + 1)
            yield id_, _core.spaced_terms(text)

    def _hides_leaving(self) -> bool:
        """Chunks leave with the generation that was committed last; older ones still have them."""
        return self._stored_generation() == self._generation

    def _prepare(self, is_read_only: bool) -> None:
        execute = self._database.execute
        execute("PRAGMA trusted_schema = OFF")
        execute("PRAGMA cell_size_check = ON")
        # A change that is written out before its commit would lock readers out until then.
        execute("PRAGMA cache_spill = OFF")
        (application,) = execute("PRAGMA application_id").fetchone()
        (version,) = execute("PRAGMA user_version").fetchone()
        (tables,) = execute("SELECT count(*) FROM sqlite_master").fetchone()
        if application == 0 and tables == 0 and not is_read_only:
            self._create()
        elif application != _APPLICATION:
            raise NotGossamer(f"{self._path} is a database of another program; name another file")
        elif version != _VERSION:
            raise UnknownVersion(
                f"{self._path} has version {version}, this release reads {_VERSION}; delete the "
                f"file and add every chunk again"
            )

    def _create(self) -> None:
        execute = self._database.execute
        execute("BEGIN IMMEDIATE")
        # SQLite before 3.43 cannot delete from an index without text, so it keeps the text too.
        has_delete = sqlite3.sqlite_version_info >= (3, 43)
        execute(_TABLE.format(_WITHOUT_TEXT if has_delete else ""))
        execute("CREATE TABLE leaving(id INTEGER PRIMARY KEY)")
        execute("CREATE TABLE state(generation INTEGER NOT NULL)")
        # A generation without chunks is complete already.
        execute(
            "INSERT INTO state VALUES (?)", (self._generation if self._next_id == 0 else _NOTHING,)
        )
        execute(f"PRAGMA application_id = {_APPLICATION}")
        execute(f"PRAGMA user_version = {_VERSION}")
        execute("COMMIT")

    def _stored_generation(self) -> int:
        row = self._database.execute("SELECT generation FROM state").fetchone()
        if row is None or not isinstance(row[0], int):
            raise Damaged(f"{self._path} does not say its generation; {_REPAIR}")
        return row[0]

    def _expect_change(self) -> None:
        if not self._database.in_transaction:
            raise WrongState("no change has been begun; call begin() first")

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            reason = _reason(error)
            repair = f"; {_REPAIR}" if reason in (Damaged, NotGossamer) else ""
            raise reason(f"{self._path}: {error}{repair}") from error


def _is_allowed(ids: NDArray[np.int64], allowed: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    if allowed is None:
        return np.ones(len(ids), np.bool_)
    inside = (ids >= 0) & (ids < len(allowed))
    inside[inside] = allowed[ids[inside]]
    return inside


def _reason(error: sqlite3.Error) -> type[GossamerError]:
    """Say what SQLite's error is in our words."""
    # The lower byte; the rest says more than is asked here.
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    reasons: dict[int, type[GossamerError]] = {
        sqlite3.SQLITE_BUSY: Locked,
        sqlite3.SQLITE_LOCKED: Locked,
        sqlite3.SQLITE_CORRUPT: Damaged,
        sqlite3.SQLITE_NOTADB: NotGossamer,
        sqlite3.SQLITE_FULL: TooLarge,
        sqlite3.SQLITE_TOOBIG: TooLarge,
        sqlite3.SQLITE_CONSTRAINT: DuplicateId,
        sqlite3.SQLITE_CANTOPEN: Unreadable,
        sqlite3.SQLITE_READONLY: Unreadable,
        sqlite3.SQLITE_IOERR: Unreadable,
    }
    return reasons.get(code, Damaged)
