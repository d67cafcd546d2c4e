"""One version of the index as edges see it: its rows, its vectors, its texts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from gossamer.errors import GossamerError
from gossamer.model import IndexModel
from gossamer.models import packs
from gossamer.once import once
from gossamer.query.passages import Passages
from gossamer.store import Catalogue, HotVectors, Manifest, Snapshot, hash_of_text
from gossamer.store.indexed import open_indexed, read_at
from gossamer.store.journal import Journal, as_kept
from gossamer.sync.state import digest_of_rows, state_of
from gossamer.vectors.codes import Codebook
from gossamer.vectors.model_pack import Calibration, pack_codebook
from gossamer.vectors.vector_index import VectorIndex

__all__ = ["BLOCK", "CODES", "VECTORS", "Donor", "Encoded", "Served", "identity_of"]

Ids = NDArray[np.int64]
Mask = NDArray[np.bool_]
Floats = NDArray[np.float32]
Rows = NDArray[np.uint8] | NDArray[np.float16]

# Kinds of rows.
CODES, VECTORS = "codes", "vectors"
# Chunks whose rows are in memory at one time.
BLOCK = 8192
_EMBEDDED_AT_ONCE = 64


class Donor:
    """Another index of the same history that keeps vectors, so that they are not embedded."""

    def __init__(self, index: VectorIndex) -> None:
        self._index = index
        self._ids = np.sort(index.ids)

    def take(self, ids: Ids) -> tuple[Mask, Floats]:
        """Say which of these chunks it has vectors of, and give those."""
        places = np.searchsorted(self._ids, ids)
        mask = np.zeros(len(ids), bool)
        is_within = places < len(self._ids)
        mask[is_within] = self._ids[places[is_within]] == ids[is_within]
        return mask, as_kept(self._index.vectors(ids[mask]))


class Encoded:
    """Codes of vectors, kept from version to version so that each is computed once.

    Only within an epoch: in another one an id may stand for another text.
    """

    def __init__(self) -> None:
        self._known: tuple[Ids, NDArray[np.uint8]] | None = None

    def update(self, ids: Ids, encode: Callable[[Ids], NDArray[np.uint8]]) -> NDArray[np.uint8]:
        """Give the codes of all these ids, rising; other ones are forgotten."""
        known = self._known
        if known is None or not len(known[0]):
            codes = encode(ids)
        else:
            places = np.minimum(np.searchsorted(known[0], ids), len(known[0]) - 1)
            is_known = known[0][places] == ids
            codes = np.empty((len(ids), known[1].shape[1]), np.uint8)
            codes[is_known] = known[1][places[is_known]]
            if not is_known.all():
                codes[~is_known] = encode(ids[~is_known])
        self._known = (ids, codes)
        return codes


@dataclass(frozen=True)
class Served:
    """A state of the index, and where its history stands."""

    snapshot: Snapshot
    model: IndexModel
    epoch: str
    encoded: Encoded

    @property
    def manifest(self) -> Manifest:
        """The manifest of this state."""
        return self.snapshot.manifest

    @property
    def version(self) -> int:
        """What edges call this state."""
        return self.manifest.generation

    @property
    def catalogue(self) -> Catalogue:
        """What is indexed."""
        return self.snapshot.catalogue

    # Rows of codes edges

    @once
    def codebook(self) -> Codebook | None:
        """The codebook of the rows; None where they are vectors."""
        return _codebook_of(self.snapshot)

    @property
    def kind(self) -> str:
        """What rows are: CODES or VECTORS."""
        return VECTORS if self.codebook is None else CODES

    @property
    def own_pack(self) -> bytes:
        """The codebook and its calibration, where they do not ship with the model; else empty."""
        index = self.snapshot.vectors
        if self.codebook is None or index is None or self.snapshot.pack is not None:
            return b""
        if index.codebook is None:
            return b""
        return pack_codebook(self.codebook, index.calibration or Calibration())

    def rows(self, ids: Ids) -> Iterator[Rows]:
        """Give the rows of these chunks, block by block."""
        for start in range(0, len(ids), BLOCK):
            yield self._rows(ids[start : start + BLOCK])

    @property
    def settings(self) -> dict[str, object]:
        """What an edge must know to use the rows."""
        book = self.codebook
        return {
            "code_bytes": self.manifest.settings.code_bytes if book is None else book.code_bytes,
            "lexical": self.manifest.settings.lexical,
            "rows_kind": self.kind,
            "codebook": "" if book is None else f"{book.fingerprint:016x}",
        }

    @property
    def stamp(self) -> dict[str, object]:
        """The model's stamp, as a package says it."""
        return json_of(asdict(self.manifest.model))

    @once
    def codes_state(self) -> str:
        """The state of edges that keep rows."""
        ids = self.catalogue.chunk_ids
        return state_of(self.catalogue, digest_of_rows(ids, self.rows(ids)))

    def _rows(self, ids: Ids) -> Rows:
        index, book = self.snapshot.vectors, self.codebook
        assert index is not None, "there are chunks, so there are vectors"
        if book is None:
            return index.vectors(ids).astype(np.float16)
        if index.codebook is not None:
            return index.codes_of(ids)
        all_ids = self.catalogue.chunk_ids
        codes = self._encoded_all
        return codes[np.searchsorted(all_ids, ids)]

    @once
    def _encoded_all(self) -> NDArray[np.uint8]:
        index, book = self.snapshot.vectors, self.codebook
        assert index is not None
        assert book is not None

        def encode(ids: Ids) -> NDArray[np.uint8]:
            parts = [
                book.encode(index.vectors(ids[start : start + BLOCK]))
                for start in range(0, len(ids), BLOCK)
            ]
            return np.concatenate(parts) if parts else np.zeros((0, book.code_bytes), np.uint8)

        return self.encoded.update(self.catalogue.chunk_ids, encode)

    # Vectors

    def ask(self, ids: Ids, donors: Sequence[Donor] = ()) -> tuple[Mask, Floats]:
        """Give the vectors that an edge asks for; the cache remembers them as for a search."""
        hot = self.snapshot.hot
        at_hand, found = self.vectors_at_hand(ids, donors, hot)
        rest = ids[~at_hand]
        could, made = self.embed(rest, lambda _: None)
        if hot is not None and len(made):
            hot.put(rest[could], made)
            self.snapshot.save_hot()
        return _join(at_hand, found, could, made)

    def vectors(
        self,
        ids: Ids,
        on_done: Callable[[int], None],
        donors: Sequence[Donor] = (),
        journal: Journal | None = None,
    ) -> tuple[Mask, Floats]:
        """Give vectors, those that are at hand and those that can be embedded."""
        mask = np.zeros(len(ids), bool)
        # One array is filled block by block: all vectors of an index are much to have twice.
        rows = np.empty((len(ids), self.manifest.model.dim), np.float32)
        filled = 0
        for start in range(0, len(ids), BLOCK):
            some = ids[start : start + BLOCK]
            at_hand, found = self.vectors_at_hand(some, donors)
            on_done(int(at_hand.sum()))
            could, made = self.embed(some[~at_hand], on_done, journal)
            is_here, block = _join(at_hand, found, could, made)
            mask[start : start + len(some)] = is_here
            rows[filled : filled + len(block)] = block
            filled += len(block)
        return mask, rows[:filled]

    def vectors_at_hand(
        self, ids: Ids, donors: Sequence[Donor] = (), hot: HotVectors | None = None
    ) -> tuple[Mask, Floats]:
        """Say which vectors are here without embedding anything, and give those.

        Of several `donors` the first that has one gives it. `hot` is the cache to look into; the
        index's own as it is in its file if not given, where looking through it does not count as
        use.
        """
        index = self.snapshot.vectors
        if index is not None and index.codebook is None:
            return np.ones(len(ids), bool), as_kept(index.vectors(ids))
        mask = np.zeros(len(ids), bool)
        rows = np.zeros((0, self.manifest.model.dim), np.float32)
        hot = self._hot if hot is None else hot
        givers = [*(donor.take for donor in donors), *([] if hot is None else [hot.get])]
        for give in givers:
            if not mask.all():
                mask, rows = _join(mask, rows, *give(ids[~mask]))
        return mask, rows

    @once
    def _hot(self) -> HotVectors | None:
        return self.snapshot.open_hot()

    def embed(
        self, ids: Ids, on_done: Callable[[int], None], journal: Journal | None = None
    ) -> tuple[Mask, Floats]:
        """Embed chunks from their texts; say which could be had, and give those.

        `on_done` is told of each batch, and may raise to stop it all. What is in the journal is
        not embedded again, and what is embedded goes there.
        """
        mask = np.zeros(len(ids), bool)
        made: list[Floats] = [np.zeros((0, self.manifest.model.dim), np.float32)]
        passages = Passages(self.snapshot)
        for start in range(0, len(ids), _EMBEDDED_AT_ONCE):
            some = ids[start : start + _EMBEDDED_AT_ONCE]
            found = passages.read(some)
            texts = [passage.embedded for passage in found if passage is not None]
            mask[start : start + len(some)] = [passage is not None for passage in found]
            if texts:
                made.append(self._embed_texts(texts, journal))
            on_done(len(some))
        return mask, np.concatenate(made)

    def _embed_texts(self, texts: Sequence[str], journal: Journal | None) -> Floats:
        if journal is None:
            return as_kept(self.model.embedder.embed(texts))
        hashes = [hash_of_text(text) for text in texts]
        is_known, known = journal.find(hashes)
        rows = np.empty((len(texts), self.manifest.model.dim), np.float32)
        rows[is_known] = known
        missing = np.flatnonzero(~is_known).tolist()
        if missing:
            made = self.model.embedder.embed([texts[i] for i in missing])
            journal.add([hashes[i] for i in missing], made)
            rows[missing] = as_kept(made)
        return rows

    # Texts

    def text(self, row: int) -> bytes | None:
        """Give the text of a document, just as it was indexed; None if it cannot be had now."""
        document = self.catalogue.document(row)
        if document.is_away:
            return None
        if document.is_verbatim:
            source = self.catalogue.source(int(self.catalogue.source_rows[row]))
            with open_indexed(source.path, source.size, source.content_hash) as file:
                return None if file is None else read_at(file, 0, source.size)
        start = document.offset
        try:
            return self.snapshot.texts.read(document.segment, start, start + document.text_length)
        except GossamerError:
            return None  # a damaged block; `gossamer check` speaks of it


def identity_of(snapshot: Snapshot) -> str:
    """Name what must stay the same for versions of an index to follow each other."""
    manifest, book = snapshot.manifest, _codebook_of(snapshot)
    model = manifest.model
    return json.dumps(
        [
            manifest.uuid,
            *(model.fingerprint, model.dim, model.chunk_tokens),
            None if book is None else book.fingerprint,
        ]
    )


def json_of(values: dict[str, object]) -> dict[str, object]:
    """Give values as they are after a way through JSON."""
    decoded: dict[str, object] = json.loads(json.dumps(values))
    return decoded


def _codebook_of(snapshot: Snapshot) -> Codebook | None:
    """The codebook of the index, or else the one that ships with its model, if any does."""
    index = snapshot.vectors
    if index is not None and index.codebook is not None:
        return index.codebook
    if index is not None and snapshot.manifest.settings.keep != "all":
        # Its own is not trained yet: one that ships would have been used, were it to fit.
        return None
    pack = snapshot.pack or packs.shipped_pack(snapshot.manifest.model.fingerprint)
    return None if pack is None else pack.codebook


def _join(at_hand: Mask, found: Floats, could: Mask, made: Floats) -> tuple[Mask, Floats]:
    """Put together the rows that were at hand, and those of the rest that could be made."""
    mask = at_hand.copy()
    mask[~at_hand] = could
    rows = np.empty((len(mask), found.shape[1]), np.float32)
    rows[at_hand] = found
    rows[np.flatnonzero(~at_hand)[could]] = made
    return mask, rows[mask]
