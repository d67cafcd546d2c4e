"""What a contender of a page took and found."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from benchmarks.datasets import Ids


@dataclass(frozen=True)
class Timing:
    """Milliseconds a query as the page calls it.

    `p50` and `p99` are over the best of each query's rounds where rounds ask the same queries, else
    those of the round with the lowest median; the raw ones are over everything.
    """

    recall: float
    queries: int
    p50: float
    p99: float
    raw_p50: float
    raw_p99: float

    def as_saved(self) -> dict[str, Any]:
        """Give what is kept in a result's file."""
        return {name: _rounded(value) for name, value in asdict(self).items()}


def timing(taken: dict[str, Any], truth: Ids, first: int, k: int, *, advances: bool) -> Timing:
    """Sum up what `takeTurns` gave; rounds that a cap cut off count as far as they went."""
    rounds = [line for line in taken["ms"] if line]
    pool = _best_round(rounds) if advances else _best_of_each(rounds)
    everything = np.concatenate([np.asarray(line) for line in rounds])
    return Timing(
        recall=_recall(taken["ids"], truth, first, k, advances),
        queries=len(everything),
        p50=float(np.percentile(pool, 50)),
        p99=float(np.percentile(pool, 99)),
        raw_p50=float(np.percentile(everything, 50)),
        raw_p99=float(np.percentile(everything, 99)),
    )


def _best_of_each(rounds: list[list[float]]) -> np.ndarray:
    """Give the least of each query's times, for the queries that all rounds got to."""
    whole = [line for line in rounds if len(line) == len(rounds[0])]
    least: np.ndarray = np.min(np.asarray(whole), axis=0)
    return least


def _best_round(rounds: list[list[float]]) -> np.ndarray:
    return np.asarray(min(rounds, key=lambda line: float(np.median(line))))


def _recall(found: list[list[list[int]]], truth: Ids, first: int, k: int, advances: bool) -> float:
    """Share of the true nearest that were found, over all answers (those of the first round)."""
    shares: list[float] = []
    at = first
    for line in found if advances else found[:1]:
        for number, ids in enumerate(line):
            nearest = truth[at + number, :k].tolist()
            shares.append(len(set(nearest) & set(ids)) / k)
        at += len(line)
    return float(np.mean(shares))


def _rounded(value: object) -> object:
    return round(value, 4) if isinstance(value, float) else value
