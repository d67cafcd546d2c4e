"""An embedder that costs nothing, for what does not depend on the values of vectors."""

from collections.abc import Callable, Sequence

import numpy as np

from benchmarks.datasets import Floats
from gossamer.embed import Embedder
from gossamer.store.hashes import hash_of_text

# Every so-many-th call is a real one, so that the model and its buffers are in memory, too.
REAL_EVERY = 200
TABLE = 1 << 20


class StandIn:
    """Makes vectors of noise, each of its own text, under the name of a real model.

    The codes of any vectors take the same bytes, and the model's codebook encodes them.
    """

    def __init__(self, embedder: Embedder, real_every: int = REAL_EVERY) -> None:
        self._embedder = embedder
        self._real_every = real_every
        self._calls = 0
        self.name = embedder.name
        self.fingerprint = embedder.fingerprint
        self.dim = embedder.dim
        self.max_tokens = embedder.max_tokens
        self.tokenizer = embedder.tokenizer
        self._noise = np.random.default_rng(0).standard_normal(TABLE, np.float32)

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Floats:
        """Give noise for each text, or now and then its real vector."""
        self._calls += 1
        if self._calls % self._real_every == 1:
            return self._embedder.embed(texts, progress)
        rows = np.stack([self._noise_of(text) for text in texts])
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return rows

    def embed_question(self, text: str) -> Floats:
        """Give the real vector of a question."""
        return self._embedder.embed_question(text)

    def _noise_of(self, text: str) -> Floats:
        start = int.from_bytes(hash_of_text(text)[:8], "little") % (TABLE - self.dim)
        return self._noise[start : start + self.dim]
