"""The server's SQLite database: one connection, one thread at a time, all or nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock
from typing import Any

from gossamer.errors import (
    Cancelled,
    Damaged,
    GossamerError,
    Locked,
    NotGossamer,
    UnknownVersion,
    Unwritable,
)
from gossamer.files import make_file, make_folder
from gossamer.io_errors import explaining
from gossamer.journals import refuse_foreign_journal

__all__ = ["Database"]

_APPLICATION = 0x67737963  # "gsyc"
_VERSION = 1
_WAIT_S = 30.0


class Database:
    """A database of ours; `transaction` is the one way in."""

    def __init__(self, path: Path, tables: str) -> None:
        """Open the database, or make it with these tables.

        One that is damaged or not ours is set aside under another name, and a new one is begun;
        so it is where someone deletes the file while it is in use.
        """
        self._path = path
        self._tables = tables
        self._lock = RLock()
        self._is_closed = False
        try:
            self._connection = self._open()
        except (Damaged, NotGossamer):
            _set_aside(path)
            self._connection = self._open()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Read and write as one step: everything counts once the block is left, or nothing."""
        with self._lock, self._explained():
            connection = self._ready()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise

    def rows(self, query: str, values: tuple[Any, ...] = ()) -> list[Any]:
        """Give all rows of a question, as they are at this moment."""
        with self._lock, self._explained():
            return self._ready().execute(query, values).fetchall()

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._is_closed = True
            self._connection.close()

    def _ready(self) -> sqlite3.Connection:
        """Give the connection to the file that is there, which may be a new one."""
        if self._is_closed:
            raise Cancelled("the server is closing; ask again when it is back")
        if not self._connection.in_transaction and not self._path.exists():
            with explaining(self._path.parent):
                make_folder(self._path.parent)
            self._connection.close()
            self._connection = self._open()
        return self._connection

    def _open(self) -> sqlite3.Connection:
        with self._explained():
            refuse_foreign_journal(self._path)
            if not self._path.exists():
                make_file(self._path)
            connection = sqlite3.connect(
                self._path, timeout=_WAIT_S, isolation_level=None, check_same_thread=False
            )
            try:
                self._prepare(connection)
            except BaseException:
                connection.close()
                raise
            return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if tables and application != _APPLICATION:
            raise NotGossamer(f"{self._path} is the database of another program")
        if tables and version != _VERSION:
            raise UnknownVersion(
                f"{self._path} is of version {version}, and this release reads {_VERSION}; use the "
                "release that wrote it, or a newer one"
            )
        connection.execute("PRAGMA trusted_schema = OFF")
        query = "SELECT count(*) FROM sqlite_master WHERE type NOT IN ('table', 'index')"
        if connection.execute(query).fetchone() != (0,):
            raise Damaged(f"{self._path} has triggers or views, and ours has none; delete it")
        (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        if found != "ok":
            raise Damaged(f"{self._path}: {found}")
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        if not tables:
            connection.executescript(
                f"BEGIN IMMEDIATE; {self._tables} PRAGMA application_id = {_APPLICATION}; "
                f"PRAGMA user_version = {_VERSION}; COMMIT;"
            )

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except GossamerError:
            raise
        except sqlite3.OperationalError as error:
            said = str(error)
            if "locked" in said or "busy" in said:
                raise Locked(f"{self._path}: another process is writing to it; try again") from None
            if "malformed" in said:
                raise Damaged(f"{self._path}: {said}") from None
            raise Unwritable(f"cannot write {self._path}: {said}; make room, or mend it") from None
        except sqlite3.DatabaseError as error:
            raise Damaged(
                f"{self._path}: {error}; start the server again, which begins a new one"
            ) from None


def _set_aside(path: Path) -> None:
    """Give a file another name, and what belongs to it: texts of conflicts may be in there."""
    number = 1
    while (aside := path.with_name(f"{path.stem}-damaged-{number}{path.suffix}")).exists():
        number += 1
    for ending in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            path.with_name(path.name + ending).rename(aside.with_name(aside.name + ending))
