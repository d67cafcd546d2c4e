"""What the parameters of a slim graph do to size and speed: HNSW-Slim's figures 8, 9 and 10."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from benchmarks.document.markdown import either, percent, table
from benchmarks.document.records import Record, Records

ITEM = "HNSW-Slim Fig. 8, 9, 10"
TITLE = "The slim graph: what its parameters do"
CASES = ("slim_sweeps",)
PICTURES = {
    "slim-layers": "bytes a node and queries a CPU second against the share of nodes that reach "
    "one layer higher, for each trade-off layer",
    "slim-degrees": "queries a CPU second against bytes a node, as hubs and degrees are varied",
}
LAYERS = "L_t="
DEGREES = {
    "hub share": "share of hubs (α)",
    "low degree": "links of the others (M_l0; hubs keep 32)",
    "hub degree": "links of hubs above (M_h), all others in proportion",
    "by in-degree": "SlimZero (by in-degree)",
}
PAPER_HUB_SHARE = 0.02  # section 7.1.3
PAPER_BEST_SHARE = 0.5  # section 7.5.1, for L_t=1; 0.57 for L_t=2
PAPER_SWEET_SPOT = 16  # section 7.5.2, links of a hub above the base
HALF_DEGREE = 16  # half of a hub's links at the base
# What is called stable here; a choice, not a measurement of the noise.
STABLE = 0.1

Points = Sequence[dict[str, Any]]


def write(records: Records) -> list[str]:
    """One table for layers, one for degrees."""
    record = records["slim_sweeps"]
    sets = record.details["sets"]
    header = [""] + [
        f"{name}: {what}"
        for name in sets
        for what in ("graph B a node", "recall@10", f"queries a CPU s at {_target(record)}")
    ]
    counts = ", ".join(f"{one['count']:,} vectors of {name}" for name, one in sets.items())
    return [
        f"On {counts}; vectors of 16 bits, one thread, all settings in turns. Each row changes "
        "what it names and leaves the rest at the paper's defaults (L_t=0, p=1/32, 2 % hubs with "
        "32 links at the base and 16 above, 8 and 4 for the others). Recall is that of "
        f"an effort of {record.details['effort']}.",
        table(header, _rows(sets, is_layers=True)),
        table(header, _rows(sets, is_layers=False)),
        _against(record),
    ]


def contradictions(records: Records) -> list[str]:
    """Where hierarchical pruning does not do for size what the paper has it do."""
    said = []
    for where, one in records["slim_sweeps"].details["sets"].items():
        least = _smallest(one["points"])
        if least["at"] < PAPER_BEST_SHARE:
            said.append(
                f"{where}: of all trade-off layers and level shares the slim graph is smallest "
                f"with {least['sweep']} and p={_fraction(least['at'])}; the paper derives a "
                f"minimum at p={PAPER_BEST_SHARE:g} or above, for L_t above 0."
            )
        shares = _from(one["points"], "hub share", PAPER_HUB_SHARE)
        if _spread(shares, "memory") > STABLE:
            said.append(
                f"{where}: from 2 to 50 % hubs the size changes by "
                f"{percent(_spread(shares, 'memory'), 0)}; in the paper it is very stable."
            )
    return said


def draw(records: Records) -> dict[str, Any]:
    """One figure for layers, one for degrees."""
    record = records["slim_sweeps"]
    return {"slim-layers": _draw_layers(record), "slim-degrees": _draw_degrees(record)}


def _draw_layers(record: Record) -> Any:
    from matplotlib import pyplot as plt

    sets = record.details["sets"]
    figure, panels = plt.subplots(
        1, 2 * len(sets), figsize=(9 if len(sets) > 1 else 7, 3.4), layout="constrained"
    )
    for at, (name, one) in enumerate(sets.items()):
        layers = sorted({p["sweep"] for p in one["points"] if p["sweep"].startswith(LAYERS)})
        for offset, (key, label) in enumerate(
            (("memory", "graph, B a node"), ("qps", f"queries a CPU s at {_target(record)}"))
        ):
            axes = panels[2 * at + offset]
            for layer in layers:
                points = _sweep(one["points"], layer)
                known = [point for point in points if point[key] is not None]
                axes.plot(
                    [p["at"] for p in known], [p[key] for p in known], "o-", label=layer, ms=4
                )
            axes.set(title=f"{name}: {label}", xlabel="p", ylim=(0, None))
            axes.title.set_size(9)
    panels[0].legend()
    return figure


def _draw_degrees(record: Record) -> Any:
    from matplotlib import pyplot as plt

    sets = record.details["sets"]
    figure, panels = plt.subplots(
        1, len(sets), figsize=(9 if len(sets) > 1 else 6, 4), squeeze=False, layout="constrained"
    )
    for axes, (name, one) in zip(panels[0], sets.items(), strict=True):
        for sweep, label in DEGREES.items():
            known = [point for point in _sweep(one["points"], sweep) if point["qps"] is not None]
            axes.plot(
                [p["memory"] for p in known], [p["qps"] for p in known], "o-", label=label, ms=4
            )
            if sweep in ("low degree", "hub degree"):
                for point in known:
                    axes.annotate(
                        f"{point['at']:g}",
                        (point["memory"], point["qps"]),
                        textcoords="offset points",
                        xytext=(4, 4 if sweep == "low degree" else -10),
                        fontsize=7,
                    )
        axes.set(title=name, xlabel="graph, bytes a node in memory", ylim=(0, None))
    panels[0][0].set(ylabel=f"queries a CPU second at recall@10 {_target(record)}")
    panels[0][-1].legend(loc="lower right")
    return figure


def _target(record: Record) -> float:
    return float(record.details["target"])


def _sweep(points: Points, sweep: str) -> list[dict[str, Any]]:
    return sorted((p for p in points if p["sweep"] == sweep), key=lambda point: point["at"])


def _rows(sets: dict[str, Any], is_layers: bool) -> list[list[Any]]:
    """A row for each setting of the layers or of the degrees, with what every set gave."""
    first = next(iter(sets.values()))["points"]
    rows = []
    for number, point in enumerate(first):
        if point["sweep"].startswith(LAYERS) == is_layers:
            cells: list[Any] = [_name(point)]
            for one in sets.values():
                here = one["points"][number]
                cells += [here["memory"], here["recall"], here["qps"]]
            rows.append(cells)
    return rows


def _name(point: dict[str, Any]) -> str:
    if point["sweep"].startswith(LAYERS):
        return f"{point['sweep']}, p={_fraction(point['at'])}"
    name = DEGREES[point["sweep"]]
    return name if point["sweep"] == "by in-degree" else f"{name}: {point['at']:g}"


def _default(points: Points) -> dict[str, Any]:
    return next(p for p in _sweep(points, "hub share") if p["at"] == PAPER_HUB_SHARE)


def _smallest(points: Points) -> dict[str, Any]:
    """The smallest graph of all trade-off layers and shares of upper nodes."""
    layers = [p for p in points if p["sweep"].startswith(LAYERS)]
    return min(layers, key=lambda point: float(point["memory"]))


def _against(record: Record) -> str:
    parts = [_said_of(name, one["points"]) for name, one in record.details["sets"].items()]
    return (
        "**Against the paper.** It finds that with L_t=0 the index grows with p, that with L_t=1 "
        "it is clearly smaller and smallest near p=0.5, and that searches get slower as L_t and p "
        "grow; that the share of hubs hardly matters, that speed is stable down to half of a hub's "
        "links for the others, and that 16 is the best degree of a hub. Here a link takes "
        "little beside what a node on an upper layer does, and a list that loses links to higher "
        f"nodes is filled again up to its limit with others. {' '.join(parts)}"
    )


def _said_of(name: str, points: Points) -> str:
    usual = _default(points)
    least = _smallest(points)
    bottom = [p["memory"] for p in _sweep(points, f"{LAYERS}0")]
    shares = _from(points, "hub share", PAPER_HUB_SHARE)
    lows = _from(points, "low degree", HALF_DEGREE)
    said = [
        "the index "
        + either(bottom == sorted(bottom), "grows", "does not always grow")
        + " with p at L_t=0",
        f"the smallest of all is {least['sweep']} with p={_fraction(least['at'])} "
        f"({least['memory']:.1f} B a node, the defaults {usual['memory']:.1f})",
        _layer_speed(points),
        f"from 2 to 50 % hubs the size changes by {percent(_spread(shares, 'memory'), 0)} and the "
        f"speed by {percent(_spread(shares, 'qps'), 0)}",
        "with 16 to 32 links for the others the speed changes by "
        f"{percent(_spread(lows, 'qps'), 0)}"
        if len(lows) > 1
        else "",
        _best_degree(points),
    ]
    return f"On {name}, {'; '.join(one for one in said if one)}."


def _layer_speed(points: Points) -> str:
    """How much faster L_t=0 is than L_t=1, at the least share of upper nodes."""
    pair = [_sweep(points, f"{LAYERS}{layer}")[:1] for layer in (0, 1)]
    speeds = [one["qps"] for found in pair for one in found]
    if len(speeds) < 2 or None in speeds:
        return ""
    change = speeds[1] / speeds[0] - 1
    slower = either(change < 0, "slower", "faster")
    return f"L_t=1 is {percent(abs(change), 0)} {slower} than L_t=0 at p=1/32"


def _best_degree(points: Points) -> str:
    known = [p for p in _sweep(points, "hub degree") if p["qps"] is not None]
    if not known:
        return ""
    best = max(known, key=lambda point: float(point["qps"]))
    at = next((p for p in known if p["at"] == PAPER_SWEET_SPOT), best)
    is_best = at["qps"] >= (1 - STABLE) * best["qps"]
    return either(
        is_best,
        f"a hub degree of {at['at']:g} is within {percent(STABLE, 0)} of the fastest",
        f"the fastest hub degree is {best['at']:g}, {percent(best['qps'] / at['qps'] - 1, 0)} "
        f"faster than {at['at']:g} for {percent(best['memory'] / at['memory'] - 1, 0)} more bytes",
    )


def _from(points: Points, sweep: str, least: float) -> list[dict[str, Any]]:
    return [point for point in _sweep(points, sweep) if point["at"] >= least]


def _spread(points: Points, key: str) -> float:
    """How much larger the largest is than the smallest."""
    values = [float(point[key]) for point in points if point[key] is not None]
    return max(values) / min(values) - 1 if values else 0.0


def _fraction(share: float) -> str:
    return str(Fraction(share).limit_denominator(32))
