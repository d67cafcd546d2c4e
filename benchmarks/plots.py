"""Pictures of the newest results: recall against vectors asked for, and against speed."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import matplotlib

from benchmarks.report import RESULTS

matplotlib.use("Agg")
from matplotlib import pyplot as plt

Curve = list[tuple[float, float]]


def draw_all() -> list[Path]:
    """Draw what there are results for; returns the files written."""
    drawn = []
    if record := newest("codes"):
        drawn.append(draw_vectors(record["details"], newest("hub_graph"), newest("two_level")))
    if record := newest("stored_qps"):
        drawn.append(draw_speed(record["details"]["qps"]))
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
    curves = {name: [(speed, recall) for _, recall, speed in curve] for name, curve in qps.items()}
    return draw("recall-qps.png", curves, "queries a CPU second, one thread", "recall@10")


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
    """One picture with a line a curve; rivals are dashed."""
    figure, axes = plt.subplots(figsize=(7, 4.5))
    for label, curve in curves.items():
        is_ours = not label.startswith(("faiss", "hnswlib", "usearch"))
        axes.plot(*zip(*curve, strict=True), "o-" if is_ours else "x--", label=label, markersize=3)
    axes.set(xlabel=across, ylabel=up, xscale="log", ylim=(0.7, 1.0))
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    path = RESULTS / name
    figure.savefig(path, dpi=120, bbox_inches="tight")
    plt.close(figure)
    return path
