"""What updates cost, and what a long run of them does: HNSW-Slim's tables 4 and 5."""

from collections.abc import Sequence
from typing import Any

from benchmarks.document.markdown import Cell, either, row_table, table
from benchmarks.document.records import Record, Records

ITEM = "HNSW-Slim Tables 4 and 5, appendix F"
TITLE = "Updates from server to edge, and a long run of them"
CASES = ("delta", "long_run")
PICTURES = {"long-run": "graph bytes, recall and speed over a hundred updates with deletions"}
NEEDS = {"long-run": "long_run"}
SETS = ("mdn", "fashion", "glove")
# Table 4: seconds and MB of a batch of 1,000 inserts, the least and the most of its four sets.
PAPER_UPDATES = (
    ("HNSW-Slim (paper)", "1.4–7.9", "1.0–1.7"),
    ("Vamana (paper)", "48–193", "83–875"),
    ("NSSG (paper)", "150–403", "95–1,291"),
    ("LEANN (paper)", "552–1,067", "63–815"),
)
# Table 5, 30 % deletions: fragmentation, and speed at recall 0.90 and 0.99 against no deletions.
PAPER_LONG_RUN = {"SIFT": (6.0, 10320 / 9690, 1881 / 1898), "GIST": (6.7, 1733 / 1984, 286 / 299)}


def write(records: Records) -> list[str]:
    """Bytes and seconds of a batch, then the long run."""
    delta = records["delta"]
    blocks = [
        "A server inserts the last of each set in batches (of 1,000; in a small run 300) and sends "
        "each time what changed; an edge applies it. Means of a batch. Graph part: links, levels, "
        "ids, tombstones; new vectors are counted apart (the paper leaves them out).",
        table(
            ("", "insert, prune, delta: CPU s", "apply: CPU s", "graph part, KB", "vectors, KB"),
            _updates(delta),
        ),
        "The paper's own, on sets of 1 to 8 million vectors (other data and machine, quoted):",
        table(("", "s a batch of 1,000", "MB sent"), PAPER_UPDATES),
        "Whole documents put into an index of files, all that travels and what the edge does:",
        _documents(delta),
    ]
    if "long_run" in records:
        blocks += [
            f"**{records['long_run'].title}.** The same vectors stand in an index that was built "
            "at once, and in one that grew without deletions.",
            row_table(records["long_run"].rows),
        ]
    return [*blocks, _against(records)]


def contradictions(records: Records) -> list[str]:
    """A long run costs speed here; and what our own bars for an edge miss."""
    said = []
    if "long_run" in records:
        record = records["long_run"]
        missed = [row for row in record.rows_like("QPS at recall") if row["verdict"] == "miss"]
        if missed:
            said.append(
                f"After the long run an index was to keep {missed[0]['bar']} of its speed; it has "
                f"{_worst_speed(record, 'no deletions'):.2f} of one without deletions and "
                f"{_worst_speed(record, 'built anew'):.2f} of one built anew, at the recall where "
                "it falls most: unlike the paper, we would build anew after many updates."
            )
    said += [
        f"An edge was to apply an update within {row['bar']} s; “{row['what']}” is "
        f"{row['ours']:.2f}."
        for row in records["delta"].rows
        if row["verdict"] == "miss" and "commit" in row["what"]
    ]
    return said


def draw(records: Records) -> dict[str, Any]:
    """What the updates do to the graph's bytes, to recall and to speed."""
    from matplotlib import pyplot as plt

    looks: Sequence[dict[str, Any]] = records["long_run"].details["looks"]
    batches = [look["batch"] for look in looks]
    figure, panels = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
    for kind, label, style in (
        ("graph_bytes", "updated", "o-"),
        ("edge_bytes", "edge that follows", "s:"),
        ("packed_bytes", "the same, packed", "^-."),
        ("fresh_bytes", "built anew", "x--"),
    ):
        panels[0].plot(batches, [look[kind] for look in looks], style, label=label, markersize=4)
    panels[0].set(ylabel="graph bytes a node", ylim=(0, None))
    for axes, kind in ((panels[1], "recalls"), (panels[2], "qps")):
        for name, label, style in (("updated", "updated", "o-"), ("fresh", "built anew", "x--")):
            axes.plot(batches, [look[kind][name] for look in looks], style, label=label)
    panels[1].set(ylabel="recall@10 at the same effort", ylim=(0.8, 1.0))
    panels[2].set(ylabel="queries a CPU second at recall 0.95", ylim=(0, None))
    for axes in panels:
        axes.set(xlabel="batches")
        axes.legend(loc="lower left")
    return {"long-run": figure}


def _updates(record: Record) -> list[tuple[str | float, ...]]:
    """The means of a set's batches, without the last, which deletes."""
    rows: list[tuple[str | float, ...]] = []
    for name in (one for one in SETS if one in record.details):
        batches = record.details[name]["updates"][:-1]
        parts = [batch["parts"] for batch in batches]
        rows.append(
            (
                f"{name}, {batches[0]['nodes_before']:,} nodes",
                _mean(batch["insert_s"] + batch["take_s"] for batch in batches),
                _mean(batch["apply_s"] for batch in batches),
                _mean((part["graph"] + part["nodes"]) / 1e3 for part in parts),
                _mean(part["vectors"] / 1e3 for part in parts),
            )
        )
    return rows


def _documents(record: Record) -> str:
    """A row for what an edge may hold: its update, beside a package of everything."""
    packages = record.rows_like("documents, ", "package, KB")
    rows: list[list[Cell]] = []
    for package in packages:
        held = package["what"].partition(": package")[0]
        made, applied = (record.rows_like(f"{held}: {what}")[0] for what in ("make", "verify"))
        rows.append([held, package["ours"], package["rival"], made["ours"], applied["ours"]])
    header = ("", "package, KB", "of everything, KB", "make, s", "verify, apply, commit, s")
    return table(header, rows)


def _against(records: Records) -> str:
    graph_kb = [float(row[3]) for row in _updates(records["delta"])]
    text = (
        "**Against the paper.** It sends 1.0 to 1.7 MB for 1,000 inserts without their vectors; "
        f"here a batch's graph part takes {min(graph_kb):.0f} to {max(graph_kb):.0f} KB on smaller "
        "sets, since links are sent as differences and packed. "
    )
    if "long_run" not in records:
        return text + "Its table 5 takes a long run, which only the full benchmark makes."
    record = records["long_run"]
    slack = record.ours("fragmentation, the worst of all looks, %")
    paper = max(share for share, *_ in PAPER_LONG_RUN.values())
    speeds = [speed for _, *pair in PAPER_LONG_RUN.values() for speed in pair]
    return (
        text
        + f"Fragmentation is {slack:.1f} % at worst, "
        + either(slack < paper, "less than", "not less than")
        + f" the paper's {paper} %. Speed against no deletions is "
        f"{min(speeds):.2f} to {max(speeds):.2f} there, and here, at worst, "
        f"{_worst_speed(record, 'no deletions'):.2f}: "
        + either(
            _worst_speed(record, "no deletions") >= min(speeds),
            "within what the paper saw.",
            "more is lost than the paper saw.",
        )
    )


def _worst_speed(record: Record, rival: str) -> float:
    rows = [row for row in record.rows_like("QPS at recall") if row["rival_name"] == rival]
    return min(float(row["ours"] / row["rival"]) for row in rows)


def _mean(values: Any) -> float:
    listed = list(values)
    return sum(listed) / len(listed)
