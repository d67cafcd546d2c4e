"""Recall against speed of the slim graph and the HNSWs it stands in for: HNSW-Slim's figure 6."""

from typing import Any

from benchmarks.document.curves import draw_curves, plain_log_axis, speed_at, speed_curves
from benchmarks.document.markdown import either, table
from benchmarks.document.records import Record, Records

ITEM = "HNSW-Slim Fig. 6"
TITLE = "The slim graph: recall against speed"
CASES = ("slim_rivals",)
PICTURES = {"slim-rivals": "recall@10 against queries a CPU second on three sets of vectors"}
TARGETS = (0.95, 0.99)
HNSWLIB = "hnswlib"
DEFAULT = "slim f16:8"
PAPER_SMALLER = "4.5 to 5.7"  # section 7.2, of table 2
# The same numbers in the same precision as the rivals', and with more links for hard sets.
SAME_PRECISION, MORE_LINKS = "slim f32:8", "slim f16:12"


def write(records: Records) -> list[str]:
    """A row for every contender on every set."""
    record = records["slim_rivals"]
    return [
        "Everybody walks with M=30 and efConstruction=128, on one thread, in turns in one process; "
        "bytes are those of links and levels, without vectors. “slim f16:8” is what an edge gets "
        "unless told otherwise: vectors in 16 bits, 8 links a node kept at the base (more for hubs "
        "and by reverse links).",
        table(
            (
                "",
                "graph B a node in memory",
                "on disk",
                *(f"queries a CPU s at {at}" for at in TARGETS),
            ),
            [
                (f"{name}: {contender}", bytes_["memory"], bytes_["disk"], *_speeds(curve))
                for name, measured in record.details.items()
                for contender, bytes_, curve in _contenders(measured)
            ],
        ),
        _against(record),
    ]


def contradictions(records: Records) -> list[str]:
    """Where a slim graph is not both smaller and at least as fast."""
    return _unreached(records["slim_rivals"])


def _unreached(record: Record) -> list[str]:
    """The sets on which a default edge does not reach the highest recall."""
    said = []
    for name, measured in record.details.items():
        slim, full = (speed_at(measured["qps"][one], 0.99) for one in (DEFAULT, HNSWLIB))
        if slim is None and full is not None:
            said.append(
                f"{name}: the slim graph with 8 links a node does not reach a recall@10 of 0.99 at "
                "any effort tried, where the full HNSW does; with 12 it "
                + either(
                    speed_at(measured["qps"][MORE_LINKS], 0.99) is not None, "does.", "does not."
                )
            )
    return said


def draw(records: Records) -> dict[str, Any]:
    """A panel for each set of vectors."""
    from matplotlib import pyplot as plt

    sets = records["slim_rivals"].details
    size = (4.2 * len(sets), 4.2)
    figure, grid = plt.subplots(
        1, len(sets), figsize=size, sharey=True, squeeze=False, layout="constrained"
    )
    panels = grid[0]
    for axes, (name, measured) in zip(panels, sets.items(), strict=True):
        draw_curves(axes, speed_curves(measured["qps"]))
        slim, full = (measured["bytes"][kind]["memory"] for kind in (DEFAULT, HNSWLIB))
        axes.set(title=f"{name}: {slim:.0f} B a node, hnswlib {full:.0f} B")
        axes.set(xlabel="queries a CPU second, one thread", xscale="log", ylim=(0.8, 1.0))
        plain_log_axis(axes.xaxis)
    panels[0].set(ylabel="recall@10")
    panels[-1].legend()
    return {"slim-rivals": figure}


def _contenders(measured: dict[str, Any]) -> list[tuple[str, dict[str, float], Any]]:
    return [(name, measured["bytes"][name], curve) for name, curve in measured["qps"].items()]


def _speeds(curve: Any) -> list[float | None]:
    return [speed_at(curve, at) for at in TARGETS]


def _against(record: Record) -> str:
    smaller = [
        measured["bytes"][HNSWLIB]["memory"] / measured["bytes"][DEFAULT]["memory"]
        for measured in record.details.values()
    ]
    faster, alike = (_factors(record, name) for name in (DEFAULT, SAME_PRECISION))
    return (
        f"**Against the paper.** It has graphs {PAPER_SMALLER} times smaller than HNSW's, and of "
        "all indexes that run on a small device itself its own answers most queries a second; the "
        f"full HNSW stands on a server there. Here the graph is {min(smaller):.0f} to "
        f"{max(smaller):.0f} times smaller than hnswlib's, and beside it in one process an edge's "
        f"default answers, at recall@10 0.95, {_list(faster)} as many queries. "
        + either(
            _is_fast(faster),
            "So with the shorter vectors nothing is paid for the smaller graph at this recall",
            "So the smaller graph is paid for on some sets",
        )
        + f"; with vectors of 32 bits, as hnswlib has them, it is {_list(alike)}"
        + either(_is_fast(alike), ".", ", so the graph alone costs speed where that is below 1.")
        + "".join(f" {said}" for said in _unreached(record))
    )


def _is_fast(factors: dict[str, float | None]) -> bool:
    return all(factor is not None and factor >= 1 for factor in factors.values())


def _factors(record: Record, name: str) -> dict[str, float | None]:
    """Queries a second against hnswlib's at recall 0.95, on each set."""
    factors = {}
    for where, measured in record.details.items():
        ours, rival = (speed_at(measured["qps"][one], 0.95) for one in (name, HNSWLIB))
        factors[where] = ours / rival if ours and rival else None
    return factors


def _list(factors: dict[str, float | None]) -> str:
    return ", ".join(
        f"{'–' if factor is None else f'{factor:.2f}×'} ({where})"
        for where, factor in factors.items()
    )
