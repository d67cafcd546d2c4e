"""Recall as the dial: asked for and reached."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from benchmarks.document.markdown import Cell, either, percent, table
from benchmarks.document.records import Records

ITEM = ""
TITLE = "Recall as the dial: what is asked for, and what is reached"
CASES = ("dial_sets", "dial")
PICTURES = {
    "calibration": "Recall reached against recall asked for, on every set, for three ways to "
    "calibrate",
}
WORST_STEP = 0.01


def write(records: Records) -> list[str]:
    """Means over all sets, each set, and MDN with graphs."""
    points = records["dial_sets"].details["points"]
    blocks = [_intro(records), _by_way(points), "Difference on each set, mean and worst of all:"]
    blocks.append(_by_set(records["dial_sets"].details["sets"], points))
    if "dial" in records:
        blocks.append(_stored(records["dial"].rows))
    return [*blocks, _verdict(points)]


def draw(records: Records) -> dict[str, Any]:
    """A panel for each way; the diagonal is what was asked for."""
    from matplotlib import pyplot as plt

    points = records["dial_sets"].details["points"]
    ways = list(dict.fromkeys(point["way"] for point in points))
    sets = list(dict.fromkeys(point["set"] for point in points))
    figure, panels = plt.subplots(
        1, len(ways), figsize=(9, 4), sharey=True, squeeze=False, layout="constrained"
    )
    for axes, way in zip(panels[0], ways, strict=True):
        axes.plot([0.78, 1], [0.78, 1], "k:", label="as asked for")
        for color, name in enumerate(sets):
            some = [p for p in points if (p["way"], p["set"], p["k"]) == (way, name, 10)]
            axes.errorbar(
                [p["asked"] for p in some],
                [p["reached"] for p in some],
                [p["error"] for p in some],
                fmt="o-",
                color=f"C{color}",
                markersize=3,
                linewidth=1,
                elinewidth=0.6,
                label=name,
            )
        axes.set(title=f"calibrated: {way}", xlabel="recall@10 asked for")
    panels[0][0].set(ylabel="recall@10 reached, ± standard error")
    panels[0][-1].legend(loc="lower right")
    return {"calibration": figure}


def _intro(records: Records) -> str:
    details = records["dial_sets"].details
    asked = sorted({point["asked"] for point in details["points"]})
    return (
        f"`recall=` says how much to find, from {asked[0]:.2f} to {asked[-1]:.2f} here; what that "
        "takes is measured beforehand, in one of three ways. *Shipped with the model*: a table "
        "that comes with the codebook of the default model (24 bytes), and which has seen parts of "
        "these sets: what a folder gets. *Made-up queries*: a `VectorIndex` measures on queries "
        "made from its own vectors. *Half of the questions*: it is given real ones, and the other "
        "half is measured. All are scans, for 3 and for 10 hits. A scan looks at two vectors more "
        "than it has hits, whatever is asked for: where that alone finds more than that (*at the "
        "least*), the dial cannot go lower, and the setting is left out of the differences. With "
        "so few questions recall itself is only known to about the standard error given."
    )


def _by_way(points: list[dict[str, Any]]) -> str:
    header = ["calibrated by", "hits", "at the least", "mean difference", "worst above"]
    header += ["worst below", "standard error", "within two of them", "vectors asked for at 0.90"]
    rows: list[list[Cell]] = []
    for way, k in dict.fromkeys((point["way"], point["k"]) for point in points):
        some = [point for point in points if (point["way"], point["k"]) == (way, k)]
        free = [point for point in some if not point["is_least"]]
        off = [point["reached"] - point["asked"] for point in free]
        is_within = [abs(p["reached"] - p["asked"]) <= 2 * p["error"] for p in free]
        at_90 = [point["vectors"] for point in some if point["asked"] == 0.90]
        row: list[Cell] = [way, k, f"{len(some) - len(free)} of {len(some)}"]
        if free:
            row += [
                f"{_mean([abs(one) for one in off]):.3f}",
                f"{max(0.0, *off):.3f}",
                f"{max(0.0, *(-one for one in off)):.3f}",
                f"{_mean([point['error'] for point in free]):.3f}",
                percent(_mean(is_within), 0),
            ]
        else:
            row += [None] * 5
        rows.append([*row, _mean(at_90)])
    return table(header, rows)


def _by_set(sets: dict[str, Any], points: list[dict[str, Any]]) -> str:
    ways = list(dict.fromkeys(point["way"] for point in points))
    rows: list[list[Cell]] = []
    for name, size in sets.items():
        row: list[Cell] = [name, f"{size['chunks']:,}", size["questions"]]
        for way in ways:
            some = [p for p in points if (p["set"], p["way"]) == (name, way)]
            off = [p["reached"] - p["asked"] for p in some if not p["is_least"]]
            row.append(f"{_mean(off):+.3f}, {max(off, key=abs):+.3f}" if off else None)
        rows.append(row)
    return table(["", "chunks", "questions", *ways], rows)


def _stored(rows: list[dict[str, Any]]) -> str:
    """The case on MDN alone, which has graphs over stored vectors too."""

    def kind(row: dict[str, Any]) -> str:
        return str(row["what"]).partition(", calibrated ")[2] + str(row["what"]).split()[0]

    lines = []
    for _, group in groupby(rows, kind):
        some = list(group)
        name = some[0]["what"].split()[0] + ", " + some[0]["what"].partition("calibrated ")[2]
        values = [float(row["value"]) for row in some]
        lines.append([name, f"{_mean(values):.3f}", f"{max(values):.3f}"])
    return "On MDN alone, graphs over stored vectors included:\n\n" + table(
        ["", "mean difference", "worst"], lines
    )


def _verdict(points: list[dict[str, Any]]) -> str:
    free = [point for point in points if not point["is_least"]]
    if not free:
        return "Every setting is at the least that a scan looks at."
    sizes = {
        way: [abs(p["reached"] - p["asked"]) for p in free if p["way"] == way]
        for way in dict.fromkeys(point["way"] for point in free)
    }
    best = min(sizes, key=lambda way: _mean(sizes[way]))
    worst = max(max(one) for one in sizes.values())
    below = max(point["asked"] - point["reached"] for point in free)
    return " ".join(
        [
            either(
                worst <= WORST_STEP,
                f"Every setting on every set is within {WORST_STEP} of what was asked for.",
                f"Not every setting is within {WORST_STEP} of what was asked for: the worst is off "
                f"by {worst:.3f}.",
            ),
            either(
                below > WORST_STEP,
                f"The one that falls shortest finds {below:.3f} less than asked for.",
                f"None finds less than asked for by more than {WORST_STEP}.",
            ),
            f"The smallest difference on average has *{best}* ({_mean(sizes[best]):.3f}).",
            "LEANN has no such dial: its evaluation finds the effort of each recall by trying.",
        ]
    )


def _mean(numbers: Sequence[float]) -> float:
    return sum(numbers) / len(numbers)
