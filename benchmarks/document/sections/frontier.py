"""Bytes a chunk against vectors asked for."""

from typing import Any

from benchmarks.document.axes import plain_log
from benchmarks.document.markdown import Cell, either, table
from benchmarks.document.records import Records
from benchmarks.document.shipped import SEEN

ITEM = ""
TITLE = "The frontier: bytes a chunk against chunks embedded again"
CASES = ("frontier",)
PICTURES = {
    "frontier": "Bytes a chunk against chunks embedded again per query at recall@3 0.90, a panel "
    "for each set",
}
SHOWN = "0.90"
MARKS = {"ours": "o", "ours, hot vectors": "D", "faiss": "s", "LEANN's design": "^"}
LEANN = "hub graph + codes, two-level"
SHIPPED = "codes, 24 B, shipped with the model"


def write(records: Records) -> list[str]:
    """One table with all sets beside each other."""
    details = records["frontier"].details
    return [_intro(details), _table(details), _against(details)]


def contradictions(records: Records) -> list[str]:
    """Where the codebook that ships does worse than the design that it is to replace."""
    said = []
    for name, measured in records["frontier"].details["sets"].items():
        asked = [
            found["asked"][SHOWN]
            for layout in (SHIPPED, LEANN)
            if (found := _find(measured, layout)) is not None
        ]
        if len(asked) == 2 and None not in asked and asked[0] > asked[1]:
            said.append(
                f"{name}: scanned with a fixed number, the shipped 24-byte codes ask for "
                f"{asked[0]:,.0f} chunks at recall@3 {SHOWN}, LEANN's layout for {asked[1]:,.0f}."
            )
    return said


def draw(records: Records) -> dict[str, Any]:
    """A panel for each set; below and to the left is better."""
    from matplotlib import pyplot as plt

    sets = records["frontier"].details["sets"]
    figure, panels = plt.subplots(
        1, len(sets), figsize=(9, 4), sharey=True, squeeze=False, layout="constrained"
    )
    for axes, (name, measured) in zip(panels[0], sets.items(), strict=True):
        for color, (family, mark) in enumerate(MARKS.items()):
            _draw_family(axes, measured["layouts"], family, mark, f"C{color}")
        axes.set(title=f"{name}, {measured['chunks']:,} chunks", xscale="log", yscale="log")
        axes.set(xlabel="bytes a chunk")
        axes.set_xticks([8, 16, 32, 64, 128], ["8", "16", "32", "64", "128"])
        plain_log(axes.yaxis)
        axes.minorticks_off()
    panels[0][0].set(ylabel=f"chunks embedded again per query, recall@3 {SHOWN}")
    handles, names = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=len(names))
    return {"frontier": figure}


def _draw_family(axes: Any, layouts: list[dict[str, Any]], family: str, mark: str, c: str) -> None:
    reached = [one for one in layouts if one["asked"][SHOWN] is not None]
    points = [
        (one["chunk_bytes"], one["asked"][SHOWN])
        for one in reached
        if one["family"] == family and one["name"] != SHIPPED
    ]
    if points:
        axes.plot(*zip(*points, strict=True), mark, color=c, label=family, alpha=0.8)
    shipped = [
        (one["chunk_bytes"], one["asked"][SHOWN]) for one in reached if one["name"] == SHIPPED
    ]
    if family == "ours" and shipped:
        label = "ours, shipped with the model"
        axes.plot(*zip(*shipped, strict=True), "*", color="C4", label=label, markersize=10)
    trained = [(one["chunk_bytes"], one["asked"][SHOWN]) for one in layouts if _is_trained(one)]
    if family == "ours" and trained:
        axes.plot(*zip(*trained, strict=True), "-", color=c, alpha=0.6)


def _is_trained(layout: dict[str, Any]) -> bool:
    """Our codes of one length and nothing else: the line that the others are held against."""
    name = layout["name"]
    return name.startswith("codes, ") and name.endswith(" B") and layout["asked"][SHOWN] is not None


def _intro(details: dict[str, Any]) -> str:
    sets = ", ".join(
        f"{name} ({one['chunks']:,} chunks, {one['queries']} queries)"
        for name, one in details["sets"].items()
    )
    return (
        "What an index keeps of a chunk is paid in bytes; what it does not keep is paid by "
        "embedding chunks again for a query. Each cell gives the chunks embedded again to reach "
        f"recall@3 {', '.join(details['targets'])}; a dash where 16,384 do not suffice or no "
        f"setting got there. Sets: {sets}. *B a chunk* is what grows with the chunks (codes, "
        "links, kept vectors); a codebook comes once an index, but not where it ships with the "
        f"model. {SEEN} Our other codebooks were trained on all chunks of a set, as OPQ; faiss's "
        "PQ on at most 20,000 of them; faiss ranks by L2. Two-level search and exact distances "
        "are LEANN's design (M=30, m=6, β=4 %; wider: M=60, m=12; the best of four α, batches of "
        "16) with four bytes a link; *packed* is the same graph as "
        "our file holds it. Hot vectors are those of a new index, before any query."
    )


def _table(details: dict[str, Any]) -> str:
    sets = details["sets"]
    header = ["", "B a chunk", "codebook, KB", *sets]
    first = next(iter(sets.values()))["layouts"]
    rows: list[list[Cell]] = []
    for layout in first:
        row: list[Cell] = [layout["name"], layout["chunk_bytes"], layout["once_bytes"] / 1000]
        for measured in sets.values():
            found = _find(measured, layout["name"])
            row.append("" if found is None else _cells(found["asked"]))
        rows.append(row)
    return table(header, rows)


def _find(measured: dict[str, Any], name: str) -> dict[str, Any] | None:
    return next((one for one in measured["layouts"] if one["name"] == name), None)


def _cells(asked: dict[str, float | None]) -> str:
    return " / ".join("–" if count is None else f"{count:,.0f}" for count in asked.values())


def _against(details: dict[str, Any]) -> str:
    said = [
        "**Against the paper.** LEANN's layout keeps links and codes, and is steered by exact "
        "distances."
    ]
    for name, measured in details["sets"].items():
        leann = _find(measured, LEANN)
        if leann is None or leann["asked"][SHOWN] is None:
            continue
        below = [
            one
            for one in measured["layouts"]
            if _is_trained(one) and one["chunk_bytes"] < leann["chunk_bytes"]
        ]
        better = [one for one in below if one["asked"][SHOWN] < leann["asked"][SHOWN]]
        here = f"{leann['chunk_bytes']:.0f} B and {leann['asked'][SHOWN]:,.0f} chunks"
        smallest = min(better, key=lambda one: one["chunk_bytes"], default=None)
        said.append(
            f"On {name} it stands at {here}; "
            + (
                "no codes alone are both smaller and cheaper."
                if smallest is None
                else f"codes of {smallest['chunk_bytes']:.0f} B alone, trained on the set, need "
                f"{smallest['asked'][SHOWN]:,.0f}."
            )
            + _shipped(measured, leann["asked"][SHOWN])
        )
    return " ".join([*said, *_steered(details)])


def _shipped(measured: dict[str, Any], leann: float) -> str:
    """The codebook that a folder gets without training."""
    found = _find(measured, SHIPPED)
    if found is None or found["asked"][SHOWN] is None:
        return ""
    asked = found["asked"][SHOWN]
    return either(
        asked < leann,
        f" The shipped codebook needs {asked:,.0f}.",
        f" **The shipped codebook needs {asked:,.0f}, more than LEANN's layout**, though in "
        f"{found['chunk_bytes']:.0f} B.",
    )


def _steered(details: dict[str, Any]) -> list[str]:
    """What steers the walk of the same graph."""
    packed = "packed hub graph + codes, code-steered"
    first = next(iter(details["sets"].values()))
    steered, levels = _find(first, packed), _find(first, LEANN)
    if not (steered and levels and steered["asked"][SHOWN] and levels["asked"][SHOWN]):
        return []
    return [
        either(
            steered["asked"][SHOWN] < levels["asked"][SHOWN],
            "The same graph steered by codes needs fewer than steered by exact distances: the "
            "graph then saves estimates, not embeddings.",
            "The same graph steered by codes does not need fewer.",
        )
    ]
