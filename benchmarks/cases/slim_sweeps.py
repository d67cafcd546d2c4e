"""What each parameter of a slim graph does to its size and to the speed of a search."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks import ours
from benchmarks.datasets import Dataset, glove, mdn
from benchmarks.metrics import best_times, recall, smallest_effort
from benchmarks.report import Result, Row
from benchmarks.scale import scaled
from benchmarks.slim_graphs import distance_curve
from benchmarks.speed import our_search
from gossamer import SlimOptions

TITLE = "slim graph: bytes a node and speed by trade-off layer, level share, hubs and degrees"
SETS = scaled((mdn, glove), (mdn,), (mdn,))
COUNT = scaled(30_000, 3000, 10_000)
DEFAULTS = SlimOptions()
K = 10
TARGET = 0.95
FIXED_EFFORT = 64
MOST_EFFORT = 600
REPETITIONS = scaled(5, 1, 3)
# HNSW's default share and the paper's, then towards and beyond the minimum that the paper derives.
LEVEL_SHARES = scaled((1 / 32, 1 / 4, 1 / 2, 0.7), (1 / 32, 1 / 2), (1 / 32, 1 / 2))
LAYERS = scaled((0, 1, 2), (0, 1), (0, 1))
HUB_SHARES = scaled((0.0, 0.02, 0.1, 0.5), (0.02, 0.5), (0.02, 0.5))
LOW_DEGREES = scaled((4, 8, 16, 32), (4, 8, 32), (4, 8, 32))
HUB_DEGREES = scaled((4, 8, 16, 30), (8, 16), (8, 16, 30))


@dataclass(frozen=True)
class Setting:
    """One point of a sweep: which sweep, where on its axis, and what is built."""

    sweep: str
    at: float
    level_share: float = 1 / 32
    slim: SlimOptions = DEFAULTS


@dataclass(frozen=True)
class Measured:
    """What a setting gave."""

    memory: float  # bytes a node
    links: float  # of the base layer, a node
    recall: float  # with the fixed effort
    distances: float  # a query with the fixed effort
    effort: int | None  # for the recall aimed at
    qps: float | None  # queries a CPU second at that recall


def run() -> Result:
    """Build every setting, then search all of them in turns on one thread."""
    details: dict[str, Any] = {"target": TARGET, "effort": FIXED_EFFORT, "sets": {}}
    rows: list[Row] = []
    for load in SETS:
        data = load().first(COUNT)
        settings = all_settings()
        measured = _measure(settings, data)
        points = [_point(setting, measured[_key(setting)]) for setting in settings]
        details["sets"][data.name] = {"count": len(data.vectors), "points": points}
        rows += _rows(data.name, points)
    return Result(rows, details)


def all_settings() -> list[Setting]:
    """Every point of every sweep; the defaults appear in each."""
    layers = [
        Setting(f"L_t={layer}", share, share, SlimOptions(tradeoff_layer=layer))
        for layer in LAYERS
        for share in LEVEL_SHARES
    ]
    hubs = [
        Setting("hub share", share, slim=SlimOptions(hub_share0=share, hub_share=share))
        for share in HUB_SHARES
    ]
    # The ratio of low to hub degree, from 1/8 to 1: the hubs' stays.
    lows = [
        Setting("low degree", low, slim=SlimOptions(low_degree0=low, low_degree=low // 2))
        for low in LOW_DEGREES
    ]
    # Both degrees in the proportions of the defaults.
    highs = [Setting("hub degree", high, slim=_in_proportion(high)) for high in HUB_DEGREES]
    zero = [Setting("by in-degree", 1, slim=SlimOptions(by_in_degree=True))]
    return layers + hubs + lows + highs + zero


def _in_proportion(hub_degree: int) -> SlimOptions:
    return SlimOptions(
        hub_degree=hub_degree,
        low_degree=max(1, hub_degree // 4),
        hub_degree0=2 * hub_degree,
        low_degree0=hub_degree // 2,
    )


def _measure(settings: Sequence[Setting], data: Dataset) -> dict[tuple[Any, ...], Measured]:
    """Measure each setting that differs from the others once."""
    indexes = {}
    for setting in settings:
        if _key(setting) not in indexes:
            indexes[_key(setting)] = ours.build(
                data.vectors,
                metric=data.metric,
                keep="all",
                graph="slim",
                level_probability=setting.level_share,
                slim=setting.slim,
            )
    efforts = {key: _effort(index, data) for key, index in indexes.items()}
    reached = [(key, effort) for key, effort in efforts.items() if effort is not None]
    searches = {key: our_search(index, data, K) for key, index in indexes.items()}
    times = best_times(
        [lambda key=key, effort=effort: searches[key](effort) for key, effort in reached],
        REPETITIONS,
    )
    speeds = {
        key: len(data.queries) / seconds.cpu
        for (key, _), seconds in zip(reached, times, strict=True)
    }
    return {
        key: _measured(index, data, efforts[key], speeds.get(key)) for key, index in indexes.items()
    }


def _effort(index: ours.Index, data: Dataset) -> int | None:
    search = our_search(index, data, K)
    return smallest_effort(
        lambda effort: recall(search(effort), data.truth, K), TARGET, K, MOST_EFFORT
    )


def _measured(index: ours.Index, data: Dataset, effort: int | None, qps: float | None) -> Measured:
    (point,) = distance_curve(index, data, K, (FIXED_EFFORT,))
    return Measured(
        memory=index.stats().graph_bytes / len(data.vectors),
        links=ours.links_per_node(index),
        recall=point.recall,
        distances=point.cost,
        effort=effort,
        qps=qps,
    )


def _key(setting: Setting) -> tuple[Any, ...]:
    return (setting.level_share, setting.slim)


def _point(setting: Setting, measured: Measured) -> dict[str, Any]:
    return {"sweep": setting.sweep, "at": setting.at, **asdict(measured)}


def _rows(where: str, points: Sequence[dict[str, Any]]) -> list[Row]:
    """Each setting's size and speed against that of the defaults."""
    usual = next(p for p in points if p["sweep"] == "hub share" and p["at"] == 0.02)
    rows = []
    for point in points:
        name = f"{where}, {point['sweep']}, {point['at']:.3g}"
        rows.append(Row(f"{name}: graph B a node", point["memory"], usual["memory"], "defaults"))
        rows.append(Row(f"{name}: QPS at {TARGET}", point["qps"], usual["qps"], "defaults"))
    return rows
