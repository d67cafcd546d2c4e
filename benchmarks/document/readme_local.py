"""The README's tables of one machine: a folder of files, and the engine under it.

To add a row, write a function that gives a `Line`, with numbers from the record of its case, and
name it in the table at the end.
"""

from typing import Any

from benchmarks.document.readme_lines import Line, Table, joined
from benchmarks.document.records import Record, Records
from benchmarks.document.sections.footprint import Footprints

# Measured by us before, with another text; marked as quoted.
QUOTED_LEANN = "LEANN 0.3.8 at 7,497 (quoted¹)"


def _folder(records: Records) -> Line:
    mdn, rfc = (records["folder_bytes"].details[name] for name in ("mdn", "rfc"))
    shares = [100 * one["total_bytes"] / one["text_bytes"] for one in (mdn, rfc)]
    what = (
        "the whole [index folder], as a share of the text: MDN Web Docs in "
        f"{mdn['files']:,} files / {rfc['files']:,} RFCs ({rfc['text_bytes'] / 1e6:.0f} MB)"
    )
    taken = Footprints(records["footprint"])
    hnsw, *stores = (taken.share_of(name) or 0.0 for name in ("hnswlib", "lancedb", "leann"))
    with_texts = f"{100 * stores[0]:.0f} % lancedb, {100 * stores[1]:.0f} % LEANN 0.3.8"
    return Line(
        what,
        "folder_bytes",
        f"**{shares[0]:.1f} % / {shares[1]:.1f} %**",
        f"[an eighth of the RFCs]: {100 * hnsw:.0f} % hnswlib; with texts {with_texts}",
        "footprint",
    )


def _million(records: Records) -> Line:
    record = records["growth"]
    count = max(one["count"] for one in record.details["codes"])
    whats = [f"{count:,} chunks, {size} B codes, recall@3 0.90" for size in (24, 32)]
    rows = [record.row(what) for what in whats]
    first = min(one["count"] for one in record.details["codes"])
    few = [
        one["asked"]["3"]["0.9"]
        for size in (24, 32)
        for one in record.details["codes"]
        if one["count"] == first and one["code_bytes"] == size
    ]
    return Line(
        f"the same for [{count:,} chunks] of all sets, embedded on a GPU: 24 / 32 B codes, 0.90",
        "growth",
        f"**{joined((row['ours'] for row in rows), '.0f')}**",
        f"{joined(few, '.0f')} for {first:,} of them",
    )


def _recall(records: Records) -> Line:
    record = records["folder_recall"]
    reached = record.details["all chunks, k=3"]
    theirs = records["query_cost"].rows_like("chunks embedded again")[0]["rival"]
    return Line(
        f"[recall@3] against exact search, {record.details['chunks']:,} chunks",
        "folder_recall",
        f"**{reached['recall']:.3f}**, {reached['embedded']:.0f} chunks embedded again",
        f"{theirs:.0f} chunks, {QUOTED_LEANN}",
    )


def _question(records: Records) -> Line:
    cost = _largest(records["query_cost"])
    low, high = records["query_cost"].details["leann_cpu_s"]
    return Line(
        f"a [question], warm: CPU / clock, {cost['chunks']:,} chunks",
        "query_cost",
        f"**{cost['cpu_s']:.2f} s / {cost['wall_s']:.2f} s**",
        f"{low:.0f}–{high:.0f} CPU s, {QUOTED_LEANN}",
    )


def _new_process(records: Records) -> Line:
    more = records["query_cost"].ours("s more than the same questions warm")
    what = "`gossamer search` in a [new process], no daemon"
    return Line(what, "query_cost", f"{more:.2f} s more")


def _quality(records: Records) -> Line:
    mean, words = (records[case].details["mean"] for case in ("answer_quality", "lexical"))
    return Line(
        "[nDCG@10], mean of SciFact, HotpotQA, LoCoMo, CoSQA: hybrid",
        "answer_quality",
        f"**{mean['hybrid']:.3f}**",
        f"{mean['exact']:.3f} exact search by meaning, {words['bm25s, stemmed']:.3f} [bm25s]",
        "lexical",
    )


def _add(records: Records) -> Line:
    record = records["pipeline_speed"]
    return Line(
        "[`add`]: chunks a second / of what the bare encoder reaches",
        "pipeline_speed",
        f"**{record.ours('chunks/s of `add`'):.0f}** / {record.ratio('chunks a s', 'encoder'):.2f}",
    )


def _download(records: Records) -> Line:
    record = records["install_size"]
    return Line(
        f"to [download], besides the model ({record.ours('MB of the model'):.0f} MB)",
        "install_size",
        f"**{record.ours('MB to download besides the model'):.0f} MB**, no torch",
    )


def _vectors(records: Records) -> Line:
    whats = [f"32 B codes, recall {recall}" for recall in ("0.90", "0.95")]
    rows = [records["codes"].row(what, "faiss OPQ") for what in whats]
    return Line(
        "[exact vectors] a query needs, recall@3 0.90 / 0.95, 32 B codes",
        "codes",
        f"**{joined((row['ours'] for row in rows), '.0f')}**",
        f"{joined((row['rival'] for row in rows), '.0f')}, faiss OPQ at 32 B",
    )


def _stop(records: Records) -> Line:
    record = records["adaptive"]
    asked = {
        point["effort"]: row["ours"] / row["rival"]
        for point, row in zip(record.details["dial"], record.rows, strict=True)
    }
    return Line(
        "[stopping early]: vectors asked for at recall 0.90 / 0.95 / 0.98",
        "adaptive",
        f"**{joined((asked[recall] for recall in (0.90, 0.95, 0.98)), '.2f')} times**",
        "a fixed number's",
    )


def _scan(records: Records) -> Line:
    row = records["scan_speed"].row("milliseconds")
    return Line(
        "one [scan] of a million 32 B codes, one thread",
        "scan_speed",
        f"{row['ours']:.1f} ms",
        f"{row['rival']:.1f} ms, faiss fast-scan (4-bit codes)",
    )


def _stored(records: Records) -> Line:
    whats = [f"recall {recall}, against the best rival" for recall in ("0.95", "0.99")]
    rows = [records["stored_qps"].row(what) for what in whats]
    return Line(
        "all vectors kept: [queries a CPU second] at recall@10 0.95 / 0.99",
        "stored_qps",
        f"**{joined((row['ours'] for row in rows), ',.0f')}**",
        f"{joined((row['rival'] for row in rows), ',.0f')}, {rows[0]['rival_name']} (the best of "
        "hnswlib, faiss, usearch; f32 where ours is f16)",
    )


def _graph(records: Records) -> Line:
    memory, disk = (records["graph_bytes"].row(what) for what in ("in memory, counted", "on disk"))
    return Line(
        "[slim graph], in memory / on disk",
        "graph_bytes",
        f"**{memory['ours']:.1f} / {disk['ours']:.1f} B a vector**",
        f"{disk['rival']:.0f} B, hnswlib M=30",
    )


def _open(records: Records) -> Line:
    record = records["open_1m"]
    return Line(
        "[opening] a file of 1,000,000 vectors",
        "open_1m",
        f"**{record.ours('milliseconds to open'):.1f} ms**, "
        f"{record.ours('RSS grows by MB'):.1f} MB",
    )


def _largest(record: Record) -> dict[str, Any]:
    sizes = [one for one in record.details.values() if isinstance(one, dict) and "cpu_s" in one]
    return max(sizes, key=lambda one: one["chunks"])


COSTS = Table("", (_folder, _recall, _question, _new_process, _quality, _add, _download))
ENGINE = Table("", (_vectors, _million, _stop, _scan, _stored, _graph, _open))
