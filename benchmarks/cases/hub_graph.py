"""Exact-steered search on pruned graphs: which links are worth keeping."""

from typing import Any

import numpy as np

from benchmarks import ours
from benchmarks.datasets import WHOLE, Dataset, mdn
from benchmarks.degrees import out_degrees
from benchmarks.metrics import Point, cost_at
from benchmarks.our_graphs import Prunings
from benchmarks.report import Result, Row
from benchmarks.scale import scaled
from gossamer import Effort

TITLE = "hub-pruned graph: vectors asked for by exact-steered search at recall@3"
K = 3
COUNT = scaled(WHOLE, smoke=2_000, small=10_000)
QUERIES = scaled(1_000, smoke=50, small=300)
EFFORTS = (3, 4, 6, 8, 11, 16, 22, 32, 45, 64, 90, 128, 180, 256)
LOOKED_AT = (3, 4, 5, 6, 8, 10, 13, 17, 22, 30, 40, 56)
CODE_BEAM = 256
MAX_LINKS = 9
TARGETS = (0.85, 0.90, 0.92, 0.94, 0.95, 0.96, 0.98)
# Nodes that count as hubs, by their number of links.
HUB_SHARE = 0.02


def run() -> Result:
    """Full, hub-pruned, slim, randomly pruned and small-M graphs over the same vectors."""
    whole = mdn().first(COUNT)
    data = Dataset(whole.name, whole.vectors, whole.queries[:QUERIES], whole.truth[:QUERIES])
    graphs = make_graphs(data)
    links = {name: ours.links_per_node(index) for name, index in graphs.items()}
    curves = {name: vectors_curve(index, data) for name, index in graphs.items()}

    rows = [Row("links a node, hub-pruned", links["hub"], bar=MAX_LINKS)]
    rows += [Row(f"links a node, {name}", links[name]) for name in graphs if name != "hub"]
    ours_at, full_at = (cost_at(curves[name], 0.90) for name in ("hub", "full"))
    rows.append(Row("recall 0.90", ours_at, full_at, "full", 1.3, by_ratio=True))
    for target in (0.95, 0.98):
        for rival in ("random", "small M"):
            rows.append(compare(curves, rival, target, bar=1.0))
        rows.append(compare(curves, "slim", target, bar=None))
    shown = {name: graph_details(graphs[name], data, curves[name]) for name in graphs}
    saved = {name: [vars(point) for point in curve] for name, curve in curves.items()}
    return Result(rows, {"nodes": len(data.vectors), "graphs": shown, **saved})


def make_graphs(data: Dataset) -> dict[str, ours.Index]:
    """Graphs with about as many links as the hub-pruned one, and the full one they come from."""
    prunings = Prunings(data.vectors)
    full, hub = prunings.full(), prunings.hub()
    links = ours.links_per_node(hub)
    return {
        "full": full,
        "hub": hub,
        "slim": nearest_slim(prunings, links),
        "random": prunings.random(links / ours.links_per_node(full)),
        "small M": first_small(prunings, links),
    }


def nearest_slim(prunings: Prunings, links: float) -> ours.Index:
    """The slim graph whose number of links comes nearest."""
    slims = (prunings.slim(low_degree) for low_degree in range(4, 10))
    return min(slims, key=lambda index: abs(ours.links_per_node(index) - links))


def first_small(prunings: Prunings, links: float) -> ours.Index:
    """The first small M that has at least as many links."""
    smalls = (prunings.small(max_degree) for max_degree in range(3, 30))
    return next(index for index in smalls if ours.links_per_node(index) >= links)


def vectors_curve(index: ours.Index, data: Dataset) -> list[Point]:
    """One hop at a time, every vector asked for."""
    return ours.curve(index, data, K, EFFORTS, vectors=data.vectors, strategy="best-first")


def code_curve(index: ours.Index, data: Dataset) -> list[Point]:
    """Codes steer the walk, and vectors are asked for at its end."""
    return ours.curve(
        index,
        data,
        K,
        LOOKED_AT,
        vectors=data.vectors,
        strategy="walk",
        make_effort=lambda count: Effort(rerank=count, beam=CODE_BEAM),
    )


def compare(curves: dict[str, list[Point]], rival: str, target: float, bar: float | None) -> Row:
    """Fewer vectors than a comparator; one that does not reach the recall at all is beaten."""
    ours_at, rival_at = cost_at(curves["hub"], target), cost_at(curves[rival], target)
    return Row(f"recall {target:.2f}", ours_at, rival_at, rival, bar, by_ratio=True)


def graph_details(index: ours.Index, data: Dataset, curve: list[Point]) -> dict[str, Any]:
    """What the document shows of a graph."""
    by_codes = code_curve(index, data)
    return {
        "links": ours.links_per_node(index),
        "at": {f"{target:.2f}": cost_at(curve, target) for target in TARGETS},
        "codes_at": {f"{target:.2f}": cost_at(by_codes, target) for target in (0.90, 0.95)},
        **degree_details(index),
    }


def degree_details(index: ours.Index) -> dict[str, Any]:
    """How links are spread over nodes."""
    degrees = np.sort(out_degrees(index))[::-1]
    if not np.isclose(degrees.mean(), ours.links_per_node(index)):
        raise AssertionError("the links read from the file are not those that the engine counts")
    hubs = max(1, round(HUB_SHARE * len(degrees)))
    return {
        "degree_counts": np.bincount(degrees).tolist(),
        "hub_links": float(degrees[:hubs].mean()),
        "hub_link_share": float(degrees[:hubs].sum() / degrees.sum()),
    }
