"""In a web page: WebANNS' tables 1 to 3, and what travels over the network."""

from typing import Any

from benchmarks.document.markdown import Cell, either, table
from benchmarks.document.records import Record, Records
from benchmarks.report import show

ITEM = "WebANNS Tables 1, 2 and 3"
TITLE = "In the browser: all vectors in memory, a part of them, and a cache that shrinks itself"
CASES = ("browser_speed", "browser_bytes", "docs_site")
PICTURES = {"browser-speed": "ms a query in a page: everybody in memory, and ours with less of it"}
SHARES = (100, 96, 90, 20)
WAYS = {"codes": "codes tell what to read", "lazy": "lazy loading, the paper's algorithm 1"}
ORDERS = ("", ", fifo")
ASKED_RECALL = 0.9  # the default of web/README.md
# A package at two efforts is two rows; the effort that reaches the recall differs by size.
USUAL = "hnswlib-wasm ef=100"
REACHING = "hnswlib-wasm, recall 0.95"
# Tables 1 and 2, Chrome on Linux, 768-d: ms of the slowest in a hundred queries, with all and
# with 96, 90 and 20 % of the vectors in memory (50,000 vectors).
PAPER_P99 = {
    "mememo (paper)": (5472.33, 48743.38, None, None),
    "WebANNS-Base (paper)": (14.07, 825.44, 1760.31, 34216.27),
    "WebANNS (paper)": (14.19, 50.01, 106.97, 425.39),
}
# Table 3, seven devices: the least and the most memory saved, in percent.
PAPER_SAVED = (7, 39)
# WebANNS' published build measured by us with the same 50,000 × 384 synthetic vectors for all,
# ef=100, another machine: p50 in ms with all, 96, 90 and 20 % of the vectors in memory.
QUOTED_P50 = {
    "mememo (quoted)": (24, 33803, 73728, 182386),
    "WebANNS-Base (quoted)": (3.2, 249, 383, 3184),
    "WebANNS (quoted)": (3.6, 22, 41, 162),
}
# From the same measurement, all in memory and the same graph: WebANNS and mememo, ms.
QUOTED_IN_MEMORY = {"10k": (3.5, 3.0), "50k": (3.0, 8.0)}


def write(records: Records) -> list[str]:
    """Table 1, table 2, table 3, and then bytes over the network."""
    record = records["browser_speed"]
    blocks = [
        "Vectors of MDN with 384 numbers in Chromium, 10 nearest at a recall@10 of at least 0.95 "
        "(rivals without an effort to choose: what they reach). Ours is `gossamer-web/vectors`, on "
        "the page's own thread as the others, and in a worker.",
        _in_memory(record),
        "**With a part of the vectors in memory** and the rest in the browser's storage: ms, p50, "
        "and the same as a multiple of all in memory. Quoted rows are of WebANNS' published build "
        "on another machine with made-up vectors of the same size; paper rows are p99 with 768 "
        "numbers a vector, Chrome on Linux.",
        _part(record),
        "**The cache that shrinks itself** until a query would need more accesses than a time "
        "allows (table 3's algorithm).",
        _optimiser(record),
    ]
    if "browser_bytes" in records:
        blocks += _bytes(records["browser_bytes"])
    if "docs_site" in records:
        blocks += _site(records["docs_site"])
    return [*blocks, _against(record)]


def contradictions(records: Records) -> list[str]:
    """Bars that a page misses, and where a paper's or our own choice does not pay."""
    record = records["browser_speed"]
    said = []
    if missed := _missed(record, "ours i8 p50"):
        said.append(
            f"A query on a page's thread was to take at most {missed[0]['bar']} times "
            f"hnswlib-wasm's; it takes {_ratios(missed)}."
        )
    if missed := _missed(record, f"{_kept(20, 'lazy')}, p50"):
        said.append(
            "With 20 % of the vectors in memory a query was to take at most "
            f"{missed[0]['bar']:.0f} times as long as with all. Loading lazily, WebANNS' way, it "
            f"takes {_ratios(missed)}; codes that say what to read "
            + either(
                not _missed(record, f"{_kept(20, 'codes')}, p50"), "keep to it.", "do neither."
            )
        )
    first_out = {
        _thousand(size): [measured["memory"][_kept(20, "codes") + kind]["p50"] for kind in ORDERS]
        for size, measured in record.details.items()
    }
    slower = {size: times for size, times in first_out.items() if times[0] > times[1]}
    if slower:
        times = ", ".join(
            f"{one[0]:.2f} and {one[1]:.2f} ms ({size})" for size, one in slower.items()
        )
        said.append(
            "That the least recently used vectors leave memory first is our choice, and no "
            f"faster than first in, first out: {times}."
        )
    if "browser_bytes" in records:
        said += _low_recalls(records["browser_bytes"])
    return said


def _low_recalls(record: Record) -> list[str]:
    means = {
        name: sum(one["recall"]) / len(one["recall"])
        for name, one in record.details.items()
        if isinstance(one, dict) and one.get("recall")
    }
    low = {name: mean for name, mean in means.items() if mean < ASKED_RECALL}
    if not low:
        return []
    reached = ", ".join(f"{mean:.2f} ({name})" for name, mean in low.items())
    return [
        f"A search in a page asks for a recall of {ASKED_RECALL} unless told otherwise; exports "
        f"with stored vectors reach less on the questions of this case: {reached}."
    ]


def draw(records: Records) -> dict[str, Any]:
    """Milliseconds a query: everybody in memory, and ours with less and less memory."""
    from matplotlib import pyplot as plt

    sizes = records["browser_speed"].details
    figure, panels = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    times = {size: _in_memory_times(measured) for size, measured in sizes.items()}
    names = list(dict.fromkeys(name for one in times.values() for name in one))
    for place, (size, one) in enumerate(times.items()):
        at = [names.index(name) + place * 0.4 - 0.2 for name in one]
        panels[0].plot(list(one.values()), at, "os"[place % 2], label=f"{int(size):,} vectors")
        for name, row in zip(one, at, strict=True):
            panels[0].annotate(
                show(one[name]), (one[name], row), (6, -3), textcoords="offset points", fontsize=7
            )
        for way, style in (("codes", "o-"), ("lazy", "x--")):
            paged = _times(sizes[size]["memory"], way)
            panels[1].plot(SHARES, paged, style, label=f"{int(size):,}, {way}", markersize=4)
    panels[0].set(xlabel="ms a query, p50", xscale="log", xlim=(0.1, 3e5))
    panels[0].set_yticks(range(len(names)), names)
    panels[0].invert_yaxis()
    panels[0].grid(axis="y", visible=False)
    panels[1].set(xlabel="% of vectors in memory", ylabel="ms a query, p50", ylim=(0, None))
    panels[1].invert_xaxis()
    for axes in panels:
        axes.legend()
    return {"browser-speed": figure}


def _in_memory_times(measured: dict[str, Any]) -> dict[str, float]:
    """Give p50 by contender; the same contender has the same name at every size."""
    return {name: one["p50"] for name, one in _contenders(measured).items()}


def _contenders(measured: dict[str, Any]) -> dict[str, dict[str, Any]]:
    named = {}
    for name, one in measured["in memory"].items():
        is_reaching = name.startswith("hnswlib-wasm") and name != USUAL
        named[REACHING if is_reaching else name] = one
    if stored := measured.get("mememo, IndexedDB"):
        named["mememo, IndexedDB"] = stored
    return named


def _in_memory(record: Record) -> str:
    sizes = {_thousand(size): _contenders(one) for size, one in record.details.items()}
    names = dict.fromkeys(name for one in sizes.values() for name in one)
    header = [""]
    for size in sizes:
        header += [f"{size}: p50, ms", "p99", "recall@10"]
    rows: list[list[Cell]] = []
    for name in names:
        row: list[Cell] = [name]
        for one in sizes.values():
            found = one.get(name, {})
            row += [found.get(what) for what in ("p50", "p99", "recall")]
        rows.append(row)
    return table(header, rows)


def _part(record: Record) -> str:
    rows: list[list[Cell]] = [
        [f"{_thousand(size)}: {said}", *_with_multiples(_times(measured["memory"], way))]
        for size, measured in record.details.items()
        for way, said in WAYS.items()
    ]
    quoted = QUOTED_P50 | PAPER_P99
    rows += [[name, *_with_multiples(list(times))] for name, times in quoted.items()]
    return table(("", *(f"{share} %" for share in SHARES)), rows)


def _with_multiples(times: list[float | None]) -> list[Cell]:
    whole = times[0]
    return [
        None if time is None or not whole else f"{show(time)} ({_round(time / whole)}×)"
        for time in times
    ]


def _round(factor: float) -> str:
    return f"{factor:,.0f}" if factor >= 10 else f"{factor:.2g}"


def _times(memory: dict[str, Any], way: str) -> list[float | None]:
    return [memory.get(_kept(share, way), {}).get("p50") for share in SHARES]


def _kept(share: int, way: str) -> str:
    return f"{share}% of vectors in memory, {way}"


def _optimiser(record: Record) -> str:
    rows: list[list[Cell]] = []
    for size, measured in record.details.items():
        for name, one in measured.get("optimiser", {}).items():
            memory = record.row(f"{_thousand(size)}: {name}: vectors in memory, MB")
            rows.append(
                [
                    f"{_thousand(size)}: {name.removeprefix('optimiser ')}",
                    memory["rival"],
                    memory["ours"],
                    f"{100 * (1 - memory['ours'] / memory['rival']):.0f} %",
                    one["before"]["p99"],
                    one["after"]["p99"],
                ]
            )
    saved = "–".join(str(share) for share in PAPER_SAVED)
    rows.append(["WebANNS (paper): p=0.8, T=100 ms", 146.48, None, f"{saved} %", None, "151–276"])
    header = ("", "MB before", "MB after", "saved", "p99 before, ms", "p99 after, ms")
    return table(header, rows)


def _bytes(record: Record) -> list[str]:
    """What a page fetches, for each way of exporting."""
    rows: list[list[Cell]] = []
    for name, one in record.details.items():
        if not isinstance(one, dict) or "first" not in one or "next" not in one:
            continue
        mean = sum(one["next"]) / len(one["next"])
        recall = one.get("recall")
        reached = sum(recall) / len(recall) if recall else None
        rows.append([name, one["first"] / 1e6, mean / 1e6, one["first_s"], reached])
    header = ("", "first question, MB", "each further, MB", "to the first answer, s", "recall@10")
    return [
        f"**{record.title}.** With model and engine; megabytes that the host sent.",
        table(header, rows),
    ]


def _site(record: Record) -> list[str]:
    """What visitors of a documentation wait for and fetch, beside Pagefind's."""
    rows: list[list[Cell]] = [[row["what"], row["ours"], row["rival"]] for row in record.rows]
    said = (
        f"**{record.title}.** Bytes are those of answers, as a host sends them; of Pagefind's "
        "results the first four are fetched, as its own page does."
    )
    return [said, table(("", "Gossamer", "Pagefind 1.6"), rows)]


def _against(record: Record) -> str:
    size, measured = list(record.details.items())[-1]
    contenders = _contenders(measured)
    ours = contenders["ours i8"]
    paged = _times(measured["memory"], "codes")
    text = f"**Against the paper.** With {int(size):,} vectors in memory ours takes "
    text += f"{ours['p50']:.2f} ms (p99 {ours['p99']:.2f})"
    if mememo := contenders.get("mememo"):
        text += f", mememo {mememo['p50']:.1f} ms"
    if stored := contenders.get("mememo, IndexedDB"):
        text += (
            f"; with its vectors in IndexedDB mememo takes {stored['p50'] / 1000:.0f} s, so the "
            "paper's seconds are its storage and not its arithmetic"
        )
    whole, least = paged[0], paged[-1]
    if whole is None or least is None:
        return text + "."
    factor, paper = least / whole, PAPER_P99["WebANNS (paper)"]
    return (
        text + f". With 20 % of the vectors in memory ours takes {factor:.1f} times as long as "
        f"with all; WebANNS {paper[3] / paper[0]:.0f} times in the paper (p99). "
        + either(
            factor < paper[3] / paper[0],
            "Where the paper avoids accesses to IndexedDB, a worker that reads a file of its own "
            "and codes in memory leave little to avoid.",
            "The paper's way holds up better here.",
        )
        + f" {_quoted_in_memory()} The paper gives no recall; here everybody's is in the table."
    )


def _quoted_in_memory() -> str:
    times = ", ".join(
        f"{webanns} and {mememo} ms ({size})"
        for size, (webanns, mememo) in QUOTED_IN_MEMORY.items()
    )
    return (
        "That WebANNS is several times faster than mememo on small sets was not seen when we "
        f"measured both with one graph in memory (quoted): {times}."
    )


def _thousand(size: str) -> str:
    return f"{int(size) // 1000}k"


def _missed(record: Record, what: str) -> list[dict[str, Any]]:
    found = [row for row in record.rows if row["what"].endswith(f": {what}")]
    return [row for row in found if row["verdict"] == "miss"]


def _ratios(rows: list[dict[str, Any]]) -> str:
    sizes = [(row["ours"] / row["rival"], row["what"].partition(":")[0]) for row in rows]
    return ", ".join(f"{ratio:.2f} ({size})" for ratio, size in sizes)
