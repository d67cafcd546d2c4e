"""What each step of LEANN's search saves at one recall, and what the model takes for a batch."""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from benchmarks import ours
from benchmarks.datasets import Dataset
from benchmarks.metrics import best_times, recall, smallest_effort
from gossamer import Effort
from gossamer.embed import load_embedder

K = 3
TARGET = 0.90
RATIOS = (0.03, 0.05, 0.1, 0.2)
BATCH = 64
WIDEST = 512
MARGINS_A_UNIT = 20
BATCHES = (1, 4, 16, 64)


@dataclass(frozen=True)
class Step:
    """A way to search: its strategy, and its settings as functions of one number."""

    strategy: str
    efforts: Sequence[Callable[[int], Effort]]
    most: int = WIDEST


def two_level(ratio: float, batch: int) -> Callable[[int], Effort]:
    """Settings of two-level search, as a function of the beam."""
    return lambda beam: Effort(beam=beam, ratio=ratio, batch=batch)


# In the order of LEANN's figure 5, and then ours.
STEPS = {
    "naive": Step("best-first", [lambda n: Effort(beam=n)]),
    "two-level": Step("two-level", [two_level(ratio, 1) for ratio in RATIOS]),
    "batches": Step("two-level", [two_level(ratio, BATCH) for ratio in RATIOS]),
    "scan": Step("scan", [lambda n: Effort(rerank=n)]),
    "adaptive": Step("scan", [lambda n: Effort(margin=n / MARGINS_A_UNIT)], 8 * MARGINS_A_UNIT),
}


@dataclass(frozen=True)
class Cost:
    """What a query costs on average at the recall that was asked for."""

    recall: float
    vectors: float
    rounds: float
    seconds: float


def step_costs(
    index: ours.Index, data: Dataset, batch_seconds: dict[int, float]
) -> dict[str, Cost | None]:
    """The cheapest setting of each step that reaches the recall; None where there is none."""
    costs: dict[str, Cost | None] = {}
    for name, step in STEPS.items():
        found = [_at_target(index, data, step, make, batch_seconds) for make in step.efforts]
        reached = [cost for cost in found if cost is not None]
        costs[name] = min(reached, key=lambda cost: cost.vectors, default=None)
    return costs


def as_saved(costs: dict[str, Cost | None]) -> dict[str, dict[str, float] | None]:
    """Costs as a result holds them."""
    return {name: None if cost is None else asdict(cost) for name, cost in costs.items()}


def _at_target(
    index: ours.Index,
    data: Dataset,
    step: Step,
    make_effort: Callable[[int], Effort],
    batch_seconds: dict[int, float],
) -> Cost | None:
    def search(queries: slice, effort: int) -> ours.Answer:
        return ours.search(
            index,
            data.queries[queries],
            K,
            vectors=data.vectors,
            strategy=step.strategy,
            effort=make_effort(effort),
        )

    def recall_at(effort: int) -> float:
        return recall(search(slice(None), effort).ids, data.truth, K)

    effort = smallest_effort(recall_at, TARGET, 1, min(step.most, len(data.vectors)))
    if effort is None:
        return None
    # One query at a time: several at once share their rounds.
    answers = [search(slice(one, one + 1), effort) for one in range(len(data.queries))]
    vectors = float(np.mean([answer.vectors_asked for answer in answers]))
    rounds = float(np.mean([answer.rounds for answer in answers]))
    ids = np.concatenate([answer.ids for answer in answers])
    seconds = vectors * seconds_a_text(batch_seconds, vectors / rounds)
    return Cost(recall(ids, data.truth, K), vectors, rounds, seconds)


def measure_batches(texts: Sequence[str], repetitions: int) -> dict[int, float]:
    """Seconds on the clock that the model takes for a batch, by its size: all of the same texts."""
    embedder = load_embedder("minilm")
    embedder.embed(texts[:2])

    def embed_by(size: int) -> Callable[[], object]:
        parts = [texts[start : start + size] for start in range(0, len(texts), size)]
        return lambda: [embedder.embed(part) for part in parts]

    times = best_times([embed_by(size) for size in BATCHES], repetitions)
    return {size: size * time.wall / len(texts) for size, time in zip(BATCHES, times, strict=True)}


def seconds_a_text(batch_seconds: dict[int, float], size: float) -> float:
    """What one text takes in a batch of this size, between the sizes that were measured."""
    sizes = sorted(batch_seconds)
    each = [batch_seconds[one] / one for one in sizes]
    return float(np.interp(math.log(size), np.log(sizes), each))
