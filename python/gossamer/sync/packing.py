"""What goes into a package: the parts that an edge lacks, read as they are written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from gossamer.errors import WrongState
from gossamer.store import Catalogue
from gossamer.sync.history import ChangedKeys
from gossamer.sync.records import HOT_ENTRY_BYTES, Base, Conflict, Head, Mode
from gossamer.sync.sections import (
    Touched,
    pack_absent,
    pack_conflicts,
    pack_hot,
    pack_removed,
    pack_touched,
)
from gossamer.sync.served import BLOCK, Served
from gossamer.update.hubs import HubVectors
from gossamer.vectors.vector_index import VectorIndex

__all__ = ["Contents", "Engine", "MovedOn", "head_of", "sections_of", "without_source"]

Ids = NDArray[np.int64]
Section = tuple[str, Iterable[bytes]]

_READ_BYTES = 1 << 20
# What a cache of an edge has for chunks; the rest is for questions.
_HOT_CHUNK_SHARE = 0.9
_HUBS_IN_BUDGET = 2  # HubVectors takes half of its budget


class MovedOn(WrongState):
    """A replica whose file is not there any more."""


@dataclass(frozen=True)
class Engine:
    """What a slim edge gets besides the catalogue: the whole file, or what changes it."""

    state: str
    file: Path | None = None
    delta: bytes = b""


@dataclass(frozen=True)
class Contents:
    """What a package is made of."""

    served: Served
    mode: Mode
    texts: str
    base: Base | None  # None for a snapshot
    changed: ChangedKeys  # since the base; of a snapshot nothing is asked
    engine: Engine | None  # of a slim edge
    conflicts: Sequence[Conflict]


def head_of(contents: Contents, is_signed: bool) -> Head:
    """Say what a package is; its sections are filled in when it is written."""
    served, engine = contents.served, contents.engine
    return Head(
        kind="snapshot" if contents.base is None else "delta",
        index=served.manifest.uuid,
        mode=str(contents.mode),
        texts=contents.texts,
        base=contents.base,
        epoch=served.epoch,
        version=served.version,
        state=served.codes_state if engine is None else engine.state,
        next_chunk_id=served.manifest.next_chunk_id,
        is_signed=is_signed,
        model=served.stamp,
        settings=served.settings,
    )


@contextmanager
def without_source(contents: Contents, folder: Path) -> Iterator[Contents]:
    """Give the contents with an engine file as edges get it: without the graph it was pruned from.

    MovedOn if the file went meanwhile.
    """
    engine = contents.engine
    if engine is None or engine.file is None:
        yield contents
        return
    with TemporaryDirectory(prefix="engine-", dir=folder) as aside:
        path = Path(aside) / "engine.gsm"
        try:
            index = VectorIndex.open(engine.file)
        except FileNotFoundError:
            raise MovedOn("a newer version took the place of this one; ask again") from None
        index.save(path, with_source=False)
        yield replace(contents, engine=replace(engine, file=path))


def sections_of(contents: Contents, absent: list[int]) -> Iterator[Section]:
    """Give the sections of a package, each to be used up before the next, without empty ones.

    `absent` is given the documents whose texts cannot be had.
    """
    served = contents.served
    if contents.base is None:
        part, rest = served.catalogue, list[Section]()
        rows = np.arange(part.source_count)
    else:
        rows, rest = _changes_of(served.catalogue, contents.changed)
        part = served.catalogue.part(rows)
    yield "catalogue", [part.with_away_texts().to_bytes()]
    yield from rest
    yield from _vector_sections(contents, part.chunk_ids)
    if contents.texts == "kept":
        yield "texts", _texts_of(served, rows, absent)
        if absent:
            firsts = served.catalogue.tables.children["documents"]["first_chunk"]
            yield "absent", [pack_absent(firsts[absent].tolist())]
    if contents.conflicts:
        yield "conflicts", [pack_conflicts(contents.conflicts)]


def _changes_of(catalogue: Catalogue, changed: ChangedKeys) -> tuple[Ids, list[Section]]:
    """Give the rows of sources to send whole, and sections for what is gone or only touched.

    A source may have changed again in a version that came later than this catalogue: what counts
    is how it stands here.
    """
    rows = {key: catalogue.find(*key) for key in changed.bodies}
    removed = sorted(key for key, row in rows.items() if row is None)
    sent = np.array(sorted(row for row in rows.values() if row is not None), np.int64)
    touched = [
        Touched(key, source.mtime_ns, source.reader_version)
        for key in sorted(changed.touched)
        if (row := catalogue.find(*key)) is not None
        for source in [catalogue.source(row)]
    ]
    sections: list[Section] = []
    if removed:
        sections.append(("removed", [pack_removed(removed)]))
    if touched:
        sections.append(("touched", [pack_touched(touched)]))
    return sent, sections


def _vector_sections(contents: Contents, ids: Ids) -> Iterator[Section]:
    served, engine, is_whole = contents.served, contents.engine, contents.base is None
    if engine is not None:
        if engine.file is not None:
            yield "engine", _blocks_of(engine.file)
        if engine.delta:
            yield "engine_delta", [engine.delta]
        return
    if len(ids):
        yield "rows", (np.ascontiguousarray(block).tobytes() for block in served.rows(ids))
    if is_whole and (pack := served.own_pack):
        yield "codebook", [pack]
    if contents.mode.kind == "hot" and len(ids):
        chosen, vectors = _hot_of(served, ids, contents.mode.hot_bytes)
        if len(chosen):
            yield "hot", [pack_hot(chosen, vectors)]


def _hot_of(served: Served, ids: Ids, budget: int) -> tuple[Ids, NDArray[np.float16]]:
    """Choose the most central of the vectors that are at hand, as many as fit."""
    dim = served.manifest.model.dim
    room = int(budget * _HOT_CHUNK_SHARE) // (HOT_ENTRY_BYTES + 2 * dim)
    if served.kind == "vectors":
        room = 0  # such an edge keeps all of them as its rows
    hubs = HubVectors(_HUBS_IN_BUDGET * 2 * dim * room, dim)
    for start in range(0, len(ids) if room else 0, BLOCK):
        some = ids[start : start + BLOCK]
        mask, vectors = served.vectors_at_hand(some)
        hubs.add(some[mask], vectors)
    return hubs.best()


def _texts_of(served: Served, rows: Ids, absent: list[int]) -> Iterator[bytes]:
    """Give the texts of the documents of sources; note those that cannot be had."""
    catalogue = served.catalogue
    for source in rows.tolist():
        for document in catalogue.documents_of(source):
            text = served.text(document)
            if text is None:
                absent.append(document)
            elif text:
                yield text


def _blocks_of(path: Path) -> Iterator[bytes]:
    with open(path, "rb") as file:
        while block := file.read(_READ_BYTES):
            yield block
