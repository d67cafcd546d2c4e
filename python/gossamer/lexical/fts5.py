"""A lexical index in SQLite (FTS5), for collections too large to read for every question.

It holds our own terms, so that it finds what the native pass finds, in every script.
"""

from __future__ import annotations

import sqlite3
import weakref
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, contextmanager
from functools import cache
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
from gossamer.files import make_file
from gossamer.io_errors import explaining
from gossamer.journals import journal_of, refuse_foreign_journal
from gossamer.lexical.fts5_sum import WordsSum, crc_of_words, read_sum, sum_of, write_sum
from gossamer.lexical.terms import terms_of

__all__ = ["FtsIndex", "Interrupted"]

_APPLICATION = 0x676F7373  # "goss"
_VERSION = 2  # also another one when words are folded or cut in another way
_NOTHING = -1  # the generation before the first
_WAIT_S = 30.0
_REPAIR = "delete this file: the next update makes it anew from the texts"
_ROWS_AT_ONCE = 4096
# The tokenizer that splits at ASCII signs and spaces only: terms hold none of them.
_TABLE = "CREATE VIRTUAL TABLE chunks USING fts5(terms, tokenize='ascii'{})"
_WITHOUT_TEXT = ", content='', contentless_delete=1"  # SQLite 3.43 and later
_OTHER_TABLES = (
    "CREATE TABLE leaving(id INTEGER PRIMARY KEY)",
    "CREATE TABLE state(generation INTEGER NOT NULL)",
)


class Interrupted(Unreadable):
    """A change was killed while SQLite wrote it; whoever may write takes it back by opening."""


class FtsIndex:
    """The chunks' terms, by chunk id, as one generation of the whole index sees them.

    The manifest decides which generation is valid. A change is committed here first, under the
    number of the generation to come, and takes nothing away yet: chunks that leave are only
    listed, and chunks that came have ids from `next_id` on. So readers of the old generation
    still see what they did, and after a crash before the manifest was written the next `begin`
    undoes it. Any thread may search.

    A checksum of the whole file stands beside it. It is compared before a change and by `verify`;
    when the file is opened, only the size, the pages and the generation that were noted with it.
    """

    def __init__(
        self, path: Path, generation: int, next_id: int, *, is_read_only: bool = False
    ) -> None:
        """Open the index for a generation of the manifest.

        `next_id` is larger than every id of that generation. If there is none, an empty one is
        made, unless `is_read_only`: then nothing is ever written, and it is Unreadable. So is one
        whose last change was killed (Interrupted), which is taken back here otherwise; the caller
        holds the lock of the index then.
        """
        self._path = path
        self._generation = generation
        self._next_id = self._free_id = next_id
        self._lock = RLock()  # a connection serves one thread at a time
        self._is_verified = False
        with self._translated():
            refuse_foreign_journal(path)
            if not is_read_only and not path.exists():
                with explaining(path.parent):
                    make_file(path)  # with the rights of the folder, which SQLite does not look at
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
                with self._unchanged():
                    self._stored, self._is_sound = self._compare_with_sum()
        except BaseException:
            self._database.close()
            raise

    @classmethod
    def create(cls, path: Path) -> FtsIndex:
        """Begin an index anew, in place of any that is there.

        Add every chunk and commit them under the generation the manifest has; until then
        it is not complete.
        """
        sum_of(path).unlink(missing_ok=True)
        path.unlink(missing_ok=True)
        # What an interrupted change left beside it belongs to the old one.
        journal_of(path).unlink(missing_ok=True)
        return cls(path, _NOTHING, 0)

    @property
    def is_complete(self) -> bool:
        """False when chunks of this generation never came here, or have left; or all is in doubt.

        It must be built anew then.
        """
        return self._is_sound and self._has_generation(self._stored)

    @property
    def has_sum(self) -> bool:
        """False when the checksum is missing, or is that of another state of the file."""
        return self._is_sound

    def begin(self) -> None:
        """Begin a change, and finish or undo the one before it; Damaged if it is not as it was."""
        if not self.is_complete:
            raise WrongState(
                f"{self._path} holds generation {self._stored}, but the index is at "
                f"{self._generation}, or its checksum is missing; create it anew and add every "
                "chunk"
            )
        if not self._is_verified:
            # Else the next checksum would be one of the damage.
            self._compare_crc()
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
        self._note_sum(generation)
        self._generation = self._stored = generation
        self._next_id = next_id

    def compact(self) -> None:
        """Give the space of removed chunks back, once the manifest names this generation."""
        self.begin()
        with self._translated():
            self._database.execute("COMMIT")
            self._database.execute("INSERT INTO chunks(chunks) VALUES ('optimize')")
            self._database.execute("VACUUM")
        self._note_sum(self._stored)

    def verify(self) -> None:
        """Read all of it; Damaged if it is not as it was committed."""
        with self._lock, self._translated(), self._unchanged():
            self._stored, self._is_sound = self._compare_with_sum()
            if self._is_sound:
                self._compare_crc()
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
        with (
            self._lock,
            self._translated(),
            self._unchanged(),
            closing(self._ranked(terms if n else [])) as ranked,
        ):
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
        with self._lock, self._translated(), self._unchanged():
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
        with self._lock, self._translated(), self._unchanged():
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
        """Chunks leave with the generation that was committed last; the one before still has them.

        WrongState for those before it, whose chunks have left for good. Nothing else may be
        committed before the answer is used.
        """
        stored = self._stored_generation()
        if not self._has_generation(stored):
            raise WrongState(
                f"{self._path} holds generation {stored}, and {self._generation} no more; open the "
                "index again"
            )
        return stored == self._generation

    def _has_generation(self, stored: int) -> bool:
        return self._generation <= stored <= self._generation + 1

    def _prepare(self, is_read_only: bool) -> None:
        """Look what the file is; before anything of it is used, since anybody may have made it."""
        execute = self._database.execute
        execute("PRAGMA trusted_schema = OFF")
        execute("PRAGMA cell_size_check = ON")
        execute("PRAGMA mmap_size = 0")
        # A change that is written out before its commit would lock readers out until then.
        execute("PRAGMA cache_spill = OFF")
        (application,) = execute("PRAGMA application_id").fetchone()
        (version,) = execute("PRAGMA user_version").fetchone()
        tables = _tables_of(self._database)
        if application == 0 and not tables and not is_read_only:
            self._create()
        elif application != _APPLICATION:
            raise NotGossamer(f"{self._path} is a database of another program; name another file")
        elif version != _VERSION:
            raise UnknownVersion(
                f"{self._path} has version {version}, this release reads {_VERSION}; the next "
                "update makes it anew from the texts"
            )
        elif tables not in _known_tables():
            raise Damaged(f"{self._path} has tables that are not its own; {_REPAIR}")
        elif execute("PRAGMA journal_mode").fetchone() != ("delete",):
            raise Damaged(f"{self._path} is not written as it should be; {_REPAIR}")

    def _create(self) -> None:
        execute = self._database.execute
        # No page is left free, so a change that is taken back leaves every byte as it was: what
        # stands in free pages is none of SQLite's concern, but it is part of the checksum.
        execute("PRAGMA auto_vacuum = FULL")
        execute("BEGIN IMMEDIATE")
        _make_tables(self._database, has_text=not _can_do_without_text())
        # A generation without chunks is complete already.
        generation = self._generation if self._next_id == 0 else _NOTHING
        execute("INSERT INTO state VALUES (?)", (generation,))
        execute(f"PRAGMA application_id = {_APPLICATION}")
        execute(f"PRAGMA user_version = {_VERSION}")
        execute("COMMIT")
        self._note_sum(generation)

    def _note_sum(self, generation: int) -> None:
        """Write the checksum of what was committed just now; nobody else may change it."""
        with explaining(self._path.parent):
            size, crc = crc_of_words(self._path)
            write_sum(self._path, WordsSum(generation, size, self._pages(), crc))
        self._is_sound = self._is_verified = True

    def _compare_with_sum(self) -> tuple[int, bool]:
        """Give the generation that was stored, and whether a checksum of this state is there."""
        generation = self._stored_generation()
        noted = read_sum(self._path)
        facts = (generation, self._path.stat().st_size, self._pages())
        return generation, noted is not None and noted.facts == facts

    def _compare_crc(self) -> None:
        with self._translated():
            noted = read_sum(self._path)
            _, crc = crc_of_words(self._path)
        if noted is None or noted.crc != crc:
            raise Damaged(f"the checksum of {self._path} does not fit; {_REPAIR}")
        self._is_verified = True

    def _pages(self) -> tuple[int, int, int]:
        """Give how many pages there are, of what size, and how many of them are free."""
        names = ("page_count", "page_size", "freelist_count")
        values = [self._database.execute(f"PRAGMA {name}").fetchone()[0] for name in names]
        return (values[0], values[1], values[2])

    def _stored_generation(self) -> int:
        row = self._database.execute("SELECT generation FROM state").fetchone()
        if row is None or not isinstance(row[0], int):
            raise Damaged(f"{self._path} does not say its generation; {_REPAIR}")
        return row[0]

    def _expect_change(self) -> None:
        if not self._database.in_transaction:
            raise WrongState("no change has been begun; call begin() first")

    @contextmanager
    def _unchanged(self) -> Iterator[None]:
        """Keep writers from committing while this is looked at."""
        is_own = not self._database.in_transaction  # else it is ours that is being made
        if is_own:
            self._database.execute("BEGIN")
        try:
            yield
        finally:
            if is_own and self._database.in_transaction:
                self._database.execute("ROLLBACK")

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except GossamerError:
            raise
        except OSError as error:
            raise Unreadable(f"{self._path}: {error}") from error
        except UnicodeError as error:  # a name of a table, or what SQLite says of it
            raise Damaged(f"{self._path} holds what is no text; {_REPAIR}") from error
        except sqlite3.Error as error:
            reason = _reason(error)
            if reason is Interrupted:
                raise Interrupted(
                    f"a change of {self._path} was interrupted; the next update, or a search that "
                    "may write there, takes it back"
                ) from error
            repair = f"; {_REPAIR}" if reason in (Damaged, NotGossamer) else ""
            raise reason(f"{self._path}: {error}{repair}") from error


@cache
def _known_tables() -> tuple[frozenset[tuple[str, ...]], ...]:
    """Give the tables that an index may have, as this SQLite writes them down."""
    known = []
    for has_text in (True, False) if _can_do_without_text() else (True,):
        with closing(sqlite3.connect(":memory:")) as database:
            _make_tables(database, has_text)
            known.append(_tables_of(database))
    return tuple(known)


def _make_tables(database: sqlite3.Connection, has_text: bool) -> None:
    database.execute(_TABLE.format("" if has_text else _WITHOUT_TEXT))
    for table in _OTHER_TABLES:
        database.execute(table)


def _tables_of(database: sqlite3.Connection) -> frozenset[tuple[str, ...]]:
    """Give all that a database says it has: tables, and views and triggers, which ours have not."""
    rows = database.execute("SELECT type, name, tbl_name, sql FROM sqlite_master")
    return frozenset(tuple(map(str, row)) for row in rows)


def _can_do_without_text() -> bool:
    """SQLite before 3.43 cannot delete from an index without text, so it keeps the text too."""
    return sqlite3.sqlite_version_info >= (3, 43)


def _is_allowed(ids: NDArray[np.int64], allowed: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    if allowed is None:
        return np.ones(len(ids), np.bool_)
    inside = (ids >= 0) & (ids < len(allowed))
    inside[inside] = allowed[ids[inside]]
    return inside


def _reason(error: sqlite3.Error) -> type[GossamerError]:
    """Say what SQLite's error is in our words."""
    # The lower byte; the rest says more than is asked here.
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    if code == sqlite3.SQLITE_READONLY_ROLLBACK:
        return Interrupted
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
    return reasons.get(code & 0xFF, Damaged)
