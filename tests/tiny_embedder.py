"""A model of a few lines, so that whole updates and searches take milliseconds."""

import hashlib
import re
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from gossamer.embed import Embedder
from gossamer.errors import InvalidArgument
from gossamer.models.packs import Pack
from gossamer.text.tokenizer import WordPiece, bert_uncased
from gossamer.vectors.vector_index import VectorIndex

Floats = NDArray[np.float32]

DIM = 32


class TinyEmbedder:
    """Each word has a direction by its hash, and a text the sum of those of its words."""

    name = "tiny"
    fingerprint = "7171" * 8
    dim = DIM
    max_tokens = 254

    def __init__(self, before: Callable[[Sequence[str]], None] | None = None) -> None:
        self.embedded: list[str] = []  # every text that was asked for, questions left out
        self._before = before

    @property
    def tokenizer(self) -> WordPiece:
        return bert_uncased()

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Floats:
        if self._before is not None:
            self._before(texts)
        for text in texts:
            tokens = len(self.tokenizer.token_starts(text.encode()))
            if tokens > self.max_tokens:
                raise InvalidArgument(f"{tokens} tokens are more than {self.max_tokens}")
        self.embedded += texts
        if progress is not None:
            progress(len(texts))
        return np.stack([_vector(text) for text in texts]) if texts else np.zeros((0, DIM), "f4")

    def embed_question(self, text: str) -> Floats:
        return _vector(text)


def use_tiny(
    monkeypatch: pytest.MonkeyPatch, *, with_codes: bool = False, embedder: Embedder | None = None
) -> Embedder:
    """Let every model be the tiny one; `with_codes` also ships a codebook for it."""
    chosen = embedder or TinyEmbedder()
    for module in ("gossamer.embed", "gossamer.update.create", "gossamer.model"):
        monkeypatch.setattr(f"{module}.load_embedder", lambda *_, **__: chosen)
    pack = _pack() if with_codes else None
    monkeypatch.setattr("gossamer.models.packs.shipped_pack", lambda _: pack)
    return chosen


@cache
def _pack() -> Pack:
    random = np.random.default_rng(1)
    words = [f"word{number}" for number in range(300)]
    texts = [" ".join(random.choice(words, 20)) for _ in range(1500)]
    trained = VectorIndex.build(np.stack([_vector(text) for text in texts]), code_bytes=8)
    assert trained.codebook is not None
    return Pack(trained.codebook, trained.calibration)


def _vector(text: str) -> Floats:
    total = np.full(DIM, 1e-3)  # a text without words has a direction too
    for word in re.findall(r"\w+", text.lower()):
        total += _direction(word)
    return (total / np.linalg.norm(total)).astype(np.float32)


@cache
def _direction(word: str) -> NDArray[np.float64]:
    seed = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "little")
    return np.random.default_rng(seed).normal(size=DIM)
