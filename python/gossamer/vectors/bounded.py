"""Builds within a memory budget: vectors stream by, and one shard's at a time are held.

The walk of LEANN, section 6: k-means on a sample gives the shards, each vector goes to its two
nearest, every shard gets a graph of its own, and the graphs are merged. Codes are made on the way.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gossamer import _core
from gossamer.errors import Empty, InvalidArgument, TooLarge, WrongDimension, WrongState
from gossamer.progress import ProgressCallback, run_with_progress, silent
from gossamer.vectors.arrays import as_matrix, as_supplied, check_finite
from gossamer.vectors.build import BuildRun, IndexPlan
from gossamer.vectors.codes import Codebook, default_code_bytes, train_codebook
from gossamer.vectors.options import parse_bytes
from gossamer.vectors.session import Supplied, VectorsOf

__all__ = ["Budget", "build_bounded"]

Floats = NDArray[np.float32]
Stream = Callable[[], Iterable[ArrayLike]]

_DEFAULT_BUDGET = 2 * 10**9
_SAMPLE = 65_536
# Of the budget: what the sample and what one shard may take; the rest is room for the index.
_SAMPLE_SHARE = 0.25
_SHARD_SHARE = 0.38
_ROWS_AT_ONCE = 2048
# What is remembered for each sample query until all vectors were seen takes memory too.
_MOST_QUERIES = 500
_PRUNED_SHARE = 5 / 6


@dataclass(frozen=True)
class Budget:
    """What a bounded build may take, and where it may ask for vectors instead of reading all."""

    memory: str | int | None  # None: 2 GB
    vectors_of: VectorsOf | None

    def bytes(self) -> int:
        """Give the number of bytes that the build may take."""
        return _DEFAULT_BUDGET if self.memory is None else parse_bytes(self.memory)


@dataclass(frozen=True)
class _Sample:
    """What the first pass saw: some vectors, how many there are, and a checksum of them all."""

    vectors: Floats
    rows: NDArray[np.uint32]  # where in the stream each of them stands
    count: int
    checksum: int

    def check_same(self, count: int, checksum: int) -> None:
        """Refuse a later pass that did not give the same vectors."""
        if (count, checksum) != (self.count, self.checksum):
            raise WrongState(
                f"the stream gave {self.count} vectors when it was first read, and {count} or "
                "others now: it must give the same ones each time it is called"
            )


def build_bounded(
    vectors: ArrayLike | Stream, plan: IndexPlan, run: BuildRun, budget: Budget
) -> _core.Index:
    """Build an index that keeps no vectors from a stream that can be read again."""
    stream = _check_request(vectors, plan)
    room = budget.bytes()
    report = run.progress or silent
    sample = _take_sample(stream, room, run.seed, report)
    options = plan.to_core(sample.vectors.shape[1])
    options.build.seed = run.seed
    names = _names_of(sample, run)
    codebook = _find_codebook(sample, plan, run)
    shards = _shard_count(options, sample, room) if plan.graph else 1
    centroids = _core.kmeans(sample.vectors, shards, 8, run.seed, run.threads)
    codes, homes = _encode_and_assign(stream, sample, codebook, centroids, run.threads, report)
    calibration = _start_calibration(codebook, codes, sample, run)
    if plan.graph is None:
        _show_stream(stream, sample, calibration, report)
        return _core.assemble(options, codebook, codes, None, names, calibration)
    source = _Source(stream, budget.vectors_of, names, sample)
    merged, order = _build_shards(
        _shard_options(plan, run, sample), source, homes, calibration, report
    )
    return _core.assemble(options, codebook, codes[order], merged, names[order], calibration)


def _check_request(vectors: ArrayLike | Stream, plan: IndexPlan) -> Stream:
    """Refuse what a bounded build cannot give; give the stream."""
    if not callable(vectors):
        raise InvalidArgument("a bounded build takes a function that gives the vectors")
    if plan.keep != "none" or plan.graph not in (None, "full", "hub"):
        raise InvalidArgument(
            "a bounded build keeps no vectors and makes no graph, a full or a hub graph: "
            f"keep='none' and graph=None, 'full' or 'hub', not {plan.keep!r} and {plan.graph!r}"
        )
    if plan.code_bytes == 0:
        raise InvalidArgument("a bounded build keeps no vectors, so it needs codes: not 0 bytes")
    if "scalar" in plan.options:
        raise InvalidArgument("scalar is for kept vectors, and a bounded build keeps none")
    return vectors


def _names_of(sample: _Sample, run: BuildRun) -> NDArray[np.uint64]:
    """Ids of the vectors, in the order of the stream."""
    if run.ids is None:
        return np.arange(sample.count, dtype=np.uint64)
    if len(run.ids) != sample.count:
        raise InvalidArgument(f"{len(run.ids)} ids came for {sample.count} vectors")
    return run.ids


def _find_codebook(sample: _Sample, plan: IndexPlan, run: BuildRun) -> Codebook:
    """Give the codebook that came, or train one on the sample."""
    if plan.codebook is not None:
        return plan.codebook
    code_bytes = plan.code_bytes or default_code_bytes(sample.vectors.shape[1])
    return train_codebook(sample.vectors, code_bytes, plan.metric, run.seed, run.threads)


def _start_calibration(
    codebook: Codebook, codes: NDArray[np.uint8], sample: _Sample, run: BuildRun
) -> _core.StreamCalibration | None:
    if run.query_count == 0:
        return None
    return _core.start_calibration(
        codebook,
        codes,
        run.queries,
        sample.vectors,
        sample.rows,
        min(run.query_count, _MOST_QUERIES),
        run.seed,
        run.threads,
    )


def _shard_options(plan: IndexPlan, run: BuildRun, sample: _Sample) -> _core.IndexOptions:
    """Options of the shards' graphs: a record of its own, since the index stores what was asked."""
    options = plan.to_core(sample.vectors.shape[1])
    options.build.seed = run.seed
    options.build.threads = options.hub.threads = run.threads
    # A node is pruned in two shards and keeps the union: fewer links in each give as many in all.
    options.hub.low_degree = max(1, round(options.hub.low_degree * _PRUNED_SHARE))
    return options


def _batches(stream: Stream, dim: int | None = None) -> Iterator[Floats]:
    """Matrices of the stream, checked, cut into pieces that take little memory."""
    row = 0
    for given in stream():
        batch = as_matrix(given)
        check_finite(batch, row)
        row += len(batch)
        if dim is not None and batch.shape[1] != dim:
            raise WrongDimension(
                f"the stream gave vectors of {batch.shape[1]} dimensions, not {dim}"
            )
        dim = batch.shape[1]
        for start in range(0, len(batch), _ROWS_AT_ONCE):
            yield batch[start : start + _ROWS_AT_ONCE]


def _take_sample(stream: Stream, budget: int, seed: int, report: ProgressCallback) -> _Sample:
    """Draw vectors evenly from the whole stream (reservoir sampling)."""
    random = np.random.default_rng(seed)
    reservoir: Floats | None = None
    count = checksum = 0
    for batch in _batches(stream):
        if reservoir is None:
            room = int(budget * _SAMPLE_SHARE) // (4 * 4 * batch.shape[1])
            reservoir = np.empty((max(256, min(_SAMPLE, room)), batch.shape[1]), np.float32)
            rows = np.empty(len(reservoir), np.uint32)
        elif batch.shape[1] != reservoir.shape[1]:
            raise WrongDimension(
                f"the stream gave vectors of {batch.shape[1]} dimensions, not {reservoir.shape[1]}"
            )
        size = len(reservoir)
        fresh = max(0, min(len(batch), size - count))
        reservoir[count : count + fresh] = batch[:fresh]
        rows[count : count + fresh] = np.arange(count, count + fresh)
        places = random.integers(0, np.arange(count + fresh + 1, count + len(batch) + 1))
        chosen = np.flatnonzero(places < size)
        reservoir[places[chosen]] = batch[fresh:][chosen]
        rows[places[chosen]] = count + fresh + chosen
        count += len(batch)
        checksum = zlib.crc32(batch.data, checksum)
        report("sampling", count, 0)
    if reservoir is None or count == 0:
        raise Empty("the stream gave no vectors")
    if count < len(reservoir):
        reservoir, rows = reservoir[:count].copy(), rows[:count].copy()
    return _Sample(reservoir, rows, count, checksum)


def _shard_bytes(options: _core.IndexOptions) -> int:
    """What a vector of the shard that is being built takes."""
    given = 4 * options.dim
    rows = 2 * 2 * options.dim
    lists = 2 * options.build.max_degree * 4 + 32
    return given + rows + lists


def _shard_count(options: _core.IndexOptions, sample: _Sample, budget: int) -> int:
    """As many shards as it takes for the largest to fit: each vector is in two."""
    room = int(budget * _SHARD_SHARE) // _shard_bytes(options)
    if room < 64:
        least = 64 * _shard_bytes(options) / _SHARD_SHARE
        raise TooLarge(f"a build needs a memory budget of {least:,.0f} bytes at least")
    # Clusters are uneven: plan for the largest to be twice the mean.
    return max(1, min(len(sample.vectors), -(-4 * sample.count // room)))


def _encode_and_assign(
    stream: Stream,
    sample: _Sample,
    codebook: Codebook,
    centroids: Floats,
    threads: int,
    report: ProgressCallback,
) -> tuple[NDArray[np.uint8], NDArray[np.uint32]]:
    """Make the codes, and find the two shards of each vector."""
    codes = np.empty((sample.count, codebook.code_bytes), np.uint8)
    homes = np.empty((sample.count, 2), np.uint32)
    done = checksum = 0
    for batch in _batches(stream, sample.vectors.shape[1]):
        stop = done + len(batch)
        if stop > sample.count:
            sample.check_same(stop, checksum)
        checksum = zlib.crc32(batch.data, checksum)
        codes[done:stop] = codebook.encode(batch, threads)
        homes[done:stop] = _core.assign_nearest_two(batch, centroids, threads)
        done = stop
        report("encoding", done, sample.count)
    sample.check_same(done, checksum)
    return codes, homes


def _show_stream(
    stream: Stream,
    sample: _Sample,
    calibration: _core.StreamCalibration | None,
    report: ProgressCallback,
) -> None:
    """Let the calibration see every vector once more."""
    if calibration is None:
        return
    done = checksum = 0
    for batch in _batches(stream, sample.vectors.shape[1]):
        stop = done + len(batch)
        if stop > sample.count:
            sample.check_same(stop, checksum)
        checksum = zlib.crc32(batch.data, checksum)
        calibration.observe(np.arange(done, stop, dtype=np.uint32), batch)
        done = stop
        report("calibrating", done, sample.count)
    sample.check_same(done, checksum)


class _Source:
    """The vectors of a shard: asked for by id, or picked from another pass over the stream."""

    def __init__(
        self,
        stream: Stream,
        vectors_of: VectorsOf | None,
        names: NDArray[np.uint64],
        sample: _Sample,
    ) -> None:
        self._stream = stream
        self._vectors_of = vectors_of
        self._names = names
        self._sample = sample
        self._dim = sample.vectors.shape[1]

    def get(self, members: NDArray[np.int64]) -> Floats:
        """Vectors of these rows of the stream, which are sorted."""
        if self._vectors_of is not None:
            wanted = self._names[members].astype(np.int64)
            given = self._vectors_of(wanted)
            if isinstance(given, Supplied):
                raise InvalidArgument("a build needs every vector it asks for: none may be missing")
            return as_supplied(given, len(wanted), self._dim)
        vectors = np.empty((len(members), self._dim), np.float32)
        start = checksum = 0
        for batch in _batches(self._stream, self._dim):
            checksum = zlib.crc32(batch.data, checksum)
            first, last = np.searchsorted(members, (start, start + len(batch)))
            vectors[first:last] = batch[members[first:last] - start]
            start += len(batch)
        self._sample.check_same(start, checksum)
        return vectors


def _build_shards(
    options: _core.IndexOptions,
    source: _Source,
    homes: NDArray[np.uint32],
    calibration: _core.StreamCalibration | None,
    report: ProgressCallback,
) -> tuple[_core.Graph, NDArray[np.uint32]]:
    """Build the shards' graphs, merge them, and number nodes so that near ones are neighbors."""
    merger = _core.GraphMerger(len(homes), options.build.max_degree, options.build.seed)
    shards = int(homes.max()) + 1
    order: list[NDArray[np.int64]] = []
    for shard in range(shards):
        members = np.flatnonzero((homes == shard).any(axis=1))
        if not members.size:
            continue
        vectors = source.get(members)
        _show_shard(vectors, members, homes[members, 0] == shard, calibration)
        rows = _core.Shard(vectors, options.metric, options.build.threads, options.build.seed)
        del vectors
        ordered = members[rows.order()]
        graph = run_with_progress(partial(rows.build, options.build), None)
        if options.graph == _core.GraphKind.hub:
            graph = rows.prune(graph, options.hub, None)
        del rows
        merger.add(graph, ordered.astype(np.uint32))
        del graph
        order.append(ordered[homes[ordered, 0] == shard])
        report("graph", shard + 1, shards)
    positions = np.concatenate(order).astype(np.uint32)
    return _core.renumber(merger.finish(), positions), positions


def _show_shard(
    vectors: Floats,
    members: NDArray[np.int64],
    is_home: NDArray[np.bool_],
    calibration: _core.StreamCalibration | None,
) -> None:
    """Let the calibration see the vectors whose first shard this is: each is seen once."""
    if calibration is None:
        return
    at_home = np.flatnonzero(is_home)
    for part in np.array_split(at_home, len(at_home) // _ROWS_AT_ONCE + 1):
        calibration.observe(members[part].astype(np.uint32), vectors[part])
