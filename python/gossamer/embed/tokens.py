"""Vectors of tokens: what an encoder has in hand before it makes one vector of a text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

__all__ = ["QuestionVectors", "TextVectors", "TokenEmbedder", "token_embedder"]

Rows = NDArray[np.float32]
Numbers = NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class TextVectors:
    """Vectors of texts, and of their tokens: those of one text after those of another."""

    rows: Rows
    tokens: Rows
    counts: Numbers  # how many tokens each text has
    starts: Numbers  # the byte of its text at which each token begins; empty if nobody knows


@dataclass(frozen=True, slots=True)
class QuestionVectors:
    """The vector of a question, those of its tokens, and the byte at which each token begins."""

    row: Rows
    tokens: Rows
    starts: Numbers


@runtime_checkable
class TokenEmbedder(Protocol):
    """What an `Embedder` has besides, if its model gives vectors of tokens.

    Special tokens and those of prompts are left out. Vectors may have any length but 0.
    """

    @property
    def gives_tokens(self) -> bool:
        """Whether the model that was loaded gives them."""
        ...

    def embed_tokens(self, texts: Sequence[str]) -> TextVectors:
        """Embed texts as `embed` does, and give the vectors of their tokens too."""
        ...

    def embed_question_tokens(self, text: str) -> QuestionVectors:
        """Embed a question as `embed_question` does, and give the vectors of its tokens too."""
        ...


def token_embedder(embedder: object) -> TokenEmbedder | None:
    """Give the embedder as one that gives vectors of tokens; None if it gives none."""
    if isinstance(embedder, TokenEmbedder) and embedder.gives_tokens:
        return embedder
    return None
