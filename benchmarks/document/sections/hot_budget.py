"""What a budget for vectors saves."""

from typing import Any

from benchmarks.document.axes import plain_log
from benchmarks.document.markdown import Cell, either, percent, table
from benchmarks.document.records import Records

ITEM = "LEANN Figure 10"
TITLE = "A budget for vectors: hits and latency"
CASES = ("hot_budget",)
PICTURES = {
    "hot-budget": "Share of wanted vectors that were kept, and CPU milliseconds a query, against "
    "the share of all vectors that the budget holds",
}
WHEN = {"as_built": "as built", "after": "after other queries"}
# LEANN, section 9: with a tenth of the vectors cached.
PAPER_SHARE = 0.10
PAPER_SPEEDUP = 1.5
PAPER_HITS = 0.419
# Vectors are well chosen if they are wanted so many times as often as any others would be.
WORTHWHILE = 1.5


def write(records: Records) -> list[str]:
    """A table for each design."""
    details = records["hot_budget"].details
    blocks = [_intro(details)]
    for name, measured in details["designs"].items():
        blocks += [f"*{name}*", _table(measured["budgets"])]
    return [*blocks, _against(details)]


def contradictions(records: Records) -> list[str]:
    """Say it where fewer vectors are hits than in the paper, and where the choice is no good."""
    details = records["hot_budget"].details
    said = []
    found = _at_paper_share(details, "LEANN's design")
    if found is not None and found["after"]["hits"] < PAPER_HITS:
        said.append(
            f"With {percent(PAPER_SHARE, 0)} of the vectors kept, "
            f"{percent(found['after']['hits'])} of those wanted are hits in LEANN's design by our "
            f"choice of vectors; the paper has up to {percent(PAPER_HITS)} with its own."
        )
    kept, hits = _chosen(details)
    if hits < WORTHWHILE * kept:
        said.append(
            f"The vectors that an index keeps when it is built are hardly wanted more than others: "
            f"{percent(kept)} kept, {percent(hits)} of those that a scan wants."
        )
    return said


def draw(records: Records) -> dict[str, Any]:
    """Hits on the left, latency on the right."""
    from matplotlib import pyplot as plt

    figure, (hits, latency) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    for color, (name, measured) in enumerate(records["hot_budget"].details["designs"].items()):
        budgets = measured["budgets"]
        shares = [100 * budget["share"] for budget in budgets]
        for (key, when), style in zip(WHEN.items(), ("o--", "o-"), strict=True):
            label = f"{name}, {when}"
            kept = [100 * budget[key]["hits"] for budget in budgets]
            hits.plot(shares, kept, style, color=f"C{color}", label=label, markersize=4)
            taken = [budget[key]["total_ms"] for budget in budgets]
            latency.plot(shares, taken, style, color=f"C{color}", label=label, markersize=4)
    hits.plot(100 * PAPER_SHARE, 100 * PAPER_HITS, "k*", markersize=9, label="paper, up to")
    hits.set(ylabel="wanted vectors that were kept, %", ylim=(0, 100))
    latency.set(ylabel="CPU ms a query, embedding included", yscale="log")
    plain_log(latency.yaxis)
    for axes in (hits, latency):
        axes.set(xlabel="vectors that the budget holds, %")
    hits.legend()
    return {"hot-budget": figure}


def _intro(details: dict[str, Any]) -> str:
    return (
        f"{details['chunks']:,} chunks of MDN with codes of {details['code_bytes']} bytes; "
        f'`keep="hot:…"` lets some vectors stay, {details["vector_bytes"]} bytes each. The effort '
        "is what recall@3 0.90 takes without any, the same for all budgets. An index fills half "
        "of its budget when it is built, with vectors that made-up queries look at most; the "
        "other half takes what was asked for last; LEANN's design gets the same choice, which is "
        "ours and not the paper's. *As built* is before any query, *after other "
        f"queries* when {details['asked_before']} were asked; {details['measured']} others are "
        "measured. Milliseconds are CPU time: the search, and "
        f"{details['embedding_cpu_ms']:.1f} for each vector asked for."
    )


def _table(budgets: list[dict[str, Any]]) -> str:
    header = ["budget", "B a chunk"]
    header += [f"{what}, {when}" for when in WHEN.values() for what in ("asked for", "hits", "ms")]
    rows: list[list[Cell]] = []
    for budget in budgets:
        row: list[Cell] = [percent(budget["share"], 0), budget["chunk_bytes"]]
        for key in WHEN:
            cost = budget[key]
            row += [cost["asked"], percent(cost["hits"]), cost["total_ms"]]
        rows.append(row)
    return table(header, rows)


def _against(details: dict[str, Any]) -> str:
    said = [
        f"**Against the paper.** The paper has up to {percent(PAPER_HITS)} hits and a speed-up of "
        f"up to {PAPER_SPEEDUP} times with {percent(PAPER_SHARE, 0)} of the vectors kept."
    ]
    for name, measured in details["designs"].items():
        found = _at_paper_share(details, name)
        if found is None:
            continue
        hits = found["after"]["hits"]
        speedup = measured["budgets"][0]["after"]["total_ms"] / found["after"]["total_ms"]
        said.append(
            f"{name[0].upper()}{name[1:]} here: {percent(hits)} and {speedup:.2f} times, "
            + either(hits >= PAPER_HITS, "as many hits or more.", "fewer hits.")
        )
    scan, leann = (measured["budgets"] for measured in details["designs"].values())
    said.append(
        either(
            scan[0]["after"]["total_ms"] < leann[-1]["after"]["total_ms"],
            "A scan that keeps no vectors at all is faster than LEANN's design with "
            f"{percent(leann[-1]['share'], 0)} of them.",
            f"LEANN's design with {percent(leann[-1]['share'], 0)} of the vectors is as fast as a "
            "scan that keeps none.",
        )
    )
    kept, hits = _chosen(details)
    said.append(
        either(
            hits >= WORTHWHILE * kept,
            f"What an index keeps when it is built is well chosen for a scan: {percent(kept)} of "
            f"the vectors are {percent(hits)} of those wanted.",
            f"What an index keeps when it is built is hardly better than any other choice for a "
            f"scan: {percent(kept)} of the vectors are {percent(hits)} of those wanted.",
        )
    )
    said.append(
        "Our queries are independent of each other, one sentence of a page that was left out each; "
        "questions that come back to a topic were not measured."
    )
    return " ".join(said)


def _chosen(details: dict[str, Any]) -> tuple[float, float]:
    """How many vectors a scan's largest index keeps as built, and the share of hits they give."""
    largest = next(iter(details["designs"].values()))["budgets"][-1]["as_built"]
    return largest["kept"] / details["chunks"], largest["hits"]


def _at_paper_share(details: dict[str, Any], design: str) -> dict[str, Any] | None:
    budgets = details["designs"][design]["budgets"]
    return next((budget for budget in budgets if budget["share"] == PAPER_SHARE), None)
