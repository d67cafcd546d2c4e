"""Re-embedding on a GPU: what a round costs, and how many rounds a search needs."""

from typing import Any

from benchmarks.document.axes import plain_log
from benchmarks.document.markdown import either, percent, table
from benchmarks.document.records import Record, Records
from benchmarks.document.shipped import SEEN

ITEM = ""
TITLE = "Rounds on a GPU"
CASES = ("gpu_rounds",)
PICTURES = {"gpu_rounds": "Chunks a second by the size of a round, and seconds a query by search"}

Measured = dict[str, Any]


def write(records: Records) -> list[str]:
    """Rounds, searches, and what follows."""
    record = records["gpu_rounds"]
    return [
        _about(record),
        _rounds_table(record),
        _rounds_said(record),
        _search_table(record),
        _against(record),
    ]


def draw(records: Records) -> dict[str, Any]:
    """Speed of rounds, and time of searches."""
    from matplotlib import pyplot as plt

    details = records["gpu_rounds"].details
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    for where, measured in details["rounds"].items():
        sizes = [one["chunks"] for one in measured]
        left.plot(sizes, [one["chunks_a_s"] for one in measured], marker="o", label=where)
    left.set(xscale="log", yscale="log", xlabel="chunks a round", ylabel="chunks a second")
    plain_log(left.yaxis)
    sizes = sorted({one["chunks"] for measured in details["rounds"].values() for one in measured})
    left.set_xticks(sizes, [f"{size:,}" for size in sizes])
    left.minorticks_off()
    left.legend()
    searches = details["searches"]
    names = [one["name"] for one in searches]
    times = [1000 * one["s_a_query"]["GPU"] for one in searches]
    bars = right.barh(names, times)
    labels = [f"{one['asked']:.0f} chunks, {one['rounds']:.1f} rounds" for one in searches]
    right.bar_label(bars, labels, padding=3, fontsize=8)
    right.invert_yaxis()
    right.set(xlabel="ms a query on the GPU", xlim=(0, 1.5 * max(times)))
    return {"gpu_rounds": figure}


def _about(record: Record) -> str:
    details = record.details
    return (
        f"One {details['gpu']} and the CPU beside it ({record.machine['cpu']}, "
        f"{record.machine['cores']} cores), all-MiniLM-L6-v2 through the product's "
        f"`sentence-transformers:` embedder, which computes in batches on a GPU and one text at a "
        f"time on a CPU. Chunks of the first table have 220 to 240 tokens. The searches are over "
        f"{details['chunks']:,} chunks of {details['set']}; every vector that a search wants is "
        "embedded from its text when it is wanted. Each search has the setting that embeds the "
        f"fewest chunks at its recall. {SEEN} LEANN's design walks a hub graph of our default "
        "settings (M=60, m=6, β=2 %)."
    )


def _rounds_table(record: Record) -> str:
    found = record.details["rounds"]
    sizes = sorted({one["chunks"] for measured in found.values() for one in measured})
    rows = []
    for where, measured in found.items():
        by_size = {one["chunks"]: one for one in measured}
        rows.append([f"{where}: ms a round", *(_value(by_size, size, "ms") for size in sizes)])
        speeds = (_value(by_size, size, "chunks_a_s") for size in sizes)
        rows.append([f"{where}: chunks a second", *speeds])
    return table(["chunks a round", *map(str, sizes)], rows)


def _value(by_size: dict[int, Measured], size: int, what: str) -> float | None:
    return by_size[size][what] if size in by_size else None


def _rounds_said(record: Record) -> str:
    where, measured = next(iter(record.details["rounds"].items()))
    first, last = measured[0], measured[-1]
    some = next((one for one in measured if one["chunks"] == 64), last)
    return (
        f"{where}: a round of {some['chunks']} takes {some['ms'] / first['ms']:.1f} times as long "
        f"as a round of one, and {last['chunks_a_s'] / first['chunks_a_s']:.0f} times as many "
        f"chunks a second go through in rounds of {last['chunks']}. "
        + either(
            some["ms"] < some["chunks"] / 4 * first["ms"],
            "So the number of rounds counts, more than the number of chunks.",
            "So the number of chunks counts, more than the number of rounds.",
        )
    )


def _search_table(record: Record) -> str:
    header = ["search", "recall@3", "re-embeddings a query", "rounds a query"]
    header += ["ms a query, GPU", "ms a query, CPU"]
    rows = [
        [
            one["name"],
            f"{one['recall']:.3f}",
            one["asked"],
            one["rounds"],
            *(1000 * one["s_a_query"][where] for where in ("GPU", "CPU")),
        ]
        for one in record.details["searches"]
    ]
    return table(header, rows)


def _against(record: Record) -> str:
    searches = record.details["searches"]
    leann = [one for one in searches if one["name"].startswith("LEANN")]
    scans = [one for one in searches if one["name"].startswith("scan")]
    if not leann or not scans:
        return "**Against the paper.** One of the two did not reach the recall here."
    alone = leann[0]
    best, scan = (min(some, key=lambda one: one["s_a_query"]["GPU"]) for some in (leann, scans))
    saved = 1 - best["s_a_query"]["GPU"] / alone["s_a_query"]["GPU"]
    faster = scan["s_a_query"]["GPU"] < best["s_a_query"]["GPU"]
    ratio = best["s_a_query"]["GPU"] / scan["s_a_query"]["GPU"]
    return (
        "**Against the paper.** LEANN batches because its walk alone would ask a GPU for a few "
        "chunks at a time. "
        + either(
            saved > 0.1,
            f"That holds here: {best['name'].rpartition(', ')[2]} takes "
            f"{percent(saved, 0)} less time than {alone['name'].rpartition(', ')[2]}.",
            "Here batches save less than a tenth of its time.",
        )
        + " "
        + either(
            faster,
            f"A scan needs no walk at all: with {scan['rounds']:.1f} rounds a query "
            f"({scan['name']}) it is {ratio:.1f} times as fast as LEANN's design with its best "
            "batch.",
            f"LEANN's design with its best batch is {1 / ratio:.1f} times as fast as a scan.",
        )
        + _adaptive(scans)
        + " The scan has the codes of 24 B that ship with the model, the graph's codes have 32 B."
    )


def _adaptive(scans: list[Measured]) -> str:
    """Whether our default, which stops by itself, is the better of the two here."""
    by_name = {one["name"]: one["s_a_query"]["GPU"] for one in scans}
    own, fixed = by_name.get("scan, adaptive stop"), by_name.get("scan, fixed number")
    if own is None or fixed is None:
        return ""
    return either(
        own <= fixed,
        " Our default, the adaptive stop, is the faster of the two scans.",
        f" Our default, the adaptive stop, embeds fewer chunks in more rounds, and takes "
        f"{own / fixed:.1f} times as long on a GPU as one round of a fixed number.",
    )
