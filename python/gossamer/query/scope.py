"""Which documents a filter lets through."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from gossamer.filters import Filter
from gossamer.records import Value
from gossamer.store import Catalogue

__all__ = ["allowed_documents"]


_Columns = dict[str, Callable[[int], Value]]


def allowed_documents(catalogue: Catalogue, condition: Filter) -> NDArray[np.bool_]:
    """Say of each document, by row, whether the filter lets it through.

    Only the fields that it asks for are looked at.
    """
    known = _source_fields(catalogue)
    wanted = {name: known[name] for name in sorted(condition.names & known.keys())}
    if condition.names <= known.keys():
        by_source = np.fromiter(
            (condition.matches(_fields(wanted, row)) for row in range(catalogue.source_count)),
            bool,
            catalogue.source_count,
        )
        return by_source[catalogue.source_rows]
    is_allowed = np.zeros(catalogue.document_count, bool)
    of_files: dict[str, Value] = {}
    before = -1
    rows = catalogue.source_rows.tolist()
    for row, (source, metadata) in enumerate(zip(rows, catalogue.metadata(), strict=True)):
        if source != before:
            of_files, before = _fields(wanted, source), source
        # What the product knows of a file goes before what the file says of itself.
        is_allowed[row] = condition.matches({**metadata, **of_files})
    return is_allowed


def _fields(columns: _Columns, row: int) -> dict[str, Value]:
    return {name: value_of(row) for name, value_of in columns.items()}


def _source_fields(catalogue: Catalogue) -> _Columns:
    """Give what is known of every source, as functions of its row."""
    paths, words = catalogue.paths, catalogue.words
    roots, kinds = (catalogue.tables[name].tolist() for name in ("root", "kind"))

    def name_of(row: int) -> str:
        root = words[roots[row]]
        return paths[row][len(root) :].lstrip("/") if root else paths[row]

    return {
        "path": lambda row: paths[row],
        "source": name_of,
        "type": lambda row: words[kinds[row]],
        "extension": lambda row: _extension(paths[row]),
        "size": lambda row: catalogue.stat_of(row)[0],
        "modified": lambda row: _moment(catalogue.stat_of(row)[1]),
    }


def _extension(path: str) -> str:
    stem, _, extension = path.rpartition("/")[2].rpartition(".")
    return extension.lower() if stem else ""


def _moment(time_ns: int) -> str:
    try:
        return datetime.fromtimestamp(time_ns / 1e9, UTC).isoformat(timespec="seconds")
    except (OverflowError, ValueError, OSError):  # a time that no calendar has
        return ""
