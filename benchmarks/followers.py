"""Documents added to a whole index, and how edges get them; nothing goes over a network."""

import time
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.embedding_cache import cached_minilm
from benchmarks.indexes import copy_index, open_index, scratch_folder
from benchmarks.metrics import timed
from benchmarks.report import Row
from benchmarks.retrieval import retrieval
from benchmarks.scale import scaled
from gossamer.errors import NoIndex
from gossamer.store.folder import read_manifest
from gossamer.sync.apply import apply_package
from gossamer.sync.download import Wanted
from gossamer.sync.following import Following, base_of
from gossamer.sync.offer import Offer
from gossamer.sync.package import Package
from gossamer.sync.records import Base, Building, Mode
from gossamer.update.prepare import GivenText

MODES = ("codes", "slim:f16:8", "slim:int8:8")
DOCUMENTS = scaled(1000, smoke=20, small=100)
BATCHES = 3
TOKEN = "a token for the benchmark"
APPLY_BAR_S = 0.2


@dataclass(frozen=True)
class Step:
    """One package: what is in it, and what it took by the clock; applying also in CPU time."""

    kind: str
    package_bytes: int
    sections: dict[str, int]
    make_s: float
    apply_s: float
    apply_cpu_s: float


class Edge:
    """A folder that follows an offer in the same process."""

    def __init__(self, offer: Offer, mode: str) -> None:
        self.folder = scratch_folder(f"edge-{mode.replace(':', '-')}")
        self.folder.mkdir()
        self.mode = str(Mode.parse(mode))
        self._offer = offer

    def pull(self) -> Step:
        """Take what is new."""
        wanted = Wanted(self.mode, "kept", self._base())
        start = time.perf_counter()
        while isinstance(made := self._package(wanted), Building):
            pass
        make_s = time.perf_counter() - start
        assert made is not None, "there is something new"
        following = Following("http://nowhere", TOKEN, self.mode, "kept")

        def apply() -> None:
            with Package.open(made, TOKEN) as package:
                apply_package(self.folder, package, wanted, following, may_go_back=False)

        applying = timed(apply)
        with Package.open(made, TOKEN) as package:
            head = package.head
        sections = {entry.name: entry.size for entry in head.sections}
        size = made.stat().st_size
        return Step(head.kind, size, sections, make_s, applying.wall, applying.cpu)

    def _base(self) -> Base | None:
        try:
            return base_of(read_manifest(self.folder))
        except NoIndex:
            return None

    def _package(self, wanted: Wanted) -> Path | Building | None:
        return self._offer.package(Mode.parse(wanted.mode), texts=wanted.texts, base=wanted.base)


def measure() -> tuple[list[Row], dict[str, object]]:
    """Add documents to the index of MDN batch by batch, and let an edge of each mode follow."""
    folder = scratch_folder("followed")
    copy_index(folder)
    index = open_index(folder, cached_minilm())
    details: dict[str, object] = {}
    rows: list[Row] = []
    with closing(Offer(index, token=TOKEN)) as offer:
        edges = {mode: Edge(offer, mode) for mode in MODES}
        steps = {mode: [edge.pull()] for mode, edge in edges.items()}
        for batch in range(BATCHES):
            index.add_texts(_texts(batch))
            for mode, edge in edges.items():
                steps[mode].append(edge.pull())
        for mode in MODES:
            rows += _rows(mode, steps[mode])
            details[mode] = [asdict(step) for step in steps[mode]]
        details["chunks"] = index.status().chunks
    return rows, details


def _rows(mode: str, steps: list[Step]) -> list[Row]:
    """The largest package and the fastest making and applying of all batches."""
    whole, *updates = steps
    assert all(step.kind == "delta" for step in updates), updates
    largest = max(updates, key=lambda step: step.package_bytes)
    where = f"{DOCUMENTS} documents, {mode}"
    return [
        Row(f"{where}: package, KB", largest.package_bytes / 1e3, whole.package_bytes / 1e3, "all"),
        *(Row(f"{where}: {name}, KB", size / 1e3) for name, size in largest.sections.items()),
        Row(f"{where}: make, s", min(step.make_s for step in updates), whole.make_s, "snapshot"),
        Row(
            f"{where}: verify, apply, commit, s",
            min(step.apply_s for step in updates),
            whole.apply_s,
            "snapshot",
            bar=APPLY_BAR_S,
        ),
        Row(f"{where}: of it CPU s", min(step.apply_cpu_s for step in updates)),
    ]


def _texts(batch: int) -> list[GivenText]:
    """Paragraphs of an encyclopedia, one chunk each but for a few."""
    data = retrieval("hotpotqa")
    here = range(batch * DOCUMENTS, (batch + 1) * DOCUMENTS)
    return [GivenText(data.ids[i], data.bodies[i], data.titles[i]) for i in here]
