"""An embedder that looks vectors up in a file and says what that took.

Processes whose start is measured load it: it imports nothing that searching does not.
"""

import json
import time
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gossamer.embed import Embedder
from gossamer.text.tokenizer import Tokenizer

Floats = NDArray[np.float32]

MODEL, NAMES, VECTORS = "model.json", "names.npy", "vectors.npy"
FACTS = ("name", "fingerprint", "dim", "max_tokens")


class VectorTable:
    """Takes the place of a model whose vectors of all texts and questions are in a folder."""

    name: str
    fingerprint: str
    dim: int
    max_tokens: int

    def __init__(self, folder: Path) -> None:
        start = time.thread_time()
        vars(self).update(json.loads((folder / MODEL).read_text(encoding="utf-8")))
        self._names = np.load(folder / NAMES, mmap_mode="r", allow_pickle=False)
        self._vectors = np.load(folder / VECTORS, mmap_mode="r", allow_pickle=False)
        self.cpu_s = time.thread_time() - start  # that this object took, in all

    @property
    def tokenizer(self) -> Tokenizer:
        """The model's own."""
        from gossamer.embed.texts import tokenizer_of
        from gossamer.models import find

        return tokenizer_of(find(self.name))

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Floats:
        """Give the vectors of texts; KeyError for one that the table has not."""
        start = time.thread_time()
        names = np.array([name_of(text) for text in texts], np.uint64)
        places = np.searchsorted(self._names, names)
        if not (self._names[places % len(self._names)] == names).all():
            raise KeyError("a text is not the one that the index was built with")
        rows: Floats = self._vectors[places].astype(np.float32)
        if progress is not None:
            progress(len(texts))
        self.cpu_s += time.thread_time() - start
        return rows

    def embed_question(self, text: str) -> Floats:
        """Give the vector of a question."""
        return self.embed([question_key(text)]).reshape(self.dim)


def name_of(text: str) -> int:
    """Give 64 bits that tell texts apart."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")


def question_key(question: str) -> str:
    """Give what a question's vector is kept under: not that of the same text as a chunk."""
    return f"question: {question}"


def save_table(
    folder: Path, model: Embedder, pairs: Iterable[tuple[int, NDArray[np.float16]]]
) -> None:
    """Write vectors by the names of their texts, and what a model says of itself."""
    rows = dict(pairs)
    names = np.array(sorted(rows), np.uint64)
    np.save(folder / NAMES, names)
    np.save(folder / VECTORS, np.stack([rows[int(name)] for name in names]))
    facts = {fact: getattr(model, fact) for fact in FACTS}
    (folder / MODEL).write_text(json.dumps(facts), encoding="utf-8")
