"""Speed with stored vectors, one thread, against three HNSWs with the same parameters."""

from benchmarks import ours
from benchmarks.baselines import GraphParameters, graph_rivals
from benchmarks.datasets import Floats, mdn
from benchmarks.report import Result, Row
from benchmarks.scale import scaled
from benchmarks.speed import Curves, Search, as_saved, measure, our_search, qps_at

TITLE = 'keep "all": queries a CPU second on one thread, at recall@10 (M=30, efC=128)'
K = 10
EFFORTS = (10, 14, 20, 28, 40, 56, 80, 112, 160, 240)
TARGETS = (0.95, 0.99)
REPETITIONS = scaled(5, smoke=1, small=3)
OURS = ("full", "slim")


def run() -> Result:
    """All contenders in turns in one process; the best of five."""
    data = mdn()
    searches = rival_searches(data.vectors, data.queries)
    rival_names = list(searches)
    for graph in OURS:
        index = ours.build(data.vectors, keep="all", graph=graph)
        searches[f"gossamer {graph}"] = our_search(index, data, K)

    curves = measure(searches, data, K, EFFORTS, REPETITIONS)
    rows = [row for target in TARGETS for row in compare(curves, rival_names, target)]
    return Result(rows, {"qps": as_saved(curves)})


def compare(curves: Curves, rival_names: list[str], target: float) -> list[Row]:
    """Our best graph against the best rival; then everyone."""
    speeds = {name: qps_at(curve, target) for name, curve in curves.items()}
    best_rival = max(rival_names, key=lambda name: speeds[name] or 0)
    ours_at = max((speeds[f"gossamer {graph}"] or 0 for graph in OURS), default=0)
    rows = [
        Row(
            f"recall {target:.2f}, against the best rival",
            ours_at,
            speeds[best_rival],
            best_rival,
            bar=1.0,
            at_least=True,
            by_ratio=True,
        )
    ]
    rows += [Row(f"  {name}", speed) for name, speed in speeds.items() if name not in rival_names]
    rows += [Row(f"  {name}", None, speeds[name]) for name in rival_names]
    return rows


def rival_searches(vectors: Floats, queries: Floats) -> dict[str, Search]:
    """Build the rivals; what is timed is one batch of all queries."""
    searches: dict[str, Search] = {}
    for rival in graph_rivals(vectors.shape[1], GraphParameters()):
        rival.build(vectors, threads=2)
        searches[rival.name] = lambda effort, rival=rival: rival.search(queries, K, effort)
    return searches
