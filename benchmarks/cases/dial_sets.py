"""Recall as the dial on every set of texts: what is asked for against what questions get."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace

import numpy as np

from benchmarks import ours
from benchmarks.datasets import Dataset, mdn
from benchmarks.metrics import recall
from benchmarks.report import Result, Row
from benchmarks.scale import FULL, SCALE, scaled
from benchmarks.text_sets import NAMES, text_set

TITLE = "asked-for recall against reached recall on every set of texts (difference)"
ASKED = (0.80, 0.85, 0.90, 0.95, 0.98)
HITS = (3, 10)
# A scan looks at so many more vectors than it has hits, whatever is asked for.
LEAST_BEYOND_HITS = 2
SETS = scaled(NAMES, smoke=("scifact",), small=("scifact", "cosqa", "mdn"))
CHUNKS = scaled(10**9, smoke=2_000, small=4_000)
MADE_UP, GIVEN, SHIPPED = "made-up queries", "half of the questions", "shipped with the model"


@dataclass(frozen=True)
class Reached:
    """One setting of the dial."""

    set: str
    way: str
    k: int
    asked: float
    reached: float
    error: float  # standard error of what was reached: so few questions do not tell it exactly
    vectors: float
    is_least: bool  # no scan looks at fewer, and that alone finds more than was asked for


def run() -> Result:
    """Calibrated three ways; those that are given half of the questions are asked the rest."""
    points = [point for name in SETS for point in _measure(_data(name))]
    rows = [row for way in (SHIPPED, MADE_UP, GIVEN) for row in _rows(points, way)]
    sizes = {
        name: {"chunks": len(data.vectors), "questions": len(data.queries)}
        for name, data in ((name, _data(name)) for name in SETS)
    }
    return Result(rows, {"sets": sizes, "points": [asdict(point) for point in points]})


def _rows(points: list[Reached], way: str) -> list[Row]:
    mine = [one for one in points if one.way == way and not one.is_least]
    differences = [abs(one.reached - one.asked) for one in mine]
    return [
        Row(f"{way}: mean difference", float(np.mean(differences)) if mine else None),
        Row(f"{way}: worst difference", max(differences, default=None)),
    ]


def _data(name: str) -> Dataset:
    """A set with all its questions."""
    return mdn() if name == "mdn" and SCALE == FULL else text_set(name).data.first(CHUNKS)


def _measure(data: Dataset) -> Iterator[Reached]:
    half = len(data.queries) // 2
    unseen = replace(data, queries=data.queries[half:], truth=data.truth[half:])
    codebook, calibration = ours.shipped_codebook()
    shipped = ours.build(data.vectors, codebook=codebook)
    shipped.calibration = calibration
    yield from _turn(shipped, data, SHIPPED)
    alone = ours.build(data.vectors, calibrate=True)
    yield from _turn(alone, data, MADE_UP)
    told = ours.build(
        data.vectors,
        codebook=alone.codebook,
        calibrate=True,
        calibration_queries=data.queries[:half],
    )
    yield from _turn(told, unseen, GIVEN)


def _turn(index: ours.Index, data: Dataset, way: str) -> Iterator[Reached]:
    for k in HITS:
        for asked in ASKED:
            answer = ours.search(
                index, data.queries, k, vectors=data.vectors, strategy="scan", recall=asked
            )
            each = [
                recall(answer.ids[one : one + 1], data.truth[one : one + 1], k)
                for one in range(len(data.queries))
            ]
            error = float(np.std(each) / np.sqrt(len(each)))
            reached = float(np.mean(each))
            vectors = answer.vectors_asked
            is_least = vectors < k + LEAST_BEYOND_HITS + 0.01 and reached > asked
            yield Reached(data.name, way, k, asked, reached, error, vectors, is_least)
