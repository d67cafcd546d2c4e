"""Clients beside connections that hold the server up: errors, and what they wait longer."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from benchmarks import folders
from benchmarks.embedding_cache import cached_minilm
from benchmarks.indexes import create_index, open_index, scratch_folder, source_names
from benchmarks.report import Result, Row, Skipped
from benchmarks.scale import scaled
from benchmarks.server_clients import Load, describe, load_server, percentiles, search_request
from benchmarks.server_process import Client, serving
from benchmarks.slow_connections import slow_connections

TITLE = "`gossamer serve` beside 1,000 connections whose requests never come to an end"
CLIENTS = scaled(32, 8)
SLOW = scaled(1000, 600)
SECONDS = scaled(60, 6)
WARM_S = scaled(20, 2)
EVERY = scaled(25, 1)  # of the pages of MDN: about 3,000 chunks
ADD_EVERY = 10  # one request in so many adds a text
KEEP = "all"  # what is embedded again would be less in the later of two loads
FILES = 1024  # as systems have it


@dataclass(frozen=True)
class Measured:
    """What the clients saw, and what became of the others."""

    without: Load
    beside: Load
    slow: dict[str, Any]
    status: int  # the server's exit status
    lost: int  # texts that were acknowledged and are not in the index


def run() -> Result:
    """The same load twice, the second time beside slow connections."""
    if sys.platform == "win32":
        raise Skipped("files are not bounded here")
    measured = _measure()
    details = {
        "without": describe(measured.without),
        "beside": describe(measured.beside),
        "slow": measured.slow,
        "files": FILES,
    }
    return Result(_rows(measured), details)


def _measure() -> Measured:
    folder = scratch_folder("served-slow")
    create_index(folder, cached_minilm(), KEEP).add_paths([folders.mdn(EVERY)])
    log = folder.with_suffix(".log")
    with _few_files(FILES), serving(folder, log) as server:
        warm = Client(server.port)
        asked = warm.ask(*search_request("what is a web worker"))
        assert asked.status == 200, log.read_text()[-2000:]
        warm.close()
        load_server(server, CLIENTS, WARM_S, add_every=None)
        without = load_server(server, CLIENTS, SECONDS, ADD_EVERY, "without")
        with slow_connections(server.port, SLOW) as slow:
            beside = load_server(server, CLIENTS, SECONDS, ADD_EVERY, "beside")
            became = slow.stop()
        status = server.stop()
    added = {*without.added, *beside.added}
    return Measured(without, beside, became, status, len(added - source_names(open_index(folder))))


@contextmanager
def _few_files(most: int) -> Iterator[None]:
    """Let what is started within open so many files."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, soft) if soft > 0 else most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def _rows(measured: Measured) -> list[Row]:
    without, beside, slow = measured.without, measured.beside, measured.slow
    rows = [
        Row(
            f"{CLIENTS} clients beside {SLOW:,} slow bodies, {SECONDS} s: errors",
            sum(beside.errors.values()),
            sum(without.errors.values()),
            "without them",
            bar=0,
        ),
        Row("acknowledged texts that are lost", measured.lost, bar=0),
        Row("exit status of the server", measured.status, bar=0),
        Row("requests a second", beside.per_second, without.per_second, "without them"),
    ]
    for what, these, those in (
        ("search", beside.searches, without.searches),
        ("add", beside.adds, without.adds),
    ):
        before = percentiles(those)
        rows += [
            Row(f"{what} {name}, ms", 1e3 * value, 1e3 * before[name], "without them")
            for name, value in percentiles(these).items()
            if name in before
        ]
    return [
        *rows,
        Row("slow connections open at once", slow["most_open"]),
        Row("slow connections that the server closed", slow["closed"]),
    ]
