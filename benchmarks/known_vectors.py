"""Indexes of the product over a text set whose vectors are known: no model runs."""

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from benchmarks.datasets import Floats
from benchmarks.indexes import create_index, scratch_folder
from benchmarks.text_sets import TextSet, documents_of, text_set
from gossamer.embed import Embedder, load_embedder
from gossamer.index import Index
from gossamer.model import Embedders
from gossamer.update.prepare import GivenText


class KnownVectors:
    """An `Embedder` that looks the chunks and questions of a text set up; others it embeds."""

    def __init__(self, known: TextSet, model: Embedder) -> None:
        self._model = model
        self._chunks = dict(zip(known.texts, known.data.vectors, strict=True))
        self._questions = dict(zip(known.questions, known.data.queries, strict=True))
        self.name = model.name
        self.fingerprint = model.fingerprint
        self.dim = model.dim
        self.max_tokens = model.max_tokens
        self.tokenizer = model.tokenizer

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Floats:
        unknown = [text for text in texts if text not in self._chunks]
        if unknown:
            self._chunks.update(zip(unknown, self._model.embed(unknown), strict=True))
        if progress is not None:
            progress(len(texts))
        rows = [self._chunks[text] for text in texts]
        return np.stack(rows) if rows else np.zeros((0, self.dim), np.float32)

    def embed_question(self, text: str) -> Floats:
        known = self._questions.get(text)
        return self._model.embed_question(text) if known is None else known


def known_embedder(name: str) -> KnownVectors:
    """Give the default model with the vectors of a text set at hand."""
    return KnownVectors(text_set(name), load_embedder("minilm"))


def share_known(name: str) -> Callable[[Embedder], Embedders]:
    """Give what puts the known vectors of a text set in front of an index's model."""

    def take_place(model: Embedder) -> Embedders:
        known = KnownVectors(text_set(name), model)
        return Embedders(known, known)

    return take_place


@cache
def known_index(name: str) -> Index:
    """Give an index of the documents of a text set, with the default settings."""
    data = documents_of(name)
    index = create_index(scratch_folder(f"known-{name}"), known_embedder(name))
    trios = zip(data.ids, data.bodies, data.titles, strict=True)
    index.add_texts(GivenText(*trio) for trio in trios)
    return index
