"""What the core tells how sure a hit is by, said again: so that it can be fitted and judged.

Whenever hits are observed anew, this is held against what the core said of each.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.datasets import REPOSITORY
from gossamer.lexical.terms import terms_of

Floats = NDArray[np.float64]

SOURCE = REPOSITORY / "core" / "query" / "strength.cpp"
NAMES = ("base", "nearness", "tokens", "coverage", "covered_terms", "exact", "lead", "chunks")
# By which evidence there is: the mode that gives it, and what counts.
TABLES = {
    "kByAll": ("hybrid", NAMES),
    "kWithoutTokens": ("hybrid", tuple(name for name in NAMES if name != "tokens")),
    "kByWords": ("lexical", ("base", "coverage", "covered_terms", "exact", "lead", "chunks")),
    "kByNearness": ("semantic", ("base", "nearness", "chunks")),
}
MANY_TERMS, LONG_LEAD, MOST_EXACT = 12, 3.0, 3.0  # as in the core
CLOSE = 0.02  # lengths of leads and roots are rounded


def features(asked: Mapping[str, Any], place: int) -> list[float]:
    """Give what counts of a hit, in the order of NAMES."""
    hits = asked["hits"]
    hit = hits[place]
    others = [other["score"] for at, other in enumerate(hits) if at != place]
    is_weighed = asked["mode"] != "semantic" and others
    lead = hit["score"] - max(others) if is_weighed else 0.0
    coverage = hit["coverage"] or 0.0
    return [
        1.0,
        hit["nearness"] or 0.0,
        hit["tokens"] or 0.0,
        coverage,
        coverage * np.log(np.clip(_count_terms(asked["question"]), 1, MANY_TERMS)),
        # As far as no other hit gives it better.
        float(np.clip(2 * hit["exact"] - max(one["exact"] for one in hits), 0, MOST_EXACT)),
        float(np.clip(lead, -LONG_LEAD, LONG_LEAD)),
        float(np.log1p(asked["chunks"])),
    ]


@cache
def _count_terms(question: str) -> int:
    return len(terms_of(question))


def probability(weights: Sequence[float] | Floats, rows: Floats) -> Floats:
    """Say it as the core does."""
    return np.asarray(np.round(1 / (1 + np.exp(-(rows @ np.asarray(weights)))), 4))


def read_source() -> tuple[dict[str, list[float]], float, float]:
    """Give the weights in the core by table, and where strong and fair begin."""
    text = SOURCE.read_text(encoding="utf-8")
    number = r"-?\d+(?:\.\d+)?"
    tables = {
        name: [float(one) for one in re.findall(number, inside)]
        for name, inside in re.findall(r"Weights (\w+)\{([^}]*)\}", text)
    }
    strong, fair = re.findall(rf"kStrong = ({number}), kFair = ({number})", text)[0]
    return tables, float(strong), float(fair)


def table_of(asked: Mapping[str, Any]) -> str:
    """Name the table that the core takes for a question in this mode."""
    return next(name for name, (mode, _) in TABLES.items() if mode == asked["mode"])


def check(asked: Mapping[str, Any]) -> None:
    """Fail where the core says another probability than this does."""
    tables, _, _ = read_source()
    for place, hit in enumerate(asked["hits"]):
        own = probability(tables[table_of(asked)], np.array([features(asked, place)]))[0]
        if hit["tokens"] is None and asked["mode"] == "hybrid":
            continue
        # What stands in quotes is looked for by its words.
        if hit["coverage"] is not None and asked["mode"] == "semantic":
            continue
        # One that is not among these hits may give better what is looked up.
        is_less = hit["exact"] > 0 and hit["probability"] < own
        if not is_less and abs(own - hit["probability"]) > CLOSE:
            raise ValueError(
                f"{asked['question']!r}, {asked['mode']}, hit {place + 1}: the core says "
                f"{hit['probability']}, benchmarks/strength_model.py {own}; build the core again, "
                "or bring one of them up to date"
            )
