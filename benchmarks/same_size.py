"""Graphs of about the same size in a race: pruned from a rich one, built small, thinned by chance.

All of ours keep vectors of 32 bits as the rivals do, and the same layout for their links, so that
only the choice of links differs.
"""

import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import ours
from benchmarks.baselines import GraphParameters, GraphRival
from benchmarks.baselines.faiss_hnsw import FaissHnsw
from benchmarks.baselines.hnswlib_hnsw import HnswlibHnsw
from benchmarks.datasets import Dataset
from benchmarks.metrics import cost_at
from benchmarks.scale import scaled
from benchmarks.slim_graphs import Unpruned, distance_curve
from benchmarks.speed import Search, as_saved, measure, our_search, qps_at
from gossamer import SlimOptions

K = 10
TARGETS = (0.90, 0.95)
EFFORTS = (10, 20, 40, 80, 160, 320)
REPETITIONS = scaled(2, 1)
SLIM_DEGREES = scaled((4, 6, 8, 12), (4, 8), (4, 8))
SMALL_DEGREES = scaled((4, 6, 8), (4, 8), (4, 6))
# The least that both take, and about what the paper's layout of a slim graph takes.
RIVAL_DEGREES = scaled((2, 6), (2,))
USUAL, RANDOM, HUB = "slim 8", "random", "hub (LEANN)"


@dataclass(frozen=True)
class Contender:
    """A graph: what it takes a node, and how to search it or to count its distances."""

    memory: float
    links: float | None = None
    search: Search | None = None
    index: ours.Index | None = None


def race(data: Dataset) -> dict[str, Any]:
    """Give sizes, speeds in turns on one thread, and distances where they can be counted."""
    contenders = _ours(data) | _rivals(data)
    searches = {name: one.search for name, one in contenders.items() if one.search is not None}
    curves = measure(searches, data, K, EFFORTS, REPETITIONS)
    counted = {
        name: distance_curve(one.index, data, K, EFFORTS)
        for name, one in contenders.items()
        if one.index is not None
    }
    return {
        "count": len(data.vectors),
        "qps": as_saved(curves),
        "contenders": {
            name: {
                "memory": one.memory,
                "links": one.links,
                "qps": [qps_at(curves.get(name, []), at) for at in TARGETS],
                "distances": [cost_at(counted.get(name, []), at) for at in TARGETS],
            }
            for name, one in contenders.items()
        },
    }


def _ours(data: Dataset) -> dict[str, Contender]:
    build = partial(ours.build, data.vectors, metric=data.metric, keep="all", scalar="f32")
    indexes = {
        f"slim {degree}": build(graph="slim", slim=SlimOptions(low_degree0=degree))
        for degree in SLIM_DEGREES
    }
    indexes |= {
        f"small M={degree}": build(graph="full", max_degree=degree) for degree in SMALL_DEGREES
    }
    indexes[HUB] = build(graph="hub")
    links = {name: ours.links_per_node(index) for name, index in indexes.items()}
    contenders = {
        name: Contender(_bytes_a_node(index), links[name], our_search(index, data, K), index)
        for name, index in indexes.items()
    }
    full = Unpruned(data)
    thinned = full.random(min(1.0, links[USUAL] / full.links))
    contenders[RANDOM] = Contender(
        _bytes_a_node(thinned), ours.links_per_node(thinned), index=thinned
    )
    return contenders


def _rivals(data: Dataset) -> dict[str, Contender]:
    """HNSWs with fewer links; their size is what their files hold besides the vectors."""
    contenders = {}
    dim = data.vectors.shape[1]
    for degree in RIVAL_DEGREES:
        parameters = GraphParameters(max_degree=degree, metric=data.metric)
        rivals: list[GraphRival] = [HnswlibHnsw(dim, parameters), FaissHnsw(dim, parameters)]
        for rival in rivals:
            rival.build(data.vectors, threads=2)
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "rival"
                rival.save(path)
                memory = (path.stat().st_size - data.vectors.nbytes) / len(data.vectors)
            contenders[f"{rival.name} M={degree}"] = Contender(
                memory,
                search=lambda effort, rival=rival: rival.search(data.queries, K, effort),
            )
    return contenders


def _bytes_a_node(index: ours.Index) -> float:
    stats = index.stats()
    return float(stats.graph_bytes / stats.count)
