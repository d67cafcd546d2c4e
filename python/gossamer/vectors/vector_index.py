"""`VectorIndex`: search for people who bring their own vectors."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gossamer import _core
from gossamer.errors import GossamerError, InvalidArgument, WrongState
from gossamer.files import map_file, write_file
from gossamer.progress import ProgressCallback, run_with_progress
from gossamer.vectors.adding import add_asking, add_at_once
from gossamer.vectors.arrays import (
    as_codes,
    as_count,
    as_ids,
    as_mask_or_ids,
    as_matrix,
    as_seed,
    as_threads,
    check_finite,
)
from gossamer.vectors.bounded import Budget, build_bounded
from gossamer.vectors.build import (
    CALIBRATION_QUERIES,
    as_queries,
    build_whole,
    plan_index,
    plan_run,
)
from gossamer.vectors.codes import Codebook
from gossamer.vectors.model_pack import Calibration
from gossamer.vectors.options import parse_strategy
from gossamer.vectors.records import Effort, IndexStats, SearchResult
from gossamer.vectors.session import (
    SearchSession,
    Supplied,
    VectorsOf,
    as_answer,
    join_results,
    to_core_effort,
)

__all__ = ["VectorIndex"]

# Graph walks in progress hold a mark for every node: so many at a time stay small.
_SESSIONS_AT_ONCE = 256
_LARGEST_ID = 2**63 - 1


class VectorIndex:
    """An index over vectors: a few bytes of code each, and as many vectors as you let it keep."""

    def __init__(self, core: _core.Index) -> None:
        self._core = core

    @property
    def core(self) -> _core.Index:
        """The index as the core has it, for sessions of the core."""
        return self._core

    @classmethod
    def build(
        cls,
        vectors: ArrayLike | Callable[[], Iterable[ArrayLike]],
        *,
        metric: str = "ip",
        keep: str = "none",
        code_bytes: int | None = None,
        graph: str | None = None,
        ids: ArrayLike | None = None,
        codebook: Codebook | None = None,
        calibration_queries: ArrayLike | None = None,
        calibrate: bool = True,
        refine_order: bool | None = None,
        memory_budget: str | int | None = None,
        vectors_of: VectorsOf | None = None,
        threads: int = 0,
        seed: int = 1,
        progress: ProgressCallback | None = None,
        **options: Any,
    ) -> Self:
        """Build an index over the rows of `vectors`.

        `keep` says which vectors stay: "none" (a search asks for the few it needs), "hot:50MB" (as
        many as fit), "all". `graph` is None, "full", "hub" or "slim". `code_bytes` is 8 to 64; 0
        means no codes, which needs keep="all" and is what keep="all" with a graph does by itself.
        `ids` name the rows (0, 1, 2, ... if not given). `refine_order` (unless False) takes a
        little time to make a graph a little smaller.

        With `memory_budget` the vectors come as a stream: `vectors` is then a function that gives
        an iterable of matrices, the same each time it is called (it is called more than once).

        Further options: max_degree, build_effort, level_probability, scalar ("f16", "f32", "i8"),
        hub_degree, low_degree, hub_share, hub_effort, slim (a gossamer.SlimOptions), keep_source,
        simple_shrink.
        """
        plan = plan_index(metric, keep, graph, code_bytes, codebook, options)
        run = plan_run(ids, calibrate, calibration_queries, threads, seed, progress)
        if memory_budget is not None or callable(vectors):
            if refine_order is not None:
                raise InvalidArgument("a bounded build does not refine the order of nodes")
            return cls(build_bounded(vectors, plan, run, Budget(memory_budget, vectors_of)))
        if vectors_of is not None:
            raise InvalidArgument("vectors_of is for bounded builds: this one has the vectors")
        return cls(build_whole(vectors, plan, run, refine_order is not False))

    @classmethod
    def create(cls, codebook: Codebook, *, calibration: Calibration | None = None) -> Self:
        """Make an empty index that grows by `add` and `add_codes`, of codes alone.

        It keeps no vectors and has no graph: for vectors that come batch by batch, with a codebook
        that ships with their model. `calibration` says what each recall costs with it.
        """
        return cls(_core.Index.create(codebook, calibration or Calibration()))

    @classmethod
    def open(
        cls, path: str | os.PathLike[str], *, codebook: Codebook | None = None, verify: bool = False
    ) -> Self:
        """Open an index file; parts are read when they are first needed.

        `codebook` is the shared one of an index that was saved without its own. `verify` reads
        everything and compares every checksum.
        """
        try:
            index = cls(_core.Index.open(map_file(Path(path)), codebook))
            if verify:
                index.verify()
        except GossamerError as error:
            raise type(error)(f"{os.fspath(path)}: {error}") from None
        return index

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        with_codebook: bool = True,
        with_calibration: bool = True,
        with_source: bool = True,
    ) -> int:
        """Write the index to a file, whole or not at all; give the number of bytes.

        Without its codebook the file is smaller and needs the shared one to open. Without its
        calibration it is smaller by a few kilobytes, and whoever opens it sets `calibration`.
        Without its source graph a slim index is smaller, and later updates work on the pruned
        graph alone.
        """
        saved = self._core.save(with_codebook, with_calibration, with_source)
        return write_file(Path(path), (saved.part(i) for i in range(len(saved))), is_public=True)

    def verify(self) -> None:
        """Read every part of an opened file and compare every checksum."""
        self._core.verify()

    def __len__(self) -> int:
        return self._core.count

    def __contains__(self, id: int) -> bool:
        is_id = isinstance(id, (int, np.integer)) and 0 <= id < 2**63
        return is_id and self._core.contains(int(id))

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return self._core.options.dim

    @property
    def ids(self) -> NDArray[np.int64]:
        """Every id the index holds, in its own order."""
        return self._core.ids().astype(np.int64)

    @property
    def codebook(self) -> Codebook | None:
        """The codebook of the codes; save it, and other indexes can share it."""
        return self._core.codebook

    @property
    def calibration(self) -> Calibration | None:
        """What each recall costs: measured here, or elsewhere and set; None if neither."""
        calibration = self._core.calibration
        return None if calibration.is_empty else calibration

    @calibration.setter
    def calibration(self, calibration: Calibration | None) -> None:
        self._core.calibration = calibration or Calibration()

    def codes_of(self, ids: ArrayLike) -> NDArray[np.uint8]:
        """Give the codes of these ids, one row each: what `add_codes` takes."""
        return self._core.codes_of(as_ids(ids))

    def vectors(self, ids: ArrayLike) -> NDArray[np.float32]:
        """Give the kept vectors of these ids, one row each."""
        return self._core.vectors_of(as_ids(ids))

    def search(
        self,
        queries: ArrayLike,
        k: int = 10,
        *,
        recall: float = 0.90,
        effort: int | Effort | None = None,
        allow: ArrayLike | None = None,
        strategy: str = "auto",
        vectors_of: VectorsOf | None = None,
        threads: int = 1,
    ) -> SearchResult:
        """Find the k nearest vectors of one query (one dimension) or several (one row each).

        `recall` is the share of the true nearest to find on average; `effort` sets the work
        instead: a number (vectors looked at for scan and walk, width of the beam for the others)
        or an Effort. `allow` limits the hits to some ids: a list of them, or booleans by id.
        `strategy` is "auto", "scan", "walk", "two-level", "best-first", "lazy" or "exact".
        `vectors_of` gives vectors by id; an index that does not keep them all asks for a few. A
        vector that it says it cannot give (see `Supplied`) is never among the hits.
        """
        matrix, is_single = _as_rows(queries)
        if len(matrix) > _SESSIONS_AT_ONCE and self._core.options.keep != _core.Keep.all:
            parts = [
                self.search(
                    part,
                    k,
                    recall=recall,
                    effort=effort,
                    allow=allow,
                    strategy=strategy,
                    vectors_of=vectors_of,
                    threads=threads,
                )
                for part in np.array_split(matrix, -(-len(matrix) // _SESSIONS_AT_ONCE))
            ]
            return join_results(parts)
        session = self._session(matrix, is_single, k, recall, effort, allow, strategy, threads)
        if session.wanted().size:
            if vectors_of is None:
                raise WrongState(
                    "this index does not keep all vectors: give vectors_of=, a function from ids "
                    "to vectors, or build with keep='all'"
                )
            session.run(self._remembering(vectors_of))
        return session.nearest()

    def session(
        self,
        queries: ArrayLike,
        k: int = 10,
        *,
        recall: float = 0.90,
        effort: int | Effort | None = None,
        allow: ArrayLike | None = None,
        strategy: str = "auto",
        threads: int = 1,
    ) -> SearchSession:
        """Start a search whose vectors the caller supplies; arguments as for `search`."""
        matrix, is_single = _as_rows(queries)
        return self._session(matrix, is_single, k, recall, effort, allow, strategy, threads)

    def estimate(
        self, query: ArrayLike, best: int, *, allow: ArrayLike | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Give the ids of the best by codes alone, nearest first, with estimated distances.

        Nothing is asked for. The order is that of estimates; `search` is for exact ones. Fewer
        come back where there are fewer. `allow` as for `search`.
        """
        matrix = as_matrix(np.atleast_2d(np.asarray(query)), "query")
        if len(matrix) != 1:
            raise InvalidArgument(f"estimate takes one query, not {len(matrix)}")
        best = as_count(best, "best", least=1, most=2**63 - 1)
        ids, distances = _core.estimate(self._core, matrix[0], best, **_filters(allow))
        return ids.astype(np.int64), distances

    def add(
        self,
        vectors: ArrayLike,
        ids: ArrayLike | None = None,
        *,
        vectors_of: VectorsOf | None = None,
        progress: ProgressCallback | None = None,
    ) -> NDArray[np.int64]:
        """Add vectors, under new ids (the numbers after the largest one if not given); give them.

        An index with a graph that does not keep its vectors links better with `vectors_of`.
        """
        matrix = as_matrix(vectors)
        check_finite(matrix)
        new_ids = self._next_ids(len(matrix)) if ids is None else as_ids(ids)
        options = self._core.options
        if options.graph == _core.GraphKind.none or options.keep == _core.Keep.all:
            add_at_once(self._core, new_ids, matrix, progress)
        else:
            add_asking(self._core, new_ids, matrix, vectors_of, progress)
        return new_ids.astype(np.int64)

    def add_codes(self, ids: ArrayLike, codes: ArrayLike) -> None:
        """Add codes that `codes_of` gave (or the codebook's `encode`) under new ids.

        It is as if their vectors had been added. Only for an index that keeps no vectors, or hot
        ones, and has no graph.
        """
        self._core.add_codes(as_ids(ids), as_codes(codes))

    def delete(self, ids: ArrayLike) -> None:
        """Delete vectors: they are never found again, and their ids and places can be reused."""
        self._core.remove(as_ids(ids))

    def compact(self, *, threads: int = 0) -> None:
        """Give the places of deleted vectors back."""
        self._core.compact(as_threads(threads))

    def track(self) -> None:
        """Start to record changes for `take_delta`, unless they are recorded already.

        Costs a second copy of the graph in memory. Not for hot vectors (WrongState).
        """
        self._core.track()

    def take_delta(self) -> bytes:
        """Give what changed since `track` or the last delta, for indexes that follow this one.

        WrongState if changes are not recorded, or were not since a `compact`: call `track` anew,
        and send the whole file.
        """
        return self._core.take_delta()

    def apply_delta(self, delta: bytes) -> None:
        """Make the changes that another index recorded, all or none.

        The two then save the same bytes (but for a source graph), and answer the same. Damaged for
        bytes that are no delta; WrongState for one that does not fit this index, or if this index
        has a source graph or records changes itself.
        """
        self._core.apply_delta(delta)

    def recalibrate(
        self,
        queries: ArrayLike | None = None,
        *,
        threads: int = 0,
        seed: int = 1,
        progress: ProgressCallback | None = None,
    ) -> None:
        """Measure anew what each recall costs (keep="all" only), on these queries if given."""
        matrix = None if queries is None else as_queries(queries)
        threads, seed = as_threads(threads), as_seed(seed)
        run_with_progress(
            lambda counters: self._core.recalibrate(
                matrix, threads, seed, CALIBRATION_QUERIES, counters
            ),
            progress,
        )

    def stats(self) -> IndexStats:
        """Say what the index holds and what each part takes."""
        stats = self._core.stats()
        options = self._core.options
        codebook = self._core.codebook
        has_graph = options.graph != _core.GraphKind.none
        return IndexStats(
            count=stats.count,
            deleted=stats.deleted,
            kept=stats.kept,
            dim=options.dim,
            metric=options.metric.name,
            keep=options.keep.name,
            graph=options.graph.name if has_graph else None,
            mean_degree=stats.mean_degree,
            levels=stats.levels,
            code_bytes=0 if codebook is None else codebook.code_bytes,
            codes_bytes=stats.codes_bytes,
            codebook_bytes=stats.codebook_bytes,
            vectors_bytes=stats.vectors_bytes,
            graph_bytes=stats.graph_bytes,
            source_graph_bytes=stats.source_graph_bytes,
            ids_bytes=stats.ids_bytes,
            rebuild_hint=stats.rebuild_hint,
            prune_s=stats.prune_s,
        )

    def _session(
        self,
        matrix: NDArray[np.float32],
        is_single: bool,
        k: int,
        recall: float,
        effort: int | Effort | None,
        allow: ArrayLike | None,
        strategy: str,
        threads: int,
    ) -> SearchSession:
        k = as_count(k, "k", least=1, most=2**63 - 1)
        core = _core.search(
            self._core,
            matrix,
            k,
            parse_strategy(strategy),
            recall,
            to_core_effort(effort),
            **_filters(allow),
            threads=as_threads(threads),
        )
        return SearchSession(core, matrix, is_single)

    def _remembering(self, vectors_of: VectorsOf) -> VectorsOf:
        """In hot mode, what was fetched may stay: the next search will want much of it again."""
        if self._core.options.keep != _core.Keep.hot:
            return vectors_of

        def fetch(ids: NDArray[np.int64]) -> ArrayLike | Supplied:
            vectors, missing = as_answer(vectors_of(ids), len(ids), self._core.options.dim)
            if missing is None:
                self._core.remember(ids.astype(np.uint64), vectors)
                return vectors
            self._core.remember(ids[~missing].astype(np.uint64), vectors[~missing])
            return Supplied(vectors, missing)

        return fetch

    def _next_ids(self, count: int) -> NDArray[np.uint64]:
        held = self._core.ids()
        first = int(held.max()) + 1 if held.size else 0
        if first + count - 1 > _LARGEST_ID:
            raise InvalidArgument(
                f"the numbers after {first - 1}, the largest id, do not suffice for {count} more: "
                "ids end at 2^63 - 1; give ids="
            )
        return np.arange(first, first + count, dtype=np.uint64)


def _filters(allow: ArrayLike | None) -> dict[str, Any]:
    return {"allow_ids": None, "allow_mask": None} if allow is None else as_mask_or_ids(allow)


def _as_rows(queries: ArrayLike) -> tuple[NDArray[np.float32], bool]:
    """Queries as rows, and whether a single one was given without a row around it."""
    given = np.asarray(queries)
    is_single = given.ndim == 1
    return as_matrix(given[None, :] if is_single else given, "queries"), is_single
