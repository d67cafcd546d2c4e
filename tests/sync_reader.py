"""An edge in a few lines, independent of the real one: what packages say, put together."""

import random
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from store_states import NOTHING, changes_to, finish

from gossamer.store import Catalogue
from gossamer.store.segments import SegmentCatalogue
from gossamer.sync import sections
from gossamer.sync.offer import Offer
from gossamer.sync.package import Package
from gossamer.sync.records import Base, Building, Conflict, Head, Mode
from gossamer.sync.state import digest_of_rows, state_of
from gossamer.vectors.deltas import state_of_file
from gossamer.vectors.vector_index import VectorIndex

MOST = 1 << 30


def texts_of(*pairs: tuple[str, str]) -> list[dict[str, object]]:
    return [{"id": id, "text": text} for id, text in pairs]


def words(seed: int, count: int = 40) -> str:
    chosen = random.Random(seed)
    return " ".join(f"word{chosen.randrange(300)}" for _ in range(count))


@dataclass
class Edge:
    """What an edge holds; `pull` brings it to the server's version."""

    folder: Path
    mode: str = "codes"
    texts: str = "kept"
    token: str = ""
    head: Head | None = None
    catalogue: SegmentCatalogue = field(default_factory=lambda: NOTHING)
    rows: dict[int, bytes] = field(default_factory=dict)  # by chunk
    stored: dict[int, bytes] = field(default_factory=dict)  # texts, by the document's first chunk
    hot: dict[int, bytes] = field(default_factory=dict)
    conflicts: list[Conflict] = field(default_factory=list)
    sizes: dict[str, int] = field(default_factory=dict)  # of the last package, by section

    @property
    def base(self) -> Base | None:
        head = self.head
        return None if head is None else Base(head.epoch, head.version, head.state)

    @property
    def engine(self) -> Path:
        return self.folder / "edge.gsm"

    def pull(self, offer: Offer) -> str:
        """Take what there is; give its kind, "current" if it was nothing."""
        found = offer.package(Mode.parse(self.mode), texts=self.texts, base=self.base)
        while isinstance(found, Building):
            found = offer.package(Mode.parse(self.mode), texts=self.texts, base=self.base)
        if found is None:
            return "current"
        with Package.open(found, self.token) as package:
            self.take(package)
            return package.head.kind

    def take(self, package: Package) -> None:
        head = package.head
        assert head.base == (self.base if head.kind == "delta" else None)
        if head.kind == "snapshot":
            self.catalogue, self.rows, self.stored = NOTHING, {}, {}
            self.engine.unlink(missing_ok=True)
        news = Catalogue.open(package.read("catalogue", MOST))
        self._merge(package, news)
        self._take_rows(package, news)
        self._take_texts(package, news)
        self._take_engine(package)
        self.conflicts += sections.unpack_conflicts(package.read("conflicts", MOST))
        self.sizes = {entry.name: entry.size for entry in head.sections}
        self.head = head
        assert self.state() == head.state, "the edge is not what the server says"

    def state(self) -> str:
        ids = self.catalogue.chunk_ids
        if self.mode.startswith("slim"):
            has_engine = self.engine.exists()
            return state_of(
                self.catalogue, bytes.fromhex(state_of_file(self.engine)) if has_engine else b""
            )
        blocks = [np.frombuffer(self.rows[id], np.uint8) for id in ids.tolist()]
        return state_of(self.catalogue, digest_of_rows(ids, blocks))

    def _merge(self, package: Package, news: Catalogue) -> None:
        changes = changes_to(self.catalogue, package.head.next_chunk_id)
        changes.merge(news, None)
        find = {True: self.catalogue.find_path, False: self.catalogue.find_text}
        removed = [
            find[is_file](path)
            for is_file, path in sections.unpack_removed(package.read("removed", MOST))
        ]
        changes.remove_sources([row for row in removed if row is not None])
        for one in sections.unpack_touched(package.read("touched", MOST)):
            row = find[one.key[0]](one.key[1])
            assert row is not None
            changes.touch_source(row, one.mtime_ns, one.reader_version)
        self.catalogue = finish(changes)

    def _take_rows(self, package: Package, news: Catalogue) -> None:
        if self.mode.startswith("slim"):
            assert not package.has("rows")
            return
        data = package.read("rows", MOST)
        width = len(data) // max(1, news.chunk_count)
        for place, id in enumerate(news.chunk_ids.tolist()):
            self.rows[id] = data[place * width : (place + 1) * width]
        assert len(data) == width * news.chunk_count
        dim = package.head.model["dim"]
        ids, vectors = sections.unpack_hot(package.read("hot", MOST), dim)
        self.hot |= {id: row.tobytes() for id, row in zip(ids.tolist(), vectors, strict=True)}

    def _take_texts(self, package: Package, news: Catalogue) -> None:
        if self.texts == "away":
            assert not package.has("texts")
            return
        data, at = package.read("texts", MOST), 0
        absent = sections.unpack_absent(package.read("absent", MOST))
        firsts = news.tables.children["documents"]["first_chunk"].tolist()
        for first, length in zip(firsts, news.text_lengths.tolist(), strict=True):
            if first in absent:
                self.stored.pop(first, None)
                continue
            self.stored[first] = data[at : at + length]
            at += length
        assert at == len(data)

    def _take_engine(self, package: Package) -> None:
        if package.has("engine"):
            self.engine.write_bytes(package.read("engine", MOST))
        if package.has("engine_delta"):
            index = VectorIndex.open(self.engine)
            index.apply_delta(package.read("engine_delta", MOST))
            index.save(self.engine, with_source=False)
