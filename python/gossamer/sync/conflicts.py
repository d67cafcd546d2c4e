"""Changes that took the place of others, with what they replaced: nothing is lost silently."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from gossamer.errors import UnknownId
from gossamer.sync.database import Database
from gossamer.sync.records import Conflict
from gossamer.text.zstd import compress, decompress_exactly

__all__ = ["Conflicts", "Lost"]

_LEVEL = 12
_MOST_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class Lost:
    """What a change replaced."""

    content: bytes = b""
    # All but the text of what a program gave, by the names of its fields; empty for a file.
    about: Mapping[str, object] = field(default_factory=dict)


class Conflicts:
    """The conflicts of an index, by number. One shows once the index is at its version."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def after(self, number: int, version: int) -> list[Conflict]:
        """Give the first conflicts with larger numbers, up to a version of the index."""
        rows = self._database.rows(
            "SELECT number, id, at, version, note FROM conflicts "
            "WHERE number > ? AND version <= ? ORDER BY number LIMIT ?",
            (number, version, _MOST_AT_ONCE),
        )
        return [Conflict(*row) for row in rows]

    def between(self, base: int, version: int) -> list[Conflict]:
        """Give the last conflicts that came after one version, up to another."""
        rows = self._database.rows(
            "SELECT number, id, at, version, note FROM conflicts "
            "WHERE version > ? AND version <= ? ORDER BY number DESC LIMIT ?",
            (base, version, _MOST_AT_ONCE),
        )
        return [Conflict(*row) for row in reversed(rows)]

    def get(self, number: int) -> Conflict:
        """Give a conflict with the text that was replaced; UnknownId if there is none."""
        rows = self._database.rows(
            "SELECT about, number, id, at, version, note FROM conflicts WHERE number = ?",
            (number,),
        )
        if not rows:
            raise UnknownId(f"there is no conflict {number}")
        try:
            text = self.lost_bytes(number).decode("utf-8")
        except UnicodeDecodeError:
            text = ""  # a file that is no text; its note says so
        about = json.loads(rows[0][0])
        lost_text = {**about, "text": text} if about else {}
        return replace(Conflict(*rows[0][1:]), lost=text, lost_text=lost_text)

    def lost_bytes(self, number: int) -> bytes:
        """Give what was replaced, as it was; UnknownId if there is no such conflict."""
        rows = self._database.rows("SELECT size, lost FROM conflicts WHERE number = ?", (number,))
        if not rows:
            raise UnknownId(f"there is no conflict {number}")
        size, packed = rows[0]
        return decompress_exactly(packed, size)

    def add(
        self,
        connection: sqlite3.Connection,
        id: str,
        version: int,
        note: Callable[[int], str],
        lost: Lost,
    ) -> Conflict:
        """Record a conflict within a transaction; `note` is given its number."""
        at = datetime.now(UTC).isoformat(timespec="seconds")
        content = lost.content
        packed = compress(content, _LEVEL)
        cursor = connection.execute(
            "INSERT INTO conflicts (id, at, version, note, about, size, lost) "
            "VALUES (?, ?, ?, '', ?, ?, ?)",
            (id, at, version, json.dumps(dict(lost.about)), len(content), packed),
        )
        number = cursor.lastrowid or 0
        said = note(number)
        connection.execute("UPDATE conflicts SET note = ? WHERE number = ?", (said, number))
        return Conflict(number, id, at, version, said)

    def remove(self, connection: sqlite3.Connection, number: int) -> None:
        """Forget a conflict that did not come about."""
        connection.execute("DELETE FROM conflicts WHERE number = ?", (number,))
