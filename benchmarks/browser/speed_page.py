"""One page with everybody in it, over one set of vectors: what `browser_speed` measures by."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.browser import hnsw_graph
from benchmarks.browser.site import Site
from benchmarks.browser.speed_files import DIM, KINDS, rival_graph, vectors_file
from benchmarks.browser.tab import Bench, Browser
from benchmarks.browser.timing import Timing, timing
from benchmarks.datasets import Dataset
from benchmarks.scale import scaled

K = 10
TARGET = 0.95
QUERIES = "queries.f32"
# Queries that memory is filled by; settings are chosen by those after them, which are measured.
WARMED_BY = 200
MEASURED = scaled(750, 90)
BEAMS = (24, 32, 36, 40, 44, 48, 56, 64, 80, 100, 128)
Request = dict[str, Any]


class SpeedPage:
    """A page over the first so many vectors of a set."""

    def __init__(self, browser: Browser, site: Site, folder: Path, data: Dataset) -> None:
        """Open it and put our indexes into its storage."""
        self.data, self.count, self.folder = data, len(data.vectors), folder
        self.bench = Bench(browser, site.url)
        for kind in KINDS:
            self.bench("put", kind.file(self.count), "opfs")

    def add_hnswlib(self, efs: Sequence[int], *, anew: bool) -> float | None:
        """Set hnswlib-wasm up, from its kept graph if it need not be built `anew`.

        Gives the seconds of a build.
        """
        kept, seconds = rival_graph(self.count), None
        if anew or not kept.exists():
            built = self.bench("buildHnswlib", vectors_file(self.count), DIM, kept.name)
            seconds = float(built) / 1000
        else:
            self.bench("loadHnswlib", kept.name, DIM, self.count)
        for ef in efs:
            self.bench("addHnswlib", f"hnswlib-wasm ef={ef}", ef)
        return seconds

    def add_mememo(self, name: str, *, stored: bool, ef: int) -> float:
        """Set mememo up over hnswlib-wasm's graph; the seconds that loading took."""
        graph = self.folder / f"mememo-{self.count}.json"
        if not graph.exists():
            links = hnsw_graph.read_links(rival_graph(self.count))
            hnsw_graph.write_for_mememo(links, self.data.vectors, graph)
        kind = "mememoStored" if stored else "mememo"
        return self._add_rival(name, kind, {"graph": graph.name, "ef": ef})

    def add_voy(self, name: str) -> float:
        """Set voy-search up; the seconds that took."""
        return self._add_rival(name, "voy", {"wasm": "voy.wasm"})

    def add_client_vector_search(self, name: str) -> float:
        """Set client-vector-search up; the seconds that took."""
        return self._add_rival(name, "clientVectorSearch", {})

    def open_ours(self, name: str, file: str, *, worker: bool, **opening: object) -> dict[str, Any]:
        """Open an index of ours from storage, see Opening of web/bench/ours.ts."""
        options = {"file": file, "storage": "opfs", "worker": worker, **opening}
        found: dict[str, Any] = self.bench("openOurs", name, options)
        return found

    def add_ours(self, name: str, opened: str, request: Request, *, batched: bool = False) -> None:
        """Search what was opened like this, under a name: a query at a time, or many in a call."""
        self.bench("addOurs", name, opened, request, batched)

    def measure(
        self,
        names: Sequence[str],
        *,
        count: int,
        rounds: int,
        first: int = WARMED_BY,
        advances: bool = False,
        cap_s: float | None = None,
    ) -> dict[str, Timing]:
        """Ask all of them the same queries, in turns."""
        turns = {
            "names": list(names),
            "first": first,
            "count": count,
            "rounds": rounds,
            "k": K,
            "advances": advances,
        }
        if cap_s is not None:
            turns["capMs"] = 1000 * cap_s
        taken = self.bench("turns", QUERIES, DIM, turns)
        truth = self.data.truth
        return {name: timing(taken[name], truth, first, K, advances=advances) for name in names}

    def first_to_reach(self, names: Sequence[str]) -> str:
        """Give the first of these settings that reaches the recall, or the last."""
        found = self.measure(names, count=MEASURED, rounds=1)
        reached = (name for name in names if found[name].recall >= TARGET)
        return next(reached, names[-1])

    def cheapest(self, opened: str, requests: Sequence[Request]) -> Request:
        """Give the first of these ways to search that reaches the recall, or the last."""
        names = [f"{opened} {number}" for number in range(len(requests))]
        for name, request in zip(names, requests, strict=True):
            self.add_ours(name, opened, request)
        return requests[names.index(self.first_to_reach(names))]

    def _add_rival(self, name: str, kind: str, extra: dict[str, object]) -> float:
        took = self.bench("addRival", name, kind, vectors_file(self.count), DIM, extra)
        return float(took) / 1000


def walks(strategy: str) -> list[Request]:
    """Exact walks with rising beams."""
    return [{"recall": TARGET, "strategy": strategy, "effort": {"beam": beam}} for beam in BEAMS]


def dials() -> list[Request]:
    """Recalls to ask for, rising, the rest left to the engine."""
    return [{"recall": recall} for recall in (0.9, 0.92, 0.94, 0.95, 0.96, 0.97, 0.98, 0.99)]
