"""Gossamer under other people's harnesses: ann-benchmarks' contract, and mteb."""

from collections.abc import Mapping
from typing import Any

from benchmarks.document.curves import draw_curves, plain_log_axis, speed_at, speed_curves
from benchmarks.document.markdown import either, table
from benchmarks.document.records import Record, Records

ITEM = ""
TITLE = "As ann-benchmarks and mteb measure it"
CASES = ("ann_harness", "mteb_harness")
PICTURES = {"ann-harness": "recall against queries a second by ann-benchmarks' contract"}
TARGETS = (0.90, 0.95, 0.99)
RIVAL = "hnswlib"


def write(records: Records) -> list[str]:
    """Speed by one harness, quality by the other."""
    return [*_ann(records["ann_harness"]), *_mteb(records)]


def draw(records: Records) -> dict[str, Any]:
    """A panel for each set of vectors."""
    from matplotlib import pyplot as plt

    sets = records["ann_harness"].details["sets"]
    size = (4.5 * len(sets), 4)
    figure, grid = plt.subplots(
        1, len(sets), figsize=size, sharey=True, squeeze=False, layout="constrained"
    )
    panels = grid[0]
    for axes, (name, measured) in zip(panels, sets.items(), strict=True):
        draw_curves(axes, speed_curves(_curves(measured)))
        axes.set(title=name, xlabel="queries a second, one query a call", xscale="log")
        axes.set(ylim=(0.8, 1.005))
        plain_log_axis(axes.xaxis)
    panels[0].set(ylabel="recall@10")
    panels[-1].legend()
    return {"ann-harness": figure}


def _ann(record: Record) -> list[str]:
    sets = record.details["sets"]
    return [
        "[The module for ann-benchmarks](../benchmarks/ann_benchmarks/README.md) runs the stored "
        "mode. ann-benchmarks itself needs docker and its own downloads; these numbers come from a "
        "runner of ours that follows its contract with the same module and settings: one query a "
        "call on one thread, seconds on the clock, the best of some runs, and its own notion of "
        "recall (an answer counts if it is no farther than the true tenth). hnswlib runs beside it "
        "with the same degree and build effort (30 and 128).",
        table(
            ("", *(f"queries a second at {at}" for at in TARGETS), "build, s", "index, MB"),
            [
                (
                    f"{name}: {contender}",
                    *(speed_at(one["points"], at) for at in TARGETS),
                    one["build_s"],
                    one["memory_mb"],
                )
                for name, measured in sets.items()
                for contender, one in measured.items()
            ],
        ),
        _verdict(sets),
    ]


def _verdict(sets: Mapping[str, Any]) -> str:
    """Say who is faster at which recall, and how large the indexes are."""
    compared = []
    for name, measured in sets.items():
        speeds = {one: speed_at(found["points"], 0.95) for one, found in measured.items()}
        rival = speeds.pop(RIVAL)
        best = max(speeds, key=lambda one: speeds[one] or 0)
        fastest = speeds[best]
        if fastest and rival:
            faster = either(fastest >= rival, "ahead of", "behind")
            compared.append(f"on {name} {best} is {faster} hnswlib ({fastest / rival:.2f} times)")
    if not compared:
        return "No contender reaches a recall of 0.95 with the efforts tried."
    return (
        "At a recall of 0.95, " + "; ".join(compared) + ". Ours is the best of its groups, "
        "hnswlib has one (M=30, efConstruction=128)."
    )


def _curves(measured: Mapping[str, Any]) -> dict[str, Any]:
    return {contender: one["points"] for contender, one in measured.items()}


def _mteb(records: Records) -> list[str]:
    """Give nDCG@10 by both measures; a sentence if mteb did not run."""
    if "mteb_harness" not in records:
        return ["mteb was not run: it needs an environment of its own, with torch."]
    record = records["mteb_harness"]
    theirs, ours, sizes = (record.details[key] for key in ("mteb", "ours", "sizes"))
    most = max(abs(theirs[name][mode] - ours[name][mode]) for name in theirs for mode in ours[name])
    return [
        f"mteb {record.versions.get('mteb', '')} evaluated `gossamer.integrations.mteb` on sets "
        "that are here, given to it as tasks of its own: nDCG@10 as mteb computes it, and as our "
        "own benchmarks do. "
        + either(
            most <= 0.005,
            f"The two agree to {most:.4f}.",
            f"They differ by up to {most:.4f}, which they should not.",
        ),
        table(
            ("nDCG@10", "documents", "questions", "by mteb", "by ours"),
            [
                (
                    f"{name}: {mode}",
                    sizes[name]["documents"],
                    sizes[name]["questions"],
                    f"{score:.4f}",
                    f"{ours[name][mode]:.4f}",
                )
                for name, scores in theirs.items()
                for mode, score in scores.items()
            ],
        ),
    ]
