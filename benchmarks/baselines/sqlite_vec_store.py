"""sqlite-vec: vectors in an SQLite file, searched by comparing all of them."""

from pathlib import Path

# Many a Python's own sqlite3 cannot load extensions.
import apsw
import sqlite_vec

from benchmarks.baselines.sizes import Parts, bytes_under, parts_of
from benchmarks.datasets import Floats


def store(vectors: Floats, path: Path) -> Parts:
    """Store vectors under their numbers; texts would be in a table of the user's."""
    connection = apsw.Connection(str(path))
    connection.enable_load_extension(True)
    connection.load_extension(sqlite_vec.loadable_path())
    connection.execute(
        f"CREATE VIRTUAL TABLE chunks USING vec0(embedding float[{vectors.shape[1]}])"
    )
    rows = ((number, vector.tobytes()) for number, vector in enumerate(vectors))
    with connection:
        connection.executemany("INSERT INTO chunks(rowid, embedding) VALUES (?, ?)", rows)
    connection.close()
    return parts_of(bytes_under(path), vectors=vectors.nbytes)
