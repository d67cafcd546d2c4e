"""One full graph pruned many times, and what is expected of a pruning beforehand."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.baselines import GraphParameters
from benchmarks.datasets import Dataset
from benchmarks.metrics import Point, Seconds, recall, timed
from benchmarks.ours import SEED, Index
from gossamer import SlimOptions, _core, train_codebook
from gossamer.vectors.options import make_options

THREADS = 2
CODED = 1000


@dataclass(frozen=True)
class Pruned:
    """What a pruning left, and how long it took."""

    memory: int  # bytes
    base_links: int
    seconds: Seconds


class Unpruned:
    """A full graph over some vectors, in the order that a build puts them in."""

    def __init__(self, data: Dataset) -> None:
        self.count, self._dim = data.vectors.shape
        self._vectors, self._metric = data.vectors, data.metric
        options = self._options("slim")
        self._shard = _core.Shard(data.vectors, options.metric, THREADS, SEED)
        built: list[Any] = []
        self.building = timed(lambda: built.append(self._shard.build(options.build, None)))
        self._full = built[0]
        self.links = self._full.edge_count(0) / self.count

    def slim(self, slim: SlimOptions) -> Pruned:
        """Links chosen among those that a node has (HNSW-Slim, algorithm 3)."""
        parameters = self._options("slim", slim=slim).slim
        most = GraphParameters().max_degree
        return self._pruned(lambda: self._shard.prune_slim(self._full, parameters, most, THREADS))

    def hub(self) -> Pruned:
        """Many links for a few hubs, few for the others (LEANN, algorithm 3)."""
        options = self._options("hub").hub
        options.threads = THREADS
        return self._pruned(lambda: self._shard.prune(self._full, options, None))

    def random(self, share: float) -> Index:
        """A random share of the links, over vectors that are not kept: to count distances by."""
        options = make_options(self._dim, self._metric, "none", "full", {})
        graph = _core.prune_random(self._full, share, SEED)
        # An index without vectors needs codes; best-first search does not look at them.
        codebook = train_codebook(self._vectors[:CODED], 2, self._metric, SEED, THREADS)
        order = self._shard.order()
        codes = codebook.encode(self._vectors[order], THREADS)
        return Index(_core.assemble(options, codebook, codes, graph, order.astype(np.uint64), None))

    def _options(self, kind: str, **options: Any) -> Any:
        rivals = GraphParameters()
        options |= {"max_degree": rivals.max_degree, "build_effort": rivals.build_effort}
        made = make_options(self._dim, self._metric, "all", kind, options)
        made.build.seed, made.build.threads = SEED, THREADS
        return made

    def _pruned(self, prune: Callable[[], Any]) -> Pruned:
        graphs: list[Any] = []
        seconds = timed(lambda: graphs.append(prune()))
        return Pruned(graphs[0].memory_bytes(), graphs[0].edge_count(0), seconds)


@dataclass(frozen=True)
class Expected:
    """What a graph is expected to take before it is built, in bytes."""

    memory: int
    paper_layout: int  # by the paper's equation, for its own layout


def expect(count: int, slim: SlimOptions) -> Expected:
    """Estimate a pruning."""
    options = make_options(1, "ip", "all", "slim", {"slim": slim})
    size = _core.estimate_slim_bytes(count, options.slim)
    return Expected(size.memory_bytes, size.chal_bytes)


def distance_curve(index: Index, data: Dataset, k: int, efforts: tuple[int, ...]) -> list[Point]:
    """Recall against exact distances computed; vectors are at hand where the index keeps none."""
    points = []
    for effort in efforts:
        found = index.search(
            data.queries,
            k,
            strategy="best-first",
            effort=effort,
            threads=1,
            vectors_of=lambda ids: data.vectors[ids],
        )
        cost = found.stats.distances / len(data.queries)
        points.append(Point(effort, recall(found.ids, data.truth, k), cost))
    return points
