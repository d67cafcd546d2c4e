"""What two-level search, batches and our scan of codes save, step by step."""

from typing import Any

from benchmarks.document.markdown import either, table
from benchmarks.document.records import Records
from benchmarks.report import show

ITEM = "LEANN Fig. 5"
TITLE = "Search, step by step"
CASES = ("two_level",)
PICTURES = {
    "ablation": "Bars: how much faster than naive search each step is on each set of texts, "
    "on this CPU and where a round costs the same however large it is"
}

NAMES = {
    "naive": "naive: best-first, every neighbor re-embedded",
    "two-level": "+ two-level search",
    "batches": "+ batches of 64",
    "scan": "scan of codes, fixed number",
    "adaptive": "scan of codes, adaptive stop",
}
# LEANN, section 7.3: mean speed-up over naive search, on a GPU.
PAPER = {"two-level": 1.4, "batches": 1.8}

Steps = dict[str, dict[str, float] | None]


def write(records: Records) -> list[str]:
    """A table for each set's steps, then what the paper says."""
    details = records["two_level"].details
    if "sets" not in details:
        return []
    return [
        _how(details),
        table(
            ["", "chunks", "re-embedded", "rounds", "seconds", "faster", "fewer rounds"],
            [line for name, found in details["sets"].items() for line in _lines(name, found)],
        ),
        _batch_sentence(details["batch_seconds"]),
        _verdict(details["sets"]),
    ]


def draw(records: Records) -> dict[str, Any]:
    """Bars for each set: speed-up on this CPU, and fewer rounds."""
    from matplotlib import pyplot as plt

    sets = records["two_level"].details.get("sets")
    if sets is None:
        return {}
    figure, panels = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    titles = {"seconds": "on this CPU", "rounds": "where a round costs the same, large or small"}
    steps = [step for step in NAMES if step != "naive"]
    for axes, (what, title) in zip(panels, titles.items(), strict=True):
        for number, step in enumerate(steps):
            places = [place + 0.2 * (number - 1.5) for place in range(len(sets))]
            gains = [_gain(found["steps"], step, what) or 0 for found in sets.values()]
            bars = axes.bar(places, gains, width=0.19, label=NAMES[step].lstrip("+ "))
            axes.bar_label(bars, fmt="%.1f", fontsize=6, rotation=90, padding=2)
        axes.set_xticks(range(len(sets)), list(sets))
        axes.margins(y=0.15)
        axes.grid(visible=False, axis="x")
        axes.set_title(title, fontsize=9)
        axes.set_ylabel("times faster than naive search")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return {"ablation": figure}


def _how(details: dict[str, Any]) -> str:
    queries = [found["queries"] for found in details["sets"].values()]
    return (
        "The same hub-pruned graph and codes for all; what is counted is a query's mean at "
        f"recall@3 ≥ {details['target']:.2f}, {min(queries)} queries or more a set, the smallest "
        "effort that reaches it. A round is one call of the model; without batches it holds the "
        "chunks of one hop. Seconds are re-embedded chunks times what the model took for one in "
        "batches of the mean size, measured in this run; the walk or the scan itself is left out. "
        "Where a round costs the same however "
        "many chunks it holds, as nearly on a large GPU, the last column is the speed-up."
    )


def _lines(name: str, found: dict[str, Any]) -> list[list[str | float | None]]:
    lines: list[list[str | float | None]] = []
    for step, cost in found["steps"].items():
        head: list[str | float | None] = [f"{name}, {NAMES[step]}", found["chunks"]]
        if cost is None:
            lines.append([*head, "does not reach it", "", "", "", ""])
            continue
        gains = [_times(_gain(found["steps"], step, what)) for what in ("seconds", "rounds")]
        lines.append([*head, cost["vectors"], cost["rounds"], cost["seconds"], *gains])
    return lines


def _times(gain: float | None) -> str:
    return "–" if gain is None else f"{gain:.1f}×"


def _gain(steps: Steps, step: str, what: str) -> float | None:
    """How many times less a step takes than naive search."""
    naive, cost = steps.get("naive"), steps.get(step)
    return naive[what] / cost[what] if naive and cost else None


def _batch_sentence(batch_seconds: dict[str, float]) -> str:
    each = {int(size): 1000 * seconds / int(size) for size, seconds in batch_seconds.items()}
    one, largest = min(each), max(each)
    told = ", ".join(f"{show(each[size])} ms in batches of {size}" for size in sorted(each))
    return f"The model takes {told}, a chunk. " + either(
        each[one] < 1.3 * each[largest],
        "On this CPU batches save next to nothing, so what counts is how few chunks are "
        "re-embedded.",
        "On this CPU batches let all cores work.",
    )


def _verdict(sets: dict[str, Any]) -> str:
    mean = {
        step: _mean([_gain(found["steps"], step, "seconds") for found in sets.values()])
        for step in NAMES
    }
    rounds = _mean([_gain(found["steps"], "batches", "rounds") for found in sets.values()])
    alone = _mean([_gain(found["steps"], "two-level", "rounds") for found in sets.values()])
    return (
        "**Against the paper.** "
        f"The paper reports {PAPER['two-level']}× on average for two-level search and "
        f"{PAPER['batches']}× with batches (other data, 768 dimensions, a GPU). Here two-level "
        f"search gives {mean['two-level']:.1f}× on the CPU: "
        + either(mean["two-level"] >= PAPER["two-level"], "it holds, and by more. ", "less. ")
        + either(
            mean["batches"] < mean["two-level"],
            f"Batches do not pay on a CPU ({mean['batches']:.1f}×): the search goes on with stale "
            "distances and re-embeds more. ",
            f"With batches it is {mean['batches']:.1f}×. ",
        )
        + either(rounds > alone, "They do cut rounds: ", "Nor do they cut rounds: ")
        + f"{rounds:.1f} times fewer than naive search has, where two-level search alone has "
        f"{alone:.1f} times fewer. The scan of codes "
        + either(
            mean["scan"] > max(mean["two-level"], mean["batches"]),
            "goes further than both: ",
            "does not go further: ",
        )
        + f"{mean['scan']:.0f}× with a fixed number and {mean['adaptive']:.0f}× with the adaptive "
        "stop, which asks in several rounds and for five chunks at least. All efforts are chosen "
        "for each set with its true nearest known, and its 32-byte codes are trained on the set; "
        "the codes that ship need more (see the section before)."
    )


def _mean(gains: list[float | None]) -> float:
    known = [gain for gain in gains if gain is not None]
    return sum(known) / len(known) if known else 0.0
