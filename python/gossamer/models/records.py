"""`Model`: the files of an embedding model and how its vectors are made from them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

__all__ = ["EMBEDDING_REVISION", "Model", "ModelFile"]

# Raised when this package computes other vectors from the same files.
EMBEDDING_REVISION = 1


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A file of a model, and the hash of what it holds."""

    path: Path
    sha256: str


@dataclass(frozen=True, slots=True)
class Model:
    """A model whose files are on this machine."""

    name: str
    # "onnx", "static" for a table with one row for each token, "packed" for such a table in a file
    # of our own, which holds the tokenizer too.
    kind: str
    folder: Path
    weights: ModelFile
    tokenizer: ModelFile  # tokenizer.json, or a vocabulary with one token on each line
    max_length: int  # tokens of one text, special ones included
    dim: int = 0  # 0: not stated, seen when the model runs
    pooling: str = "mean"  # or "cls": the vector of the first token
    # Our own graph over the same weights, which is faster on a CPU; None: the model's own.
    graph: ModelFile | None = None
    question_graph: ModelFile | None = None  # the same, more exact and slower
    question_prompt: str = ""  # put before a question
    text_prompt: str = ""  # put before each chunk
    drops_unknown: bool = False  # leaves unknown tokens out of the mean (Model2Vec)
    licence: str = ""
    stated_fingerprint: str = ""  # what a packed model says of itself

    @property
    def fingerprint(self) -> str:
        """Hex digits that change whenever the vectors would."""
        if self.stated_fingerprint:
            return self.stated_fingerprint
        facts = {
            "revision": EMBEDDING_REVISION,
            "weights": self.weights.sha256,
            "tokenizer": self.tokenizer.sha256,
            "graphs": [file.sha256 for file in (self.graph, self.question_graph) if file],
            "max_length": self.max_length,
            "pooling": self.pooling,
            "prompts": [self.question_prompt, self.text_prompt],
            "drops_unknown": self.drops_unknown,
        }
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
