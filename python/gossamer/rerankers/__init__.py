"""Rerankers: what says how well texts answer a question. One protocol, one file for each kind."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from gossamer.embed.options import EmbedOptions
from gossamer.errors import InvalidArgument

__all__ = ["KeptRerankers", "Reranker", "load_reranker"]


@runtime_checkable
class Reranker(Protocol):
    """Reads a question together with each text, and says how well that answers it."""

    @property
    def name(self) -> str:
        """What it is called in explanations."""
        ...

    def score(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Give a finite number for each text, larger is better; it may be called by any thread.

        What is longer than the model takes is cut.
        """
        ...


def load_reranker(place: str, threads: int = 0, options: EmbedOptions | None = None) -> Reranker:
    """Give the reranker that is in a place.

    A folder with an ONNX cross-encoder, a model of a hub that was fetched ("ORGANISATION/NAME"),
    or a server ("http://host:port/v1#model", or the whole address of its "/rerank").
    Raises MissingModel, which says how to get it, when it is not on this machine.
    """
    if place.startswith(("http://", "https://")):
        from gossamer.rerankers.http import HttpReranker

        return HttpReranker(place, options)
    from gossamer.models import find
    from gossamer.models.registry import known_model
    from gossamer.rerankers.onnx import OnnxReranker

    if known_model(place) is not None:
        raise InvalidArgument(
            f"{place!r} makes vectors and cannot rerank; expected a folder with an ONNX "
            "cross-encoder, ORGANISATION/NAME of one on a model hub, or the address of a server"
        )
    chosen = options or EmbedOptions()
    return OnnxReranker(find(place), threads=threads or chosen.threads, device=chosen.device)


class KeptRerankers:
    """Rerankers by their places: each is loaded once, and stays."""

    def __init__(self) -> None:
        self._loaded: dict[str, Reranker] = {}
        self._lock = threading.Lock()

    def get(self, given: str | Reranker, threads: int) -> Reranker:
        """Give the reranker of a place; one that is given as such is taken as it is."""
        if not isinstance(given, str):
            if isinstance(given, Reranker):
                return given
            raise InvalidArgument(
                "a reranker is a place or has a name and a method score(question, texts); "
                f"got a {type(given).__name__}"
            )
        with self._lock:
            if given not in self._loaded:
                self._loaded[given] = load_reranker(given, threads)
            return self._loaded[given]
