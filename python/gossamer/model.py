"""The model of an index: loaded when it is needed, and never another one than it was built with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gossamer.embed import Embedder, load_embedder
from gossamer.errors import ModelMismatch, Untrusted
from gossamer.models.registry import names_place
from gossamer.once import once
from gossamer.store import ModelStamp, Snapshot

__all__ = ["Embedders", "IndexModel", "Share", "stamp_of"]

_PROBE = "The quick brown fox jumps over the lazy dog."
# Servers may compute in other precisions from day to day; another model is far from this.
_LEAST_LIKENESS = 0.98


@dataclass(frozen=True, slots=True)
class Embedders:
    """One model in two roles: answering, and bringing the index up to date."""

    questions: Embedder
    updates: Embedder


# Called with the embedder once it is loaded: gives what is used in its place.
Share = Callable[[Embedder], Embedders]


class IndexModel:
    """The embedder of one index."""

    def __init__(
        self, snapshot: Snapshot, threads: int = 0, spec: str = "", share: Share | None = None
    ) -> None:
        """Take the model that an index names, or that `spec` says, which somebody here chose.

        An address or a path that an index names is refused if that is not trusted.
        """
        self.threads = threads
        self._stamp = snapshot.manifest.model
        # The snapshot itself is not kept: newer ones take its place, and the model stays.
        self._why_not = ""
        if not snapshot.is_trusted:
            said = "its model is not loaded; search by words alone needs none"
            self._why_not = str(snapshot.refusal(said))
        self._given_spec = spec
        self._share = share
        self._spec = spec or self._stamp.name

    def fitting(self, snapshot: Snapshot) -> IndexModel:
        """Give the model for another state of the index: itself, unless it was made anew."""
        if self._stamp == snapshot.manifest.model and bool(self._why_not) != snapshot.is_trusted:
            return self
        return IndexModel(snapshot, self.threads, self._given_spec, self._share)

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
        if self._why_not and not self._given_spec and names_place(self._stamp.name):
            raise Untrusted(self._why_not)
        embedder = load_embedder(self._spec, threads=self.threads)
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
