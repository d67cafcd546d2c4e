"""Several rankings of chunks made into one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

__all__ = ["Fused", "fuse"]

# Reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009): how slowly a rank's weight falls. The
# paper takes 60 for rankings of a thousand; for the first ten of two rankings the first places
# tell more (docs/decisions/0011).
_OFFSET = 5


@dataclass(frozen=True, slots=True)
class Fused:
    """A chunk with its place in each ranking that holds it, from 1."""

    id: int
    score: float
    ranks: Mapping[str, int]


def fuse(rankings: Mapping[str, Sequence[int]]) -> list[Fused]:
    """Order the chunks of all rankings by the sum of their reciprocal ranks, best first.

    Scores need not be comparable between rankings: only places count. Equal sums go by the best
    single place and then by the smaller id, so that the order is always the same.
    """
    ranks: dict[int, dict[str, int]] = {}
    for name, ids in rankings.items():
        for place, id in enumerate(ids, start=1):
            ranks.setdefault(id, {}).setdefault(name, place)
    fused = [Fused(id, _score(places), places) for id, places in ranks.items()]
    fused.sort(key=lambda hit: (-hit.score, min(hit.ranks.values()), hit.id))
    return fused


def _score(places: Mapping[str, int]) -> float:
    return sum(1.0 / (_OFFSET + place) for place in places.values())
