"""Spans of documents' texts, for a session of the core: out of files and the text store.

A text that stands in a file is given only while the file begins with just what was indexed; one
that was taken out of a file, only while the file is still the same.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from typing import Any

from gossamer.store import Snapshot
from gossamer.store.indexed import open_indexed, read_at
from gossamer.store.records import VERBATIM

__all__ = ["TextSource"]

# What a session says of a document: path, is_file, segment, offset, size, modified, hash, spans.
DocumentNeed = Mapping[str, Any]


class TextSource:
    """Reads texts of one snapshot, for one question."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._fresh: dict[str, bool] = {}  # files of stored texts that were looked at

    def read(self, documents: Iterable[DocumentNeed]) -> list[bytes | None]:
        """Give every span of the documents, in their order; None for one that is not there."""
        documents = list(documents)
        self._snapshot.texts.bring(
            (document["segment"], document["offset"] + start, document["offset"] + end)
            for document in documents
            for start, end in document["spans"]
        )
        return [span for document in documents for span in self._read(document)]

    def _read(self, document: DocumentNeed) -> list[bytes | None]:
        spans = document["spans"]
        if document["segment"] == VERBATIM:
            with open_indexed(document["path"], document["size"], document["hash"]) as file:
                return [None if file is None else read_at(file, *span) for span in spans]
        if not self._is_fresh(document):
            return [None] * len(spans)
        read, offset = self._snapshot.texts.read, document["offset"]
        return [read(document["segment"], offset + start, offset + end) for start, end in spans]

    def _is_fresh(self, document: DocumentNeed) -> bool:
        """Say whether a file whose text is stored is still the one it was taken from.

        With `store_text` files may move or go: what was indexed stands. Those of a server, or of
        an untrusted index, are not on this disk.
        """
        path, manifest = document["path"], self._snapshot.manifest
        keeps_text = bool(manifest.origin) or manifest.settings.store_text
        if not document["is_file"] or keeps_text or not self._snapshot.may_look_at(path):
            return True
        if path not in self._fresh:
            self._fresh[path] = _is_same_file(document)
        return self._fresh[path]


def _is_same_file(document: DocumentNeed) -> bool:
    """Compare size and time, and where the time is another the content."""
    path, size = document["path"], document["size"]
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode) or status.st_size != size:
            return False
        if status.st_mtime_ns == document["modified"]:
            return True
        with open_indexed(path, size, document["hash"]) as file:
            return file is not None
    except (OSError, ValueError):
        return False
