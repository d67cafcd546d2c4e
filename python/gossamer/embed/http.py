"""Embeddings from a server: any OpenAI-compatible one, or Ollama's own interface.

A server does not say how it counts tokens. Texts are measured in BERT's word pieces, and chunks
are made for 256 of them unless `max_tokens` says otherwise: most models take 512 tokens or more,
and other tokenizers rarely need twice as many for the same text.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from http.client import HTTPException
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import numpy as np
from numpy.typing import NDArray

from gossamer.embed import EmbedOptions
from gossamer.embed.texts import check_lengths, embed_pieces, to_unit_rows
from gossamer.errors import InvalidArgument, NotFinite, Unreachable
from gossamer.text.tokenizer import Tokenizer, bert_uncased

__all__ = ["PROBE", "HttpEmbedder"]

# Embedded when an index is made and when it is opened: another vector means another model.
PROBE = "A cobweb so thin that only the morning dew shows where it hangs."

_DEFAULT_MAX_TOKENS = 256
_ATTEMPTS = 5
_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 30.0
_PASSING_STATUS = (408, 425, 429, 500, 502, 503, 504)
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
        self._key = options.api_key or os.environ.get("GOSSAMER_API_KEY", "")
        self._pause = pause
        self._opener = urllib.request.build_opener(_NoRedirect)
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
        counts = [self.tokenizer.token_starts(_bytes(text)).size for text in texts]
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
        answer = self._request(json.dumps(question).encode())
        try:
            vectors = _vectors(answer, self._place.is_ollama)
        except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
            raise self._refused(f"something else than embeddings: {_short(answer)}") from error
        if len(vectors) != len(texts):
            raise self._refused(f"{len(vectors)} vectors for {len(texts)} texts")
        sizes = sorted({vector.size for vector in vectors})
        if len(sizes) != 1 or not 0 < sizes[0] <= _MAX_DIM or (dim and sizes != [dim]):
            expected = f"{dim}" if dim else "one number"
            raise self._refused(f"vectors of {sizes} dimensions, where {expected} is expected")
        rows = np.stack(vectors)
        if not np.isfinite(rows).all():
            raise NotFinite(
                f"{self._place.url} answered with NaN or infinite numbers for the model "
                f"{self._place.model!r}; the server does not work as it should"
            )
        return rows

    def _request(self, body: bytes) -> Any:
        """Post a question; what may pass by itself is tried again, ever more slowly."""
        headers = {"Content-Type": "application/json", "User-Agent": "gossamer"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        for attempt in range(1, _ATTEMPTS + 1):
            request = urllib.request.Request(self._place.url, body, headers, method="POST")
            try:
                return self._answer(request)
            except _Passing as passing:
                if attempt == _ATTEMPTS:
                    raise Unreachable(
                        f"asked {attempt} times for embeddings of {self._place.model!r}, "
                        f"{self._place.url} {passing.what}; check that the server runs"
                    ) from passing
                pause = max(passing.wait_s, _FIRST_PAUSE_S * 2 ** (attempt - 1))
                self._pause(min(pause, _LONGEST_PAUSE_S))
        raise AssertionError

    def _answer(self, request: urllib.request.Request) -> Any:
        try:
            with self._opener.open(request, timeout=self._options.timeout_s) as answer:
                data = answer.read(_MAX_ANSWER_BYTES)
        except urllib.error.HTTPError as error:
            with error:
                said = error.read(2000).decode("utf-8", "replace").strip()
            if error.code in _PASSING_STATUS:
                what = f"answered with status {error.code} ({_short(said)})"
                raise _Passing(what, _retry_after(error)) from error
            raise self._refused(f"status {error.code}: {_short(said)}") from error
        except urllib.error.URLError as error:
            if isinstance(error.reason, socket.gaierror):
                raise Unreachable(
                    f"there is no server {urlsplit(self._place.url).hostname!r} "
                    f"({error.reason}); check the address"
                ) from error
            raise _Passing(f"did not answer ({error.reason})") from error
        except (OSError, HTTPException) as error:
            raise _Passing(f"broke off ({error or type(error).__name__})") from error
        try:
            return json.loads(data)
        except (ValueError, RecursionError) as error:
            said = data[:200].decode("utf-8", "replace")
            raise self._refused(f"no JSON: {_short(said)}") from error

    def _refused(self, what: str) -> Unreachable:
        return Unreachable(
            f"asked for embeddings of {self._place.model!r}, {self._place.url} answered with "
            f"{what}; check address, model name and key"
        )


@dataclass(frozen=True, slots=True)
class _Place:
    """Where to ask, for which model, in which dialect."""

    url: str
    model: str
    is_ollama: bool


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirected request would carry texts and key to an address that nobody named."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class _Passing(Exception):  # noqa: N818 - never leaves this file
    """A failure that may be over soon."""

    def __init__(self, what: str, wait_s: float = 0.0) -> None:
        super().__init__(what)
        self.what = what
        self.wait_s = wait_s


def _parse(spec: str) -> _Place:
    parts = urlsplit(spec)
    try:
        is_address = bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address or not parts.fragment or parts.username:
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


def _retry_after(error: urllib.error.HTTPError) -> float:
    try:
        return max(0.0, float(error.headers.get("Retry-After", "0")))
    except ValueError:
        return 0.0


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _short(said: Any) -> str:
    text = said if isinstance(said, str) else json.dumps(said)
    return text if len(text) <= 200 else f"{text[:200]}..."
