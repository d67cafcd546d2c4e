"""Segments of one group, read and written from docs/format.md alone, with the sections of a file.

Nothing is verified here, so that segments can be made that cannot be.
"""

from __future__ import annotations

from contextlib import suppress
from unittest.mock import patch

import column_format
import numpy as np
from column_format import (
    SOURCES,
    WORDS,
    Column,
    Schema,
    Table,
    pack_table,
    unpack_table,
    words_table,
)

from gossamer.single.container import crc32c
from gossamer.text.zstd import ZstdDecompressor, ZstdError

STRINGS, DIRECTORY, GROUPS, BLOCKS = 48, 49, 50, 53
_DIRECTORY_SCHEMA = Schema(
    (
        Column("bytes"),
        Column("size"),
        Column("checksum", width=4),
        Column("sources"),
        Column("documents"),
        Column("chunks"),
        Column("is_file"),
    ),
    (("path", Schema(is_bytes=True, cost=4)),),
)


def read_segment(sections: dict[int, bytes]) -> tuple[list[bytes], Table]:
    """Give the strings and sources of a segment."""
    words = unpack_table(sections[STRINGS], WORDS, is_own=True).texts("word")
    group = sections[GROUPS]
    with suppress(ZstdError):  # a small one is as it is
        group = ZstdDecompressor().decompress(group)
    return words, unpack_table(group, SOURCES, is_own=True)


def write_segment(sections: dict[int, bytes], words: list[bytes], tables: Table) -> None:
    """Give a segment other strings and sources."""
    with patch.object(column_format, "compress", lambda plane, _: plane):
        sections[STRINGS] = pack_table(words_table(words))
        sections[GROUPS] = pack_table(tables)
    sections[DIRECTORY] = pack_table(_directory_of(words, tables, sections[GROUPS]))


def _directory_of(words: list[bytes], tables: Table, group: bytes) -> Table:
    """Give the directory of a segment of one group, whatever its names are."""
    path, is_file = b"", 0
    with suppress(IndexError):  # of words that are none
        (name,), root = tables.texts("name", [0]), words[tables["root"][0]]
        path, is_file = (root + b"/" + name if root else name), int(tables["root"][0] != 0)
    documents = tables.children["documents"]
    values = {
        "bytes": len(group),
        "size": len(group),
        "checksum": crc32c(group),
        "sources": len(tables),
        "documents": len(documents),
        "chunks": len(documents.children["chunks"]),
        "is_file": is_file,
        "path": len(path),
    }
    columns = {name: np.array([value], np.int64) for name, value in values.items()}
    paths = Table(_DIRECTORY_SCHEMA.children[0][1], content=np.frombuffer(path, np.uint8))
    return Table(_DIRECTORY_SCHEMA, columns, {"path": paths})
