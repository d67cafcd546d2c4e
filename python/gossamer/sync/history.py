"""What changed in which version, so that an edge gets what it lacks and nothing else.

The index itself knows only what it is now. Each version that is seen here is compared with what
was recorded of the one before, whoever committed it, and the difference is recorded.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import numpy as np

from gossamer.errors import WrongState
from gossamer.store import Catalogue, Snapshot
from gossamer.store.unwritable import explaining
from gossamer.sync.database import Database
from gossamer.sync.sections import Key

__all__ = ["HISTORY", "SYNC", "ChangedKeys", "History"]

SYNC = "sync"
HISTORY = "history.sqlite"
_TABLES = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE sources (is_file INT, path BLOB, changed INT NOT NULL, body INT NOT NULL,
  stamp BLOB NOT NULL, touch BLOB NOT NULL, PRIMARY KEY (is_file, path)) WITHOUT ROWID;
CREATE TABLE tombstones (is_file INT, path BLOB, version INT NOT NULL,
  PRIMARY KEY (is_file, path)) WITHOUT ROWID;
CREATE TABLE states (profile TEXT, version INT, state TEXT NOT NULL,
  PRIMARY KEY (profile, version)) WITHOUT ROWID;
CREATE TABLE deltas (profile TEXT, version INT, previous INT NOT NULL, delta BLOB NOT NULL,
  PRIMARY KEY (profile, version));
CREATE TABLE replicas (profile TEXT PRIMARY KEY, version INT NOT NULL, pulled INT NOT NULL)
  WITHOUT ROWID;
CREATE TABLE pushes (number INTEGER PRIMARY KEY, op TEXT UNIQUE NOT NULL, is_file INT NOT NULL,
  path TEXT NOT NULL, version INT NOT NULL, hash TEXT NOT NULL, result TEXT NOT NULL,
  is_done INT NOT NULL);
CREATE TABLE conflicts (number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL,
  at TEXT NOT NULL, version INT NOT NULL, note TEXT NOT NULL, size INT NOT NULL,
  lost BLOB NOT NULL);
"""
_OF_ONE_EPOCH = ("sources", "tombstones", "states", "deltas", "replicas")
# What a row takes besides its texts.
_ROW_BYTES = 48
_SIZES = f"""
SELECT version, sum(size) FROM (
  SELECT version, length(path) + {_ROW_BYTES} AS size FROM tombstones
  UNION ALL SELECT version, {2 * _ROW_BYTES} FROM states
  UNION ALL SELECT version, length(delta) + {_ROW_BYTES} FROM deltas)
GROUP BY version ORDER BY version DESC
"""


@dataclass(frozen=True, slots=True)
class ChangedKeys:
    """The sources that are not as they were in some version."""

    bodies: frozenset[Key]  # of another content, new, or gone
    touched: frozenset[Key]  # of another time only


class _Seen(NamedTuple):
    """Which state of the index was compared last."""

    identity: str
    version: int
    digest: str  # of the catalogue's file


class _Row(NamedTuple):
    is_file: int
    path: bytes
    stamp: bytes  # what the content and all that is said of it hash to
    touch: bytes  # when it was read, and by which reader


class History:
    """The server's memory of versions. Any thread may use it; each change is one transaction."""

    def __init__(self, folder: Path, max_bytes: int) -> None:
        """Open the history in an index folder, or begin one.

        Beyond `max_bytes` the oldest versions are forgotten, and `oldest` rises.
        """
        with explaining(folder):
            (folder / SYNC).mkdir(exist_ok=True)
        self._max_bytes = max_bytes
        self.database = Database(folder / SYNC / HISTORY, _TABLES)
        self._seen: _Seen | None = None

    @property
    def epoch(self) -> str:
        """Names this history: versions of another one are not comparable. "" before the first."""
        return self._meta().get("epoch", "")

    @property
    def version(self) -> int:
        """The version that was recorded last."""
        return int(self._meta().get("version", "0"))

    @property
    def oldest(self) -> int:
        """The oldest version that changes are still known since."""
        return int(self._meta().get("oldest", "0"))

    def advance(self, snapshot: Snapshot, identity: str) -> None:
        """Record a state of the index, if it is new.

        A new epoch begins with another `identity` (index, model, codebook), and where the index
        is older than what was recorded: it was put back from a copy.
        """
        manifest = snapshot.manifest
        (entry,) = manifest.files_of("catalogue")
        now = _Seen(identity, manifest.generation, entry.digest)
        if now == self._seen:
            return
        with self.database.transaction() as connection:
            meta = dict(connection.execute("SELECT name, value FROM meta"))
            known = (meta.get("identity"), int(meta.get("version", "0")), meta.get("digest"))
            if known != now:
                is_later = known[0] == identity and now.version > known[1]
                if is_later:
                    _record(connection, snapshot.catalogue, now.version)
                else:
                    _begin_epoch(connection, snapshot.catalogue, now.version)
                _set_meta(connection, now._asdict())
                self._trim(connection)
        self._seen = now

    def changed_since(self, version: int) -> ChangedKeys:
        """Give what changed after a version that is not older than `oldest`."""
        query = (
            "SELECT is_file, path FROM sources WHERE body > ?1 "
            "UNION SELECT is_file, path FROM tombstones WHERE version > ?1"
        )
        touched = "SELECT is_file, path FROM sources WHERE changed > ?1 AND body <= ?1"
        return ChangedKeys(
            frozenset(map(_as_key, self.database.rows(query, (version,)))),
            frozenset(map(_as_key, self.database.rows(touched, (version,)))),
        )

    def body_version(self, key: Key) -> int:
        """Give the version that a source's content came with, or went with; 0 if never seen."""
        is_file, path = int(key[0]), _encode(key[1])
        for query in (
            "SELECT body FROM sources WHERE is_file = ? AND path = ?",
            "SELECT version FROM tombstones WHERE is_file = ? AND path = ?",
        ):
            if found := self.database.rows(query, (is_file, path)):
                return int(found[0][0])
        return 0

    def state(self, profile: str, version: int) -> str:
        """Give the state that edges of a profile are in at a version; "" if not known."""
        query = "SELECT state FROM states WHERE profile = ? AND version = ?"
        found = self.database.rows(query, (profile, version))
        return found[0][0] if found else ""

    def put_state(self, profile: str, version: int, state: str) -> None:
        """Remember a state that is about to be given out."""
        if self.state(profile, version) != state:
            with self.database.transaction() as connection:
                _put_state(connection, profile, version, state)

    def put_replica(
        self, profile: str, epoch: str, at: tuple[int, str], delta: tuple[int, bytes] | None
    ) -> None:
        """Remember that the replica of a profile is at a version and in a state.

        `delta` is the version before and the difference; None for one that was built anew.
        WrongState if another epoch began meanwhile.
        """
        version, state = at
        with self.database.transaction() as connection:
            (now,) = connection.execute("SELECT value FROM meta WHERE name = 'epoch'").fetchone()
            if now != epoch:
                raise WrongState("the index was made anew meanwhile; ask again")
            if delta is None:
                _forget_replica(connection, profile)
            else:
                values = (profile, version, *delta)
                connection.execute("INSERT OR REPLACE INTO deltas VALUES (?, ?, ?, ?)", values)
            _put_state(connection, profile, version, state)
            connection.execute(
                "INSERT INTO replicas VALUES (?, ?, 0) "
                "ON CONFLICT (profile) DO UPDATE SET version = excluded.version",
                (profile, version),
            )
            self._trim(connection)

    def replicas(self) -> dict[str, int]:
        """Give the version of each replica, the one that was asked for longest ago first."""
        return dict(self.database.rows("SELECT profile, version FROM replicas ORDER BY pulled"))

    def note_pull(self, profile: str) -> None:
        """Remember that a replica was asked for."""
        with self.database.transaction() as connection:
            connection.execute(
                "UPDATE replicas SET pulled = (SELECT max(pulled) + 1 FROM replicas) "
                "WHERE profile = ?",
                (profile,),
            )

    def forget_replica(self, profile: str) -> None:
        """Forget a replica and its differences: its edges get a snapshot when they ask again."""
        with self.database.transaction() as connection:
            _forget_replica(connection, profile)

    def deltas(self, profile: str, base: int, version: int) -> list[bytes]:
        """Give the differences of a replica from one version to another; none if one is missing."""
        query = (
            "SELECT version, previous, delta FROM deltas "
            "WHERE profile = ? AND version > ? AND version <= ? ORDER BY version"
        )
        found: list[bytes] = []
        at = base
        for number, previous, delta in self.database.rows(query, (profile, base, version)):
            if previous != at:
                return []
            found.append(delta)
            at = number
        return found if at == version else []

    def close(self) -> None:
        """Close the database."""
        self.database.close()

    def _meta(self) -> dict[str, str]:
        return dict(self.database.rows("SELECT name, value FROM meta"))

    def _trim(self, connection: sqlite3.Connection) -> None:
        """Forget the oldest versions once all take more than they may."""
        total, version = 0, 0
        for number, size in connection.execute(_SIZES).fetchall():
            total += size
            if total > self._max_bytes:
                version = number
                break
        if not version:
            return
        for table in ("tombstones", "deltas"):
            connection.execute(f"DELETE FROM {table} WHERE version <= ?", (version,))
        connection.execute("DELETE FROM states WHERE version < ?", (version,))
        _set_meta(connection, {"oldest": version})
        connection.execute("PRAGMA incremental_vacuum").fetchall()


def _begin_epoch(connection: sqlite3.Connection, catalogue: Catalogue, version: int) -> None:
    for table in _OF_ONE_EPOCH:
        connection.execute(f"DELETE FROM {table}")
    _put_sources(connection, (_as_new(row, version) for row in _rows_of(catalogue)))
    _set_meta(connection, {"epoch": uuid4().hex, "oldest": version})


def _record(connection: sqlite3.Connection, catalogue: Catalogue, version: int) -> None:
    """Compare a catalogue with the sources that were recorded, and record what is different."""
    known = {
        (is_file, path): (body, stamp, touch)
        for is_file, path, body, stamp, touch in connection.execute(
            "SELECT is_file, path, body, stamp, touch FROM sources"
        )
    }
    put: list[tuple[object, ...]] = []
    for row in _rows_of(catalogue):
        body, stamp, touch = known.pop((row.is_file, row.path), (0, b"", b""))
        if stamp != row.stamp:
            put.append(_as_new(row, version))
        elif touch != row.touch:
            put.append((row.is_file, row.path, version, body, row.stamp, row.touch))
    _put_sources(connection, put)
    connection.executemany(
        "DELETE FROM tombstones WHERE is_file = ? AND path = ?", (one[:2] for one in put)
    )
    connection.executemany("DELETE FROM sources WHERE is_file = ? AND path = ?", known)
    connection.executemany(
        "INSERT INTO tombstones VALUES (?, ?, ?)", ((*key, version) for key in known)
    )


def _as_new(row: _Row, version: int) -> tuple[object, ...]:
    return (row.is_file, row.path, version, version, row.stamp, row.touch)


def _put_sources(connection: sqlite3.Connection, rows: Iterable[tuple[object, ...]]) -> None:
    connection.executemany("INSERT OR REPLACE INTO sources VALUES (?, ?, ?, ?, ?, ?)", rows)


def _put_state(connection: sqlite3.Connection, profile: str, version: int, state: str) -> None:
    values = (profile, version, state)
    connection.execute("INSERT OR REPLACE INTO states VALUES (?, ?, ?)", values)


def _forget_replica(connection: sqlite3.Connection, profile: str) -> None:
    for table in ("replicas", "deltas", "states"):
        connection.execute(f"DELETE FROM {table} WHERE profile = ?", (profile,))


def _set_meta(connection: sqlite3.Connection, values: dict[str, object]) -> None:
    rows = [(name, str(value)) for name, value in values.items()]
    connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", rows)


def _rows_of(catalogue: Catalogue) -> Iterator[_Row]:
    """Give what is recorded of each source.

    Whoever puts a source in gives it new chunks, so that their ids stand for its whole content.
    """
    table = catalogue.tables
    documents = table.children["documents"]
    words = np.array([_number_of(word) for word in catalogue.words], np.int64)
    chunks = np.zeros(catalogue.source_count, np.int64)
    np.add.at(chunks, catalogue.source_rows, documents["chunks"])
    firsts = np.full(catalogue.source_count, np.iinfo(np.int64).max)
    np.minimum.at(firsts, catalogue.source_rows, documents["first_chunk"])
    stamps = np.stack(
        [
            *(words[table[name]] for name in ("root", "kind", "reason")),
            *(table[name] for name in ("status", "size", "content_hash", "documents")),
            *(firsts, chunks),
        ],
        axis=1,
    ).astype("<i8")
    touches = np.stack([table["mtime_ns"], table["reader_version"]], axis=1).astype("<i8")
    is_file = (table["root"] != 0).astype(int).tolist()
    for row, path in enumerate(catalogue.paths):
        stamp = blake2b(stamps[row].tobytes(), digest_size=16).digest()
        yield _Row(is_file[row], _encode(path), stamp, touches[row].tobytes())


def _number_of(word: str) -> int:
    digest = blake2b(_encode(word), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def _encode(path: str) -> bytes:
    # Names of files need not be text, which SQLite's texts are.
    return path.encode("utf-8", "surrogatepass")


def _as_key(row: tuple[int, bytes]) -> Key:
    return bool(row[0]), row[1].decode("utf-8", "surrogatepass")
