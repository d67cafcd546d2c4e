"""Recall as the dial: asked for and reached."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from benchmarks.cases.dial_sets import SHIPPED
from benchmarks.document.markdown import Cell, either, table
from benchmarks.document.records import Records
from benchmarks.document.shipped import SEEN

ITEM = ""
TITLE = "Recall as the dial: what is asked for, and what is reached"
CASES = ("dial_sets", "dial")
PICTURES = {
    "calibration": "Recall reached against recall asked for, on every set, for three ways to "
    "calibrate",
}
MUCH_BELOW = 0.02  # what a user would notice

Point = dict[str, Any]


def write(records: Records) -> list[str]:
    """Means over all sets, each set, and MDN with graphs."""
    details = records["dial_sets"].details
    points = details["points"]
    blocks = [
        _intro(points),
        _by_way(points),
        "On each set, all settings counted: the mean difference (reached less asked for), and in "
        "brackets the worst shortfall and the worst overshoot:",
        _by_set(details["sets"], points),
        _shortfalls(points),
    ]
    if "dial" in records:
        blocks.append(_stored(records["dial"].rows))
    return [*blocks, _verdict(points)]


def contradictions(records: Records) -> list[str]:
    """Where fewer hits are found than our own documents promise."""
    points = records["dial_sets"].details["points"]
    lowest = [min(_worst_by_set(points, way), key=_off, default=None) for way in _ways(points)]
    said = [f"{_setting(point)} ({point['way']})" for point in lowest if point is not None]
    if not said:
        return []
    return [
        f"`recall=` may find more than {MUCH_BELOW} less than it was asked for. At worst, for each "
        f"way to calibrate: {'; '.join(said)}."
    ]


def draw(records: Records) -> dict[str, Any]:
    """A panel for each way; the diagonal is what was asked for."""
    from matplotlib import pyplot as plt

    points = records["dial_sets"].details["points"]
    ways = _ways(points)
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
        axes.set(title=way, xlabel="recall@10 asked for")
    panels[0][0].set(ylabel="recall@10 reached, ± standard error")
    handles, names = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=len(names))
    return {"calibration": figure}


def _intro(points: list[Point]) -> str:
    asked = sorted({point["asked"] for point in points})
    return (
        f"`recall=` says how much to find, from {asked[0]:.2f} to {asked[-1]:.2f} here; what that "
        "takes is measured beforehand, in one of three ways. *Shipped with the model*: a table "
        f"that comes with the codebook of the default model (24 bytes): what a folder gets. {SEEN} "
        "*Made-up queries*: a `VectorIndex` measures on queries "
        "made from its own vectors. *Half of the questions*: it is given real ones, and the other "
        "half is measured. All are scans, for 3 and for 10 hits. A scan looks at two vectors more "
        "than it has hits, whatever is asked for; where that alone finds more than was asked for, "
        "the setting is *at the least*, and the dial cannot go lower. Differences are given with "
        "those settings and without; shortfalls are the same either way."
    )


def _by_way(points: list[Point]) -> str:
    header = ["calibrated by", "hits", "settings (at the least)", "mean difference, all"]
    header += [
        "the same without the least",
        "worst shortfall",
        "worst overshoot, all",
        "the same without the least",
    ]
    header += ["standard error", "vectors asked for at 0.90"]
    rows: list[list[Cell]] = []
    for way, k in dict.fromkeys((point["way"], point["k"]) for point in points):
        some = [point for point in points if (point["way"], point["k"]) == (way, k)]
        free = [point for point in some if not point["is_least"]]
        rows.append(
            [
                way,
                k,
                f"{len(some)} ({len(some) - len(free)})",
                _mean_size(some),
                _mean_size(free),
                f"{max(0.0, *(-_off(point) for point in some)):.3f}",
                _overshoot(some),
                _overshoot(free),
                f"{_mean([point['error'] for point in some]):.3f}",
                _mean([point["vectors"] for point in some if point["asked"] == 0.90]),
            ]
        )
    return table(header, rows)


def _by_set(sets: dict[str, Any], points: list[Point]) -> str:
    ways = _ways(points)
    rows: list[list[Cell]] = []
    for name, size in sets.items():
        row: list[Cell] = [name, f"{size['chunks']:,}", size["questions"]]
        for way in ways:
            off = [_off(p) for p in points if (p["set"], p["way"]) == (name, way)]
            worst = f"{min(0.0, *off):.3f}, {max(0.0, *off):+.3f}"
            row.append(_minus(f"{_mean(off):+.3f} ({worst})"))
        rows.append(row)
    return table(["", "chunks", "questions", *ways], rows)


def _shortfalls(points: list[Point]) -> str:
    """Falling short is what hurts: each way's worst of each set, in so many words."""
    said = []
    for way in _ways(points):
        some = [point for point in points if point["way"] == way]
        low = [point for point in some if _off(point) < -MUCH_BELOW]
        beyond_chance = sum(_off(point) < -2 * point["error"] for point in low)
        said.append(
            f"- *{way}*: {len(low)} of {len(some)} settings"
            + (
                f", {beyond_chance} of them by more than two standard errors; at worst "
                f"{'; '.join(map(_setting, _worst_by_set(points, way)))}"
                if low
                else ""
            )
        )
    return f"Settings that fall short by more than {MUCH_BELOW}:\n\n" + "\n".join(said)


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


def _verdict(points: list[Point]) -> str:
    best = min(_ways(points), key=lambda way: _mean([abs(_off(p)) for p in _free(points, way)]))
    shipped = [point for point in points if point["way"] == SHIPPED and point["asked"] == 0.90]
    low = [point for point in shipped if _off(point) < -MUCH_BELOW]
    return " ".join(
        [
            "With the codebook that ships, the default `recall=0.90` "
            + either(
                not low,
                f"falls short by more than {MUCH_BELOW} on no set.",
                f"does not keep what it says everywhere: {'; '.join(map(_setting, low))}.",
            ),
            f"Leaving out settings at the least, *{best}* comes nearest on average.",
            "LEANN has no such dial: its evaluation finds the effort of each recall by trying.",
        ]
    )


def _worst_by_set(points: list[Point], way: str) -> list[Point]:
    """Of each set the setting that falls shortest, where that is much."""
    low = [point for point in points if point["way"] == way and _off(point) < -MUCH_BELOW]
    return [
        min((point for point in low if point["set"] == name), key=_off)
        for name in dict.fromkeys(point["set"] for point in low)
    ]


def _setting(point: Point) -> str:
    return (
        f"{point['set']} recall@{point['k']} {point['reached']:.3f} for {point['asked']:.2f} asked"
    )


def _free(points: list[Point], way: str) -> list[Point]:
    """Give a way's settings that are not at the least; all where every one is."""
    mine = [point for point in points if point["way"] == way]
    return [point for point in mine if not point["is_least"]] or mine


def _ways(points: list[Point]) -> list[str]:
    return list(dict.fromkeys(point["way"] for point in points))


def _off(point: Point) -> float:
    return float(point["reached"] - point["asked"])


def _mean_size(points: list[Point]) -> Cell:
    return f"{_mean([abs(_off(point)) for point in points]):.3f}" if points else None


def _overshoot(points: list[Point]) -> Cell:
    return f"{max(0.0, *map(_off, points)):.3f}" if points else None


def _minus(text: str) -> str:
    return text.replace("-", "−")


def _mean(numbers: Sequence[float]) -> float:
    return sum(numbers) / len(numbers)
