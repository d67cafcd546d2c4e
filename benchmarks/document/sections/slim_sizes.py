"""Sizes of graphs and what building and pruning them takes: HNSW-Slim's tables 2 and 3."""

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.document.markdown import either, percent, table
from benchmarks.document.records import Record, Records

ITEM = "HNSW-Slim Table 2, 3"
TITLE = "The slim graph: size, build and prune time"
CASES = ("slim_sizes",)
PICTURES = {"slim-sizes": "bytes a node of each graph in memory, and what of them are links"}
SLIM, FULL, HNSW, NSG = "slim f16", "full f16", "hnswlib", "faiss NSG"
HUB, VAMANA = "hub f16 (LEANN)", "SVS Vamana"
RIVAL_GRAPHS = (HNSW, "faiss HNSW", "usearch", NSG, VAMANA)
GRAPHS = (SLIM, HUB, FULL, *RIVAL_GRAPHS)
PAPER_SMALLER = (4.5, 5.7)  # section 7.2, HNSW's size over HNSW-Slim's
PAPER_PRUNING = (0.019, 0.074)  # section 7.2, pruning over building
PAPER_FASTER_THAN_NSG = (238.3, 424.5)  # section 7.2, prune times
PAPER_FASTER_THAN_LEANN = (16.5, 59.8)
PLAIN_LINK_BYTES = 4


def write(records: Records) -> list[str]:
    """Graphs over whole vectors first, then all that takes less than those."""
    record = records["slim_sizes"]
    blocks = [
        "Bytes a node of links and levels, without vectors. HNSWs are built "
        "with M=30 and efConstruction=128, NSG with 32 links from the 64 nearest (by descent), "
        "Vamana with 32 links and a window of 128, its library's own α. All build on two "
        "threads; seconds are CPU time of both. “full” is our graph before pruning, “hub” the "
        "same pruned by LEANN's rule. Locks and name tables that rivals hold besides are not "
        f"counted. {_sets(record)}",
        _table(record, {"in memory": "memory", "on disk": "disk", "links": "links"}, GRAPHS),
        "With vectors or codes: bytes a node of the whole file, and what its graph finds at an "
        f"effort of {record.details['effort']}. SQ8 and PQ hold codes in place of vectors under a "
        "full HNSW, the other way to a small index (PQ, where it was run, a byte for four "
        "numbers). NSG and PQ go by L2 on every set; where others go by inner product, vectors "
        "have one length, which gives the same order. NSSG, NGT-QG, SymphonyQG and Glass, which "
        "the paper has besides, were not run.",
        _table(record, {"file": "total", "recall@10": "recall", "build CPU s": "build_s"}, None),
        _steps(record),
    ]
    if not all(VAMANA in measured["sizes"] for _, measured in _measured(record)):
        blocks.append("Vamana was not measured in this run: the package `scalable-vs` was missing.")
    return [*blocks, _against(record)]


def contradictions(records: Records) -> list[str]:
    """Where pruning takes more of the build than the paper has it, or a graph is not smaller."""
    said = []
    for where, measured in _measured(records["slim_sizes"]):
        steps, sizes = measured["steps"], measured["sizes"]
        share = steps["slim_prune_s"] / steps["build_s"]
        if share > PAPER_PRUNING[1]:
            said.append(
                f"{where}: pruning to a slim graph takes {percent(share)} of the time of building, "
                f"more than the paper's {percent(PAPER_PRUNING[1])}."
            )
        if sizes[HUB]["memory"] < sizes[SLIM]["memory"]:
            said.append(
                f"{where}: LEANN's rule with our default degrees leaves a smaller graph "
                f"({sizes[HUB]['memory']:.1f} B a node) than HNSW-Slim's "
                f"({sizes[SLIM]['memory']:.1f} B), against the paper's table 2."
            )
    return said


def draw(records: Records) -> dict[str, Any]:
    """Bars of bytes a node, the part that is links in four bytes each below."""
    from matplotlib import pyplot as plt

    sets = dict(_measured(records["slim_sizes"]))
    figure, panels = plt.subplots(
        1, len(sets), figsize=(9, 4), sharey=True, squeeze=False, layout="constrained"
    )
    for axes, (where, measured) in zip(panels[0], sets.items(), strict=True):
        shown = {name: size for name, size in measured["sizes"].items() if name in GRAPHS}
        axes.barh(list(shown), [size["memory"] for size in shown.values()])
        plain = {
            name: PLAIN_LINK_BYTES * size["links"]
            for name, size in shown.items()
            if size["links"] is not None
        }
        axes.plot(list(plain.values()), list(plain), "k|", markersize=12)
        axes.set(title=where, xlabel="graph, bytes a node in memory")
    panels[0][0].invert_yaxis()
    panels[0][-1].plot([], [], "k|", markersize=12, label="its links, 4 B each")
    panels[0][-1].legend()
    return {"slim-sizes": figure}


def _measured(record: Record) -> list[tuple[str, dict[str, Any]]]:
    return list(record.details["sets"].items())


def _sets(record: Record) -> str:
    sets = (
        f"{where} {measured['count']:,} × {measured['dim']}"
        for where, measured in _measured(record)
    )
    return f"Vectors: {', '.join(sets)}."


def _table(record: Record, columns: Mapping[str, str], names: Sequence[str] | None) -> str:
    """A row for each graph, some columns for each set; a dash where it was not measured."""
    sets = dict(_measured(record))
    known = list(dict.fromkeys(name for one in sets.values() for name in one["sizes"]))
    return table(
        ["", *(f"{where}: {what}" for where in sets for what in columns)],
        [
            [
                name,
                *(
                    one["sizes"].get(name, {}).get(key)
                    for one in sets.values()
                    for key in columns.values()
                ),
            ]
            for name in known
            if names is None or name in names
        ],
    )


def _steps(record: Record) -> str:
    """What pruning takes, by rule."""
    rows = []
    for where, measured in _measured(record):
        steps, nsg = measured["steps"], measured["sizes"][NSG]
        for name, building, pruning in (
            ("slim", steps["build_s"], steps["slim_prune_s"]),
            ("hub (LEANN's rule, our code)", steps["build_s"], steps["hub_prune_s"]),
            (NSG, nsg["build_s"] - nsg["prune_s"], nsg["prune_s"]),
        ):
            rows.append((f"{where}: {name}", building, pruning, percent(pruning / building)))
    header = ("", "first graph, CPU s", "pruning it, CPU s", "pruning / first")
    return table(header, rows)


def _against(record: Record) -> str:
    sets = [measured for _, measured in _measured(record)]
    smaller = _factors(
        sets, lambda one: one["sizes"][HNSW]["memory"] / one["sizes"][SLIM]["memory"]
    )
    by_layout = _factors(
        sets, lambda one: one["sizes"][HNSW]["memory"] / one["sizes"][FULL]["memory"]
    )
    by_pruning = _factors(
        sets, lambda one: one["sizes"][FULL]["memory"] / one["sizes"][SLIM]["memory"]
    )
    pruning = [one["steps"]["slim_prune_s"] / one["steps"]["build_s"] for one in sets]
    nsg = _factors(sets, lambda one: one["sizes"][NSG]["prune_s"] / one["steps"]["slim_prune_s"])
    leann = _factors(sets, lambda one: one["steps"]["hub_prune_s"] / one["steps"]["slim_prune_s"])
    smallest = all(
        one["sizes"][SLIM]["memory"] < one["sizes"][name]["memory"]
        for one in sets
        for name in RIVAL_GRAPHS
        if name in one["sizes"]
    )
    return (
        "**Against the paper.** Its graphs are "
        f"{_range(PAPER_SMALLER)} smaller than HNSW's; here {_range(smaller)}. Of that, "
        f"{_range(by_layout)} come from how links are written (no empty slots, near nodes with "
        f"near numbers), and {_range(by_pruning)} from pruning. "
        + either(
            smallest,
            "The slim graph is smaller than that of every rival, as in the paper. ",
            "The slim graph is not smaller than that of every rival. ",
        )
        + _against_hub(record)
        + f"Pruning takes at most {percent(max(pruning))} of the time of building "
        f"(paper: {percent(PAPER_PRUNING[0])} to {percent(PAPER_PRUNING[1])}). It is "
        f"{_range(nsg)} faster than NSG's choice of links (paper: "
        f"{_range(PAPER_FASTER_THAN_NSG)}) and {_range(leann)} faster than LEANN's rule in our "
        f"own code (paper: {_range(PAPER_FASTER_THAN_LEANN)}, of its authors' code)."
    )


def _against_hub(record: Record) -> str:
    """LEANN's rule is ours to run, with our degrees: on some sets it keeps fewer links."""
    smaller = [
        where
        for where, one in _measured(record)
        if one["sizes"][HUB]["memory"] < one["sizes"][SLIM]["memory"]
    ]
    if not smaller:
        return ""
    return f"LEANN's rule in our code leaves a smaller one on {' and '.join(smaller)}. "


def _factors(sets: list[dict[str, Any]], factor: Any) -> tuple[float, float]:
    values = [factor(one) for one in sets]
    return min(values), max(values)


def _range(values: tuple[float, float]) -> str:
    """Give a range of factors, once where both ends read the same."""
    low, high = (f"{value:.3g}×" for value in values)
    return low if low == high else f"{low} to {high}"
