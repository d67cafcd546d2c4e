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
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import numpy as np
from numpy.typing import NDArray

from gossamer.embed.options import EmbedOptions
from gossamer.embed.texts import check_lengths, embed_pieces, to_unit_rows
from gossamer.errors import InvalidArgument, NotFinite, Unreachable
from gossamer.text.encoding import to_utf8
from gossamer.text.tokenizer import Tokenizer, bert_uncased
from gossamer.web import NoAnswer, Web, is_loopback, parse_json, retry_after, short, split_address

__all__ = ["PROBE", "HttpEmbedder"]

# Embedded when an index is made and when it is opened: another vector means another model.
PROBE = "A cobweb so thin that only the morning dew shows where it hangs."

_KEY, _HOST = "GOSSAMER_API_KEY", "GOSSAMER_API_HOST"
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
        self._pause = pause
        key = options.api_key or _key_for(self._place.url)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._web = Web(self._place.url, options.timeout_s, headers)
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
        answer = self._request(json.dumps(question).encode())
        try:
            vectors = _vectors(answer, self._place.is_ollama)
        except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
            raise self._refused(f"something else than embeddings: {short(answer)}") from error
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
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return self._answer(body)
            except _Passing as passing:
                if attempt == _ATTEMPTS:
                    raise Unreachable(
                        f"asked {attempt} times for embeddings of {self._place.model!r}, "
                        f"{self._place.url} {passing.what}; check that the server runs"
                    ) from passing
                pause = max(passing.wait_s, _FIRST_PAUSE_S * 2 ** (attempt - 1))
                self._pause(min(pause, _LONGEST_PAUSE_S))
        raise AssertionError

    def _answer(self, body: bytes) -> Any:
        headers = {"Content-Type": "application/json"}
        try:
            with self._web.send("POST", self._place.target, body, headers) as answer:
                data = answer.read_whole(_MAX_ANSWER_BYTES)
        except NoAnswer as error:
            if error.is_unknown_host:
                raise Unreachable(
                    f"there is no server {urlsplit(self._place.url).hostname!r} "
                    f"({error.__cause__}); check the address"
                ) from error
            raise _Passing(error.what) from error
        if answer.status in _PASSING_STATUS:
            what = f"answered with status {answer.status} ({short(data)})"
            raise _Passing(what, retry_after(answer))
        if answer.status != 200:
            raise self._refused(f"status {answer.status}: {short(data)}")
        try:
            return parse_json(data)
        except ValueError as error:
            raise self._refused(f"no JSON: {short(data[:200])}") from error

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

    @property
    def target(self) -> str:
        """Path and query of the address."""
        parts = urlsplit(self.url)
        return f"{parts.path}?{parts.query}" if parts.query else parts.path


class _Passing(Exception):  # noqa: N818 - never leaves this file
    """A failure that may be over soon."""

    def __init__(self, what: str, wait_s: float = 0.0) -> None:
        super().__init__(what)
        self.what = what
        self.wait_s = wait_s


def _key_for(url: str) -> str:
    """Give the key of the environment if it was set for the host of this address, and no other.

    The address may be one that an index names, so the key must say itself whose it is.
    """
    key, host = os.environ.get(_KEY, ""), os.environ.get(_HOST, "").lower()
    if not key:
        return ""
    parts = urlsplit(url)
    if not host:
        raise InvalidArgument(
            f"{_KEY} is set, but not for which server: set {_HOST}={parts.netloc} to send it to "
            "this one"
        )
    scheme, _, host = host.rpartition("://")
    own = (parts.hostname or "", f"{parts.hostname}:{parts.port}", parts.netloc.lower())
    if host.rstrip("/") not in own:
        return ""
    # Whoever made the index may have written http where the key was set for a service by https.
    if parts.scheme == "http" and scheme != "http" and not is_loopback(parts.hostname):
        raise InvalidArgument(
            f"{_KEY} would go to {parts.netloc} over plain http, where others can read it: use "
            f"https, or set {_HOST}=http://{parts.netloc} if it is meant so"
        )
    return key


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
