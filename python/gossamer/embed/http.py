"""Embeddings from a server: any OpenAI-compatible one, or Ollama's own interface.

A server does not say how it counts tokens. Texts are measured in BERT's word pieces, and chunks
are made for 256 of them unless `max_tokens` says otherwise: most models take 512 tokens or more,
and other tokenizers rarely need twice as many for the same text.
"""

from __future__ import annotations

import base64
import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlunsplit

import numpy as np
from numpy.typing import NDArray

from gossamer.embed.options import EmbedOptions
from gossamer.embed.service import ModelServer
from gossamer.embed.texts import check_lengths, embed_pieces, to_unit_rows
from gossamer.errors import InvalidArgument, NotFinite
from gossamer.text.encoding import to_utf8
from gossamer.text.tokenizer import Tokenizer, bert_uncased
from gossamer.web import short, split_address

__all__ = ["PROBE", "HttpEmbedder"]

# Embedded when an index is made and when it is opened: another vector means another model.
PROBE = "A cobweb so thin that only the morning dew shows where it hangs."

_DEFAULT_MAX_TOKENS = 256
_ATTEMPTS = 5
_MAX_DIM = 1 << 16
_MAX_ANSWER_BYTES = 1 << 30

Rows = NDArray[np.float32]


class HttpEmbedder:
    """An `Embedder` that asks a server. `spec` is its address, # and the model's name."""

    def __init__(
        self, spec: str, options: EmbedOptions, pause: Callable[[float], None] = time.sleep
    ) -> None:
        self._place = _parse(spec)
        self._options = options
        self._server = ModelServer(
            self._place.url,
            f"embeddings of {self._place.model!r}",
            api_key=options.api_key,
            timeout_s=options.timeout_s,
            attempts=_ATTEMPTS,
            most_bytes=_MAX_ANSWER_BYTES,
            pause=pause,
        )
        if options.batch < 1:
            raise InvalidArgument(f"a request needs at least one text; got batch={options.batch}")
        self.name = spec
        self.max_tokens = options.max_tokens or _DEFAULT_MAX_TOKENS
        self.tokenizer: Tokenizer = bert_uncased()

    @cached_property
    def dim(self) -> int:
        """Length of a vector; the server is asked once."""
        return int(self.probe().size)

    @cached_property
    def fingerprint(self) -> str:
        """Model and dimension; where the server stands does not matter."""
        facts = f"http {self._place.model} {self.dim}"
        return hashlib.sha256(facts.encode()).hexdigest()

    def probe(self) -> Rows:
        """Embed a fixed sentence, to notice that a server's model changed under the same name."""
        vector: Rows = to_unit_rows(self._ask([PROBE], 0))[0]
        return vector

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Rows:
        """Give a row of unit length for each text; see `Embedder`."""
        counts = [self.tokenizer.token_starts(to_utf8(text)).size for text in texts]
        check_lengths(counts, self.max_tokens)
        rows = np.empty((len(texts), self.dim), np.float32)
        # Batches of like length: servers pad too.
        order = sorted(range(len(texts)), key=lambda at: -counts[at])
        for at in range(0, len(order), self._options.batch):
            batch = order[at : at + self._options.batch]
            rows[batch] = to_unit_rows(self._ask([texts[number] for number in batch], self.dim))
            if progress is not None:
                progress(at + len(batch))
        return rows

    def embed_question(self, text: str) -> Rows:
        """Give the vector of a question; see `Embedder`."""
        return embed_pieces(text, self.tokenizer, self.max_tokens, self.embed)

    def _ask(self, texts: list[str], dim: int) -> Rows:
        """Ask for the vectors of some texts; `dim` 0 takes any length."""
        question: dict[str, Any] = {"model": self._place.model, "input": texts}
        if not self._place.is_ollama:
            question["encoding_format"] = "base64"
        answer = self._server.post(question)
        try:
            vectors = _vectors(answer, self._place.is_ollama)
        except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
            raise self._server.refused(
                f"something else than embeddings: {short(answer)}"
            ) from error
        if len(vectors) != len(texts):
            raise self._server.refused(f"{len(vectors)} vectors for {len(texts)} texts")
        sizes = sorted({vector.size for vector in vectors})
        if len(sizes) != 1 or not 0 < sizes[0] <= _MAX_DIM or (dim and sizes != [dim]):
            expected = f"{dim}" if dim else "one number"
            raise self._server.refused(
                f"vectors of {sizes} dimensions, where {expected} is expected"
            )
        rows = np.stack(vectors)
        if not np.isfinite(rows).all():
            raise NotFinite(
                f"{self._place.url} answered with NaN or infinite numbers for the model "
                f"{self._place.model!r}; the server does not work as it should"
            )
        return rows


@dataclass(frozen=True, slots=True)
class _Place:
    """Where to ask, for which model, in which dialect."""

    url: str
    model: str
    is_ollama: bool


def _parse(spec: str) -> _Place:
    parts = split_address(spec)
    if parts is None or not parts.fragment:
        raise InvalidArgument(
            f"{spec!r} does not name a server's model; expected an address, # and the model's "
            "name, as in http://localhost:1234/v1#nomic-embed-text"
        )
    path = parts.path.rstrip("/")
    is_ollama = path.endswith(("/api", "/api/embed"))
    ending = "/embed" if is_ollama else "/embeddings"
    path = path if path.endswith(ending) else path + ending
    return _Place(
        urlunsplit((parts.scheme, parts.netloc, path, parts.query, "")), parts.fragment, is_ollama
    )


def _vectors(answer: Any, is_ollama: bool) -> list[Rows]:
    """Take the vectors out of an answer, in the order of the texts."""
    if is_ollama:
        return [_vector(row) for row in answer["embeddings"]]
    entries = answer["data"]
    places = [entry.get("index", at) for at, entry in enumerate(entries)]
    if sorted(places) != list(range(len(entries))):
        raise ValueError("indexes that are not 0, 1, 2, ...")
    vectors = dict(zip(places, (_vector(entry["embedding"]) for entry in entries), strict=True))
    return [vectors[at] for at in range(len(entries))]


def _vector(given: Any) -> Rows:
    """Read floats, in digits or as base64 of 32-bit ones."""
    if isinstance(given, str):
        return np.frombuffer(base64.b64decode(given, validate=True), "<f4").astype(np.float32)
    if not isinstance(given, list):
        raise TypeError("an embedding that is no list")
    with np.errstate(over="ignore"):
        vector = np.array(given, np.float64).astype(np.float32)
    if vector.ndim != 1:
        raise ValueError("an embedding that is no list of numbers")
    return vector
