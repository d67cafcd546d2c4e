"""What all embedders do with texts and vectors: count, cut a long question, normalise."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from gossamer.errors import InvalidArgument, NotFinite
from gossamer.models.records import Model
from gossamer.text.tokenizer import Tokenizer, bert_uncased, load_tokenizer

__all__ = [
    "check_lengths",
    "count_specials",
    "cut_into_pieces",
    "embed_pieces",
    "piece_starts",
    "to_unit_rows",
    "tokenizer_of",
]

_WINDOW_BYTES = 32  # looked at for each token that fits


def tokenizer_of(model: Model) -> Tokenizer:
    """Load the tokenizer of a model."""
    # The vocabulary that comes with Gossamer is stored compressed.
    path = model.tokenizer.path
    return bert_uncased() if path.suffix == ".zz" else load_tokenizer(path)


def count_specials(tokenizer: Tokenizer) -> tuple[int, int]:
    """How many special tokens stand before and after a text."""
    (alone, around) = tokenizer.encode(["", "a"])
    before = 0
    while before < len(alone) and alone[before] == around[before]:
        before += 1
    return before, len(alone) - before


def check_lengths(counts: Sequence[int], max_tokens: int, first: int = 0) -> None:
    """Raise InvalidArgument for a text of too many tokens; the first of them has number `first`."""
    for position, count in enumerate(counts, start=first):
        if count > max_tokens:
            raise InvalidArgument(
                f"text {position} has {count} tokens, but the model takes {max_tokens} at a time "
                "and nothing is cut off; divide it into chunks"
            )


def embed_pieces(
    text: str,
    tokenizer: Tokenizer,
    max_tokens: int,
    embed: Callable[[list[str]], NDArray[np.float32]],
) -> NDArray[np.float32]:
    """Give one vector of unit length for a text of any length.

    A long text is embedded in pieces, which count by their tokens.
    """
    pieces = cut_into_pieces(text, tokenizer, max_tokens)
    rows = embed(pieces)
    if len(pieces) == 1:
        return np.ascontiguousarray(rows[0])
    weights = [max(1, tokenizer.token_starts(piece.encode()).size) for piece in pieces]
    mean = np.average(rows.astype(np.float64), axis=0, weights=weights)
    unit: NDArray[np.float32] = to_unit_rows(mean[None].astype(np.float32))[0]
    return unit


def piece_starts(text: str, tokenizer: Tokenizer, max_tokens: int) -> NDArray[np.uint32]:
    """Give the byte of a text at which each token of its pieces begins."""
    at = 0
    starts = []
    for piece in cut_into_pieces(text, tokenizer, max_tokens):
        data = piece.encode()
        starts.append(tokenizer.token_starts(data) + np.uint32(at))
        at += len(data)
    return np.concatenate(starts).astype(np.uint32)


def cut_into_pieces(text: str, tokenizer: Tokenizer, max_tokens: int) -> list[str]:
    """Cut a text where tokens begin so that each piece fits; a text that fits is one piece."""
    data = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace").encode()
    pieces = []
    at = 0
    window = _WINDOW_BYTES * max_tokens
    while True:
        # A look at the beginning is enough, so that the cost grows with the text, not its square.
        ahead = data[at : _character_start(data, min(at + window, len(data)))]
        starts = tokenizer.token_starts(ahead)
        if starts.size > max_tokens:
            end = _fitting_end(ahead, starts, tokenizer, max_tokens)
            pieces.append(ahead[:end].decode())
            at += end
        elif at + len(ahead) == len(data):
            return [*pieces, ahead.decode()]
        else:
            window *= 4


def _fitting_end(
    data: bytes, starts: NDArray[np.uint32], tokenizer: Tokenizer, max_tokens: int
) -> int:
    """Find where a piece can end. Cut in the middle of a word, its end may become more tokens."""
    tokens = max_tokens
    while tokens > 1:
        end = _character_start(data, int(starts[tokens]))
        if end > 0 and tokenizer.token_starts(data[:end]).size <= max_tokens:
            return end
        tokens -= 1 + tokens // 16
    first = data.decode()[0]
    return len(first.encode())


def _character_start(data: bytes, at: int) -> int:
    while 0 < at < len(data) and data[at] & 0xC0 == 0x80:
        at -= 1
    return at


def to_unit_rows(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Scale each row to length 1; NotFinite for one that has no direction."""
    # Summed row by row, so that the bits of one do not depend on the others.
    lengths = np.sqrt(np.square(rows.astype(np.float64)).sum(axis=1))
    if not np.all(np.isfinite(lengths) & (lengths > 0)):
        row = int(np.flatnonzero(~(np.isfinite(lengths) & (lengths > 0)))[0])
        raise NotFinite(
            f"the model gave a vector without a direction (NaN, infinite or all zero) for text "
            f"{row}; the model's files or the server do not work as they should"
        )
    unit: NDArray[np.float32] = (rows / lengths[:, None]).astype(np.float32)
    return unit
