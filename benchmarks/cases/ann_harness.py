"""The module for ann-benchmarks, run by its contract on two of its data sets."""

from benchmarks.ann_runner import METRICS, Measured, hnswlib_definition, our_definitions
from benchmarks.ann_runner import run as measure
from benchmarks.datasets import Dataset, fashion, glove
from benchmarks.metrics import Point
from benchmarks.report import Result, Row
from benchmarks.scale import scaled
from benchmarks.speed import qps_at

TITLE = "ann-benchmarks' contract: queries a second, one query a call, one thread, k = 10"
K = 10
TARGETS = (0.90, 0.95, 0.99)
GROUPS = scaled(
    ("slim-f16", "slim-int8", "full-f16", "full-f32"),
    smoke=("slim-f16", "full-f16"),
    small=("slim-f16", "full-f16"),
)
MOST_VECTORS = scaled(10**9, smoke=2_000, small=10_000)
SETS = scaled((fashion, glove), smoke=(fashion,), small=(fashion,))
MOST_QUERIES = scaled(500, smoke=50, small=200)
MOST_EFFORT = scaled(200, smoke=40)
RUNS = scaled(3, smoke=1, small=2)


def run() -> Result:
    """Both sets, all run groups, hnswlib beside them."""
    rows = []
    details = {}
    for load in SETS:
        data = load()
        measured = _measure(data.first(MOST_VECTORS))
        rows += [_row(data.name, measured, target) for target in TARGETS]
        details[data.name] = {
            name: {
                "points": one.points,
                "build_s": one.build_s,
                "memory_mb": None if one.memory_kb is None else one.memory_kb * 1024 / 1e6,
            }
            for name, one in measured.items()
        }
    return Result(rows, {"sets": details})


def _measure(data: Dataset) -> dict[str, Measured]:
    asked = Dataset(
        data.name,
        data.vectors,
        data.queries[:MOST_QUERIES],
        data.truth[:MOST_QUERIES],
        data.metric,
    )
    metric = METRICS[data.metric]
    ours = [one.limited(MOST_EFFORT) for one in our_definitions(metric, GROUPS)]
    return measure([*ours, hnswlib_definition(metric, ours[0].query_arguments)], asked, K, RUNS)


def _row(name: str, measured: dict[str, Measured], target: float) -> Row:
    """Our fastest group against hnswlib."""
    speeds = {contender: qps_at(_curve(one), target) for contender, one in measured.items()}
    rival = speeds.pop("hnswlib")
    best = max(speeds, key=lambda contender: speeds[contender] or 0)
    return Row(f"{name}, recall {target:.2f}: {best}", speeds[best], rival, "hnswlib")


def _curve(measured: Measured) -> list[Point]:
    return [Point(effort, reached, 1 / qps) for effort, reached, qps in measured.points]
