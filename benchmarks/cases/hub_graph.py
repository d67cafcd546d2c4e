"""Exact-steered search on pruned graphs: which links are worth keeping."""

from benchmarks import ours
from benchmarks.datasets import Dataset, mdn
from benchmarks.metrics import Point, cost_at
from benchmarks.report import Result, Row

TITLE = "hub-pruned graph: vectors asked for by exact-steered search at recall@3"
K = 3
EFFORTS = (3, 4, 6, 8, 11, 16, 22, 32, 45, 64, 90, 128, 180, 256)
MAX_LINKS = 9


def run() -> Result:
    """Full, hub-pruned, randomly pruned and small-M graphs over the same vectors."""
    data = mdn()
    full = ours.build(data.vectors, graph="full")
    hub = ours.build(data.vectors, graph="hub")
    links = ours.links_per_node(hub)
    share = links / ours.links_per_node(full)
    graphs = {
        "full": full,
        "hub": hub,
        "random": ours.build_random(data.vectors, share),
        "small M": build_small(data, links),
    }
    curves = {name: vectors_curve(index, data) for name, index in graphs.items()}

    rows = [Row("links a node, hub-pruned", links, bar=MAX_LINKS)]
    rows += [
        Row(f"links a node, {name}", ours.links_per_node(index))
        for name, index in graphs.items()
        if name != "hub"
    ]
    ours_at, full_at = (cost_at(curves[name], 0.90) for name in ("hub", "full"))
    rows.append(Row("recall 0.90", ours_at, full_at, "full", 1.3, by_ratio=True))
    for target in (0.95, 0.98):
        for rival in ("random", "small M"):
            rows.append(compare(curves, rival, target))
    details = {name: [vars(point) for point in curve] for name, curve in curves.items()}
    return Result(rows, details)


def vectors_curve(index: ours.Index, data: Dataset) -> list[Point]:
    """One hop at a time, every vector asked for."""
    return ours.curve(index, data, K, EFFORTS, vectors=data.vectors, strategy="best-first")


def compare(curves: dict[str, list[Point]], rival: str, target: float) -> Row:
    """Fewer vectors than a comparator; one that does not reach the recall at all is beaten."""
    ours_at, rival_at = cost_at(curves["hub"], target), cost_at(curves[rival], target)
    return Row(f"recall {target:.2f}", ours_at, rival_at, rival, 1.0, by_ratio=True)


def build_small(data: Dataset, links: float) -> ours.Index:
    """The first small M that has at least as many links as the pruned graph."""
    for max_degree in range(3, 30):
        index = ours.build(data.vectors, graph="full", max_degree=max_degree)
        if ours.links_per_node(index) >= links:
            return index
    return index
