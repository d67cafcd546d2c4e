"""chromadb: an HNSW with its vectors, and the texts in SQLite with an index of their words."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import chromadb
from chromadb.config import Settings

from benchmarks.baselines.sizes import Stored, bytes_under, parts_of, table_bytes
from benchmarks.datasets import Floats

TEXT_TABLES = (
    "embedding_metadata",
    "embedding_metadata_string_value",
    "embedding_fulltext_search_content",
)
# After so many it writes its graph anew; what is not yet in it is in the log.
AT_ONCE = 1000
WORD_TABLES = tuple(f"embedding_fulltext_search_{part}" for part in ("data", "idx", "docsize"))


def store(texts: Sequence[str], vectors: Floats, folder: Path) -> Stored:
    """Store chunks with their vectors as its documentation does; bytes by part."""
    client = chromadb.PersistentClient(str(folder), Settings(anonymized_telemetry=False))
    chunks = client.create_collection("chunks", embedding_function=None)
    for start in range(0, len(texts), AT_ONCE):
        end = min(start + AT_ONCE, len(texts))
        chunks.add(
            ids=[str(number) for number in range(start, end)],
            embeddings=vectors[start:end],
            documents=list(texts[start:end]),
        )
    return _count(folder, vectors.nbytes)


def _count(folder: Path, vector_bytes: int) -> Stored:
    """What its log of additions took is free again and waits for the next ones."""
    database = folder / "chroma.sqlite3"
    graph = sum(path.stat().st_size for path in folder.rglob("*.bin"))
    tables = table_bytes(database)
    in_graph = min(vector_bytes, graph)
    parts = parts_of(
        bytes_under(folder),
        graph=graph - in_graph,
        vectors=in_graph,
        text=sum(tables.get(table, 0) for table in TEXT_TABLES),
        words=sum(tables.get(table, 0) for table in WORD_TABLES),
    )
    return Stored(parts, once=_free_bytes(database))


def _free_bytes(database: Path) -> int:
    with closing(sqlite3.connect(database)) as connection:
        (pages,) = connection.execute("PRAGMA freelist_count").fetchone()
        (page_bytes,) = connection.execute("PRAGMA page_size").fetchone()
    return int(pages) * int(page_bytes)
