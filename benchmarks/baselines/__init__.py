"""The rivals, one file each, all behind the same few methods."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from benchmarks.datasets import Floats, Ids


@dataclass(frozen=True)
class GraphParameters:
    """What every HNSW here is built with (the papers' defaults)."""

    max_degree: int = 30
    build_effort: int = 128
    metric: str = "ip"  # or "l2"


class GraphRival(Protocol):
    """An HNSW over stored vectors. `search` runs on one thread and gives k ids a query."""

    name: str

    def build(self, vectors: Floats, threads: int) -> None: ...
    def search(self, queries: Floats, k: int, effort: int) -> Ids: ...
    def save(self, path: Path) -> None: ...
    def load(self, path: Path) -> None: ...


def graph_rivals(dim: int, parameters: GraphParameters) -> list[GraphRival]:
    """All HNSW rivals, empty. Imported here, so that other cases do not need them installed."""
    from benchmarks.baselines.faiss_hnsw import FaissHnsw
    from benchmarks.baselines.hnswlib_hnsw import HnswlibHnsw
    from benchmarks.baselines.usearch_hnsw import UsearchHnsw

    return [rival(dim, parameters) for rival in (HnswlibHnsw, FaissHnsw, UsearchHnsw)]
