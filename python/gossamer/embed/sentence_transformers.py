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
from gossamer.errors import InvalidArgument, MissingModel

__all__ = ["SentenceTransformersEmbedder"]

_PREFIX = "sentence-transformers:"
_GPU_TOKENS = 1 << 15  # of one batch at most
_STEP = 256  # texts between two reports of progress
_GPU_STEP = 4096  # in which texts of like length share a batch
_DEFAULT_LENGTH = 512

Rows = NDArray[np.float32]


class SentenceTransformersEmbedder:
    """An `Embedder` over a model that sentence-transformers loads.

    On a CPU texts are computed one by one and in single precision, so that a text gets the same
    bits in any company; on a GPU in batches, where they vary in the last places, and in the
    precision that the model was saved in. `device` is "cpu", "gpu", or "auto": a GPU if torch sees
    one.
    """

    def __init__(self, name: str, device: str = "auto") -> None:
        self._model = _load(name, device)
        self.name = _PREFIX + name
        self.dim = _dimension(self._model)
        self.tokenizer = _LibraryTokenizer(self._model.tokenizer)
        specials = len(self.tokenizer.encode([""])[0])
        length = int(self._model.max_seq_length or _DEFAULT_LENGTH)
        longest_prompt = max(
            (self.tokenizer.token_starts(text.encode()).size for text in self._prompts().values()),
            default=0,
        )
        self.max_tokens = length - specials - longest_prompt
        self._is_on_cpu = str(self._model.device) == "cpu"
        self._batch = 1 if self._is_on_cpu else max(1, _GPU_TOKENS // length)
        self.fingerprint = self._describe(length)

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Rows:
        """Give a row of unit length for each text; see `Embedder`."""
        prompts = self._prompts()
        prompt = prompts.get("document", prompts.get("passage", ""))
        rows = np.empty((len(texts), self.dim), np.float32)
        step = _STEP if self._is_on_cpu else _GPU_STEP
        for at in range(0, len(texts), step):
            some = texts[at : at + step]
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
        check_lengths(self.tokenizer.count(texts), self.max_tokens)
        found = self._model.encode(
            list(texts),
            prompt=prompt or None,
            batch_size=self._batch,
            show_progress_bar=False,
            # What stays on a GPU is not waited for: the next batch is made while this one runs.
            convert_to_numpy=self._is_on_cpu,
            convert_to_tensor=not self._is_on_cpu,
        )
        rows = found if self._is_on_cpu else found.float().cpu()
        return to_unit_rows(np.asarray(rows, np.float32))

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

    def count(self, texts: Sequence[str]) -> list[int]:
        """Give the number of tokens of each text, without special ones, all at once."""
        if not texts:
            return []
        found = self._library(
            list(texts), add_special_tokens=False, truncation=False, verbose=False
        )
        return [len(ids) for ids in found["input_ids"]]

    def encode(self, texts: Sequence[str]) -> list[NDArray[np.int64]]:
        """Give the ids of each text with special tokens; see `Tokenizer`."""
        found = self._library(list(texts), truncation=False, verbose=False)
        return [np.array(ids, np.int64) for ids in found["input_ids"]]


def _dimension(model: Any) -> int:
    """Ask by the method's name since version 6, or by that before."""
    renamed = getattr(model, "get_embedding_dimension", None)
    return int(renamed() if renamed else model.get_sentence_embedding_dimension())


def _load(name: str, device: str) -> Any:
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise MissingModel(
            f"{_PREFIX}{name} needs the package sentence-transformers; "
            "install it with pip install 'gossamer[sentence-transformers]'"
        ) from error
    where = {"auto": {}, "cpu": {"device": "cpu"}, "gpu": {"device": "cuda"}}[device]
    try:
        model = SentenceTransformer(name, **where)
    except (OSError, ValueError) as error:
        raise MissingModel(
            f"sentence-transformers could not load {name!r}: {error}; check name and connection"
        ) from error
    except (AssertionError, RuntimeError) as error:
        if device != "gpu":
            raise
        raise InvalidArgument(f"torch cannot use a GPU: {error}; use device='auto'") from error
    return model.float() if str(model.device) == "cpu" else model
