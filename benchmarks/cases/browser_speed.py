"""Vector search in a page: ours, as pages call it, against the packages from npm."""

import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.browser.memory_rows import memory_rows
from benchmarks.browser.optimiser_rows import optimiser_rows
from benchmarks.browser.site import Site
from benchmarks.browser.speed_files import (
    DIM,
    KINDS,
    rival_graph,
    vectors_file,
    write_data,
    write_indexes,
    write_site,
)
from benchmarks.browser.speed_page import (
    BEAMS,
    MEASURED,
    QUERIES,
    TARGET,
    K,
    Request,
    SpeedPage,
    walks,
)
from benchmarks.browser.tab import browser
from benchmarks.browser.timing import Timing
from benchmarks.datasets import mdn
from benchmarks.report import Result, Row
from benchmarks.scale import FULL, SCALE, scaled

TITLE = "in the browser, 384-d MDN vectors, recall@10 ≥ 0.95: milliseconds a query"
COUNTS = (10_000, 50_000) if SCALE == FULL else (10_000,)
SMALLER = COUNTS[0]
ROUNDS = 3
# Of the rival's time: on the page's own thread as the rival is, and in a worker, many in a call.
RIVAL_BAR, BATCH_BAR = 0.4, 0.45
REOPEN_BAR_MS = 500.0
LONG_TASK_MS = 50.0
REOPENED = 5
USUAL_EF = 100
# Slow ones are asked as long as this, each.
CAP_S = scaled(10, 2)
STORED_CAP_S = 60
LOAD_SEARCHES = 100
JUDGED = KINDS[0]


@dataclass
class Found:
    """What was measured so far."""

    rows: list[Row] = field(default_factory=list)
    details: dict[str, Any] = field(default_factory=dict)


def run() -> Result:
    """Everybody in one page for each size."""
    found = Found()
    with tempfile.TemporaryDirectory() as name, browser() as started:
        folder = Path(name)
        write_site(folder)
        for count in COUNTS:
            data = mdn().first(count)
            write_data(folder, data)
            write_indexes(folder, data)
            with Site([rival_graph(count).parent, folder]) as site:
                page = SpeedPage(started, site, folder, data)
                here = Found()
                exact = _in_memory(page, here)
                here.rows += memory_rows(page, JUDGED, exact, here.details)
                here.rows += optimiser_rows(page, JUDGED, exact, here.details)
                page.bench.close()
                alone = SpeedPage(started, site, folder, data)
                _reopened(alone, here)
                _long_tasks(alone, here)
                alone.bench.close()
            found.rows += here.rows
            found.details[str(count)] = here.details
    return Result(found.rows, found.details)


def _in_memory(page: SpeedPage, found: Found) -> Request:
    """Rows of speed with all vectors in memory, and of builds; gives the walk that is judged."""
    size = _size(page)
    efs = [ef for ef in BEAMS if ef >= K]
    built_s = page.add_hnswlib(efs, anew=page.count == SMALLER)
    rival = page.first_to_reach([f"hnswlib-wasm ef={ef}" for ef in efs])
    usual = f"hnswlib-wasm ef={USUAL_EF}"
    requests = {}
    for kind in KINDS:
        page.open_ours(kind.name, kind.file(page.count), worker=False)
        requests[kind.name] = page.cheapest(kind.name, walks("best-first"))
        page.add_ours(_ours(kind.name), kind.name, requests[kind.name])
    page.open_ours("in a worker", JUDGED.file(page.count), worker=True)
    page.add_ours(BATCHED, "in a worker", requests[JUDGED.name], batched=True)
    page.add_ours(CALLED, "in a worker", requests[JUDGED.name])
    names = [rival, *(_ours(kind.name) for kind in KINDS), BATCHED, CALLED]
    timings = page.measure(names, count=MEASURED, rounds=ROUNDS)
    others = [usual, *_other_rivals(page, found)]
    timings |= page.measure(others, count=MEASURED, rounds=ROUNDS, cap_s=CAP_S)
    found.details["in memory"] = {name: one.as_saved() for name, one in timings.items()}
    found.details["requests"] = requests
    found.rows += _speed_rows(size, timings, rival)
    found.rows += [_recall_row(size, name, timings[name]) for name in (_ours(JUDGED.name), rival)]
    found.rows += [
        Row(f"{size}: {_ours(JUDGED.name)} p50", timings[_ours(JUDGED.name)].p50, one.p50, name)
        for name, one in timings.items()
        if name in others
    ]
    found.rows += [_recall_row(size, name, timings[name]) for name in others]
    if page.count == SMALLER and built_s is not None:
        options = {"scalar": "int8", "keep": "all", "graph": "full", "maxDegree": 16, "effort": 100}
        ours_s = page.bench("build", vectors_file(page.count), DIM, options) / 1000
        found.rows.append(
            Row(f"{size}: graph built in the page, s", ours_s, built_s, "hnswlib-wasm")
        )
    elif built_s is not None:
        found.details["hnswlib-wasm built, s"] = built_s
    for name in (*(kind.name for kind in KINDS), "in a worker"):
        page.bench("closeOurs", name)
    return requests[JUDGED.name]


def _speed_rows(size: str, timings: dict[str, Timing], rival: str) -> list[Row]:
    """Ours on the page's thread, where the rival is too, and in a worker."""
    theirs = timings[rival]
    bars = {_ours(JUDGED.name): RIVAL_BAR, BATCHED: BATCH_BAR}
    rows = []
    for name in (*(_ours(kind.name) for kind in KINDS), BATCHED, CALLED):
        one, bar = timings[name], bars.get(name)
        rows.append(Row(f"{size}: {name} p50", one.p50, theirs.p50, rival, bar, by_ratio=True))
        rows.append(Row(f"{size}: {name} p99", one.p99, theirs.p99, rival))
    one = timings[_ours(JUDGED.name)]
    rows.append(Row(f"{size}: {_ours(JUDGED.name)} raw p50", one.raw_p50, theirs.raw_p50, rival))
    rows.append(Row(f"{size}: {_ours(JUDGED.name)} raw p99", one.raw_p99, theirs.raw_p99, rival))
    return rows


def _other_rivals(page: SpeedPage, found: Found) -> list[str]:
    """Set the slower rivals up; those that scan only for the smaller set."""
    names = ["mememo"]
    loads = {"mememo": page.add_mememo("mememo", stored=False, ef=USUAL_EF)}
    if page.count == SMALLER:
        loads["voy-search"] = page.add_voy("voy-search")
        loads["client-vector-search"] = page.add_client_vector_search("client-vector-search")
        names += ["voy-search", "client-vector-search"]
    elif SCALE == FULL:
        name = "mememo, IndexedDB"
        loads[name] = page.add_mememo(name, stored=True, ef=USUAL_EF)
        timings = page.measure([name], count=20, rounds=1, cap_s=STORED_CAP_S)
        found.details[name] = timings[name].as_saved()
        found.rows.append(Row(f"{_size(page)}: {name} p50", None, timings[name].p50, name))
        page.bench("remove", name)
    found.details["loaded, s"] = loads
    return names


def _reopened(page: SpeedPage, found: Found) -> None:
    """From a new worker to its first answer: the middle of some."""
    request = {"k": K, "recall": TARGET}
    for label, share in (("vectors stay in storage", 0.2), ("all read into memory", None)):
        opening = {"file": JUDGED.file(page.count), "storage": "opfs"}
        options = {**opening, "worker": True} | ({} if share is None else {"share": share})
        took = [page.bench("reopen", QUERIES, DIM, options, request) for _ in range(REOPENED)]
        middle = sorted(one["ms"] for one in took)[REOPENED // 2]
        found.details[f"reopened, {label}"] = [round(one["ms"], 1) for one in took]
        what = f"{_size(page)}: reopened to the first answer, ms; {label}"
        found.rows.append(Row(what, middle, bar=REOPEN_BAR_MS))


def _long_tasks(page: SpeedPage, found: Found) -> None:
    """Tasks of the page's own thread while an index opens and answers."""
    page.bench("takeLongTasks")
    page.open_ours("watched", JUDGED.file(page.count), worker=True, share=0.2)
    page.add_ours("watched", "watched", {"recall": TARGET})
    page.measure(["watched"], count=LOAD_SEARCHES, rounds=1)
    tasks = page.bench("takeLongTasks")
    longest = max(tasks, default=0.0)
    found.details["long tasks, ms"] = tasks
    what = f"{_size(page)}: longest task of the page, ms (0: none over 50)"
    found.rows.append(Row(what, longest, bar=LONG_TASK_MS))


def _recall_row(size: str, name: str, one: Timing) -> Row:
    return Row(f"{size}: {name}, recall@10", one.recall)


def _ours(kind: str) -> str:
    return f"ours {kind}"


BATCHED = f"{_ours(JUDGED.name)} in a worker, 32 queries a call,"
CALLED = f"{_ours(JUDGED.name)} in a worker, one query a call,"


def _size(page: SpeedPage) -> str:
    return f"{page.count // 1000}k"
