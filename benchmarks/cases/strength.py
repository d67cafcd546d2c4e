"""Is what is called strong right, and what has no answer called weak? On texts not fitted to."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.fit_strength import Table, share_of_questions, table
from benchmarks.report import Result, Row
from benchmarks.strength_model import TABLES, Floats, probability, read_source
from benchmarks.strength_sets import JUDGED, MODELS, OWN, WITHOUT

TITLE = "how sure hits are: strong ones that are right, and nonsense that is called strong"
RIGHT_BAR, FALSE_BAR = 0.8, 0.02
BINS = 10
OURS = "kByAll"
WAYS = {
    OURS: "hybrid",
    "kWithoutTokens": "hybrid, of a model without tokens",
    "kByWords": "lexical",
    "kByNearness": "semantic",
}


def run() -> Result:
    """Judge every model and kind of evidence, by set too."""
    rows, details = [], {}
    for model in MODELS:
        judged = {way: _judge(JUDGED, model, way) for way in WAYS}
        by_set = {name: _judge([name], model, OURS) for name in JUDGED}
        details[model] = {"by evidence": judged, "by set": by_set}
        ours = judged[OURS]
        rows += [
            Row(
                f"{model}: strong hits that are right", ours["right"], bar=RIGHT_BAR, at_least=True
            ),
            Row(f"{model}: nonsense or absent, called strong", ours["false"], bar=FALSE_BAR),
            Row(f"{model}: questions with an answer that have a strong hit", ours["told"]),
            Row(f"{model}: nonsense or absent, told that nothing is close", ours["refused"]),
            Row(f"{model}: right first hits, told that nothing is close", ours["denied"]),
        ]
        rows += [
            Row(f"{model}, {name}: strong hits that are right, of {one['strong']}", one["right"])
            for name, one in by_set.items()
        ]
    return Result(rows, details)


def _judge(sets: Sequence[str], model: str, way: str) -> dict[str, Any]:
    tables, strong, fair = read_source()
    data = table(sets, [model], TABLES[way][0])
    found = probability(tables[way], data.rows)
    is_strong, is_close = found >= strong, found >= fair
    first = (data.kinds == OWN) & (data.places == 0) & data.right
    close = np.unique(data.questions[is_close])
    return {
        "evidence": WAYS[way],
        "hits": len(found),
        "strong": int(is_strong.sum()),
        "right": _mean(data.right[is_strong]),
        "false": share_of_questions(data, is_strong, is_answered=False),
        "told": share_of_questions(data, is_strong, is_answered=True),
        "refused": 1 - share_of_questions(data, is_close, is_answered=False),
        "denied": _mean(~np.isin(data.questions[first], close)),
        "strong by kind": _by_kind(data, is_strong),
        "close by kind": _by_kind(data, is_close),
        "reliability": _reliability(found, data.right),
    }


def _by_kind(data: Table, chosen: NDArray[np.bool_]) -> dict[str, float | None]:
    """Give the share of the questions of each kind that have such a hit."""
    shares: dict[str, float | None] = {}
    for kind in (OWN, *WITHOUT):
        questions = np.unique(data.questions[data.kinds == kind])
        shares[kind] = _mean(np.isin(questions, data.questions[chosen]))
    return shares


def _reliability(found: Floats, right: NDArray[np.bool_]) -> list[dict[str, float | int | None]]:
    """Give for each tenth of probability how many hits were said so, and how many were right."""
    places = np.minimum((found * BINS).astype(int), BINS - 1)
    return [
        {
            "from": place / BINS,
            "hits": int((places == place).sum()),
            "said": _mean(found[places == place]),
            "right": _mean(right[places == place]),
        }
        for place in range(BINS)
    ]


def _mean(values: NDArray[Any]) -> float | None:
    return float(values.mean()) if len(values) else None
