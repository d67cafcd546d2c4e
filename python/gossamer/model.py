"""The model of an index: loaded when it is needed, and never another one than it was built with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gossamer.embed import Embedder, load_embedder
from gossamer.errors import Damaged, ModelMismatch, Untrusted
from gossamer.models import codebook_for
from gossamer.models.registry import names_place
from gossamer.once import once
from gossamer.store import ModelStamp, Settings, Snapshot
from gossamer.vectors.codes import Codebook
from gossamer.vectors.model_pack import Calibration, unpack_codebook
from gossamer.vectors.vector_index import VectorIndex

__all__ = ["Embedders", "IndexModel", "Pack", "Refusal", "Share", "shipped_pack", "stamp_of"]

_PROBE = "The quick brown fox jumps over the lazy dog."
# Servers may compute in other precisions from day to day; another model is far from this.
_LEAST_LIKENESS = 0.98


@dataclass(frozen=True, slots=True)
class Pack:
    """A codebook, and what each recall costs with it if that was measured."""

    codebook: Codebook
    calibration: Calibration | None


@dataclass(frozen=True, slots=True)
class Embedders:
    """One model in two roles: answering, and bringing the index up to date."""

    questions: Embedder
    updates: Embedder


# Called with what is not done: gives the error that says so, and whose index it is.
Refusal = Callable[[str], Untrusted]
# Called with the embedder once it is loaded: gives what is used in its place.
Share = Callable[[Embedder], Embedders]


class IndexModel:
    """The embedder of one index and the codebook that goes with it."""

    def __init__(
        self,
        stamp: ModelStamp,
        settings: Settings,
        threads: int,
        spec: str = "",
        share: Share | None = None,
        refusal: Refusal | None = None,
    ) -> None:
        """Take the model that an index names, or that `spec` says, which somebody here chose.

        With a `refusal` an address or a path that the index names is refused with it.
        """
        self._refusal = refusal
        self._stamp = stamp
        self._settings = settings
        self._threads = threads
        self._given_spec = spec
        self._share = share
        self._spec = spec or stamp.name

    def fitting(self, stamp: ModelStamp, settings: Settings) -> IndexModel:
        """Give the model for another state of the index: itself, unless it was made anew."""
        mine, others = self._settings, settings
        is_same = self._stamp == stamp and (mine.keep, mine.code_bytes) == (
            others.keep,
            others.code_bytes,
        )
        if is_same:
            return self
        return IndexModel(
            stamp, settings, self._threads, self._given_spec, self._share, self._refusal
        )

    @property
    def embedder(self) -> Embedder:
        """The embedder; ModelMismatch if it is not the model that the index was built with."""
        return self._embedders.questions

    @property
    def update_embedder(self) -> Embedder:
        """The same model for what is added; ModelMismatch as above."""
        return self._embedders.updates

    @once
    def _embedders(self) -> Embedders:
        embedder = self._load()
        return Embedders(embedder, embedder) if self._share is None else self._share(embedder)

    def _load(self) -> Embedder:
        if self._refusal is not None and not self._given_spec and names_place(self._stamp.name):
            raise self._refusal("its model is not loaded; search by words alone needs none")
        embedder = load_embedder(self._spec, threads=self._threads)
        facts = (embedder.fingerprint, embedder.dim)
        if facts != (self._stamp.fingerprint, self._stamp.dim):
            raise ModelMismatch(
                f"this index was built with {self._stamp.name!r} "
                f"({self._stamp.fingerprint[:12]}, {self._stamp.dim} dimensions), but "
                f"{embedder.name!r} ({embedder.fingerprint[:12]}, {embedder.dim}) was given; use "
                "the model it was built with, or make a new index with the other one"
            )
        if self._stamp.probe:
            likeness = float(embedder.embed([_PROBE])[0] @ np.asarray(self._stamp.probe))
            if likeness < _LEAST_LIKENESS:
                raise ModelMismatch(
                    f"{self._spec} answers to the name of the model that this index was built "
                    f"with, but not with its vectors (likeness {likeness:.2f}); serve the model "
                    "it was built with, or make a new index"
                )
        return embedder

    @once
    def pack(self) -> Pack | None:
        """The codebook that ships with the model; None if the index has its own, or none."""
        if self._settings.keep == "all":
            return None
        pack = shipped_pack(self._stamp.fingerprint)
        if pack is None or pack.codebook.code_bytes != self._settings.code_bytes:
            return None
        return pack

    def open_vectors(self, snapshot: Snapshot) -> VectorIndex | None:
        """Give the engine's index of a snapshot, with what ships with the model; None if empty."""
        pack = self.pack
        index = snapshot.open_vectors(None if pack is None else pack.codebook)
        if index is not None and (dim := index.dim) != self._stamp.dim:
            raise Damaged(
                f"{snapshot.folder}: vectors have {dim} dimensions, the model {self._stamp.dim}"
            )
        if index is not None and pack is not None and _is_of(pack.codebook, index):
            index.calibration = pack.calibration
        return index


def _is_of(codebook: Codebook, index: VectorIndex) -> bool:
    own = index.codebook
    return own is not None and own.fingerprint == codebook.fingerprint


def shipped_pack(fingerprint: str) -> Pack | None:
    """Give the codebook that ships with a model; None if none does."""
    data = codebook_for(fingerprint)
    return None if data is None else Pack(*unpack_codebook(data))


def stamp_of(embedder: Embedder, chunk_tokens: int) -> ModelStamp:
    """Describe a model for the manifest of a new index."""
    # Of a model behind a server only its name is known: remember how it embeds one sentence.
    is_remote = embedder.name.startswith(("http://", "https://"))
    probe = tuple(embedder.embed([_PROBE])[0].tolist()) if is_remote else ()
    return ModelStamp(
        name=embedder.name,
        fingerprint=embedder.fingerprint,
        dim=embedder.dim,
        max_tokens=embedder.max_tokens,
        chunk_tokens=chunk_tokens,
        probe=probe,
    )
