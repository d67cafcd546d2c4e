"""Models of the sentence-transformers package (the extra gossamer[sentence-transformers])."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gossamer.embed.texts import check_lengths, embed_pieces, to_unit_rows
from gossamer.errors import MissingModel

__all__ = ["SentenceTransformersEmbedder"]

_PREFIX = "sentence-transformers:"
_GPU_BATCH = 32
_STEP = 256  # texts between two reports of progress
_DEFAULT_LENGTH = 512

Rows = NDArray[np.float32]


class SentenceTransformersEmbedder:
    """An `Embedder` over a model that sentence-transformers loads.

    On a CPU texts are computed one by one, so that a text gets the same bits in any company; on a
    GPU in batches, where they vary in the last places.
    """

    def __init__(self, name: str) -> None:
        self._model = _load(name)
        self.name = _PREFIX + name
        self.dim = int(self._model.get_sentence_embedding_dimension())
        self.tokenizer = _LibraryTokenizer(self._model.tokenizer)
        specials = len(self.tokenizer.encode([""])[0])
        length = int(self._model.max_seq_length or _DEFAULT_LENGTH)
        longest_prompt = max(
            (self.tokenizer.token_starts(text.encode()).size for text in self._prompts().values()),
            default=0,
        )
        self.max_tokens = length - specials - longest_prompt
        self._batch = 1 if str(self._model.device) == "cpu" else _GPU_BATCH
        self.fingerprint = self._describe(length)

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Rows:
        """Give a row of unit length for each text; see `Embedder`."""
        prompts = self._prompts()
        prompt = prompts.get("document", prompts.get("passage", ""))
        rows = np.empty((len(texts), self.dim), np.float32)
        for at in range(0, len(texts), _STEP):
            some = texts[at : at + _STEP]
            rows[at : at + len(some)] = self._encode(some, prompt)
            if progress is not None:
                progress(at + len(some))
        return rows

    def embed_question(self, text: str) -> Rows:
        """Give the vector of a question; see `Embedder`."""
        prompt = self._prompts().get("query", "")
        return embed_pieces(
            text, self.tokenizer, self.max_tokens, lambda pieces: self._encode(pieces, prompt)
        )

    def _encode(self, texts: Sequence[str], prompt: str) -> Rows:
        counts = [
            self.tokenizer.token_starts(text.encode("utf-8", "replace")).size for text in texts
        ]
        check_lengths(counts, self.max_tokens)
        found = self._model.encode(
            list(texts),
            prompt=prompt or None,
            batch_size=self._batch,
            show_progress_bar=False,
            convert_to_numpy=True,
        )
        return to_unit_rows(np.asarray(found, np.float32))

    def _prompts(self) -> dict[str, str]:
        found = getattr(self._model, "prompts", None) or {}
        return {name: text for name, text in found.items() if text}

    def _describe(self, length: int) -> str:
        """Name and revision: the weights themselves are too many to hash at each start."""
        config = getattr(getattr(self._model[0], "auto_model", None), "config", None)
        facts = {
            "name": self.name,
            "revision": getattr(config, "_commit_hash", None) or "",
            "dim": self.dim,
            "max_length": length,
            "prompts": self._prompts(),
        }
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


class _LibraryTokenizer:
    """A `Tokenizer` over a fast tokenizer of the transformers package."""

    def __init__(self, library: Any) -> None:
        self._library = library

    def token_starts(self, text: bytes) -> NDArray[np.uint32]:
        """Give the byte at which each token begins; see `Tokenizer`."""
        characters = text.decode("utf-8", "replace")
        found = self._library(
            characters,
            add_special_tokens=False,
            return_offsets_mapping=True,
            truncation=False,
            verbose=False,
        )
        sizes = (len(character.encode()) for character in characters)
        offsets = np.fromiter(accumulate(sizes, initial=0), np.int64)
        starts = np.array([start for start, _ in found["offset_mapping"]], np.int64)
        return np.maximum.accumulate(offsets[starts]).astype(np.uint32)

    def encode(self, texts: Sequence[str]) -> list[NDArray[np.int64]]:
        """Give the ids of each text with special tokens; see `Tokenizer`."""
        found = self._library(list(texts), truncation=False, verbose=False)
        return [np.array(ids, np.int64) for ids in found["input_ids"]]


def _load(name: str) -> Any:
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise MissingModel(
            f"{_PREFIX}{name} needs the package sentence-transformers; "
            "install it with pip install 'gossamer[sentence-transformers]'"
        ) from error
    try:
        return SentenceTransformer(name)
    except (OSError, ValueError) as error:
        raise MissingModel(
            f"sentence-transformers could not load {name!r}: {error}; check name and connection"
        ) from error
