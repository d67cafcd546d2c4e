"""What searches and indexes report: frozen records."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Effort", "IndexStats", "SearchResult", "SearchStats"]


@dataclass(frozen=True)
class Effort:
    """How much work a search does; each strategy reads the fields it knows.

    `rerank`: scan and walk look at this many vectors; 0 leaves it to `margin`.
    `margin`: scan and walk stop once the next estimate is this many standard errors behind the
    k-th hit.
    `beam`: width of a walk (elsewhere called ef).
    `ratio`: two-level search looks at this share of the nodes it has estimated (α).
    `batch`: two-level search asks for about this many vectors at a time.
    """

    rerank: int = 0
    margin: float = 4.0
    beam: int = 64
    ratio: float = 0.1
    batch: int = 16


@dataclass(frozen=True)
class SearchStats:
    """What a search did, summed over its queries; times in seconds."""

    queries: int
    strategy: str
    effort: Effort
    rounds: int  # how often vectors were asked for
    vectors_asked: int  # vectors wanted, counted for each query
    vectors_fetched: int  # vectors asked of vectors_of: a batch asks for each once a round
    distances: int  # exact distances computed
    codes_touched: int  # estimates computed
    hops: int  # neighbor lists read
    find_s: float  # finding candidates: scan or walk
    fetch_s: float  # waiting for vectors_of
    rank_s: float  # comparing what came


@dataclass(frozen=True)
class SearchResult:
    """The nearest vectors, nearest first.

    For one query `ids` and `distances` have one dimension; for several a row for each. Smaller
    distances are nearer: the negated inner product, 1 - cosine, or the squared L2 distance.
    """

    ids: NDArray[np.int64]
    distances: NDArray[np.float32]
    stats: SearchStats


@dataclass(frozen=True)
class IndexStats:
    """What an index holds, and the bytes each part takes in memory."""

    count: int  # vectors that can be found
    deleted: int  # places held by deleted vectors
    kept: int  # vectors kept
    dim: int
    metric: str
    keep: str
    graph: str | None
    mean_degree: float  # links a vector on the base layer
    levels: int
    code_bytes: int  # a code
    codes_bytes: int
    codebook_bytes: int
    vectors_bytes: int
    graph_bytes: int
    source_graph_bytes: int
    ids_bytes: int
    rebuild_hint: bool  # so much was deleted that compact() pays
    prune_s: float  # what the last add() spent following the unpruned graph (keep_source)
