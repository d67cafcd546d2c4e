"""What a search gives: hits, and how they were found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import overload

from gossamer.records import Hit

__all__ = ["Explanation", "Results"]


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a search did and what it cost."""

    mode: str  # hybrid, semantic or lexical
    strategy: str  # how near vectors were found; "" where the search was lexical
    chunks: int  # in the index
    allowed_chunks: int | None  # that the filter lets through; None without a filter
    codes_touched: int = 0
    chunks_embedded: int = 0  # again, for this question
    chunks_cached: int = 0  # whose vectors were at hand
    chunks_asked: int = 0  # whose vectors came from the server that the index follows
    rounds: int = 0  # how often vectors were asked for
    lexical_bytes: int = 0  # text that was read for words
    lexical_terms: Mapping[str, int] = field(default_factory=dict)  # chunks that hold each term
    stages: Mapping[str, float] = field(default_factory=dict)  # milliseconds


@dataclass(frozen=True, slots=True)
class Results(Sequence[Hit]):
    """Hits, best first, with what was done to find them."""

    hits: tuple[Hit, ...]
    explanation: Explanation
    # Files whose text is not what was indexed: their hits were dropped, `add` mends it.
    stale: tuple[str, ...] = ()
    took_ms: float = 0.0
    # What else to know of this answer: a server that was away, texts that are not here.
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.hits)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    @overload
    def __getitem__(self, place: int) -> Hit: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Hit]: ...

    def __getitem__(self, place: int | slice) -> Hit | Sequence[Hit]:
        return self.hits[place]
