"""A model in one small file (`pocket`): a table of tokens in whole numbers.

The engine's core computes it, here and in a web page, with the same bits. A text may be of any
length; 512 tokens is the limit that chunks are made for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from gossamer import _core
from gossamer.embed.texts import check_lengths
from gossamer.embed.tokens import QuestionVectors, TextVectors
from gossamer.embed.workers import usable_cpus
from gossamer.models.records import Model
from gossamer.text.tokenizer import Tokenizer

__all__ = ["PackedEmbedder"]

# Texts that are embedded between two reports of progress.
_BATCH = 256

Rows = NDArray[np.float32]


class PackedEmbedder:
    """An `Embedder` over a model file."""

    def __init__(self, model: Model, threads: int = 0) -> None:
        self._core = _core.StaticModel(model.weights.path.read_bytes())
        self._threads = threads or usable_cpus()
        self.name = model.name
        self.fingerprint = model.fingerprint
        self.dim = self._core.dim
        self.max_tokens = self._core.max_tokens
        self.tokenizer: Tokenizer = _PackedTokenizer(self._core.tokenizer)

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Rows:
        """Give a row of unit length for each text; see `Embedder`."""
        rows = np.empty((len(texts), self.dim), np.float32)
        for at in range(0, len(texts), _BATCH):
            some = [_bytes(text) for text in texts[at : at + _BATCH]]
            rows[at : at + len(some)], counts = self._core.embed(some, self._threads)
            check_lengths(counts.tolist(), self.max_tokens, at)
            if progress is not None:
                progress(at + len(some))
        return rows

    def embed_question(self, text: str) -> Rows:
        """Give the vector of a question of any length: that of all its tokens."""
        row: Rows = self._core.embed([_bytes(text)])[0][0]
        return row

    gives_tokens = True

    def embed_tokens(self, texts: Sequence[str]) -> TextVectors:
        """Give the vectors of texts and of their tokens; see `TokenEmbedder`."""
        rows = self.embed(texts)  # refuses texts that are too long, before their tokens take memory
        return TextVectors(rows, *self._core.embed_tokens([_bytes(text) for text in texts]))

    def embed_question_tokens(self, text: str) -> QuestionVectors:
        """Give the vectors of a question and of its tokens; see `TokenEmbedder`."""
        tokens, _, starts = self._core.embed_tokens([_bytes(text)])
        return QuestionVectors(self.embed_question(text), tokens, starts)


class _PackedTokenizer:
    """The tokenizer inside a model file; see `Tokenizer`. It knows no special tokens."""

    def __init__(self, pieces: _core.WordPiece) -> None:
        self.pieces = pieces

    def token_starts(self, text: bytes) -> NDArray[np.uint32]:
        """Give the byte at which each token begins."""
        return self.pieces.token_starts([text])[0]

    def encode(self, texts: Sequence[str]) -> list[NDArray[np.int64]]:
        """Give the ids of each text."""
        return self.pieces.encode([_bytes(text) for text in texts], [], [])


def _bytes(text: str) -> bytes:
    # Half a surrogate pair is no character: it is left out, as all bytes are that are no text.
    return text.encode("utf-8", "surrogatepass")
