"""Which links a pruned graph should keep."""

from typing import Any

from benchmarks.document.axes import plain_log
from benchmarks.document.markdown import either, percent, table
from benchmarks.document.records import Records

ITEM = "LEANN Fig. 6, 7"
TITLE = "Pruning methods at equal links"
CASES = ("hub_graph",)
PICTURES = {
    "pruning": "Left: chunks re-embedded against recall for graphs pruned in different ways. "
    "Right: share of nodes that have at least so many links"
}

NAMES = {
    "full": "original, not pruned",
    "hub": "hub-preserving (LEANN alg. 3)",
    "slim": "one-hop (HNSW-Slim alg. 3)",
    "random": "random prune",
    "small M": "small M",
}
# LEANN, section 7.3: re-embeddings of the other methods as multiples, at most, of its own.
PAPER = {"random": 1.8, "small M": 5.8}

Graphs = dict[str, dict[str, Any]]


def write(records: Records) -> list[str]:
    """Re-embeddings at each recall, links of the hubs, then what the paper says."""
    details = records["hub_graph"].details
    graphs: Graphs = details.get("graphs", {})
    if not graphs:
        return []
    recalls = list(graphs["hub"]["at"])
    header = ["", "links a node", *(f"at {recall}" for recall in recalls)]
    costs = [
        [NAMES[name], one["links"], *(one["at"][recall] for recall in recalls)]
        for name, one in graphs.items()
    ]
    return [
        f"MDN, {details['nodes']:,} chunks, M = 30, efConstruction = 128. Chunks re-embedded a "
        "query by exact-steered best-first search at a recall@3 (a dash: not reached at a beam of "
        f"{_widest(records)}). All graphs but small M are pruned from the same original one.",
        table(header, costs),
        "How links are spread, and what it means once codes steer the walk and vectors are asked "
        "for at its end alone:",
        table(
            ["", "most links", "links of the top 2 %", "their share", "codes, at 0.90", "at 0.95"],
            [_spread(name, one) for name, one in graphs.items()],
        ),
        _verdict(graphs),
    ]


def draw(records: Records) -> dict[str, Any]:
    """Recall against re-embeddings, and degrees."""
    from matplotlib import pyplot as plt

    details = records["hub_graph"].details
    if "graphs" not in details:
        return {}
    figure, (costs, degrees) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    for name, one in details["graphs"].items():
        style = {"color": "grey", "linestyle": "--"} if name == "full" else {}
        points = details[name]
        label = f"{NAMES[name]}: {one['links']:.1f} links"
        costs.plot(*_columns(points), marker=".", label=label, **style)
        degrees.plot(_at_least(one["degree_counts"]), **style)
    costs.set(xlabel="chunks re-embedded a query", ylabel="recall@3", ylim=(0.7, 1), xscale="log")
    plain_log(costs.xaxis)
    figure.legend(*costs.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    degrees.set(xlabel="links", ylabel="share of nodes with at least so many", yscale="log")
    return {"pruning": figure}


def _columns(points: list[dict[str, float]]) -> tuple[list[float], list[float]]:
    return [point["cost"] for point in points], [point["recall"] for point in points]


def _at_least(counts: list[int]) -> list[float]:
    """Share of nodes with that many links or more, for each number of links."""
    total = sum(counts)
    return [sum(counts[degree:]) / total for degree in range(len(counts))]


def _widest(records: Records) -> int:
    return int(records["hub_graph"].details["hub"][-1]["effort"])


def _spread(name: str, one: dict[str, Any]) -> list[str | float | None]:
    most = len(one["degree_counts"]) - 1
    share = percent(one["hub_link_share"])
    by_codes = one["codes_at"]
    return [NAMES[name], most, one["hub_links"], share, by_codes["0.90"], by_codes["0.95"]]


def _verdict(graphs: Graphs) -> str:
    full, slim = (min(_ratios(graphs, name), default=1.0) for name in ("full", "slim"))
    kept = {name: one["hub_links"] for name, one in graphs.items()}
    return (
        "**Against the paper.** "
        f"The hub-pruned graph has {graphs['hub']['links'] / graphs['full']['links']:.2f} of the "
        "original's links. "
        + either(
            full > 1 / 1.3,
            "It needs about as few re-embeddings as the original, as the paper says, or fewer. ",
            "It needs clearly more re-embeddings than the original somewhere, unlike the paper. ",
        )
        + _against("Random pruning", graphs, "random")
        + _against("Small M", graphs, "small M")
        + either(
            slim >= 1,
            "One-hop pruning does no better than hub-preserving here. ",
            "One-hop pruning, which needs no search to find its candidates, does better than "
            "hub-preserving at some recall. ",
        )
        + either(
            kept["hub"] > max(kept["random"], kept["small M"]),
            "As in the paper, hub-preserving pruning leaves the hubs more links than random "
            "pruning and small M do.",
            "Unlike in the paper, it is not hub-preserving pruning that leaves the hubs the most "
            "links: they may keep 60, but the rule that selects links leaves them "
            f"{kept['hub']:.0f} on average, and random pruning takes from all alike.",
        )
    )


def _ratios(graphs: Graphs, name: str) -> list[float]:
    """Re-embeddings as multiples of the hub-pruned graph's, at each recall that both reach."""
    pairs = [(graphs[name]["at"][recall], ours) for recall, ours in graphs["hub"]["at"].items()]
    return [rival / ours for rival, ours in pairs if rival and ours]


def _against(method: str, graphs: Graphs, name: str) -> str:
    failed = [
        recall
        for recall, ours in graphs["hub"]["at"].items()
        if ours and graphs[name]["at"][recall] is None
    ]
    worst = max(_ratios(graphs, name), default=None)
    if worst is None:
        return f"{method} reaches none of these recalls. "
    missed = f", and does not reach {' and '.join(failed)}" if failed else ""
    return (
        f"{method} needs up to {worst:.1f}× as many (paper: up to {PAPER[name]}×){missed}"
        + either(worst < 0.6 * PAPER[name] and not failed, ": far less of a loss here. ", ". ")
    )
