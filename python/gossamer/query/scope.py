"""Which documents a filter lets through."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import PurePosixPath

import numpy as np
from numpy.typing import NDArray

from gossamer.filters import Filter
from gossamer.records import Value
from gossamer.store import Catalogue

__all__ = ["allowed_documents"]


def allowed_documents(catalogue: Catalogue, condition: Filter) -> NDArray[np.bool_]:
    """Say of each document, by row, whether the filter lets it through."""
    sources = [_source_fields(catalogue, row) for row in range(catalogue.source_count)]
    metadata = catalogue.metadata()
    is_allowed = np.zeros(catalogue.document_count, bool)
    for row, source in enumerate(catalogue.source_rows.tolist()):
        # What the product knows of a file goes before what the file says of itself.
        is_allowed[row] = condition.matches({**metadata[row], **sources[source]})
    return is_allowed


def _source_fields(catalogue: Catalogue, row: int) -> dict[str, Value]:
    size, mtime_ns = catalogue.stat_of(row)
    path = catalogue.paths[row]
    root = catalogue.words[catalogue.tables["root"][row]]
    return {
        "path": path,
        "source": path[len(root) :].lstrip("/") if root else path,
        "type": catalogue.words[catalogue.tables["kind"][row]],
        "extension": PurePosixPath(path).suffix.lstrip(".").lower(),
        "size": size,
        "modified": datetime.fromtimestamp(mtime_ns / 1e9, UTC).isoformat(timespec="seconds"),
    }
