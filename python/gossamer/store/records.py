"""What the catalogue holds: sources and documents, as records."""

from __future__ import annotations

import enum
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from gossamer.records import ChunkSpan, Span, Value

__all__ = [
    "AWAY",
    "VERBATIM",
    "ChunkPlace",
    "ChunkedDocument",
    "DocumentRecord",
    "SourceRecord",
    "Status",
    "is_at_or_below",
    "locate_title",
    "path_of",
]

_TITLE_WITHIN = 4096  # whoever shows a title reads no more than this of the text
VERBATIM = 0  # the segment of documents whose text is their file's own bytes
AWAY = 1 << 31  # that of documents whose text the server has; no segment of texts has this number


class Status(enum.IntEnum):
    """What became of a source."""

    INDEXED = 0
    SKIPPED = 1
    FAILED = 2


@dataclass(frozen=True, slots=True)
class SourceRecord:
    """A file that was looked at, or a text that a program gave."""

    root: str  # the folder that was given, absolute, with "/" between parts; "" for a text
    name: str  # the path below it with "/" between parts, or the id of a text
    size: int  # bytes of the file
    mtime_ns: int
    content_hash: int  # hash_of_bytes of it; 0 where it was not read
    kind: str = ""
    status: Status = Status.INDEXED
    reason: str = ""  # why it was skipped or failed
    reader_version: int = 0

    @property
    def path(self) -> str:
        """The file's absolute path, or the id of a text."""
        return path_of(self.root, self.name)


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """What is known of a document besides its chunks."""

    text_length: int  # bytes; for verbatim documents those of the file
    kind: str
    segment: int = VERBATIM  # VERBATIM, AWAY, or the segment of the text store
    offset: int = 0  # where the text begins in its segment
    key: str = ""
    title: str = ""  # where the text does not hold it
    title_span: Span | None = None  # where the text holds it
    unit: str = "line"
    places: tuple[tuple[int, int], ...] = ()
    metadata: Mapping[str, Value] = field(default_factory=dict)

    @property
    def is_verbatim(self) -> bool:
        """Whether the text is the file's own bytes, and is read there."""
        return self.segment == VERBATIM

    @property
    def is_away(self) -> bool:
        """Whether the text is not here but on the server that the index follows."""
        return self.segment == AWAY


@dataclass(frozen=True, slots=True)
class ChunkedDocument:
    """A document to put into the catalogue: its chunks, and check_of each embedded text."""

    record: DocumentRecord
    spans: Sequence[ChunkSpan]
    checks: Sequence[int]


class ChunkPlace(NamedTuple):
    """Where a chunk stands."""

    document: int  # its row
    span: Span  # in the text of the document
    check: int  # of its text as it was embedded
    context: tuple[Span, ...]  # the headings above it, outermost first


def path_of(root: str, name: str) -> str:
    """Join what a source keeps of its path."""
    if not root:
        return name
    return f"{root}{name}" if root.endswith("/") else f"{root}/{name}"


def is_at_or_below(path: str, roots: Collection[str]) -> bool:
    """Whether a path is one of the roots or below one, without any way out of it."""
    if ".." in path.split("/"):
        return False
    return path in roots or path.startswith(tuple(f"{root.rstrip('/')}/" for root in roots))


def locate_title(text: bytes, title: str) -> Span | None:
    """Find a title in the text, so that it need not be stored; None where it is not there."""
    wanted = title.encode("utf-8", "surrogatepass")
    start = text.find(wanted, 0, _TITLE_WITHIN) if wanted else -1
    return None if start < 0 else (start, start + len(wanted))
