"""Token-table models (Model2Vec, potion, wordllama): a text is the mean of its tokens' rows.

Hundreds of times faster than an encoder and less exact. A text may be of any length; 512 tokens
is the limit that chunks are made for.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gossamer.embed.safetensors import read_tensors
from gossamer.embed.texts import (
    check_lengths,
    count_specials,
    cut_into_pieces,
    embed_pieces,
    piece_starts,
    to_unit_rows,
    tokenizer_of,
)
from gossamer.embed.tokens import QuestionVectors, TextVectors
from gossamer.errors import Damaged
from gossamer.models.records import Model
from gossamer.text.encoding import to_utf8
from gossamer.text.tokenizer import Tokenizer, WordPiece

__all__ = ["StaticEmbedder"]

# Texts that are encoded at a time; it bounds memory, not the result.
_BATCH = 64

Ids = NDArray[np.int64]
Rows = NDArray[np.float32]


class StaticEmbedder:
    """An `Embedder` over a table with one row for each token."""

    def __init__(self, model: Model) -> None:
        tensors = read_tensors(model.weights.path)
        self._table = _find_table(model, tensors)
        # Newer Model2Vec files share rows between tokens, and weigh tokens apart from rows.
        self._row_of = _checked_mapping(model, tensors.get("mapping"), len(self._table))
        self._weights = _checked_weights(model, tensors.get("weights"), self._tokens)
        self._model = model
        self.name = model.name
        self.fingerprint = model.fingerprint
        self.dim = int(self._table.shape[1])
        self.max_tokens = model.max_length
        self.tokenizer = tokenizer_of(model)
        self._before, self._after = count_specials(self.tokenizer)
        self._unknown = _unknown_id(model, self.tokenizer) if model.drops_unknown else None

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Rows:
        """Give a row of unit length for each text; see `Embedder`."""
        rows = np.empty((len(texts), self.dim), np.float32)
        for at in range(0, len(texts), _BATCH):
            ids = self._ids(texts[at : at + _BATCH], at)
            rows[at : at + len(ids)] = self._vectors(ids)
            if progress is not None:
                progress(at + len(ids))
        return rows

    def embed_question(self, text: str) -> Rows:
        """Give the vector of a question; see `Embedder`."""
        return embed_pieces(text, self.tokenizer, self.max_tokens, self.embed)

    gives_tokens = True

    def embed_tokens(self, texts: Sequence[str]) -> TextVectors:
        """Give the vectors of texts and of their tokens; see `TokenEmbedder`."""
        ids = self._bare_ids(texts, 0)
        is_known = [one != self._unknown for one in ids]
        starts = [self.tokenizer.token_starts(to_utf8(text)) for text in texts]
        return TextVectors(
            self.embed(texts),
            np.concatenate(
                [self._token_rows(one[known]) for one, known in zip(ids, is_known, strict=True)]
            ),
            np.array([known.sum() for known in is_known], np.uint32),
            np.concatenate([one[known] for one, known in zip(starts, is_known, strict=True)]),
        )

    def embed_question_tokens(self, text: str) -> QuestionVectors:
        """Give the vectors of a question and of its tokens; see `TokenEmbedder`."""
        encoded = self.tokenizer.encode(cut_into_pieces(text, self.tokenizer, self.max_tokens))
        ids = np.concatenate([one[self._before : len(one) - self._after] for one in encoded])
        starts = piece_starts(text, self.tokenizer, self.max_tokens)
        is_known = ids != self._unknown
        return QuestionVectors(
            self.embed_question(text), self._token_rows(ids[is_known]), starts[is_known]
        )

    def _ids(self, texts: Sequence[str], first: int) -> list[Ids]:
        """Ids of the tokens that count; special tokens never do."""
        return [ids[ids != self._unknown] for ids in self._bare_ids(texts, first)]

    def _bare_ids(self, texts: Sequence[str], first: int) -> list[Ids]:
        encoded = self.tokenizer.encode(texts)
        bare = [ids[self._before : len(ids) - self._after] for ids in encoded]
        check_lengths([ids.size for ids in bare], self.max_tokens, first)
        return bare

    def _vectors(self, ids: list[Ids]) -> Rows:
        joined = np.concatenate(ids)
        if joined.size and not 0 <= int(joined.min()) <= int(joined.max()) < self._tokens:
            raise Damaged(
                f"the tokenizer of {self.name!r} gives ids up to {int(joined.max())}, but its "
                f"table has {self._tokens} tokens; the files do not belong together"
            )
        # Summed text by text: the bits of one do not depend on the others, and it stays in cache.
        return to_unit_rows(self._with_direction(np.stack([self._sum(one) for one in ids])))

    def _sum(self, ids: Ids) -> Rows:
        rows = self._token_rows(ids)
        if self._weights is not None:
            rows = rows * self._weights[ids, None].astype(np.float32)
        total: Rows = rows.sum(axis=0)
        return total

    def _token_rows(self, ids: Ids) -> Rows:
        rows = self._table[ids if self._row_of is None else self._row_of[ids]]
        return rows.astype(np.float32, copy=False)

    def _with_direction(self, sums: Rows) -> Rows:
        """Give texts without a known token a direction that means nothing: the first axis."""
        sums[~sums.any(axis=1), 0] = 1
        return sums

    @property
    def _tokens(self) -> int:
        return len(self._table if self._row_of is None else self._row_of)


def _find_table(model: Model, tensors: dict[str, NDArray[Any]]) -> NDArray[Any]:
    tables = {
        name: tensor
        for name, tensor in tensors.items()
        if tensor.ndim == 2 and tensor.dtype.kind in "fi" and min(tensor.shape) > 0
    }
    if len(tables) != 1:
        raise Damaged(
            f"{model.weights.path} is not a token table: expected one matrix, found {len(tables)}; "
            "encoders need an ONNX file"
        )
    return next(iter(tables.values()))


def _checked_mapping(
    model: Model, rows: NDArray[Any] | None, row_count: int
) -> NDArray[Any] | None:
    if rows is None:
        return None
    if rows.ndim != 1 or rows.dtype.kind != "i" or rows.size == 0:
        raise Damaged(f"the mapping of {model.weights.path} is no list of rows; fetch it again")
    if not 0 <= int(rows.min()) <= int(rows.max()) < row_count:
        raise Damaged(f"the mapping of {model.weights.path} names rows that its table lacks")
    return rows


def _checked_weights(
    model: Model, weights: NDArray[Any] | None, token_count: int
) -> NDArray[Any] | None:
    if weights is not None and weights.shape != (token_count,):
        raise Damaged(
            f"{model.weights.path} weighs {weights.size} tokens, but has {token_count}; "
            "fetch it again"
        )
    return weights


def _unknown_id(model: Model, tokenizer: Tokenizer) -> int | None:
    if isinstance(tokenizer, WordPiece):
        return tokenizer.id_of("[UNK]")
    rules = json.loads(model.tokenizer.path.read_text(encoding="utf-8")).get("model", {})
    if "unk_id" in rules:
        found = rules["unk_id"]
    else:
        vocabulary = rules.get("vocab")
        found = vocabulary.get(rules.get("unk_token")) if isinstance(vocabulary, dict) else None
    return found if isinstance(found, int) else None
