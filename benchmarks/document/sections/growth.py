"""How the work of a search grows with the number of chunks."""

import math
from collections.abc import Sequence
from typing import Any

from benchmarks.document.axes import plain_log
from benchmarks.document.markdown import either, table
from benchmarks.document.records import Record, Records
from benchmarks.document.shipped import SEEN
from benchmarks.report import show

ITEM = ""
TITLE = "Growth with the number of chunks"
CASES = ("growth",)
PICTURES = {
    "growth": "Vectors asked for (and milliseconds of a scan, where measured) against chunks",
}
TIME = "one_scan_ms"
# Exponents of faiss's OPQ on 4,200 to 134,000 chunks, from the study that chose the codes.
STUDY = {16: 0.46, 32: 0.24}
FAR = 60_000_000  # LEANN's largest set has so many chunks
RECALLS = ("0.9", "0.95", "0.99")

Measured = dict[str, Any]


def write(records: Records) -> list[str]:
    """What was grown, what it asks for, and the power it follows."""
    record = records["growth"]
    return [
        _about(record),
        "Vectors asked for a question at recall@3 0.90, and the power of N that they follow:",
        _growth_table(record),
        _largest_table(record),
        _conclusion(record),
        _against(record),
    ]


def contradictions(records: Records) -> list[str]:
    """Where the paper, or the study that chose the codes, said otherwise."""
    powers = records["growth"].details["exponents"]
    factor, by_logarithm = _factors(records["growth"])
    said = []
    if factor is not None and factor > 1.5 * by_logarithm:
        said.append(
            f"LEANN gives its recomputation as O(log N); its design asks for {factor:.1f} times as "
            f"many vectors on our largest set as on the smallest, where log N grows by "
            f"{by_logarithm:.1f}."
        )
    return said + [
        f"The study that chose the codes fitted N^{study} for {code_bytes} B codes; on this set "
        f"ours grow as N^{powers[f'{code_bytes} B']:.2f}."
        for code_bytes, study in STUDY.items()
        if powers.get(f"{code_bytes} B", 0) > study + 0.1
    ]


def draw(records: Records) -> dict[str, Any]:
    """Vectors asked for; where scans were timed, a panel of that beside it."""
    from matplotlib import pyplot as plt

    record = records["growth"]
    is_timed = _is_timed(record)
    figure, panels = plt.subplots(
        1, 2 if is_timed else 1, figsize=(9, 4), squeeze=False, layout="constrained"
    )
    left, right = panels[0][0], panels[0][-1]
    for code_bytes, found in _by_bytes(record).items():
        counts = [one["count"] for one in found]
        name = f"{code_bytes} B codes, scan"
        left.plot(counts, [one["asked"]["3"]["0.9"] for one in found], marker="o", label=name)
        if is_timed:
            right.plot(counts, [one[TIME] for one in found], marker="o", label=name)
    graphs = record.details["graphs"]
    for strategy, name in (("two-level", "graph, LEANN's two-level"), ("walk", "graph, walk")):
        asked = [one[strategy]["0.9"] for one in graphs]
        counts = [one["count"] for one in graphs]
        left.plot(counts, asked, marker="s", linestyle="--", label=name)
    for axes in panels[0]:
        axes.set(xscale="log", yscale="log", xlabel="chunks")
        plain_log(axes.xaxis)
        plain_log(axes.yaxis)
    if is_timed:
        right.set(ylabel="ms a scan, one thread", title="time of the scan itself")
    left.set(ylabel="vectors asked for a question", title="at recall@3 0.90")
    left.legend(loc="upper left")
    return {"growth": figure}


def _about(record: Record) -> str:
    about = record.details["set"]
    sets = ", ".join(f"{name} {count:,}" for name, count in about["sets"].items())
    counts = [one["count"] for one in record.details["graphs"]]
    text = (
        f"Sets of {counts[0]:,} to {counts[-1]:,} chunks, each the beginning of the next in one "
        f"random order, out of {about['chunks']:,} chunks ({sets}). "
    )
    if about["shifted"]:
        text += (
            f"The largest is made up by {about['shifted']:,} chunks of RFCs shifted by half a "
            "chunk, which overlap others; the smaller ones hold none. "
        )
    if "questions" in about:
        text += (
            f"{about['questions']} questions are sentences of documents that were left out. "
            f"Cutting took {about['cutting_s']:.0f} s, embedding {about['embedding_s']:.0f} s"
            f"{_on_gpu(about)}. "
        )
    return text + (
        "A scan ranks all chunks by their codes; “asked for” is how many of the first must be "
        "embedded again to find the share of the true nearest. Codebooks are trained on each size "
        "(at most 65,536 of its vectors), but for the one of 24 B, which ships with the default "
        f"model. {SEEN} LEANN's two-level search walks a hub graph of our default settings (M=60, "
        "m=6, β=2 %), with the better of two ratios α and a queue of at most 512: a wider graph "
        "or more settings ask for less (see the latency above)."
    )


def _on_gpu(about: Measured) -> str:
    return f" on one {about['gpu']}" if "gpu" in about else ""


def _growth_table(record: Record) -> str:
    """Recall@3 of 0.90: one line a size."""
    by_bytes = _by_bytes(record)
    header = ["chunks", *(f"scan, {code_bytes} B" for code_bytes in by_bytes)]
    header += ["scan, 24 B, adaptive stop", "LEANN's two-level, 32 B", "walk by codes, 32 B"]
    header += ["ms of a scan, 24 B"] if _is_timed(record) else []
    rows = []
    for place, graph in enumerate(record.details["graphs"]):
        here = {code_bytes: found[place] for code_bytes, found in by_bytes.items()}
        shipped = here[24]
        asked = [one["asked"]["3"]["0.9"] for one in here.values()]
        cells = [shipped["adaptive"]["0.9"], graph["two-level"]["0.9"], graph["walk"]["0.9"]]
        timed = [f"{shipped[TIME]:.2f}"] if _is_timed(record) else []
        rows.append([f"{graph['count']:,}", *asked, *map(_tenths, cells), *timed])
    powers = record.details["exponents"]
    names = [f"{code_bytes} B" for code_bytes in by_bytes]
    names += ["24 B, adaptive", "two-level", "walk"]
    fitted = [f"{powers[name]:.2f}" if name in powers else "–" for name in names]
    return table(header, [*rows, ["power of N", *fitted, *[""] * len(header[len(fitted) + 1 :])]])


def _largest_table(record: Record) -> str:
    """Every recall at the largest size."""
    graph = record.details["graphs"][-1]
    header = [f"{graph['count']:,} chunks"]
    header += [f"recall@{k} {float(target):.2f}" for k in ("3", "10") for target in RECALLS]
    rows: list[list[Any]] = [
        [f"{code_bytes} B", *(found[-1]["asked"][k][t] for k in ("3", "10") for t in RECALLS)]
        for code_bytes, found in _by_bytes(record).items()
    ]
    rows += [
        [strategy, *(_tenths(graph[strategy][target]) for target in RECALLS), "", "", ""]
        for strategy in ("two-level", "walk")
    ]
    return table(header, rows)


def _conclusion(record: Record) -> str:
    powers = record.details["exponents"]
    largest = max(_by_bytes(record))
    found = _by_bytes(record)[largest]
    power, asked = powers.get(f"{largest} B"), found[-1]["asked"]["3"]["0.9"]
    if power is None or asked is None:
        return "There are too few sizes here to fit a power."
    far = asked * (FAR / found[-1]["count"]) ** power
    return (
        f"With {largest} B codes the vectors asked for grow as N^{power:.2f} (fitted without the "
        f"set that was made up by shifted chunks); if that went on, {FAR:,} chunks would need "
        f"about {show(float(f'{far:.2g}'))} (extrapolated, not measured). "
        "A dash stands for a recall that was not reached with the largest effort "
        "tried."
        + ("" if _is_timed(record) else " Scans were not timed here; the engine's section has it.")
    )


def _against(record: Record) -> str:
    powers = record.details["exponents"]
    said = [
        f"N^{powers[f'{code_bytes} B']:.2f} for {code_bytes} B (the study: N^{study})"
        for code_bytes, study in STUDY.items()
        if f"{code_bytes} B" in powers
    ]
    graph = record.details["graphs"][-1]
    shipped = _by_bytes(record)[24][-1]["asked"]["3"]["0.9"]
    two_level = graph["two-level"]["0.9"]
    fewer = two_level is None or (shipped is not None and shipped < two_level)
    return (
        "**Against the paper.** "
        + _against_leann(record)
        + " Our study, which chose codes over a graph, extrapolated from 134,000 chunks with "
        "faiss's OPQ; measured here: "
        + ("; ".join(said) or "too few sizes to fit")
        + ". "
        + either(
            fewer,
            f"At {graph['count']:,} chunks a scan of 24 B codes still asks for fewer vectors "
            "than LEANN's two-level search of a graph.",
            f"At {graph['count']:,} chunks a scan of 24 B codes no longer asks for fewer vectors "
            "than LEANN's two-level search of a graph.",
        )
    )


def _against_leann(record: Record) -> str:
    factor, by_logarithm = _factors(record)
    if factor is None:
        return "LEANN says that its recomputation grows with log N; too little was reached to tell."
    return (
        "LEANN says that its recomputation grows with log N, a factor of "
        f"{by_logarithm:.1f} between our smallest and largest set. Its design, run by our engine, "
        f"grows by {factor:.1f}: "
        + either(factor <= 1.5 * by_logarithm, "about that.", "more than that.")
    )


def _factors(record: Record) -> tuple[float | None, float]:
    """How much more two-level search asks for at the largest size, and what log N would give."""
    first, last = (record.details["graphs"][place] for place in (0, -1))
    by_logarithm = math.log(last["count"]) / math.log(first["count"])
    few, many = first["two-level"]["0.9"], last["two-level"]["0.9"]
    return many / few if few and many else None, by_logarithm


def _is_timed(record: Record) -> bool:
    return all(TIME in one for one in record.details["codes"])


def _tenths(value: float | None) -> str | None:
    return None if value is None else f"{value:.1f}"


def _by_bytes(record: Record) -> dict[int, Sequence[Measured]]:
    lengths = sorted({one["code_bytes"] for one in record.details["codes"]})
    return {
        length: [one for one in record.details["codes"] if one["code_bytes"] == length]
        for length in lengths
    }
