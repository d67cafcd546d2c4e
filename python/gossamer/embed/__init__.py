"""Embedders: what turns texts into vectors. One protocol, one file for each kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gossamer.embed.options import EmbedOptions
from gossamer.errors import InvalidArgument
from gossamer.text.tokenizer import Tokenizer

__all__ = ["EmbedOptions", "EmbedProgress", "Embedder", "load_embedder"]

# Called with how many texts of this call are done.
EmbedProgress = Callable[[int], None]

_SENTENCE_TRANSFORMERS = "sentence-transformers:"


class Embedder(Protocol):
    """Makes vectors from texts: the same text gives the same bits, whatever comes with it."""

    @property
    def name(self) -> str:
        """What the user calls the model; `load_embedder` takes it."""
        ...

    @property
    def fingerprint(self) -> str:
        """Hex digits that change when weights, tokenizer, pooling or prompts change."""
        ...

    @property
    def dim(self) -> int:
        """Length of a vector."""
        ...

    @property
    def max_tokens(self) -> int:
        """How many tokens one text may hold, special tokens not counted."""
        ...

    @property
    def tokenizer(self) -> Tokenizer:
        """What `max_tokens` is counted in."""
        ...

    def embed(
        self, texts: Sequence[str], progress: EmbedProgress | None = None
    ) -> NDArray[np.float32]:
        """Give a row of unit length for each text; no rows for no texts.

        Raises InvalidArgument for a text of more than `max_tokens`: nothing is ever cut off.
        """
        ...

    def embed_question(self, text: str) -> NDArray[np.float32]:
        """Give the vector of a question; one beyond `max_tokens` is averaged over its pieces."""
        ...


def load_embedder(spec: str, threads: int = 0, options: EmbedOptions | None = None) -> Embedder:
    """Give the embedder that `spec` names.

    A known model ("minilm", "pocket", "potion", "wordllama"), a folder of model files, a model of a
    hub that was fetched ("ORGANISATION/NAME"), a server ("http://host:port/v1#model", for Ollama
    "http://host:11434/api/embed#model"), or "sentence-transformers:NAME".
    Raises MissingModel, which says how to get it, when it is not on this machine.
    """
    chosen = options or EmbedOptions()
    if threads:
        chosen = replace(chosen, threads=threads)
    if chosen.threads < 0 or chosen.device not in ("auto", "cpu", "gpu"):
        raise InvalidArgument(
            f"threads must not be negative and device one of auto, cpu and gpu; "
            f"got {chosen.threads} and {chosen.device!r}"
        )
    if spec.startswith(("http://", "https://")):
        from gossamer.embed.http import HttpEmbedder

        return HttpEmbedder(spec, chosen)
    if spec.startswith(_SENTENCE_TRANSFORMERS):
        from gossamer.embed.sentence_transformers import SentenceTransformersEmbedder

        name = spec.removeprefix(_SENTENCE_TRANSFORMERS)
        return SentenceTransformersEmbedder(name, chosen.device)
    return _load_files(spec, chosen)


def _load_files(spec: str, options: EmbedOptions) -> Embedder:
    from gossamer.models import find

    model = find(spec)
    if model.kind == "static":
        from gossamer.embed.static import StaticEmbedder

        return StaticEmbedder(model)
    if model.kind == "packed":
        from gossamer.embed.packed import PackedEmbedder

        return PackedEmbedder(model, threads=options.threads)
    from gossamer.embed.onnx import OnnxEmbedder

    return OnnxEmbedder(model, threads=options.threads, device=options.device)
