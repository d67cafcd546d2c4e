"""A small runner that follows ann-benchmarks' contract, for modules made for it.

As there: an algorithm is fitted once, gets each set of query arguments in turn, and answers one
query a call. Recall is the share of answers that are no farther than the true k-th nearest (and a
thousandth); queries a second are one over the mean time of a call in the best of some runs.
"""

import importlib.util
import itertools
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

import hnswlib
import numpy as np
import yaml

from benchmarks.baselines import GraphParameters
from benchmarks.datasets import Dataset, Floats, Ids

FOLDER = Path(__file__).parent / "ann_benchmarks"
METRICS = {"ip": "angular", "l2": "euclidean"}
EPSILON = 1e-3


class Algorithm(Protocol):
    """What ann-benchmarks calls BaseANN."""

    def fit(self, X: Floats) -> None: ...  # noqa: N803 - the harness's name
    def set_query_arguments(self, *arguments: Any) -> None: ...
    def query(self, q: Floats, n: int) -> Ids: ...
    def get_memory_usage(self) -> float | None: ...


@dataclass(frozen=True)
class Definition:
    """One run group of a config.yml: how to make an algorithm, and the query arguments to try."""

    name: str
    make: Callable[[], Algorithm]
    query_arguments: list[tuple[Any, ...]]

    def limited(self, most: int) -> "Definition":
        """Give the same without the efforts that are larger."""
        kept = [arguments for arguments in self.query_arguments if arguments[0] <= most]
        return Definition(self.name, self.make, kept)


@dataclass(frozen=True)
class Measured:
    """What a definition reached: (query argument, recall, queries a second) for each setting."""

    points: list[tuple[float, float, float]]
    build_s: float
    memory_kb: float | None


class HnswlibModule:
    """hnswlib by the same contract."""

    def __init__(self, metric: str, parameters: GraphParameters) -> None:
        self._space = {"angular": "cosine", "euclidean": "l2"}[metric]
        self._parameters = parameters

    def fit(self, X: Floats) -> None:  # noqa: N803
        chosen = self._parameters
        self._index = hnswlib.Index(space=self._space, dim=X.shape[1])
        self._index.init_index(len(X), chosen.max_degree, chosen.build_effort, random_seed=100)
        self._index.add_items(X)
        self._index.set_num_threads(1)

    def set_query_arguments(self, effort: int) -> None:
        self._index.set_ef(effort)

    def query(self, q: Floats, n: int) -> Ids:
        found: Ids = self._index.knn_query(q, k=n)[0][0]
        return found

    def get_memory_usage(self) -> float:
        return float(self._index.index_file_size()) / 1024


def our_definitions(metric: str, groups: Sequence[str]) -> list[Definition]:
    """Read run groups of our config.yml as ann-benchmarks does."""
    config = yaml.safe_load((FOLDER / "config.yml").read_text(encoding="utf-8"))
    (entry,) = config["float"]["any"]
    constructor = getattr(_load_module(), entry["constructor"])
    return [
        Definition(
            f"gossamer {name}",
            lambda arguments=entry["run_groups"][name]["arg_groups"]: constructor(
                metric, *arguments
            ),
            list(itertools.product(*entry["run_groups"][name]["query_args"])),
        )
        for name in groups
    ]


def hnswlib_definition(metric: str, query_arguments: list[tuple[Any, ...]]) -> Definition:
    """hnswlib with the same degree and build effort."""
    return Definition("hnswlib", lambda: HnswlibModule(metric, GraphParameters()), query_arguments)


def run(definitions: Sequence[Definition], data: Dataset, k: int, runs: int) -> dict[str, Measured]:
    """Fit all, then measure them in turns, so that all meet the same load."""
    fitted = {}
    seconds = {}
    for definition in definitions:
        algorithm = definition.make()
        start = time.perf_counter()
        algorithm.fit(data.vectors)
        seconds[definition.name] = time.perf_counter() - start
        fitted[definition.name] = algorithm
    settings = [(one.name, arguments) for one in definitions for arguments in one.query_arguments]
    best = {setting: (0.0, float("inf")) for setting in settings}
    for name, arguments in settings * runs:
        fitted[name].set_query_arguments(*arguments)
        reached, mean_s = _ask_all(fitted[name], data, k)
        best[name, arguments] = reached, min(mean_s, best[name, arguments][1])
    return {
        name: Measured(
            [(a[0], best[n, a][0], 1 / best[n, a][1]) for n, a in settings if n == name],
            seconds[name],
            algorithm.get_memory_usage(),
        )
        for name, algorithm in fitted.items()
    }


def _ask_all(algorithm: Algorithm, data: Dataset, k: int) -> tuple[float, float]:
    """Ask the queries one by one: recall, and the mean seconds of a call."""
    found = np.full((len(data.queries), k), -1, np.int64)
    spent_s = 0.0
    for row, query in zip(found, data.queries, strict=True):
        start = time.perf_counter()
        ids = algorithm.query(query, k)
        spent_s += time.perf_counter() - start
        row[: len(ids)] = ids
    return _recall(found, data, k), spent_s / len(found)


def _recall(found: Ids, data: Dataset, k: int) -> float:
    """Count the answers that are not farther than the true k-th nearest, as ann-benchmarks does."""
    farthest = _distances(data, data.truth[:, k - 1 : k])
    is_near = _distances(data, found) <= farthest + EPSILON
    return float((is_near & (found >= 0)).mean())


def _distances(data: Dataset, ids: Ids) -> Floats:
    """Give the distances of some vectors of each query: 1 - cosine, or Euclidean."""
    rows: Iterator[Floats] = (
        _distance(data.metric, data.vectors[some], query)
        for some, query in zip(ids, data.queries, strict=True)
    )
    return np.stack(list(rows))


def _distance(metric: str, vectors: Floats, query: Floats) -> Floats:
    near: Floats = (
        1 - vectors @ query if metric == "ip" else np.linalg.norm(vectors - query, axis=1)
    )
    return near


def _load_module() -> ModuleType:
    """Load our module.py just as it stands, with a stand-in for the class that it derives from."""
    package = "ann_benchmarks.algorithms"
    for name in ("ann_benchmarks", package, f"{package}.base", f"{package}.gossamer"):
        sys.modules.setdefault(name, ModuleType(name)).__path__ = []
    base = ModuleType(f"{package}.base.module")
    base.BaseANN = object  # type: ignore[attr-defined]
    sys.modules[base.__name__] = base
    name = f"{package}.gossamer.module"
    found = importlib.util.spec_from_file_location(name, FOLDER / "module.py")
    assert found is not None, "module.py is beside this file"
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module
