"""The README's tables of several machines: server and edge, and a web page."""

from benchmarks.document.readme_lines import Line, Table, joined
from benchmarks.document.records import Records
from benchmarks.document.sections.browser import QUOTED_P50

# Measured by us before with others' programs, on other machines or data; marked as quoted.
QUOTED_SLIM = "530–1,030 KB, HNSW-Slim's own code (quoted)"
QUOTED_WEBANNS_OPEN = "254–379 s, WebANNS (quoted²)"
QUOTED_WEBANNS_BYTES = "166 KB, WebANNS (quoted²)"
SETS = ("mdn", "fashion", "glove")
HELD = ("codes", "slim:int8:8", "slim:f16:8")


def _delta(records: Records) -> Line:
    record = records["delta"]
    sizes = [record.rows_like(f"{name}, ", "graph part")[0]["ours"] for name in SETS]
    return Line(
        "[1,000 vectors] into 60,000: links, levels, ids that travel (MDN / Fashion-MNIST / "
        "GloVe-100)",
        "delta",
        f"**{joined(sizes, '.0f')} KB**",
        QUOTED_SLIM,
    )


def _insert(records: Records) -> Line:
    record = records["delta"]
    whats = ("mdn: insert, re-prune and delta, CPU s", "mdn: apply, CPU s")
    return Line(
        "[inserting] them, pruning again and making the delta, one thread / applying it",
        "delta",
        f"**{joined((record.ours(what) for what in whats), '.2f')} CPU s**",
    )


def _documents(records: Records) -> Line:
    record = records["delta"]
    rows = [record.row(f"1000 documents, {held}: package, KB") for held in HELD[:2]]
    return Line(
        f"[1,000 documents] into MDN ({record.details['documents']['chunks']:,} chunks with them), "
        "all that travels: codes / slim int8",
        "delta",
        f"**{joined((row['ours'] for row in rows), '.0f')} KB**",
        f"{joined((row['rival'] / 1e3 for row in rows), '.1f')} MB, the whole",
    )


def _apply(records: Records) -> Line:
    whats = [f"1000 documents, {held}: verify, apply, commit, s" for held in HELD]
    return Line(
        "[applying] and committing that on the edge: codes / slim int8 / slim f16",
        "delta",
        f"**{joined((records['delta'].ours(what) for what in whats), '.2f')} s**",
    )


def _slim_bytes(records: Records) -> Line:
    whats = [f"{name}, slim f16:8: graph B a node in memory" for name in SETS]
    rows = [records["slim_rivals"].row(what) for what in whats]
    return Line(
        "[slim graph] in memory, bytes a vector (MDN / Fashion-MNIST / GloVe-100)",
        "slim_rivals",
        f"**{joined((row['ours'] for row in rows), '.1f')}**",
        f"{rows[0]['rival']:.0f}, hnswlib M=30",
    )


def _slim_speed(records: Records) -> Line:
    whats = [f"{name}, slim f16:8: QPS at 0.95" for name in SETS]
    ratios = [records["slim_rivals"].ratio(what, "hnswlib") for what in whats]
    return Line(
        "[queries a CPU second] at recall@10 0.95, f16, the same sets",
        "slim_rivals",
        f"**{joined(ratios, '.2f')} times**",
        "hnswlib's",
    )


def _long_run(records: Records) -> Line:
    record = records["long_run"]
    return Line(
        "after [100 updates] with 30 % deletions: slack in the graph / speed at 0.95",
        "long_run",
        f"**{record.ours('fragmentation after the last batch, %'):.1f} % / "
        f"{record.ratio('QPS at recall 0.95', 'no deletions'):.2f} times**",
        "the same without deletions",
    )


def _load(records: Records) -> Line:
    record = records["server_load"]
    none, kept = (record.details[keep]["mixed"] for keep in ("none", "all"))
    memory = record.row('keep "none": RSS, MB, last third')
    alone = record.ours('keep "none": searches alone a second')
    errors = record.rows_like('keep "none"', "errors")[0]["ours"]
    return Line(
        "[32 clients], searching and adding for a minute, two cores",
        "server_load",
        f"**{errors} errors**; search p50 / p99 {_waiting(none['search_s'], '.1f')} s "
        f"({_waiting(kept['search_s'], '.2f')} s with `--keep all`), add "
        f"{_waiting(none['add_s'], '.1f')} s; memory {memory['rival']:.0f}–{memory['ours']:.0f} "
        f"MB; without adds {alone:.1f} searches a second",
    )


def _waiting(seconds: dict[str, float], digits: str) -> str:
    return joined((seconds["p50"], seconds["p99"]), digits)


def _first_question(records: Records) -> Line:
    record = records["browser_bytes"]
    chunks = record.details["no vectors, semantic"]["explanation"]["chunks"]
    vectors = record.details["exports"]["int8 vectors"]["sections"]["vectors"]
    return Line(
        "[first question] by meaning, all that is downloaded, model and engine included: "
        f"{chunks:,} chunks",
        "browser_bytes",
        f"**{record.ours('no vectors, semantic: first question, B') / 1e6:.1f} MB**",
        f"{vectors / 1e6:.1f} MB of vectors alone, in int8",
    )


def _next_question(records: Records) -> Line:
    record = records["browser_bytes"]
    semantic, hybrid = (
        record.ours(f"no vectors, {mode}: mean of 20 others, B") / 1e6
        for mode in ("semantic", "hybrid")
    )
    slow = record.ours("10 Mbit/s, 50 ms: to the first answer, s")
    return Line(
        "each [further one], mean of 20 (hybrid) / to the first answer at 10 Mbit/s and 50 ms",
        "browser_bytes",
        f"**{semantic:.2f} MB** ({hybrid:.2f}) / {slow:.1f} s",
    )


def _in_memory(records: Records) -> Line:
    record = records["browser_speed"]
    rows = [row for row in record.rows if row["what"] == "50k: ours i8 p50"]
    times = {row["rival_name"]: row["rival"] for row in rows}
    usual = times.pop("hnswlib-wasm ef=100")
    same = next(time for name, time in times.items() if name.startswith("hnswlib-wasm"))
    batched = record.ours("50k: ours i8 in a worker, 32 queries a call, p50")
    return Line(
        "[50,000 × 384] in memory, recall@10 ≥ 0.95, p50: "
        "on the page's thread / in a worker, 32 a call",
        "browser_speed",
        f"**{rows[0]['ours']:.2f} / {batched:.2f} ms**",
        f"{same:.2f} ms at the same recall, {usual:.2f} at ef=100: hnswlib-wasm",
    )


def _in_storage(records: Records) -> Line:
    ratio = records["browser_speed"].ratio("50k: 20% of vectors in memory, codes, p50")
    whole, *_, least = QUOTED_P50["WebANNS (quoted)"]
    return Line(
        "[20 % of the vectors] in memory, the rest in storage: p50",
        "browser_speed",
        f"**{ratio:.1f} times** its own with all",
        f"{least / whole:.0f} times, WebANNS (quoted²)",
    )


def _reopened(records: Records) -> Line:
    record = records["browser_speed"]
    took = record.ours("50k: reopened to the first answer, ms; vectors stay in storage") / 1000
    what = "[reopened] from storage to the first answer"
    return Line(what, "browser_speed", f"**{took:.2f} s**", QUOTED_WEBANNS_OPEN)


def _modules(records: Records) -> Line:
    record = records["browser_bytes"]
    size = record.ours("no vectors, semantic: both, gzip, B") / 1e3
    what = "[Wasm and JavaScript] of a first question, gzip"
    return Line(what, "browser_bytes", f"**{size:.0f} KB**", QUOTED_WEBANNS_BYTES)


def _terminal(records: Records) -> Line:
    record = records["remote_question"]
    first, following = (
        record.row(f"no vectors, hybrid: {which}, B")
        for which in ("first question", "mean of 20 others")
    )
    return Line(
        "the same file [from a terminal], hybrid: first question / each further one, mean of 20",
        "remote_question",
        f"**{first['ours'] / 1e6:.1f} / {following['ours'] / 1e6:.2f} MB**",
        f"{first['rival'] / 1e6:.1f} MB, the whole file",
    )


EDGE = Table("", (_delta, _insert, _documents, _apply, _slim_bytes, _slim_speed, _long_run, _load))
WEB = Table(
    "MDN Web Docs in Chromium, two cores",
    (_first_question, _next_question, _in_memory, _in_storage, _reopened, _modules, _terminal),
)
