"""Which pushed changes can be made in one step: those that are not about the same."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

from gossamer.sync.records import PushItem

__all__ = ["batches_of"]

# Longer names of files are refused whatever they are compared with.
_MOST_NAME, _MOST_PARTS = 1001, 17


def batches_of(items: Sequence[PushItem]) -> Iterator[list[PushItem]]:
    """Put changes together that need not be made one after the other, in their order."""
    batch: list[PushItem] = []
    names: set[str] = set()  # ops, ids of texts, names of files
    folders: set[str] = set()  # that files are in
    for item in items:
        own, above = _names_of(item)
        if not names.isdisjoint([*own, *above]) or not folders.isdisjoint(own):
            yield batch
            batch, names, folders = [], set(), set()
        batch.append(item)
        names.update(own)
        folders.update(above)
    if batch:
        yield batch


def _names_of(item: PushItem) -> tuple[list[str], list[str]]:
    """Give what a change is about, and the folders above it, which cannot be files."""
    is_file, id = item.key
    if not is_file:
        return [f"op {item.op}", f"text {id}"], []
    # Names that some systems take for one.
    folded = unicodedata.normalize("NFC", id[:_MOST_NAME]).casefold()
    parts = folded.split("/")[:_MOST_PARTS]
    above = ["file " + "/".join(parts[:count]) for count in range(1, len(parts))]
    return [f"op {item.op}", "file " + "/".join(parts)], above
