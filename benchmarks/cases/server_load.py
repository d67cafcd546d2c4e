"""Many clients at once: errors, waiting times, memory, and what sharing the model gains."""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks import folders
from benchmarks.datasets import Floats
from benchmarks.embedding_cache import cached_minilm
from benchmarks.indexes import (
    create_index,
    embedder_of,
    open_index,
    scratch_folder,
    source_names,
)
from benchmarks.metrics import timed
from benchmarks.report import Result, Row
from benchmarks.scale import scaled
from benchmarks.server_clients import (
    Load,
    describe,
    load_server,
    page_beginnings,
    percentiles,
    search_request,
)
from benchmarks.server_process import Client, Server, serving
from gossamer.embed import Embedder
from gossamer.embed.shared import SharedEmbedder
from gossamer.index import Index

TITLE = "`gossamer serve` under load: 32 clients, searches and adds"
KEEPS = ("none", "all")
CLIENTS = 32
SECONDS = scaled(60, 8)
ALONE_S = scaled(20, 4)
EVERY = scaled(25, 1)  # of the pages of MDN: about 3,000 chunks
ADD_EVERY = 10  # one request in so many adds a text
WATCH_S = 1.0
FLAT_BAR = 1.1
ROUND = "gossamer_embedding_round_texts"
EMBEDDED = 'gossamer_chunks_embedded_total{use="search"}'
# Where the model alone is measured: what each thread wants embedded.
SHARED_TEXTS = scaled(8, 4)
SHORT_CHARACTERS = 400


def run() -> Result:
    """An index of codes, as it is by default, and one that keeps its vectors, as servers may."""
    rows: list[Row] = []
    details: dict[str, object] = {}
    for keep in KEEPS:
        measured = _serve(keep)
        rows += _rows(f'keep "{keep}"', measured)
        details[keep] = _details(measured)
    shared = _sharing(open_index(_folder(KEEPS[0])))
    what = f"chunks embedded a second for {CLIENTS} threads"
    rows.append(Row(what, shared["shared"], shared["in turns"], "one call after the other"))
    return Result(rows, {**details, "embedded_per_second": shared})


@dataclass(frozen=True)
class Measured:
    """What one index did under all loads."""

    alone: Load  # one client that searches
    together: Load  # 32 that search
    mixed: Load  # 32 that search and add
    resident: list[int]  # while `mixed`
    rounds: dict[str, float]  # metrics before `mixed`
    metrics: dict[str, float]
    status: int  # the server's exit status
    lost: int  # texts that were acknowledged and are not in the index


def _serve(keep: str) -> Measured:
    folder = _folder(keep)
    create_index(folder, cached_minilm(), keep).add_paths([folders.mdn(EVERY)])
    log = folder.with_suffix(".log")
    with serving(folder, log) as server:
        warm = Client(server.port)
        asked = warm.ask(*search_request("what is a web worker"))
        assert asked.status == 200, log.read_text()[-2000:]
        warm.close()
        alone = load_server(server, 1, ALONE_S, add_every=None)
        together = load_server(server, CLIENTS, ALONE_S, add_every=None)
        rounds = server.metrics()
        with _Watch(server) as watch:
            mixed = load_server(server, CLIENTS, SECONDS, ADD_EVERY)
        metrics = server.metrics()
        status = server.stop()
    lost = len(set(mixed.added) - source_names(open_index(folder)))
    return Measured(alone, together, mixed, watch.resident, rounds, metrics, status, lost)


def _rows(where: str, measured: Measured) -> list[Row]:
    mixed, alone, together = measured.mixed, measured.alone, measured.together
    errors = sum((mixed.errors + alone.errors + together.errors).values())
    rows = [
        Row(f"{where}, {CLIENTS} clients, {SECONDS} s: errors", errors, bar=0),
        Row(f"{where}: acknowledged texts that are lost", measured.lost, bar=0),
        Row(f"{where}: exit status of the server", measured.status, bar=0),
        Row(f"{where}: requests a second", mixed.per_second),
    ]
    for what, seconds in (("search", mixed.searches), ("add", mixed.adds)):
        rows += [
            Row(f"{where}: {what} {name}, ms ({len(seconds)})", 1e3 * value)
            for name, value in percentiles(seconds).items()
        ]
    third = len(measured.resident) // 3
    parts = measured.resident[third : 2 * third], measured.resident[2 * third :]
    middle, last = (float(np.mean(part)) / 1e6 for part in parts)
    flat = Row(f"{where}: RSS, MB, last third", last, middle, "middle", FLAT_BAR, by_ratio=True)
    many, one = together.per_second, alone.per_second
    return [
        *rows,
        flat,
        Row(f"{where}: searches alone a second", many, one, "one client"),
        Row(f"{where}: texts in a shared round", _texts_in_round(measured.rounds)),
        Row(f"{where}: chunks embedded a search, with adds", _embedded_again(measured)),
    ]


def _details(measured: Measured) -> dict[str, object]:
    loads = {
        name: describe(load)
        for name, load in (
            ("alone", measured.alone),
            ("together", measured.together),
            ("mixed", measured.mixed),
        )
    }
    resident = [size / 1e6 for size in measured.resident]
    return {**loads, "resident_mb": resident, "metrics": measured.metrics}


def _texts_in_round(metrics: dict[str, float]) -> float | None:
    """How many different texts a round of the model had on average, by the server's count."""
    rounds = metrics.get(f"{ROUND}_count", 0.0)
    return metrics[f"{ROUND}_sum"] / rounds if rounds else None


def _embedded_again(measured: Measured) -> float:
    """Chunks really embedded for a search while others add: the server remembers some vectors."""
    more = measured.metrics.get(EMBEDDED, 0.0) - measured.rounds.get(EMBEDDED, 0.0)
    return more / max(1, len(measured.mixed.searches))


def _folder(keep: str) -> Path:
    return scratch_folder(f"served-{keep}")


class _Watch:
    """Looks at the server's memory every second."""

    def __init__(self, server: Server) -> None:
        self.resident: list[int] = []
        self._server = server
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._work)

    def __enter__(self) -> "_Watch":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    def _work(self) -> None:
        while not self._is_over.wait(WATCH_S):
            self.resident.append(self._server.resident_bytes)


def _sharing(index: Index) -> dict[str, float]:
    """Texts a second that threads get embedded: in shared rounds, and one call after the other."""
    embedder = embedder_of(index)
    embedder.embed(["the model is loaded before"])
    in_turns = _embed_by_threads(_InTurns(embedder))
    shared = SharedEmbedder(embedder)
    together = _embed_by_threads(shared)
    shared.close()
    return {"in turns": in_turns, "shared": together}


class _InTurns:
    """What a server without shared rounds does: one call at a time."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._lock = threading.Lock()

    def embed(self, texts: Sequence[str]) -> Floats:
        with self._lock:
            return self._embedder.embed(texts)


def _embed_by_threads(embedder: _InTurns | SharedEmbedder) -> float:
    texts = [page[:SHORT_CHARACTERS] for page in page_beginnings()]
    each = [texts[i * SHARED_TEXTS : (i + 1) * SHARED_TEXTS] for i in range(CLIENTS)]
    with ThreadPoolExecutor(CLIENTS) as pool:
        seconds = timed(lambda: list(pool.map(embedder.embed, each)))
    return CLIENTS * SHARED_TEXTS / seconds.wall
