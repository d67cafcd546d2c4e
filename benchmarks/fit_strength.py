"""Fits what the core tells how sure a hit is by: the weights in core/query/strength.cpp.

    python -m benchmarks.fit_strength [--write]

Logistic regression on the sets of `strength_sets.FIT`, both models together, one table of weights
for each kind of evidence. Every set counts alike. The bounds of `strong` and `fair` are chosen on
hits whose probability was fitted without their set; those of `strong` hold for each model. What
`--write` puts into the source is judged on other sets by `python -m benchmarks.run strength`.
"""

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.retrieval import SETS
from benchmarks.strength_model import NAMES, SOURCE, TABLES, Floats, features, probability
from benchmarks.strength_sets import FIT, LOOKUPS, MODELS, OWN, observations

FOR_A_HIT = tuple(name for name in NAMES if name not in ("base", "chunks"))
RIDGE = 1.0
STEPS = 100
SURE_OF_STRONG = 0.86  # some more than the bar of 0.8, as other sets differ
MOST_FALSE = 0.01  # of questions without an answer, with a strong hit
MOST_FAIR = 0.10  # of the same, with a fair one


@dataclass(frozen=True)
class Table:
    """Hits of one kind of evidence: what is known of each, and whether it is right."""

    rows: Floats
    right: NDArray[np.bool_]
    sets: NDArray[np.str_]
    models: NDArray[np.str_]
    kinds: NDArray[np.str_]
    questions: NDArray[np.int64]  # by number
    places: NDArray[np.int64]  # from 0


def table(sets: Sequence[str], models: Sequence[str], mode: str) -> Table:
    """Put all hits of these sets into one."""
    rows, right, names, embedders, kinds, questions, places = [], [], [], [], [], [], []
    number = 0
    for model in models:
        for name in sets:
            for asked in (one for one in observations(name, model) if one["mode"] == mode):
                number += 1
                for place, hit in enumerate(asked["hits"]):
                    rows.append(features(asked, place))
                    right.append(hit["right"])
                    names.append(name)
                    embedders.append(model)
                    kinds.append(asked["kind"])
                    questions.append(number)
                    places.append(place)
    return Table(
        np.array(rows),
        np.array(right),
        np.array(names),
        np.array(embedders),
        np.array(kinds),
        np.array(questions),
        np.array(places),
    )


def fit(rows: Floats, right: NDArray[np.bool_], sets: NDArray[np.str_], used: Floats) -> Floats:
    """Weigh what is used, every set alike, by Newton's steps; the rest counts nothing."""
    # What speaks for a hit never speaks against it. Without lookups little is known of `exact`.
    for _ in NAMES:
        weights = _fit(rows, right, sets, used)
        is_wrong = (weights < 0) & np.isin(NAMES, FOR_A_HIT)
        if not is_wrong.any():
            break
        used = np.where(is_wrong, 0, used)
    return weights


def _fit(rows: Floats, right: NDArray[np.bool_], sets: NDArray[np.str_], used: Floats) -> Floats:
    names, counts = np.unique(sets, return_counts=True)
    share = dict(zip(names, len(sets) / len(names) / counts, strict=True))
    importance = np.array([share[name] for name in sets])
    scale = rows.std(axis=0)
    scale[scale == 0] = 1
    x = rows / scale * used
    ridge = RIDGE * np.eye(rows.shape[1])
    ridge[0, 0] = 1e-9
    weights = np.zeros(rows.shape[1])
    for _ in range(STEPS):
        p = 1 / (1 + np.exp(-(x @ weights)))
        slope = x.T @ (importance * (right - p)) - ridge @ weights
        bend = (x * (importance * p * (1 - p))[:, None]).T @ x + ridge
        step = np.linalg.solve(bend, slope)
        weights += step
        if np.abs(step).max() < 1e-9:
            break
    return np.asarray(weights * used / scale)


def held_out(data: Table, used: Floats) -> Floats:
    """Give each hit's probability by weights that its set, large or small, had no part in."""
    found = np.zeros(len(data.right))
    for name in SETS:
        theirs = np.char.endswith(data.sets, name)
        weights = fit(data.rows[~theirs], data.right[~theirs], data.sets[~theirs], used)
        found[theirs] = probability(weights, data.rows[theirs])
    return found


def bounds(data: Table, found: Floats) -> tuple[float, float]:
    """Choose from where on hits are strong, and fair."""
    asked = ~np.isin(data.sets, LOOKUPS)  # which are easy
    groups = [asked & (data.models == model) for model in np.unique(data.models)]
    strong = next(
        bound
        for bound in np.arange(0.5, 1.0, 0.01)
        if all(np.mean(data.right[one & (found >= bound)]) >= SURE_OF_STRONG for one in groups)
        and share_of_questions(data, found >= bound, is_answered=False) <= MOST_FALSE
    )
    fair = next(
        bound
        for bound in np.arange(0.02, 0.5, 0.01)
        if share_of_questions(data, found >= bound, is_answered=False) <= MOST_FAIR
    )
    return float(strong), float(fair)


def share_of_questions(data: Table, chosen: NDArray[np.bool_], *, is_answered: bool) -> float:
    """Say how many of the questions have such a hit. Those whose answers were removed are neither.

    They are like those with an answer, and what is left may answer them without being labelled.
    """
    some = data.kinds == OWN if is_answered else (data.kinds != OWN) & (data.kinds != "removed")
    return len(np.unique(data.questions[some & chosen])) / len(np.unique(data.questions[some]))


def used_by(names: Sequence[str]) -> Floats:
    """Give 1 for what counts, 0 for the rest."""
    return np.array([float(name in names) for name in NAMES])


def main() -> None:
    """Fit, say what came out, and put it into the source if that is wanted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    lines = []
    for name, (mode, names) in TABLES.items():
        data = table(FIT, MODELS, mode)
        used = used_by(names)
        weights = fit(data.rows, data.right, data.sets, used)
        lines.append(f"constexpr Weights {name}{{{', '.join(f'{one:.3g}' for one in weights)}}};")
        if name == "kByAll":
            found = held_out(data, used)
            strong, fair = bounds(data, found)
            is_strong = found >= strong
            print(
                f"held out: strong from {strong:.2f} right {np.mean(data.right[is_strong]):.3f}, "
                f"{share_of_questions(data, is_strong, is_answered=True):.3f} of the questions "
                f"have one, without an answer "
                f"{share_of_questions(data, is_strong, is_answered=False):.3f}; fair from "
                f"{fair:.2f}"
            )
    lines.append(f"constexpr double kStrong = {strong:.2f}, kFair = {fair:.2f};")
    block = "\n".join(lines)
    print(block)
    if given.write:
        text = SOURCE.read_text(encoding="utf-8")
        marked = re.compile(r"(?<=// WEIGHTS BEGIN\n).*?(?=// WEIGHTS END)", re.DOTALL)
        SOURCE.write_text(marked.sub(lambda _: f"{block}\n", text), encoding="utf-8")


if __name__ == "__main__":
    main()
