"""What adding a chunk costs where no vectors are kept."""

from typing import Any

from benchmarks.document.markdown import Cell, either, table
from benchmarks.document.records import Records

ITEM = "LEANN Figure 9, appendix B"
TITLE = "Update cost, step by step"
CASES = ("update_steps",)
PICTURES = {
    "update-steps": "Vectors asked for to add one chunk: LEANN's design step by step, and ours",
}
# LEANN, section 7.4: how much faster its last step is than its first.
PAPER_SPEEDUP = 63.3


def write(records: Records) -> list[str]:
    """What was done, the steps, and the comparison."""
    details = records["update_steps"].details
    return [_intro(details), _steps(details), _notes(details), _against(details)]


def contradictions(records: Records) -> list[str]:
    """Say it where the paper's gain is not seen."""
    details = records["update_steps"].details
    alone, batched = _speedups(details)
    if batched >= PAPER_SPEEDUP:
        return []
    return [
        f"LEANN's steps make an insertion {alone:.1f} times cheaper in vectors asked for, and "
        f"{batched:.1f} times with batches; the paper has up to {PAPER_SPEEDUP} times in time."
    ]


def draw(records: Records) -> dict[str, Any]:
    """One bar a step."""
    from matplotlib import pyplot as plt

    details = records["update_steps"].details
    steps = details["steps"]
    labels = [*(_name(step) for step in steps), "LEANN as released (quoted)"]
    asked = [*(step["asked"] for step in steps), details["leann_released"]]
    colors = [*("C0" if step["is_ours"] else "C1" for step in steps), "C7"]
    figure, axes = plt.subplots(figsize=(9, 4), layout="constrained")
    bars = axes.barh(labels, asked, color=colors)
    axes.bar_label(bars, [f"{count:,.0f}" for count in asked], padding=3, fontsize=8)
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set(xlabel="vectors asked for to add one chunk", xlim=(0, 1.1 * max(asked)))
    return {"update-steps": figure}


def _name(step: dict[str, Any]) -> str:
    whose = "ours" if step["is_ours"] else "LEANN's design"
    return f"{whose}: {step['name']}"


def _intro(details: dict[str, Any]) -> str:
    return (
        f"An index of {details['chunks']:,} chunks of MDN keeps no vectors, and {details['added']} "
        "more chunks come: the nearest ones of some of the queries. Whoever links them into a "
        "graph needs vectors of others, and has to embed those chunks again. LEANN's insertion "
        "(its Algorithm 4) ran on a faiss HNSW with the paper's settings (M 30, efConstruction "
        "128) to be counted; only the embedding counts in its time. Ours were run, and their time "
        "includes that of the insertion itself. Embedding a chunk costs "
        f"{details['embedding_cpu_ms']:.1f} CPU ms here."
    )


def _steps(details: dict[str, Any]) -> str:
    header = ["", "vectors asked for", "CPU ms a chunk", "recall@3, added", "recall@3, others"]
    rows: list[list[Cell]] = []
    for step in details["steps"]:
        cpu_ms = step["asked"] * details["embedding_cpu_ms"] + (step["cpu_ms"] or 0)
        shown = cpu_ms if cpu_ms >= 0.1 else f"{cpu_ms:.2f}"
        rows.append(
            [_name(step), step["asked"], shown, step["recall_added"], step["recall_others"]]
        )
    rows.append(["LEANN 0.3.8 as released (quoted)", details["leann_released"], None, None, None])
    for anew in details["built_anew"]:
        name = f"built anew with all chunks: {anew['name']}"
        rows.append([name, None, None, anew["recall_added"], anew["recall_others"]])
    return table(header, rows)


def _notes(details: dict[str, Any]) -> str:
    parts = ", ".join(f"{count:,.0f} {part}" for part, count in details["parts"].items())
    searches = list(dict.fromkeys(step["search"] for step in details["steps"]))
    return (
        "*Naive*: every distance asks for both of its vectors anew, but not for that of the new "
        f"chunk; by part {parts}. Lists of this graph have room for twice the links and are "
        "seldom full, so that the paper's term for shrinking them (M³) hardly shows. "
        "*Each vector once*: what an insertion has asked for it "
        "remembers until its end; the links stay the same. *By chance*: links are chosen without "
        "comparing candidates, and an overfull list is cut without vectors. *At a time*: "
        f"{details['at_once']} insertions share what was asked for, and chunks of the batch are at "
        "hand. Ours walk the graph by codes and ask for the 32 best candidates; an overfull list "
        "keeps the nearest by code. By default there is no graph, and a chunk is added by its "
        f"code alone. Searches afterwards: {' and '.join(searches)}; *added* are "
        f"{details['queries']['added']} queries whose nearest chunks were among those that came, "
        f"*others* {details['queries']['others']} more. The quoted number is of 7,497 other chunks."
    )


def _against(details: dict[str, Any]) -> str:
    steps = {step["name"]: step for step in details["steps"]}
    names = [name for name, step in steps.items() if not step["is_ours"]]
    alone, batched = _speedups(details)
    careful, simple = steps[names[1]], steps[names[2]]
    best = min(step["asked"] for step in steps.values() if not step["is_ours"])
    graph = next(s for s in details["steps"] if s["is_ours"] and "at a time" in s["name"])
    default = details["steps"][-1]
    _, linked_anew, anew = details["built_anew"]
    gain = f"{alone:.1f} times without batches, {batched:.1f} times with them"
    return " ".join(
        [
            f"**Against the paper.** The paper gains up to {PAPER_SPEEDUP} times in time. Here the "
            f"steps save {gain}, in vectors asked for.",
            either(
                careful["asked"] > 0.8 * simple["asked"]
                and careful["asked"] < 1.2 * simple["asked"],
                "Choosing links by chance hardly saves vectors once each is asked for once: those "
                "of the walk are needed either way.",
                "Choosing links by chance changes the vectors asked for from "
                f"{careful['asked']:,.0f} to {simple['asked']:,.0f}.",
            ),
            either(
                simple["recall_added"] >= careful["recall_added"] - 0.01,
                "It does not cost recall of what was added.",
                "It costs recall of what was added: "
                f"{simple['recall_added']:.3f} instead of {careful['recall_added']:.3f}.",
            ),
            either(
                graph["asked"] < best,
                f"Our graph insertion, one at a time, asks for {graph['asked']:.0f}, fewer than "
                f"the {best:,.0f} of LEANN's last step.",
                f"Our graph insertion, one at a time, asks for {graph['asked']:.0f}, LEANN's last "
                f"step for {best:,.0f}.",
            ),
            either(
                graph["recall_added"] >= linked_anew["recall_added"] - 0.01,
                "What it added is found as well as if built anew.",
                f"What it added is found less well ({graph['recall_added']:.3f}) than in a graph "
                f"built anew ({linked_anew['recall_added']:.3f}).",
            ),
            f"By default nothing is asked for ({default['cpu_ms']:.2f} CPU ms a chunk), and recall "
            f"of what was added is {default['recall_added']:.3f} "
            f"({anew['recall_added']:.3f} if built anew).",
        ]
    )


def _speedups(details: dict[str, Any]) -> tuple[float, float]:
    """How many times fewer vectors the steps ask for, before and after the last one: batches."""
    asked = [step["asked"] for step in details["steps"] if not step["is_ours"]]
    return asked[0] / asked[-2], asked[0] / asked[-1]
