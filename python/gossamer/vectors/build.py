"""Builds of vectors that are in memory, and the checks that every build begins with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gossamer import _core
from gossamer.errors import InvalidArgument
from gossamer.progress import ProgressCallback, run_with_progress
from gossamer.vectors.arrays import as_count, as_ids, as_matrix, as_seed, as_threads, check_finite
from gossamer.vectors.codes import Codebook, default_code_bytes, train_codebook
from gossamer.vectors.options import make_options

__all__ = [
    "CALIBRATION_QUERIES",
    "BuildRun",
    "IndexPlan",
    "as_queries",
    "build_whole",
    "plan_index",
    "plan_run",
]

Floats = NDArray[np.float32]

# Made from the data where none are given: so many tell a recall to within a hundredth.
CALIBRATION_QUERIES = 1000


@dataclass(frozen=True)
class IndexPlan:
    """What an index shall be."""

    metric: str
    keep: str
    graph: str | None
    code_bytes: int | None  # None: as many as suit the vectors
    codebook: Codebook | None
    options: Mapping[str, Any]

    def to_core(self, dim: int) -> _core.IndexOptions:
        """Check the options and give them as a new record of the core's."""
        return make_options(dim, self.metric, self.keep, self.graph, self.options)


@dataclass(frozen=True)
class BuildRun:
    """How a build runs."""

    ids: NDArray[np.uint64] | None
    queries: Floats | None  # to calibrate with
    query_count: int  # to make where none are given; 0: no calibration
    threads: int
    seed: int
    progress: ProgressCallback | None


def plan_index(
    metric: str,
    keep: str,
    graph: str | None,
    code_bytes: int | None,
    codebook: Codebook | None,
    options: Mapping[str, Any],
) -> IndexPlan:
    """Check what can be checked before the vectors are looked at."""
    if code_bytes is not None:
        code_bytes = as_count(code_bytes, "code_bytes")
        if codebook is not None and code_bytes != codebook.code_bytes:
            raise InvalidArgument(
                f"codes of the codebook take {codebook.code_bytes} bytes, but code_bytes is "
                f"{code_bytes}: leave it out, or train another codebook"
            )
    return IndexPlan(metric, keep, graph, code_bytes, codebook, options)


def plan_run(
    ids: ArrayLike | None,
    calibrate: bool,
    queries: ArrayLike | None,
    threads: int,
    seed: int,
    progress: ProgressCallback | None,
) -> BuildRun:
    """Check how a build shall run."""
    if queries is not None and not calibrate:
        raise InvalidArgument(
            "calibration_queries came with calibrate=False: leave one of them out"
        )
    return BuildRun(
        ids=None if ids is None else as_ids(ids),
        queries=None if queries is None else as_queries(queries),
        query_count=CALIBRATION_QUERIES if calibrate else 0,
        threads=as_threads(threads),
        seed=as_seed(seed),
        progress=progress,
    )


def as_queries(queries: ArrayLike) -> Floats:
    """Queries to calibrate with: finite rows."""
    matrix = as_matrix(queries, "queries")
    check_finite(matrix, what="calibration query")
    return matrix


def build_whole(
    vectors: ArrayLike, plan: IndexPlan, run: BuildRun, refine_order: bool
) -> _core.Index:
    """Build an index of a matrix."""
    if isinstance(vectors, Iterator):
        raise InvalidArgument(
            "vectors must be a matrix, or a function that gives an iterable of matrices each "
            "time it is called; a generator can be read only once"
        )
    matrix = as_matrix(vectors)
    check_finite(matrix)
    options = plan.to_core(matrix.shape[1])
    codebook = _find_codebook(matrix, plan, run)
    return run_with_progress(
        lambda counters: _core.Index.build(
            options,
            codebook,
            matrix,
            run.ids,
            run.queries,
            run.threads,
            run.seed,
            run.query_count,
            refine_order,
            counters,
        ),
        run.progress,
    )


def _find_codebook(matrix: Floats, plan: IndexPlan, run: BuildRun) -> Codebook | None:
    """Give the codebook that came, or train one; None for an index without codes."""
    if plan.codebook is not None:
        return plan.codebook
    code_bytes = plan.code_bytes
    if code_bytes is None:
        has_codes = plan.keep != "all" or plan.graph is None
        code_bytes = default_code_bytes(matrix.shape[1]) if has_codes else 0
    if code_bytes == 0 or not len(matrix):
        return None
    return train_codebook(
        matrix, code_bytes, plan.metric, run.seed, run.threads, progress=_training(run.progress)
    )


def _training(progress: ProgressCallback | None) -> Callable[[int, int], None] | None:
    if progress is None:
        return None
    return lambda done, total: progress("training", done, total)
