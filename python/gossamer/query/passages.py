"""The text of chunks outside of a question: out of files, the text store or a server.

The core asks for what it needs and compares it: a text that is not what was indexed is never given.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gossamer import _core
from gossamer.errors import GossamerError, UnknownId, Unreachable
from gossamer.query.remote import RemoteChunks
from gossamer.query.texts import TextSource
from gossamer.records import Hit, Place, RemoteChunk
from gossamer.store import Snapshot
from gossamer.store.catalogue import decode_name

__all__ = ["Passage", "Passages", "read_hit", "supply_chunks"]

Ids = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk with its text: what it says, and what was embedded."""

    id: int
    path: str  # of the file, or the id of a text
    title: str
    body: str
    embedded: str
    first: int  # line (or page, ...); 0 where nobody counted
    last: int


class Passages:
    """Reads chunks of one snapshot: a new look at the texts."""

    def __init__(self, snapshot: Snapshot, remote: RemoteChunks | None = None) -> None:
        self._snapshot = snapshot
        self._remote = remote
        self._texts = TextSource(snapshot)

    def read(self, ids: Ids, *, with_places: bool = False) -> list[Passage | None]:
        """Give the passage of each chunk; None where its text is no longer what was indexed.

        Those that are away come in one request; None also where the server does not answer.
        """
        found = self._reader(ids, with_places).texts(ids.astype(np.uint64))
        return [
            None if one is None else _passage(id, one)
            for id, one in zip(ids.tolist(), found, strict=True)
        ]

    def get(self, id: int) -> Passage:
        """Give one chunk; UnknownId if it is gone or its text has changed, or Unreachable."""
        with self._snapshot.explaining_damage():
            (passage,) = self.read(_one(id))
            if passage is None:
                raise self._why_not(id)
            return passage

    def hit(self, id: int) -> Hit:
        """Give one chunk with its place; errors as those of `get`."""
        with self._snapshot.explaining_damage():
            return self._hit(self._reader(_one(id), with_places=True), id)

    def context(self, id: int, margin: int) -> tuple[str, Hit, str]:
        """Give a chunk with up to `margin` bytes of text before and after it."""
        with self._snapshot.explaining_damage():
            reader = self._reader(_one(id), with_places=True)
            hit = self._hit(reader, id)
            if self._is_away(id):
                around = self._remote and self._remote.context(id, margin)
                if not around:
                    raise self._why_not(id)
                return around[0], hit, around[1]
            (need,) = json.loads(decode_name(reader.around(id, margin)))
            before, after = (text or b"" for text in self._texts.read(need["documents"]))
            return before.decode("utf-8", "ignore"), hit, after.decode("utf-8", "ignore")

    def _hit(self, reader: _core.PassageReader, id: int) -> Hit:
        if reader.texts(np.array([id], np.uint64))[0] is None:
            raise self._why_not(id)
        return read_hit(json.loads(decode_name(reader.hit(id))))

    def _reader(self, ids: Ids, with_places: bool) -> _core.PassageReader:
        reader = _core.PassageReader(self._snapshot.collection)
        reader.begin(ids.astype(np.uint64), with_places)
        while needs := json.loads(decode_name(reader.needs())):
            for need in needs:
                if need["need"] == "texts":
                    reader.supply_texts(self._texts.read(need["documents"]))
                else:
                    supply_chunks(reader, self._remote, need["ids"])
        return reader

    def _is_away(self, id: int) -> bool:
        catalogue = self._snapshot.catalogue
        return catalogue.document(int(catalogue.document_rows([id])[0])).is_away

    def _why_not(self, id: int) -> GossamerError:
        """Give the error that says why there is no passage of a chunk."""
        is_away = self._is_away(id)
        if is_away and not self._snapshot.is_trusted:
            return self._snapshot.refusal(f"the file that chunk {id} stands in is not read")
        if not self._snapshot.manifest.origin:
            return UnknownId(f"the text of chunk {id} is not what was indexed; add it again")
        if is_away and (self._remote is None or self._remote.is_away):
            notes = () if self._remote is None else self._remote.notes
            said = "; ".join(notes) or "the server that has it cannot be asked"
            return Unreachable(f"the text of chunk {id} is not kept here, and {said}")
        return UnknownId(f"the text of chunk {id} has changed since the last `gossamer pull`")


def _one(id: int) -> Ids:
    if not 0 < id < 1 << 63:
        raise UnknownId(f"there is no chunk {id} in the index")
    return np.array([id], np.int64)


def read_hit(record: dict[str, object]) -> Hit:
    """Make a hit of what the core says of it."""
    for name in ("highlights", "code"):
        spans: Sequence[Sequence[int]] = record[name]  # type: ignore[assignment]
        record[name] = tuple((start, end) for start, end in spans)
    for name in ("best", "answer", "headings"):
        record[name] = tuple(record[name])  # type: ignore[arg-type]
    for name in ("also", "more"):
        places: Sequence[Mapping[str, Any]] = record[name]  # type: ignore[assignment]
        record[name] = tuple(Place(**place) for place in places)
    return Hit(**record)  # type: ignore[arg-type]


def supply_chunks(
    session: _core.PassageReader | _core.QuerySession,
    remote: RemoteChunks | None,
    ids: Sequence[int],
) -> None:
    """Ask the server for texts that it alone has, if there is one."""
    if remote is None:
        session.supply_chunks([None] * len(ids), False)
        return
    chunks = remote.chunks(np.array(ids, np.int64))
    given = [None if chunk is None else _given(chunk) for chunk in chunks]
    session.supply_chunks(given, not remote.is_away)


def _given(chunk: RemoteChunk) -> tuple[int, bytes, bytes, bytes, int, int]:
    texts = (
        text.encode("utf-8", "surrogatepass") for text in (chunk.title, chunk.body, chunk.embedded)
    )
    return chunk.id, *texts, chunk.first, chunk.last  # type: ignore[return-value]


def _passage(id: int, found: tuple[bytes, bytes, bytes, bytes, int, int]) -> Passage:
    path, title, body, embedded, first, last = found
    return Passage(
        id,
        decode_name(path),
        decode_name(title),
        decode_name(body),
        decode_name(embedded),
        first,
        last,
    )
