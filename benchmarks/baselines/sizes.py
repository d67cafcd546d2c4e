"""Files of rivals counted by what is in them."""

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

PARTS = ("codes", "graph", "vectors", "text", "words", "rest")
Parts = dict[str, int]


@dataclass(frozen=True)
class Stored:
    """Bytes by part; `once` of those in `rest` do not grow with what is stored."""

    parts: Parts
    once: int = 0


def bytes_under(path: Path) -> int:
    """Give the bytes of a file, or of all files in a folder."""
    if path.is_file():
        return path.stat().st_size
    return sum(one.stat().st_size for one in path.rglob("*") if one.is_file())


def parts_of(total: int, **known: int) -> Parts:
    """Give the bytes of each known part, and what is left of the total as `rest`."""
    return {**known, "rest": total - sum(known.values())}


def table_bytes(database: Path) -> dict[str, int]:
    """Give the bytes of each table and index of an SQLite file; nothing if SQLite cannot tell."""
    with closing(sqlite3.connect(database)) as connection:
        try:
            rows = connection.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name")
            return dict(rows.fetchall())
        except sqlite3.OperationalError:  # SQLite was compiled without this table
            return {}
