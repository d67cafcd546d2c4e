"""What an index holds, what it takes, and how fresh it is."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gossamer.store import Catalogue, Manifest, Snapshot, Status
from gossamer.store.manifest import Json
from gossamer.update.compare import Difference, compare_files

__all__ = ["IndexStatus", "bytes_by_part", "count_kinds", "read_status", "record_status"]

# Folders of server and edge beside the index: history and replicas, changes that wait.
_FOLDERS = ("sync", "outbox")


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """Numbers about an index."""

    name: str
    folder: str
    model: str
    generation: int
    created: str  # ISO 8601
    changed: str
    roots: tuple[str, ...]
    indexed: int  # sources
    skipped: int
    failed: int
    reasons: Mapping[str, int]  # why sources were skipped or failed, and how many for each reason
    kinds: Mapping[str, int]  # indexed sources of each kind
    documents: int
    chunks: int
    text_bytes: int  # of indexed documents
    source_bytes: int  # of the files that are indexed, and of texts that programs gave
    bytes_by_part: Mapping[str, int]  # what the folder holds, file by file kind
    changed_files: int  # indexed files that are not as they were; 0 where they are not looked at
    missing_files: int
    is_trusted: bool  # whether it was made or accepted on this machine
    # Of an index that follows a server: its address, the version that was pulled, what is kept,
    # and how many changes wait to be pushed. Empty for others.
    follows: Mapping[str, Json] = field(default_factory=dict)
    # Of a file at an address: that, its bytes, how many are kept here, and how many were fetched by
    # how many requests since it was opened. Empty for others.
    remote: Mapping[str, Json] = field(default_factory=dict)

    @property
    def total_bytes(self) -> int:
        """Everything in the folder."""
        return sum(self.bytes_by_part.values())

    @property
    def share_of_text(self) -> float:
        """The folder's bytes against those of the indexed text; 0 while there is none."""
        return self.total_bytes / self.text_bytes if self.text_bytes else 0.0

    @property
    def share_of_files(self) -> float:
        """The folder's bytes against those of the indexed files; 0 while there are none."""
        return self.total_bytes / self.source_bytes if self.source_bytes else 0.0

    @property
    def is_fresh(self) -> bool:
        """Whether every indexed file is as it was when it was read."""
        return not (self.changed_files or self.missing_files)


def read_status(snapshot: Snapshot) -> IndexStatus:
    """Count what the index holds, and look at each indexed file that is on this machine."""
    catalogue, manifest = snapshot.catalogue, snapshot.manifest
    statuses = catalogue.tables["status"]
    is_indexed = statuses == Status.INDEXED
    is_elsewhere = bool(manifest.origin) or not snapshot.is_trusted
    differ = Difference() if is_elsewhere else compare_files(snapshot)
    return IndexStatus(
        name=snapshot.name,
        folder=snapshot.place,
        model=manifest.model.name,
        generation=manifest.generation,
        created=manifest.created,
        changed=manifest.changed,
        roots=tuple(manifest.roots),
        indexed=int(is_indexed.sum()),
        skipped=int((statuses == Status.SKIPPED).sum()),
        failed=int((statuses == Status.FAILED).sum()),
        reasons=_count_words(catalogue, "reason", ~is_indexed),
        kinds=count_kinds(snapshot),
        documents=catalogue.document_count,
        chunks=catalogue.chunk_count,
        text_bytes=manifest.counts.get("text_bytes", 0),
        source_bytes=catalogue.source_bytes,
        bytes_by_part=_bytes_by_part(snapshot),
        changed_files=len(differ.changed),
        missing_files=len(differ.gone),
        is_trusted=snapshot.is_trusted,
        follows=_follows(snapshot.folder, manifest),
        remote=snapshot.remote,
    )


def count_kinds(snapshot: Snapshot) -> dict[str, int]:
    """Count the indexed sources of each kind, the most frequent first."""
    catalogue = snapshot.catalogue
    return _count_words(catalogue, "kind", catalogue.tables["status"] == Status.INDEXED)


def _follows(folder: Path, manifest: Manifest) -> dict[str, Json]:
    if not manifest.origin:
        return {}
    from gossamer.sync.following import following_of
    from gossamer.sync.outbox import count_waiting

    following = following_of(folder, manifest)
    # Where requests go: that is another place than the last pull came from, if someone changed it.
    asked = {} if following is None else {"url": following.url}
    return {**manifest.origin, **asked, "pending": count_waiting(folder)}


def record_status(status: IndexStatus, manifest: Manifest) -> dict[str, object]:
    """Describe an index for programs, on the command line and over HTTP."""
    return {
        **asdict(status),
        "total_bytes": status.total_bytes,
        "share_of_text": round(status.share_of_text, 6),
        "share_of_files": round(status.share_of_files, 6),
        "is_fresh": status.is_fresh,
        "settings": {**asdict(manifest.settings), "chunk_tokens": manifest.model.chunk_tokens},
    }


def _count_words(catalogue: Catalogue, column: str, rows: NDArray[np.bool_]) -> dict[str, int]:
    """Count how often each word stands in a column of these sources, the most frequent first."""
    numbers = Counter(catalogue.tables[column][rows].tolist())
    return {catalogue.words[number]: count for number, count in numbers.most_common()}


def _bytes_by_part(snapshot: Snapshot) -> dict[str, int]:
    """Give the same with the files of the index by what is in them."""
    if snapshot.remote:
        return dict(sorted(snapshot.part_bytes().items(), key=lambda item: -item[1]))
    kinds = {entry.kind for entry in snapshot.manifest.files}
    found = bytes_by_part(snapshot.folder)
    rest = {part: size for part, size in found.items() if part not in kinds}
    parts = {part: size for part, size in snapshot.part_bytes().items() if size}
    return dict(sorted((rest | parts).items(), key=lambda item: -item[1]))


def bytes_by_part(folder: Path) -> dict[str, int]:
    """Add up the bytes of the folder's files, by what they are."""
    sizes: Counter[str] = Counter()
    for name, size in _files_in(folder):
        sizes[name.split("-")[0].split(".")[0].lower()] += size
    for name in _FOLDERS:
        if (folder / name).is_dir() and not (folder / name).is_symlink():
            sizes[name] = sum(size for _, size in _files_below(folder / name))
    return dict(sorted(sizes.items(), key=lambda item: -item[1]))


def _files_in(folder: Path) -> Iterator[tuple[str, int]]:
    """Give the name and the size of each file of a folder; a commit meanwhile takes some away."""
    with os.scandir(folder) as entries:
        for entry in entries:
            with suppress(FileNotFoundError):
                if entry.is_file(follow_symlinks=False):
                    yield entry.name, entry.stat().st_size


def _files_below(folder: Path) -> Iterator[tuple[str, int]]:
    for place, _, _ in os.walk(folder):
        with suppress(FileNotFoundError):
            yield from _files_in(Path(place))
