"""What changed in which version, so that an edge gets what it lacks and nothing else.

The index itself knows only what it is now. Each version that is seen here is compared with what
was recorded of the one before, whoever committed it, and the difference is recorded.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from gossamer.errors import WrongState
from gossamer.files import check_plain_name, make_folder
from gossamer.io_errors import explaining
from gossamer.store import Catalogue, Snapshot
from gossamer.sync.database import Database
from gossamer.sync.sections import Key
from gossamer.sync.stamps import Stamps, decode_path, encode_path, first_chunks, key_number

__all__ = ["HISTORY", "SYNC", "ChangedKeys", "History", "ReplicaRecord"]

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
CREATE TABLE replicas (profile TEXT PRIMARY KEY, version INT NOT NULL, file TEXT NOT NULL,
  built INT NOT NULL, pulled INT NOT NULL) WITHOUT ROWID;
CREATE TABLE pushes (number INTEGER PRIMARY KEY, op TEXT UNIQUE NOT NULL, is_file INT NOT NULL,
  path TEXT NOT NULL, version INT NOT NULL, hash TEXT NOT NULL, result TEXT NOT NULL,
  is_done INT NOT NULL);
CREATE TABLE conflicts (number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL,
  at TEXT NOT NULL, version INT NOT NULL, note TEXT NOT NULL, about TEXT NOT NULL,
  size INT NOT NULL, lost BLOB NOT NULL);
"""
_OF_ONE_EPOCH = ("sources", "tombstones", "states", "deltas", "replicas")
# What a row takes besides its texts.
_ROW_BYTES = 48
_DELTA_SIZES = f"SELECT version, length(delta) + {_ROW_BYTES} FROM deltas ORDER BY version DESC"
_OTHER_SIZES = f"""
SELECT version, sum(size) FROM (
  SELECT version, length(path) + {_ROW_BYTES} AS size FROM tombstones
  UNION ALL SELECT version, {2 * _ROW_BYTES} FROM states)
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


@dataclass(frozen=True, slots=True)
class ReplicaRecord:
    """What is known of a slim index for edges."""

    version: int
    file: str  # its name, "" if there is none
    built: int  # chunks when it was last built anew


class History:
    """The server's memory of versions. Any thread may use it; each change is one transaction."""

    def __init__(self, folder: Path, max_bytes: int) -> None:
        """Open the history in an index folder, or begin one.

        Beyond `max_bytes` the oldest versions are forgotten, and `oldest` rises.
        """
        with explaining(folder):
            make_folder(folder / SYNC)
        self._max_bytes = max_bytes
        self.database = Database(folder / SYNC / HISTORY, _TABLES)
        self._seen: _Seen | None = None
        self._stamps: Stamps | None = None  # of what was seen

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
        was put back from a copy: it is older than what was recorded, or gave ids to chunks that
        others had.
        """
        manifest = snapshot.manifest
        now = _Seen(identity, manifest.generation, manifest.digest())
        if now == self._seen and self.epoch:
            return
        stamps = Stamps.of(snapshot.catalogue)
        with self.database.transaction() as connection:
            meta = dict(connection.execute("SELECT name, value FROM meta"))
            known = _Seen(
                meta.get("identity", ""), int(meta.get("version", "0")), meta.get("digest", "")
            )
            if known != now:
                is_later = known.identity == identity and now.version > known.version
                free = int(meta.get("next_chunk_id", "0"))
                if not is_later or not self._record(connection, snapshot, stamps, known, free):
                    _begin_epoch(connection, snapshot.catalogue, stamps, now.version)
                _set_meta(connection, {**now._asdict(), "next_chunk_id": manifest.next_chunk_id})
                self._trim(connection)
        self._seen, self._stamps = now, stamps

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
        is_file, path = int(key[0]), encode_path(key[1])
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
        self,
        profile: str,
        epoch: str,
        replica: ReplicaRecord,
        state: str,
        delta: tuple[int, bytes] | None,
    ) -> None:
        """Remember the replica of a profile, and the state of edges that hold it.

        `delta` is the version before and the difference; None for one that was built anew.
        WrongState if another epoch began meanwhile.
        """
        version = replica.version
        with self.database.transaction() as connection:
            found = connection.execute("SELECT value FROM meta WHERE name = 'epoch'").fetchone()
            if found != (epoch,):
                raise WrongState("the index was made anew meanwhile; ask again")
            if delta is None:
                _forget_replica(connection, profile)
            else:
                values = (profile, version, *delta)
                connection.execute("INSERT OR REPLACE INTO deltas VALUES (?, ?, ?, ?)", values)
            _put_state(connection, profile, version, state)
            connection.execute(
                "INSERT INTO replicas VALUES (?, ?, ?, ?, 0) ON CONFLICT (profile) DO UPDATE SET "
                "version = excluded.version, file = excluded.file, built = excluded.built",
                (profile, version, replica.file, replica.built),
            )
            self._trim(connection)

    def replicas(self, epoch: str | None = None) -> dict[str, ReplicaRecord]:
        """Give what is known of replicas, the one that was asked for longest ago first.

        With an `epoch`, none unless it is the present one.
        """
        query = (
            "SELECT profile, version, file, built FROM replicas WHERE ?1 IS NULL OR "
            "?1 = (SELECT value FROM meta WHERE name = 'epoch') ORDER BY pulled"
        )
        found = {row[0]: ReplicaRecord(*row[1:]) for row in self.database.rows(query, (epoch,))}
        for replica in found.values():
            if replica.file:
                check_plain_name(replica.file, "a replica")
        return found

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

    def delta_to(self, profile: str, version: int) -> tuple[int, bytes] | None:
        """Give the version before one of a replica's, and the difference; None if not known."""
        query = "SELECT previous, delta FROM deltas WHERE profile = ? AND version = ?"
        found = self.database.rows(query, (profile, version))
        return found[0] if found else None

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

    def _record(
        self,
        connection: sqlite3.Connection,
        snapshot: Snapshot,
        stamps: Stamps,
        known: _Seen,
        free: int,
    ) -> bool:
        """Record what is different from what was recorded; False if ids were given twice.

        `free` is the first id that no chunk had had by then.
        """
        query = "SELECT is_file, path, stamp, touch FROM sources"
        old = self._stamps if known == self._seen else None
        difference = stamps.since(old or Stamps.recorded(connection.execute(query)))
        catalogue, version = snapshot.catalogue, snapshot.manifest.generation
        # What is new has ids that were free: else others had them, in a past that was undone.
        firsts = first_chunks(catalogue)[difference.bodies]
        if snapshot.manifest.next_chunk_id < free or (firsts < free).any():
            return False
        _put_sources(connection, catalogue, stamps, difference.bodies.tolist(), version)
        connection.executemany(
            "UPDATE sources SET changed = ?, touch = ? WHERE is_file = ? AND path = ?",
            (
                (version, stamps.to_row(row)[1], *_key_of(catalogue, row))
                for row in difference.touched.tolist()
            ),
        )
        _bury(connection, set(difference.gone.tolist()), version)
        return True

    def _trim(self, connection: sqlite3.Connection) -> None:
        """Forget the oldest once all takes more than it may.

        Differences of slim indexes go first, which are large and concern few edges: without
        them these get a snapshot, and `oldest` need not rise.
        """
        deltas = connection.execute(_DELTA_SIZES).fetchall()
        others = connection.execute(_OTHER_SIZES).fetchall()
        left = self._max_bytes - sum(size for _, size in others)
        if sum(size for _, size in deltas) <= left:
            return
        if (version := _first_beyond(deltas, left)) is not None:
            connection.execute("DELETE FROM deltas WHERE version <= ?", (version,))
        if (version := _first_beyond(others, self._max_bytes)) is not None:
            connection.execute("DELETE FROM tombstones WHERE version <= ?", (version,))
            connection.execute("DELETE FROM states WHERE version < ?", (version,))
            _set_meta(connection, {"oldest": version})
        connection.execute("PRAGMA incremental_vacuum").fetchall()


def _first_beyond(sizes: Iterable[tuple[int, int]], room: int) -> int | None:
    """Give the newest version that there is no room for; None if there is for all."""
    for version, size in sizes:
        room -= size
        if room < 0:
            return version
    return None


def _begin_epoch(
    connection: sqlite3.Connection, catalogue: Catalogue, stamps: Stamps, version: int
) -> None:
    for table in _OF_ONE_EPOCH:
        connection.execute(f"DELETE FROM {table}")
    _put_sources(connection, catalogue, stamps, range(catalogue.source_count), version)
    _set_meta(connection, {"epoch": uuid4().hex, "oldest": version})


def _bury(connection: sqlite3.Connection, gone: set[int], version: int) -> None:
    """Put up a tombstone for each source that went, by the number of its key."""
    if not gone:
        return
    rows = connection.execute("SELECT is_file, path FROM sources").fetchall()
    keys = [row for row in rows if key_number(*_as_key(row)) in gone]
    connection.executemany("DELETE FROM sources WHERE is_file = ? AND path = ?", keys)
    connection.executemany(
        "INSERT INTO tombstones VALUES (?, ?, ?)", ((*key, version) for key in keys)
    )


def _put_sources(
    connection: sqlite3.Connection,
    catalogue: Catalogue,
    stamps: Stamps,
    rows: Iterable[int],
    version: int,
) -> None:
    """Record sources that are new or of another content."""
    keys = [_key_of(catalogue, row) for row in rows]
    connection.executemany(
        "INSERT OR REPLACE INTO sources VALUES (?, ?, ?, ?, ?, ?)",
        (
            (*key, version, version, *stamps.to_row(row))
            for key, row in zip(keys, rows, strict=True)
        ),
    )
    connection.executemany("DELETE FROM tombstones WHERE is_file = ? AND path = ?", keys)


def _put_state(connection: sqlite3.Connection, profile: str, version: int, state: str) -> None:
    values = (profile, version, state)
    connection.execute("INSERT OR REPLACE INTO states VALUES (?, ?, ?)", values)


def _forget_replica(connection: sqlite3.Connection, profile: str) -> None:
    for table in ("replicas", "deltas", "states"):
        connection.execute(f"DELETE FROM {table} WHERE profile = ?", (profile,))


def _set_meta(connection: sqlite3.Connection, values: dict[str, object]) -> None:
    rows = [(name, str(value)) for name, value in values.items()]
    connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", rows)


def _key_of(catalogue: Catalogue, row: int) -> tuple[int, bytes]:
    return int(catalogue.tables["root"][row] != 0), encode_path(catalogue.paths[row])


def _as_key(row: tuple[int, bytes]) -> Key:
    return bool(row[0]), decode_path(row[1])
