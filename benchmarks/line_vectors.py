"""Vectors for the chunks of MDN that cost no model: those of chunks that were embedded before.

The set comes with vectors of 62,797 chunks, cut otherwise than the product cuts. A text takes the
vector of the chunk with which it shares most of its lines, and some noise of its own, so that what
is near in meaning is near here, codes are as far off as codes of the model are, and a question asks
for about as many chunks.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import Floats, mdn_parts
from benchmarks.retrieval import data_folder, records
from benchmarks.vector_table import name_of, question_key
from gossamer.embed import Embedder

LEAST_LINE = 8  # characters
MOST_HOLDERS = 20  # a line of more chunks tells nothing
NOISE = 0.25  # its length, beside vectors of unit length
TABLE = 1 << 20


class LineVectors:
    """Takes the place of the default model; questions are embedded by the model itself."""

    def __init__(self, model: Embedder) -> None:
        self._model = model
        self.name, self.fingerprint = model.name, model.fingerprint
        self.dim, self.max_tokens = model.dim, model.max_tokens
        self.tokenizer = model.tokenizer
        self.given: dict[int, NDArray[np.float16]] = {}  # by the name of a text
        self._vectors = np.concatenate([np.load(part, allow_pickle=False) for part in mdn_parts()])
        self._holders = _holders_of_lines()
        self._noise = np.random.default_rng(0).standard_normal(TABLE, np.float32)

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Floats:
        """Give the vectors of texts."""
        rows = np.stack([self._embed(text) for text in texts]).astype(np.float32)
        if progress is not None:
            progress(len(texts))
        return rows

    def embed_question(self, text: str) -> Floats:
        """Give the model's own vector of a question."""
        vector = self._model.embed_question(text)
        self.given[name_of(question_key(text))] = vector.astype(np.float16)
        return vector

    def _embed(self, text: str) -> NDArray[np.float16]:
        name = name_of(text)
        start = name % (TABLE - self.dim)
        noise = self._noise[start : start + self.dim]
        row = self._vectors[self._nearest(text, name)].astype(np.float32)
        row += NOISE / np.linalg.norm(noise) * noise
        self.given[name] = (row / np.linalg.norm(row)).astype(np.float16)
        return self.given[name]

    def _nearest(self, text: str, name: int) -> int:
        """Find the chunk that shares most; any, but always the same one, if none shares a line."""
        shared: defaultdict[int, float] = defaultdict(float)
        for line in _lines(text):
            holders = self._holders.get(line, ())
            for holder in holders if len(holders) <= MOST_HOLDERS else ():
                shared[holder] += len(line) / len(holders)
        return max(shared, key=shared.__getitem__) if shared else name % len(self._vectors)


def _holders_of_lines() -> dict[str, list[int]]:
    holders: dict[str, list[int]] = {}
    for number, chunk in enumerate(records(data_folder() / "mdn" / "chunks.jsonl.zst")):
        for line in _lines(chunk["text"]):
            holders.setdefault(line, []).append(number)
    return holders


def _lines(text: str) -> Iterator[str]:
    lines = map(str.strip, text.splitlines())
    return (line for line in lines if len(line) >= LEAST_LINE)
