"""How large a slim graph was expected to be, and what else could be had for its bytes."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from benchmarks import ours, same_size
from benchmarks.datasets import WHOLE, Dataset, fashion, glove, mdn
from benchmarks.report import Result, Row
from benchmarks.scale import scaled
from benchmarks.slim_graphs import Unpruned, expect
from gossamer import SlimOptions, propose_slim

TITLE = "slim graph: size expected against actual, and searches at the same size"
# Of the first set all counts, of the others the largest.
SETS = scaled((mdn, fashion, glove), (mdn,), (mdn,))
COUNTS = scaled((10_000, 20_000, 40_000, WHOLE), (1000, 2000), (5000, 10_000))
LOW_DEGREES = scaled((2, 4, 6, 8, 12, 16), (4, 8), (4, 8, 12))
BUDGETS = (10, 12, 16, 24, 32)  # bytes a node
# Level, count, name and pointer of a node in the paper's layout.
PAPER_NODE_BYTES = 16
PAPER_LINK_BYTES = 4
RACED = scaled((mdn, glove), (mdn,), (mdn,))
RACE_COUNT = scaled(50_000, 2000, 10_000)
RACE_QUERIES = scaled(1000, 200, 500)


@dataclass(frozen=True)
class Estimate:
    """One graph, in bytes a node."""

    data: str
    count: int
    low_degree: int
    by_in_degree: bool
    expected: float
    actual: float
    paper_expected: float  # by the paper's equation, for its own layout
    paper_actual: float  # what the links of the base layer would take in that layout


def run() -> Result:
    """Estimates on every set, then searches in turns."""
    estimates: list[Estimate] = []
    proposals: list[dict[str, Any]] = []
    for load in SETS:
        for count in COUNTS if load is SETS[0] else COUNTS[-1:]:
            data = _part(load(), count)
            full = Unpruned(data)
            estimates += _estimates(data, full)
            if count == COUNTS[-1]:
                proposals += _proposals(data, full)
    races = {}
    for load in RACED:
        whole = load()
        few = replace(whole, queries=whole.queries[:RACE_QUERIES], truth=whole.truth[:RACE_QUERIES])
        races[whole.name] = same_size.race(few.first(RACE_COUNT))
    rows = [row for name, race in races.items() for row in _race_rows(name, race)]
    details = {
        "estimates": [asdict(estimate) for estimate in estimates],
        "proposals": proposals,
        "races": races,
        "targets": same_size.TARGETS,
    }
    return Result(_estimate_rows(estimates) + rows, details)


def _part(whole: Dataset, count: int) -> Dataset:
    """Vectors alone matter here, not what is nearest among fewer of them."""
    return replace(whole, vectors=whole.vectors[:count])


def _estimates(data: Dataset, full: Unpruned) -> list[Estimate]:
    """Prune one full graph with every degree; by in-degree needs a build of its own."""
    estimates = []
    for degree in LOW_DEGREES:
        slim = SlimOptions(low_degree0=degree)
        pruned = full.slim(slim)
        estimates.append(_estimate(data, slim, pruned.memory, pruned.base_links / full.count))
    slim = SlimOptions(by_in_degree=True)
    index = ours.build(data.vectors, metric=data.metric, keep="all", graph="slim", slim=slim)
    memory = index.stats().graph_bytes
    return [*estimates, _estimate(data, slim, memory, ours.links_per_node(index))]


def _estimate(data: Dataset, slim: SlimOptions, memory: int, links: float) -> Estimate:
    nodes = len(data.vectors)
    expected = expect(nodes, slim)
    return Estimate(
        data=data.name,
        count=nodes,
        low_degree=slim.low_degree0,
        by_in_degree=slim.by_in_degree,
        expected=expected.memory / nodes,
        actual=memory / nodes,
        paper_expected=expected.paper_layout / nodes,
        paper_actual=PAPER_NODE_BYTES + PAPER_LINK_BYTES * links,
    )


def _proposals(data: Dataset, full: Unpruned) -> list[dict[str, Any]]:
    """Ask for the richest graph that fits a budget, and see whether it does."""
    proposals = []
    for budget in BUDGETS:
        slim, size = propose_slim(full.count, budget * full.count)
        proposals.append(
            {
                "data": data.name,
                "budget": budget,
                "low_degree": slim.low_degree0,
                "expected": size.memory_bytes / full.count,
                "actual": full.slim(slim).memory / full.count,
            }
        )
    return proposals


def _estimate_rows(estimates: Sequence[Estimate]) -> list[Row]:
    return [
        Row(
            f"{one.data}, {one.count}, low degree {one.low_degree}"
            f"{', by in-degree' if one.by_in_degree else ''}: graph B a node",
            one.actual,
            one.expected,
            "expected",
        )
        for one in estimates
    ]


def _race_rows(where: str, race: dict[str, Any]) -> list[Row]:
    """What a search with the usual slim graph costs against each other graph."""
    usual = race["contenders"][same_size.USUAL]
    rows = []
    for name, other in race["contenders"].items():
        for at, ours_qps, rival in zip(same_size.TARGETS, usual["qps"], other["qps"], strict=True):
            if name != same_size.USUAL and name in race["qps"]:
                what = f"{where}, {same_size.USUAL} f32: QPS at {at:.2f}"
                rows.append(Row(what, ours_qps, rival, f"{name}, {other['memory']:.0f} B"))
    return rows
