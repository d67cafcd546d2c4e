"""What graphs take, and how long they take to build and to prune, on three sets of vectors."""

import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks import ours, rival_graphs
from benchmarks.baselines import GraphParameters, GraphRival, graph_rivals
from benchmarks.baselines.faiss_nsg import FaissNsg
from benchmarks.baselines.faiss_quantised import FaissQuantised
from benchmarks.datasets import Dataset, fashion, glove, mdn
from benchmarks.metrics import recall, timed
from benchmarks.report import Result, Row
from benchmarks.scale import scaled
from benchmarks.slim_graphs import Unpruned
from gossamer import SlimOptions

TITLE = "sizes, build and prune times of graphs: slim, full, HNSW, NSG, Vamana, quantised HNSW"
K = 10
THREADS = 2
# The slow rivals take minutes on whole sets of long vectors; bytes a node hardly change.
COUNTS = {mdn: 62_797, fashion: 30_000, glove: 50_000}
SETS = scaled(tuple(COUNTS), (mdn,), (mdn,))
MOST = scaled(1 << 31, 2000, 10_000)
EFFORT = 320
# Training product codes takes longer than all else; one set tells what they cost.
PRODUCT_CODED = scaled((mdn,), (), ())
SLIM, FULL, HUB = "slim f16", "full f16", "hub f16 (LEANN)"


@dataclass(frozen=True)
class Size:
    """What an index takes, bytes and links a node, and CPU seconds of its build."""

    memory: float  # the graph alone
    disk: float  # the graph alone
    total: float  # on disk, with vectors or codes
    links: float | None  # of the base layer
    build_s: float  # pruning included
    prune_s: float | None = None
    recall: float | None = None  # at the largest effort


def run() -> Result:
    """Everybody builds on two threads; seconds are CPU time of both."""
    rows: list[Row] = []
    details: dict[str, Any] = {"effort": EFFORT, "sets": {}}
    for load in SETS:
        data = load().first(min(COUNTS[load], MOST))
        full = Unpruned(data)
        pruned, by_hubs = full.slim(SlimOptions()), full.hub()
        kinds = ("SQ8", "PQ") if load in PRODUCT_CODED else ("SQ8",)
        sizes = _ours(data) | _rivals(data) | _quantised(data, kinds)
        details["sets"][data.name] = {
            "count": len(data.vectors),
            "dim": data.vectors.shape[1],
            "sizes": {name: asdict(size) for name, size in sizes.items()},
            "steps": {
                "build_s": full.building.cpu,
                "slim_prune_s": pruned.seconds.cpu,
                "hub_prune_s": by_hubs.seconds.cpu,
            },
        }
        rows += _rows(data.name, sizes, pruned.seconds.cpu / full.building.cpu)
    return Result(rows, details, versions=rival_graphs.versions())


def _rows(where: str, sizes: dict[str, Size], prune_share: float) -> list[Row]:
    slim = sizes[SLIM]
    rows = [
        Row(f"{where}, {SLIM}: graph B a node in memory", slim.memory, other.memory, name)
        for name, other in sizes.items()
        if name != SLIM and other.links is not None
    ]
    rows.append(Row(f"{where}, {SLIM}: build CPU s", slim.build_s, sizes["hnswlib"].build_s))
    return [*rows, Row(f"{where}: pruning / building", prune_share)]


def _ours(data: Dataset) -> dict[str, Size]:
    build = partial(ours.timed_build, data.vectors, metric=data.metric, keep="all", threads=THREADS)
    kinds: dict[str, dict[str, str]] = {
        SLIM: {"graph": "slim"},
        "slim f32": {"graph": "slim", "scalar": "f32"},
        "slim int8": {"graph": "slim", "scalar": "i8"},
        HUB: {"graph": "hub"},
        FULL: {"graph": "full"},
    }
    sizes = {}
    nodes = len(data.vectors)
    for name, options in kinds.items():
        index, seconds = build(**options)
        found = ours.search(index, data.queries, K, strategy="best-first", effort=EFFORT)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "ours"
            total = ours.save(index, path)
            disk = ours.section_bytes(path)["graph"]
        sizes[name] = Size(
            memory=index.stats().graph_bytes / nodes,
            disk=disk / nodes,
            total=total / nodes,
            links=ours.links_per_node(index),
            build_s=seconds.cpu,
            recall=recall(found.ids, data.truth, K),
        )
    return sizes


def _rivals(data: Dataset) -> dict[str, Size]:
    dim, parameters = data.vectors.shape[1], GraphParameters(metric=data.metric)
    rivals = [*graph_rivals(dim, parameters), FaissNsg(dim)]
    if find_spec("svs") is not None:
        from benchmarks.baselines.vamana import Vamana

        rivals.append(Vamana(parameters))
    return {rival.name: _rival_size(data, rival) for rival in rivals}


def _rival_size(data: Dataset, rival: GraphRival) -> Size:
    """Size up a rival; a graph is what it saves besides its vectors."""
    seconds = timed(lambda: rival.build(data.vectors, THREADS))
    found = rival.search(data.queries, K, EFFORT)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rival"
        rival.save(path)
        total = rival_graphs.bytes_of(path) / len(data.vectors)
        links = rival_graphs.links_of(rival.name, path, data)
    disk = total - 4 * data.vectors.shape[1]
    memory = rival_graphs.memory_of(rival.name, disk)
    prune_s = rival.choosing.cpu if isinstance(rival, FaissNsg) else None
    reached = recall(found, data.truth, K)
    return Size(memory, disk, total, links, seconds.cpu, prune_s, reached)


def _quantised(data: Dataset, kinds: Sequence[str]) -> dict[str, Size]:
    """HNSW over codes in place of vectors."""
    sizes = {}
    parameters = GraphParameters(metric=data.metric)
    for kind in kinds:
        rival = FaissQuantised(data.vectors.shape[1], parameters, kind)
        seconds = timed(lambda rival=rival: rival.build(data.vectors, THREADS))
        reached = recall(rival.search(data.queries, K, EFFORT), data.truth, K)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rival"
            rival.save(path)
            total = rival_graphs.bytes_of(path) / len(data.vectors)
        disk = total - rival.code_bytes - rival.codebook_bytes / len(data.vectors)
        sizes[rival.name] = Size(disk, disk, total, None, seconds.cpu, None, reached)
    return sizes
