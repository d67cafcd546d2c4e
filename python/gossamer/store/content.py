"""What a catalogue says, whatever way it came about: the same words, the same order, one digest."""

from __future__ import annotations

from dataclasses import replace
from hashlib import blake2b

import numpy as np

from gossamer.store.columns import Ints, Table
from gossamer.store.hashes import HASH_BYTES
from gossamer.store.records import AWAY

__all__ = [
    "canonical_order",
    "canonical_words",
    "content_digest",
    "place_texts",
    "put_texts_away",
    "renumbered",
]

_WORDS_OF_SOURCES = ("root", "kind", "reason")
_WORDS_OF_DOCUMENTS = ("kind", "unit")
# Where a text is kept is no part of what is indexed.
_PLACES = ("segment", "offset")


def canonical_words(words: list[str], sources: Table) -> tuple[list[str], Table]:
    """Give the words that are used, sorted, and the tables with their numbers; "" is the first."""
    documents = sources.children["documents"]
    used = np.unique(
        np.concatenate(
            [
                [0],
                *(sources[name] for name in _WORDS_OF_SOURCES),
                *(documents[name] for name in _WORDS_OF_DOCUMENTS),
            ]
        )
    ).tolist()
    kept = sorted({words[number] for number in used})
    place_of = {word: place for place, word in enumerate(kept)}
    numbers = np.zeros(len(words), np.int64)
    numbers[used] = [place_of[words[number]] for number in used]
    return kept, renumbered(sources, numbers)


def renumbered(sources: Table, numbers: Ints) -> Table:
    """Give the tables with other numbers for words: numbers[n] in place of n."""
    documents = sources.children["documents"]
    columns = {name: numbers[sources[name]] for name in _WORDS_OF_SOURCES}
    of_documents = {name: numbers[documents[name]] for name in _WORDS_OF_DOCUMENTS}
    changed = replace(documents, columns={**documents.columns, **of_documents})
    return replace(
        sources,
        columns={**sources.columns, **columns},
        children={**sources.children, "documents": changed},
    )


def canonical_order(paths: list[str], roots: Ints) -> Ints:
    """Give the rows of sources by path; a text whose id is a file's path comes before the file."""
    keys = list(zip(paths, (roots != 0).tolist(), strict=True))
    return np.asarray(sorted(range(len(keys)), key=keys.__getitem__), np.int64)


def place_texts(sources: Table, segments: Ints, offsets: Ints) -> Table:
    """Give the tables with these places of texts, by document."""
    documents = sources.children["documents"]
    columns = {**documents.columns, "segment": segments, "offset": offsets}
    changed = replace(documents, columns=columns)
    return replace(sources, children={**sources.children, "documents": changed})


def put_texts_away(sources: Table, lengths: Ints) -> Table:
    """Give the tables with every text away, and its length, which is the file's if verbatim."""
    documents = sources.children["documents"]
    count = len(documents)
    changed = replace(documents, columns={**documents.columns, "length": lengths})
    sources = replace(sources, children={**sources.children, "documents": changed})
    return place_texts(sources, np.full(count, AWAY, np.int64), np.zeros(count, np.int64))


def content_digest(words: list[str], sources: Table) -> bytes:
    """Give 16 bytes for canonical tables whose texts are away: the same for the same content."""
    digest = blake2b(digest_size=HASH_BYTES)
    for word in words:
        encoded = word.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "little") + encoded)
    _feed(digest, sources)
    return digest.digest()


def _feed(digest: blake2b, table: Table) -> None:
    """Feed the rows of a table and of those they own; lengths come first, so nothing runs over."""
    digest.update(len(table).to_bytes(8, "little"))
    if table.schema.is_bytes:
        digest.update(np.ascontiguousarray(table.content).data)
        return
    names = [column.name for column in table.schema.columns if column.name not in _PLACES]
    for name in (*names, *(name for name, _ in table.schema.children)):
        digest.update(np.ascontiguousarray(table[name], "<i8").data)
    for name, _ in table.schema.children:
        _feed(digest, table.children[name])
