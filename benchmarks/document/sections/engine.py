"""The engine on its own: codes, the adaptive stop, speed, bytes, time of builds and inserts."""

from typing import Any

from benchmarks.document.curves import (
    Curve,
    as_curve,
    draw_curves,
    frontier,
    plain_log_axis,
    speed_at,
    speed_curves,
)
from benchmarks.document.markdown import either, row_table, table
from benchmarks.document.records import Record, Records, named_rows

ITEM = ""
TITLE = "The engine: vectors asked for, speed, bytes, build, insert, open"
CASES = (
    "codes",
    "adaptive",
    "stored_qps",
    "graph_bytes",
    "build_time",
    "prune_time",
    "scan_speed",
    "insert",
    "open_1m",
    # of other sections, for the first plot
    "hub_graph",
    "two_level",
)
PICTURES = {
    "recall-vectors": "recall@3 against exact vectors asked for: codes, faiss OPQ, graphs",
    "recall-qps": "recall@10 against queries a CPU second, all vectors kept",
}
NEEDS = {"recall-qps": "stored_qps"}
REST = {
    "graph_bytes": "slim graph of MDN (B a node)",
    "build_time": "build of MDN, two threads, s",
    "prune_time": "pruning",
    "scan_speed": "scan of a million codes of 32 B (small run: 250,000)",
    "insert": "insert, one thread",
    "open_1m": "a million vectors",
}
TARGETS = (0.95, 0.99)
CODE_SIZES = (32, 16)


def write(records: Records) -> list[str]:
    """Vectors that a search must ask for, speed with all vectors, and the rest in one table."""
    blocks = [*_codes(records["codes"])]
    if "adaptive" in records:
        blocks += _adaptive(records["adaptive"])
    if "stored_qps" in records:
        blocks += _stored(records["stored_qps"])
    if rest := named_rows(records, REST):
        blocks += ["**Bytes, builds, scans, inserts, opening.**", row_table(rest)]
    return blocks


def contradictions(records: Records) -> list[str]:
    """What the adaptive stop and the local re-prune do not hold."""
    said = []
    if "adaptive" in records and (missed := _missed(records["adaptive"])):
        ratios = ", ".join(f"{row['ours'] / row['rival']:.2f}× at {row['what']}" for row in missed)
        said.append(
            "The adaptive stop was to ask for at most 0.8 times the vectors of a fixed number at "
            f"the same recall; it asks for {ratios}: at low recalls there is little to stop early."
        )
    if "codes" in records:
        said += [
            f"{row['what']}: faiss's OPQ codes, ranked by the cosine to what they decode to (faiss "
            f"itself does not), would need {row['rival']:.0f} vectors, ours {row['ours']:.0f}."
            for row in records["codes"].rows
            if row["rival_name"] == "faiss OPQ, by cosine" and row["rival"] < row["ours"]
        ]
    if "insert" in records:
        said += [
            f"Pruning again after an insert was to take time that does not grow with the index; "
            f"{row['what']}, takes {row['ours'] / row['rival']:.2f} times as long."
            for row in _missed(records["insert"])
            if row["by_ratio"]
        ]
    return said


def draw(records: Records) -> dict[str, Any]:
    """Recall against vectors asked for, and against speed."""
    figures = {"recall-vectors": _draw_vectors(records)}
    if "stored_qps" in records:
        figures["recall-qps"] = _draw_speed(records["stored_qps"])
    return figures


def _codes(record: Record) -> list[str]:
    compared = [row for row in record.rows if row["rival_name"] == "faiss OPQ"]
    wins = all(row["ours"] <= row["rival"] for row in compared)
    return [
        "**Codes.** No vector is kept: all codes are compared, and the exact vectors of the best "
        "are asked for. How many that must be for a recall@3, against faiss's OPQ of the same "
        "bytes on the same queries: "
        + either(wins, "fewer for every size and recall.", "not always fewer."),
        table(
            ("", "ours", "faiss OPQ", "ours / faiss"),
            [(row["what"], row["ours"], row["rival"], _times(row)) for row in compared],
        ),
    ]


def _adaptive(record: Record) -> list[str]:
    return [
        "**The adaptive stop** asks for vectors in rounds until more would not change the answer. "
        "What it asks for on average, against the fixed number that reaches the same recall:",
        table(
            ("", "adaptive", "fixed", "adaptive / fixed"),
            [(row["what"], row["ours"], row["rival"], _times(row)) for row in record.rows],
        ),
    ]


def _stored(record: Record) -> list[str]:
    qps = record.details["qps"]
    speeds = {name: [speed_at(curve, at) for at in TARGETS] for name, curve in qps.items()}
    return [
        "**All vectors kept**: queries a CPU second on one thread at a recall@10, everybody with "
        "M=30 and efConstruction=128, in turns in one process. Ours holds f16, the others f32.",
        table(("", *(f"at {at}" for at in TARGETS)), [(name, *at) for name, at in speeds.items()]),
    ]


def _times(row: dict[str, Any]) -> str:
    return f"{row['ours'] / row['rival']:.2f}×" if row["rival"] else "–"


def _missed(record: Record) -> list[dict[str, Any]]:
    return [row for row in record.rows if row["verdict"] == "miss"]


def _draw_vectors(records: Records) -> Any:
    from matplotlib import pyplot as plt

    curves: dict[str, Curve] = {}
    for size in CODE_SIZES:
        if f"curve_{size}" not in records["codes"].details:
            continue  # a small run has one size
        curves[f"scan, {size} B codes"] = records["codes"].details[f"curve_{size}"]
        curves[f"faiss OPQ, {size} B"] = records["codes"].details[f"rival_curve_{size}"]
    if "hub_graph" in records and (points := records["hub_graph"].details.get("hub")):
        curves["hub graph, exact-steered"] = as_curve(points)
    if "two_level" in records and (family := records["two_level"].details.get("two-level")):
        points = [point for curve in family for point in as_curve(curve)]
        curves["hub graph, two-level"] = frontier(points)
    figure, axes = plt.subplots(figsize=(8, 4.4), layout="constrained")
    draw_curves(axes, curves)
    axes.set(xlabel="exact vectors asked for, per query", ylabel="recall@3")
    axes.set(xscale="log", ylim=(0.7, 1.0))
    plain_log_axis(axes.xaxis)
    axes.legend()
    return figure


def _draw_speed(record: Record) -> Any:
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 4.4), layout="constrained")
    draw_curves(axes, speed_curves(record.details["qps"]))
    axes.set(xlabel="queries a CPU second, one thread", ylabel="recall@10")
    axes.set(xscale="log", ylim=(0.8, 1.0))
    plain_log_axis(axes.xaxis)
    axes.legend()
    return figure
