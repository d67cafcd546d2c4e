"""Pictures of the newest results: recall against vectors asked for and speed, and a long run."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import matplotlib

from benchmarks.report import RESULTS

matplotlib.use("Agg")
from matplotlib import pyplot as plt
from matplotlib import ticker

Curve = list[tuple[float, float]]


def draw_all() -> list[Path]:
    """Draw what there are results for; returns the files written."""
    drawn = []
    if record := newest("codes"):
        drawn.append(draw_vectors(record["details"], newest("hub_graph"), newest("two_level")))
    if record := newest("stored_qps"):
        drawn.append(draw_speed(record["details"]["qps"]))
    if record := newest("slim_rivals"):
        drawn.append(draw_slim(record["details"]))
    if record := newest("long_run"):
        drawn.append(draw_long_run(record["details"]["looks"]))
    if record := newest("browser_speed"):
        drawn.append(draw_browser(record["details"]))
    return drawn


def newest(case: str) -> dict[str, Any] | None:
    """Return the latest saved result of a case, None if there is none."""
    records = [json.loads(path.read_text()) for path in RESULTS.glob(f"{case}-*.json")]
    return max(records, key=lambda record: record["date"], default=None)


def draw_vectors(
    codes: dict[str, Any], graphs: dict[str, Any] | None, levels: dict[str, Any] | None
) -> Path:
    """Recall@3 against vectors asked for: fewer is better."""
    curves: dict[str, Curve] = {}
    for size in (32, 16):
        curves[f"scan, {size} B codes"] = codes[f"curve_{size}"]
        curves[f"faiss OPQ, {size} B"] = codes[f"rival_curve_{size}"]
    if graphs:
        curves["hub graph, exact-steered"] = as_curve(graphs["details"]["hub"])
    if levels:
        for curve in levels["details"]["two-level"]:
            curves.setdefault("hub graph, two-level", []).extend(as_curve(curve))
        curves["hub graph, two-level"] = frontier(curves["hub graph, two-level"])
    return draw("recall-vectors.png", curves, "vectors asked for per query", "recall@3")


def draw_speed(qps: dict[str, Any]) -> Path:
    """Recall@10 against queries a second: further right is better."""
    return draw(
        "recall-qps.png", speed_curves(qps), "queries a CPU second, one thread", "recall@10"
    )


def draw_slim(sets: dict[str, Any]) -> Path:
    """Recall@10 against queries a second, a panel for each set of vectors."""
    size = (5 * len(sets), 4.2)
    figure, panels = plt.subplots(1, len(sets), figsize=size, sharey=True, layout="constrained")
    for axes, (name, measured) in zip(panels, sets.items(), strict=True):
        draw_curves(axes, speed_curves(measured["qps"]))
        full, slim = (measured["bytes"][kind]["memory"] for kind in ("hnswlib", "slim f16:8"))
        axes.set(title=f"{name}: {slim:.0f} B a node, hnswlib {full:.0f} B")
        axes.set(xlabel="queries a CPU second, one thread", xscale="log", ylim=(0.8, 1.0))
        axes.xaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter(ticker.EngFormatter(sep=""))
        axes.xaxis.set_minor_formatter(ticker.NullFormatter())
    panels[0].set(ylabel="recall@10")
    panels[-1].legend(fontsize=8)
    return written(figure, "slim-rivals.png")


def draw_long_run(looks: list[dict[str, Any]]) -> Path:
    """What a hundred updates do to the graph's bytes, to recall and to speed."""
    batches = [look["batch"] for look in looks]
    figure, panels = plt.subplots(1, 3, figsize=(15, 4.2), layout="constrained")
    for kind, label in (
        ("graph_bytes", "updated"),
        ("edge_bytes", "edge that follows"),
        ("packed_bytes", "the same, packed"),
        ("fresh_bytes", "built anew"),
    ):
        panels[0].plot(batches, [look[kind] for look in looks], "o-", label=label, markersize=3)
    panels[0].set(ylabel="graph bytes a node", ylim=(0, None))
    for axes, kind in ((panels[1], "recalls"), (panels[2], "qps")):
        for name, label, style in (("updated", "updated", "o-"), ("fresh", "built anew", "x--")):
            axes.plot(batches, [look[kind][name] for look in looks], style, label=label)
    panels[1].set(ylabel="recall@10 at the same effort", ylim=(0.8, 1.0))
    panels[2].set(ylabel="queries a CPU second at recall 0.95", ylim=(0, None))
    for axes in panels:
        axes.set(xlabel="batches")
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
    return written(figure, "long-run.png")


def draw_browser(sizes: dict[str, Any]) -> Path:
    """Milliseconds a query in a page: everybody in memory, and ours with less and less memory."""
    figure, panels = plt.subplots(1, 2, figsize=(13, 4.6), layout="constrained")
    width = 0.8 / len(sizes)
    names = list(next(iter(sizes.values()))["in memory"])
    for place, (size, measured) in enumerate(sizes.items()):
        bars = {name: one["p50"] for name, one in measured["in memory"].items() if name in names}
        at = [names.index(name) + place * width for name in bars]
        panels[0].barh(at, list(bars.values()), width, label=f"{int(size):,} vectors")
        for way, style in (("codes", "o-"), ("lazy", "x--")):
            shares = [100, 96, 90, 20]
            kept = [f"{share}% of vectors in memory, {way}" for share in shares]
            times = [measured["memory"][name]["p50"] for name in kept]
            panels[1].plot(shares, times, style, label=f"{int(size):,}, {way}", markersize=4)
    panels[0].set(xlabel="ms a query, p50, recall@10 ≥ 0.95", xscale="log")
    panels[0].set_yticks(
        [place + 0.4 - width / 2 for place in range(len(names))], names, fontsize=8
    )
    panels[0].invert_yaxis()
    panels[1].set(xlabel="% of vectors in memory", ylabel="ms a query, p50", ylim=(0, None))
    panels[1].invert_xaxis()
    for axes in panels:
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
    return written(figure, "browser-speed.png")


def speed_curves(qps: dict[str, Any]) -> dict[str, Curve]:
    """Queries a second and recall of saved curves."""
    return {name: [(speed, recall) for _, recall, speed in curve] for name, curve in qps.items()}


def as_curve(points: Iterable[dict[str, float]]) -> Curve:
    """Cost and recall of saved points."""
    return [(point["cost"], point["recall"]) for point in points]


def frontier(points: Curve) -> Curve:
    """Only those points that no cheaper one beats."""
    best: Curve = []
    for cost, recall in sorted(points):
        if not best or recall > best[-1][1]:
            best.append((cost, recall))
    return best


def draw(name: str, curves: dict[str, Curve], across: str, up: str) -> Path:
    """One picture with a line a curve."""
    figure, axes = plt.subplots(figsize=(7, 4.5))
    draw_curves(axes, curves)
    axes.set(xlabel=across, ylabel=up, xscale="log", ylim=(0.7, 1.0))
    axes.legend(fontsize=8)
    return written(figure, name)


def draw_curves(axes: Any, curves: dict[str, Curve]) -> None:
    """A line a curve; rivals are dashed."""
    for label, curve in curves.items():
        is_ours = not label.startswith(("faiss", "hnswlib", "usearch"))
        axes.plot(*zip(*curve, strict=True), "o-" if is_ours else "x--", label=label, markersize=3)
    axes.grid(alpha=0.3)


def written(figure: Any, name: str) -> Path:
    """Write a picture among the results."""
    path = RESULTS / name
    figure.savefig(path, dpi=120, bbox_inches="tight")
    plt.close(figure)
    return path
