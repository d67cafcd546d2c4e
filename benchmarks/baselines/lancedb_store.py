"""lancedb: columns of vectors and texts, with or without its IVF-PQ index."""

from collections.abc import Sequence
from pathlib import Path

import lancedb
import pyarrow as pa
from lancedb.index import IvfPq

from benchmarks.baselines.sizes import Parts, Stored, bytes_under, parts_of
from benchmarks.datasets import Floats

CENTROIDS = 256  # of each part of a vector that has a byte of its own in a code


def store(texts: Sequence[str], vectors: Floats, folder: Path) -> tuple[Stored, Stored]:
    """Store chunks with their vectors; bytes by part without an index, then with the default."""
    column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), vectors.shape[1])
    rows = pa.table({"text": pa.array(texts, pa.string()), "vector": column})
    table = lancedb.connect(str(folder)).create_table("chunks", rows)
    plain = Stored(_parts(folder, vectors.nbytes))
    table.create_index("vector", config=IvfPq(distance_type="cosine"))
    codebook = CENTROIDS * vectors.itemsize * vectors.shape[1]
    return plain, Stored(_parts(folder, vectors.nbytes, codebook), once=codebook)


def _parts(folder: Path, vector_bytes: int, codebook: int = 0) -> Parts:
    """The file of rows holds vectors and texts alone; an index is codes, their codebook, lists."""
    data = sum(bytes_under(path) for path in folder.glob("*.lance/data"))
    index = sum(bytes_under(path) for path in folder.glob("*.lance/_indices"))
    return parts_of(
        bytes_under(folder), vectors=vector_bytes, text=data - vector_bytes, codes=index - codebook
    )
