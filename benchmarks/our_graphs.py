"""Graphs put together from the engine's parts: comparators that the API does not offer.

The rest of what the benchmarks ask of the engine is in `ours.py`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import gossamer
from benchmarks.baselines import GraphParameters
from benchmarks.datasets import Floats, Ids
from benchmarks.metrics import timed
from benchmarks.ours import SEED, Index
from benchmarks.streams import Stream
from gossamer import _core
from gossamer.vectors.options import make_options

THREADS = 2
# Of all vectors, what k-means and the codebook see: less than a shard holds.
SAMPLE_SHARE = 1 / 8
LEAST_SAMPLE = 1024
KMEANS_ITERATIONS = 8
# As in a bounded build: a node is pruned in two shards and keeps what both give.
PRUNED_SHARE = 5 / 6


def build_and_prune(vectors: Floats) -> tuple[float, float]:
    """CPU seconds of building a graph and of pruning it to a slim one, on one thread."""
    rivals = GraphParameters()
    options = make_options(vectors.shape[1], "ip", "all", "slim", {})
    parameters = options.build
    parameters.max_degree, parameters.effort = rivals.max_degree, rivals.build_effort
    parameters.seed, parameters.threads = SEED, 1
    shard = _core.Shard(vectors, options.metric, 1, SEED)
    graphs: list[Any] = []
    building = timed(lambda: graphs.append(shard.build(parameters, None))).cpu
    pruning = min(
        timed(lambda: shard.prune_slim(graphs[0], options.slim, rivals.max_degree, 1)).cpu
        for _ in range(3)
    )
    return building, pruning


class Prunings:
    """One full graph over some vectors, and what the ways of pruning leave of it."""

    def __init__(self, vectors: Floats) -> None:
        self._dim = vectors.shape[1]
        options = _options(self._dim, "full")
        self._shard = _core.Shard(vectors, options.metric, THREADS, SEED)
        self._full = self._shard.build(options.build, None)
        self._order = self._shard.order()
        self._codebook = gossamer.train_codebook(vectors, 32, "ip", SEED, THREADS)
        self._codes = self._codebook.encode(vectors[self._order], THREADS)

    def full(self) -> Index:
        """The graph as it was built."""
        return self._index("full", self._full)

    def hub(self) -> Index:
        """Many links for a few hubs, few for the others (LEANN, algorithm 3)."""
        options = _options(self._dim, "hub")
        return self._index("hub", self._shard.prune(self._full, options.hub, None))

    def slim(self, low_degree: int) -> Index:
        """Links chosen among those that a node has (HNSW-Slim, algorithm 3)."""
        slim = gossamer.SlimOptions(low_degree0=low_degree)
        options = _options(self._dim, "slim", slim=slim)
        most = GraphParameters().max_degree
        return self._index(
            "slim", self._shard.prune_slim(self._full, options.slim, most, THREADS), slim=slim
        )

    def random(self, share: float) -> Index:
        """A random share of the links."""
        return self._index("full", _core.prune_random(self._full, share, SEED))

    def small(self, max_degree: int) -> Index:
        """A graph built anew with fewer links from the start."""
        options = _options(self._dim, "full", max_degree=max_degree)
        return self._index("full", self._shard.build(options.build, None), max_degree=max_degree)

    def _index(self, kind: str, graph: Any, **options: Any) -> Index:
        of_kind = _options(self._dim, kind, **options)
        names = self._order.astype(np.uint64)
        return Index(_core.assemble(of_kind, self._codebook, self._codes, graph, names, None))


@dataclass(frozen=True)
class Sharded:
    """Indexes on graphs merged from shards, and how many vectors were held at once at most."""

    indexes: dict[str, Index]  # by kind: "full", and "hub" for a pruned one
    held: int


def build_sharded(stream: Stream, homes: NDArray[np.uint32]) -> Sharded:
    """Build a graph for each shard, holding its vectors alone, and merge them."""
    sample = _sample(stream, len(homes))
    sampled, dim = sample.shape
    codebook = gossamer.train_codebook(sample, 32, "ip", SEED, THREADS)
    del sample  # before shards are held
    codes = np.concatenate([codebook.encode(batch, THREADS) for batch in stream.batches()])
    merged, positions = _merge_shards(stream, homes, dim)
    names = positions.astype(np.uint64)
    indexes = {}
    for kind, graph in merged.items():
        options = _options(dim, kind)
        core = _core.assemble(options, codebook, codes[positions], graph, names, None)
        indexes[kind] = Index(core)
    return Sharded(indexes, max(sampled, int(np.bincount(homes.ravel()).max())))


def _merge_shards(
    stream: Stream, homes: NDArray[np.uint32], dim: int
) -> tuple[dict[str, Any], NDArray[np.uint32]]:
    """The shards' graphs as one, unpruned and pruned, and where its nodes stand in the stream."""
    options = _options(dim, "hub")
    options.hub.low_degree = max(1, round(options.hub.low_degree * PRUNED_SHARE))
    most = options.build.max_degree
    mergers = {kind: _core.GraphMerger(len(homes), most, SEED) for kind in ("full", "hub")}
    order: list[Ids] = []
    for number in range(int(homes.max()) + 1):
        members = np.flatnonzero((homes == number).any(axis=1))
        shard = _core.Shard(stream.vectors_of(members), options.metric, THREADS, SEED)
        ordered = members[shard.order()]
        names = ordered.astype(np.uint32)
        full = shard.build(options.build, None)
        mergers["full"].add(full, names)
        mergers["hub"].add(shard.prune(full, options.hub, None), names)
        order.append(ordered[homes[ordered, 0] == number])
    positions = np.concatenate(order).astype(np.uint32)
    merged = {kind: _core.renumber(one.finish(), positions) for kind, one in mergers.items()}
    return merged, positions


def kmeans_homes(stream: Stream, shards: int) -> NDArray[np.uint32]:
    """The two nearest of `shards` centroids, for each vector (LEANN, section 6)."""
    sample = _sample(stream, sum(map(len, stream.batches())))
    centroids = _core.kmeans(sample, shards, KMEANS_ITERATIONS, SEED, THREADS)
    return np.concatenate(
        [_core.assign_nearest_two(batch, centroids, THREADS) for batch in stream.batches()]
    )


def random_homes(stream: Stream, shards: int) -> NDArray[np.uint32]:
    """Two shards by chance, for each vector."""
    count = sum(map(len, stream.batches()))
    random = np.random.default_rng(SEED)
    first = random.integers(0, shards, count)
    second = (first + random.integers(1, shards, count)) % shards
    return np.stack([first, second], axis=1).astype(np.uint32)


HOMES = {"kmeans": kmeans_homes, "random": random_homes}


def _sample(stream: Stream, count: int) -> Floats:
    size = min(count, max(LEAST_SAMPLE, round(SAMPLE_SHARE * count)))
    chosen = np.random.default_rng(SEED).choice(count, size, replace=False)
    return stream.vectors_of(np.sort(chosen))


def _options(dim: int, kind: str, **options: Any) -> Any:
    """What the benchmarks build every graph with, in the core's record."""
    rivals = GraphParameters()
    chosen = {"max_degree": rivals.max_degree, "build_effort": rivals.build_effort, **options}
    made = make_options(dim, "ip", "none", kind, chosen)
    made.build.seed = SEED
    made.build.threads = made.hub.threads = THREADS
    return made
