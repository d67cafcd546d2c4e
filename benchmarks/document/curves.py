"""Lines of recall against what it costs, drawn alike in every section."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from benchmarks.metrics import Point, cost_at

Curve = Sequence[tuple[float, float]]
RIVALS = ("faiss", "hnswlib", "usearch")


def draw_curves(axes: Any, curves: Mapping[str, Curve]) -> None:
    """Draw a line for each curve; rivals are dashed."""
    for label, curve in curves.items():
        style = "x--" if label.startswith(RIVALS) else "o-"
        axes.plot(*zip(*curve, strict=True), style, label=label, markersize=3)


def speed_curves(qps: Mapping[str, Sequence[Sequence[float]]]) -> dict[str, Curve]:
    """Give queries a second and recall of curves as `benchmarks.speed` saves them."""
    return {name: [(speed, recall) for _, recall, speed in curve] for name, curve in qps.items()}


def speed_at(curve: Sequence[Sequence[float]], recall: float) -> float | None:
    """Give queries a second at a recall, of a curve as it is saved; None if it is not reached."""
    seconds = cost_at([Point(effort, reached, 1 / qps) for effort, reached, qps in curve], recall)
    return None if seconds is None else 1 / seconds


def as_curve(points: Iterable[Mapping[str, float]]) -> Curve:
    """Give cost and recall of saved points."""
    return [(point["cost"], point["recall"]) for point in points]


def frontier(points: Curve) -> Curve:
    """Give only those points that no cheaper one beats."""
    best: list[tuple[float, float]] = []
    for cost, recall in sorted(points):
        if not best or recall > best[-1][1]:
            best.append((cost, recall))
    return best


def plain_log_axis(axis: Any) -> None:
    """Let a logarithmic axis say 1k, 2k, 5k instead of powers of ten."""
    from matplotlib import ticker

    axis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(ticker.EngFormatter(sep=""))
    axis.set_minor_formatter(ticker.NullFormatter())
