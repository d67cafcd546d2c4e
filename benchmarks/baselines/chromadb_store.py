"""chromadb: an HNSW with its vectors, and the texts in SQLite with an index of their words."""

from collections.abc import Sequence
from pathlib import Path

import chromadb
from chromadb.config import Settings

from benchmarks.baselines.sizes import Parts, bytes_under, parts_of, table_bytes
from benchmarks.datasets import Floats

TEXT_TABLES = (
    "embedding_metadata",
    "embedding_metadata_string_value",
    "embedding_fulltext_search_content",
)
WORD_TABLES = tuple(f"embedding_fulltext_search_{part}" for part in ("data", "idx", "docsize"))


def store(texts: Sequence[str], vectors: Floats, folder: Path) -> Parts:
    """Store chunks with their vectors as its documentation does; bytes by part."""
    client = chromadb.PersistentClient(str(folder), Settings(anonymized_telemetry=False))
    chunks = client.create_collection("chunks", embedding_function=None)
    at_once = client.get_max_batch_size()
    for start in range(0, len(texts), at_once):
        end = min(start + at_once, len(texts))
        chunks.add(
            ids=[str(number) for number in range(start, end)],
            embeddings=vectors[start:end],
            documents=list(texts[start:end]),
        )
    return _parts(folder, vectors.nbytes)


def _parts(folder: Path, vector_bytes: int) -> Parts:
    """Chunks not yet in the graph (fewer than a thousand) wait in SQLite with their vectors."""
    graph = sum(path.stat().st_size for path in folder.rglob("*.bin"))
    tables = table_bytes(folder / "chroma.sqlite3")
    in_graph = min(vector_bytes, graph)
    return parts_of(
        bytes_under(folder),
        graph=graph - in_graph,
        vectors=in_graph,
        text=sum(tables.get(table, 0) for table in TEXT_TABLES),
        words=sum(tables.get(table, 0) for table in WORD_TABLES),
    )
