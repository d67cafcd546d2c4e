"""Scores from a server: `/v1/rerank`, as Jina, Cohere, vLLM, llama.cpp and Infinity have it.

Text Embeddings Inference has the same at `/rerank`, with another word for the documents.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import numpy as np
from numpy.typing import NDArray

from gossamer.embed.options import EmbedOptions
from gossamer.embed.service import ModelServer
from gossamer.errors import InvalidArgument
from gossamer.web import short, split_address

__all__ = ["HttpReranker"]

# Somebody waits for the answer, other than when an index is made.
_TIMEOUT_S = 30.0
_ATTEMPTS = 3
_BATCH = 32  # texts in one request: some servers take no more
_MOST_BYTES = 16 << 20  # some send the texts back

Scores = NDArray[np.float32]


class HttpReranker:
    """A `Reranker` that asks a server. `place` is its address, and # and the model's name."""

    def __init__(
        self,
        place: str,
        options: EmbedOptions | None = None,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        """Ask as `options` say; without them a server has half a minute for an answer."""
        chosen = options or EmbedOptions(timeout_s=_TIMEOUT_S, batch=_BATCH)
        if chosen.batch < 1:
            raise InvalidArgument(f"a request needs at least one text; got batch={chosen.batch}")
        url, self._model = _parse(place)
        self._batch = chosen.batch
        self._is_versioned = re.search(r"/v\d+/rerank$", urlsplit(url).path) is not None
        # Not the whole address: what it is called is shown to whoever asks.
        self.name = self._model or urlsplit(url).netloc
        self._server = ModelServer(
            url,
            f"scores of {self._model!r}" if self._model else "scores of texts",
            api_key=chosen.api_key,
            timeout_s=chosen.timeout_s,
            attempts=_ATTEMPTS,
            most_bytes=_MOST_BYTES,
            pause=pause,
        )

    def score(self, question: str, texts: Sequence[str]) -> Scores:
        """Give a number for each text; see `Reranker`."""
        parts = [
            self._ask(question, texts[at : at + self._batch])
            for at in range(0, len(texts), self._batch)
        ]
        return np.concatenate(parts) if parts else np.empty(0, np.float32)

    def _ask(self, question: str, texts: Sequence[str]) -> Scores:
        documents = [_whole(text) for text in texts]
        asked: dict[str, Any] = {"query": _whole(question), "documents": documents}
        if self._model:
            asked["model"] = self._model
        if not self._is_versioned:
            asked["texts"] = documents
        answer = self._server.post(asked)
        try:
            scores = _read(answer)
        except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
            raise self._server.refused(f"something else than scores: {short(answer)}") from error
        if len(scores) != len(texts):
            raise self._server.refused(f"{len(scores)} scores for {len(texts)} texts")
        if not np.isfinite(scores).all():
            raise self._server.refused("NaN or infinite scores")
        return scores


def _parse(place: str) -> tuple[str, str]:
    """Give the address to ask, and the model's name."""
    parts = split_address(place)
    if parts is None:
        raise InvalidArgument(
            f"{place!r} does not name a server that reranks; expected an address, and # and the "
            "model's name if it has several, as in http://localhost:8080/v1#bge-reranker-base"
        )
    path = parts.path.rstrip("/")
    if not path.endswith("/rerank"):
        path += "/rerank" if re.search(r"/v\d+$", path) else "/v1/rerank"
    return urlunsplit((parts.scheme, parts.netloc, path, parts.query, "")), parts.fragment


def _read(answer: Any) -> Scores:
    """Take the scores out of an answer, in the order of the texts."""
    entries = answer if isinstance(answer, list) else answer["results"]
    scores: dict[int, float] = {}
    for entry in entries:
        index = entry["index"]
        score = entry["relevance_score"] if "relevance_score" in entry else entry["score"]
        if type(index) is not int or index in scores or type(score) not in (int, float):
            raise ValueError("an entry that is no score of a text of its own")
        scores[index] = float(score)
    if sorted(scores) != list(range(len(scores))):
        raise ValueError("indexes that are not 0, 1, 2, ...")
    with np.errstate(over="ignore"):
        return np.array([scores[at] for at in range(len(scores))], np.float64).astype(np.float32)


def _whole(text: str) -> str:
    """Give a text that can be sent: half a surrogate pair cannot."""
    return text.encode("utf-8", "replace").decode()
