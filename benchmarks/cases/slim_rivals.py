"""The slim graph an edge holds, against the HNSWs it stands in for, on three sets of vectors."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks import ours
from benchmarks.baselines import GraphParameters, GraphRival
from benchmarks.baselines.faiss_hnsw import FaissHnsw
from benchmarks.baselines.hnswlib_hnsw import HnswlibHnsw
from benchmarks.datasets import WHOLE, Dataset, fashion, glove, mdn
from benchmarks.report import Result, Row
from benchmarks.scale import scaled
from benchmarks.speed import Curves, Search, as_saved, measure, our_search, qps_at
from gossamer import SlimOptions

TITLE = "slim graph against HNSW M=30 efC=128: bytes, and queries a CPU second at recall@10"
# GloVe takes minutes to fetch and to read.
SETS = scaled((mdn, fashion, glove), smoke=(mdn,), small=(mdn, fashion))
K = 10
EFFORTS = (10, 14, 20, 28, 40, 56, 80, 112, 160, 240, 360, 540)
TARGETS = JUDGED, _ = 0.95, 0.99
REPETITIONS = scaled(5, smoke=1, small=2)
COUNT = scaled(WHOLE, smoke=5_000, small=10_000)
BYTES_BAR = 1 / 4.5
SPEED_BAR = 0.9
# What an edge holds unless told otherwise comes first.
DEFAULT = ("f16", 8)
OURS = (DEFAULT, ("f32", 8), ("i8", 8), ("f16", 12))


@dataclass(frozen=True)
class GraphBytes:
    """What a graph takes, a node."""

    memory: float
    disk: float
    links: float | None = None


def run() -> Result:
    """Every contender of a set in turns in one process, single thread, the best of five."""
    rows: list[Row] = []
    details: dict[str, object] = {}
    for load in SETS:
        data = load().first(COUNT)
        taken: dict[str, GraphBytes] = {}
        searches = _rivals(data, taken) | _ours(data, taken)
        curves = measure(searches, data, K, EFFORTS, REPETITIONS)
        rows += _byte_rows(data.name, taken) + _speed_rows(data.name, curves)
        details[data.name] = {
            "bytes": {name: vars(graph) for name, graph in taken.items()},
            "qps": as_saved(curves),
        }
    return Result(rows, details)


def _byte_rows(where: str, taken: dict[str, GraphBytes]) -> list[Row]:
    rows = []
    rival = taken["hnswlib"]
    for name in (_name(*DEFAULT), _name("f16", 12)):
        graph = taken[name]
        bar = BYTES_BAR if name == _name(*DEFAULT) else None
        rows += [
            Row(f"{where}, {name}: {kind}", size, full, "hnswlib", bar, by_ratio=True)
            for kind, size, full in (
                ("graph B a node in memory", graph.memory, rival.memory),
                ("on disk", graph.disk, rival.disk),
            )
        ]
        rows.append(Row(f"{where}, {name}: links a node", graph.links))
    return rows


def _speed_rows(where: str, curves: Curves) -> list[Row]:
    """The default against hnswlib is judged; all others are shown."""
    rows = []
    for target in TARGETS:
        speeds = {name: qps_at(curve, target) for name, curve in curves.items()}
        for name in (_name(*kind) for kind in OURS):
            is_judged = target == JUDGED and name == _name(*DEFAULT)
            rows.append(
                Row(
                    f"{where}, {name}: QPS at {target:.2f}",
                    speeds[name],
                    speeds["hnswlib"],
                    "hnswlib",
                    bar=SPEED_BAR if is_judged else None,
                    at_least=True,
                    by_ratio=True,
                )
            )
        faiss = speeds["faiss HNSW"]
        best = speeds[_name(*DEFAULT)]
        rows.append(Row(f"{where}, {_name(*DEFAULT)}: QPS at {target:.2f}", best, faiss, "faiss"))
    return rows


def _rivals(data: Dataset, taken: dict[str, GraphBytes]) -> dict[str, Search]:
    """Build them; their links are what their files hold besides the vectors."""
    searches: dict[str, Search] = {}
    dim = data.vectors.shape[1]
    parameters = GraphParameters(metric=data.metric)
    rivals: list[GraphRival] = [HnswlibHnsw(dim, parameters), FaissHnsw(dim, parameters)]
    for rival in rivals:
        rival.build(data.vectors, threads=2)
        searches[rival.name] = lambda effort, rival=rival: rival.search(data.queries, K, effort)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rival"
            rival.save(path)
            links = (path.stat().st_size - data.vectors.nbytes) / len(data.vectors)
        taken[rival.name] = GraphBytes(links, links)
    return searches


def _ours(data: Dataset, taken: dict[str, GraphBytes]) -> dict[str, Search]:
    searches: dict[str, Search] = {}
    for scalar, degree in OURS:
        index = ours.build(
            data.vectors,
            metric=data.metric,
            keep="all",
            graph="slim",
            scalar=scalar,
            slim=SlimOptions(low_degree0=degree),
        )
        name = _name(scalar, degree)
        searches[name] = our_search(index, data, K)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "ours"
            ours.save(index, path)
            disk = ours.section_bytes(path)["graph"]
        nodes = len(data.vectors)
        links = ours.links_per_node(index)
        taken[name] = GraphBytes(index.stats().graph_bytes / nodes, disk / nodes, links)
    return searches


def _name(scalar: str, degree: int) -> str:
    return f"slim {scalar}:{degree}"
