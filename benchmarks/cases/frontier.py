"""Bytes a chunk against vectors asked for: every layout that keeps few or no vectors."""

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import ours
from benchmarks.baselines import faiss_opq, faiss_pq, leann_design
from benchmarks.datasets import Dataset, Ids
from benchmarks.metrics import Point, cost_at, recall, vectors_for_recall
from benchmarks.report import Result, Row
from benchmarks.scale import FULL, SCALE, scaled
from benchmarks.text_sets import text_set
from gossamer import Codebook, Effort

TITLE = "bytes a chunk against vectors asked for per query at recall@3"
K = 3
TARGETS = (0.90, 0.95, 0.99)
SETS = scaled(("mdn", "rfc", "scifact"), smoke=("mdn",), small=("mdn",))
CHUNKS = scaled(10**9, smoke=2_000, small=6_000)
CODE_BYTES = scaled((8, 16, 24, 32, 48, 64), smoke=(8, 32), small=(8, 16, 32, 64))
RIVAL_BYTES = scaled((16, 32), smoke=(32,), small=(16, 32))
GRAPH_CODE_BYTES = 32
HOT_SHARES = scaled((0.02, 0.10), smoke=(0.10,), small=(0.10,))
RANKED = 16_384  # looked at most; whoever needs more is said not to get there
BEAMS = (3, 4, 6, 8, 11, 16, 22, 32, 45, 64, 90, 128, 180, 256, 400, 600)
RATIOS = leann_design.RATIOS
LOOKED_AT = (3, 4, 6, 8, 11, 16, 22, 32, 45, 64, 90, 128, 180, 256)
MARGINS = (0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0)
WALK_BEAM = 256
BYTES_A_LINK = 4
# Whom each layout is of, as the plot tells them apart.
OURS, FAISS, LEANN, HOT = "ours", "faiss", "LEANN's design", "ours, hot vectors"


@dataclass(frozen=True)
class Layout:
    """What is stored of a chunk, and what a search asks for."""

    name: str
    family: str
    chunk_bytes: float  # what grows with the chunks
    once_bytes: int  # codebook; 0 where it ships with the model
    asked: dict[str, float | None]  # by recall; None if it is not reached


def run() -> Result:
    """All layouts over the same vectors."""
    sets: dict[str, dict[str, Any]] = {}
    for name in SETS:
        data = text_set(name).data.first(CHUNKS)
        layouts = list(_layouts(data))
        sets[name] = {
            "chunks": len(data.vectors),
            "queries": len(data.queries),
            "layouts": [asdict(layout) for layout in layouts],
        }
    rows = [row for name, measured in sets.items() for row in _rows(name, measured["layouts"])]
    return Result(rows, {"sets": sets, "targets": [f"{target:.2f}" for target in TARGETS]})


def _rows(set_name: str, layouts: list[dict[str, Any]]) -> list[Row]:
    """Codes alone against LEANN's layout with the same codes."""
    by_name = {layout["name"]: layout for layout in layouts}
    codes = by_name[_codes_name(GRAPH_CODE_BYTES)]
    leann = by_name["hub graph + codes, two-level"]
    rows = [
        Row(
            f"{set_name}, recall {target:.2f}: asked for by {GRAPH_CODE_BYTES} B codes alone",
            codes["asked"][f"{target:.2f}"],
            leann["asked"][f"{target:.2f}"],
            LEANN,
        )
        for target in TARGETS
    ]
    what = f"{set_name}: B a chunk, {GRAPH_CODE_BYTES} B codes alone"
    return [*rows, Row(what, codes["chunk_bytes"], leann["chunk_bytes"], LEANN)]


def _layouts(data: Dataset) -> Iterator[Layout]:
    trained = {size: ours.train_on(data.vectors, size) for size in CODE_BYTES}
    yield from _scans(data, list(trained.values()))
    yield from _faiss(data)
    codebook = trained[GRAPH_CODE_BYTES]
    yield _adaptive(data, codebook)
    yield from _hot(data, codebook)
    yield from _graphs(data, codebook)


def _scans(data: Dataset, trained: list[Codebook]) -> Iterator[Layout]:
    """Our codes: trained on the chunks themselves, and those that ship with the model."""
    shipped, _ = ours.shipped_codebook()
    best = min(RANKED, len(data.vectors))
    for codebook in (*trained, shipped):
        size = codebook.code_bytes
        ranked, _ = codebook.scan(data.queries, codebook.encode(data.vectors, 2), best)
        asked = _asked(ranked.astype(np.int64), data)
        if codebook is shipped:
            yield Layout(f"{_codes_name(size)}, shipped with the model", OURS, size, 0, asked)
        else:
            yield Layout(_codes_name(size), OURS, size, len(codebook.to_bytes()), asked)


def _faiss(data: Dataset) -> Iterator[Layout]:
    """Rotated codes on the whole of mdn alone: another case trains them there, for minutes."""
    best = min(RANKED, len(data.vectors))
    dim = data.vectors.shape[1]
    centroids, rotation = 256 * dim * 4, dim * dim * 4
    for size in RIVAL_BYTES:
        ranked = faiss_pq.best_by_code(data.vectors, data.queries, size, best)
        yield Layout(f"faiss PQ, {size} B", FAISS, size, centroids, _asked(ranked, data))
        if SCALE == FULL and data.name == "mdn":
            ranked = faiss_opq.best_by_code(data.vectors, data.queries, size, best, data.name)
            once, asked = centroids + rotation, _asked(ranked, data)
            yield Layout(f"faiss OPQ, {size} B", FAISS, size, once, asked)


def _adaptive(data: Dataset, codebook: Codebook) -> Layout:
    """The stop that the product uses: as many vectors as a query needs, not the same for all."""
    index = ours.build(data.vectors, codebook=codebook)
    curve = [
        _point(index, data, margin, strategy="scan", effort=Effort(margin=margin))
        for margin in MARGINS
    ]
    once = len(codebook.to_bytes())
    name = f"codes, {codebook.code_bytes} B, adaptive stop"
    return Layout(name, OURS, codebook.code_bytes, once, _costs([curve]))


def _hot(data: Dataset, codebook: Codebook) -> Iterator[Layout]:
    """Vectors kept beside the codes, as built: those that made-up queries look at most."""
    row_bytes = 2 * data.vectors.shape[1]
    for share in HOT_SHARES:
        # An index pins half of its budget when it is built; the other half waits for queries.
        budget = 2 * int(share * len(data.vectors)) * row_bytes
        index = ours.build(data.vectors, codebook=codebook, keep=f"hot:{budget}")
        curve = [_point(index, data, count, strategy="scan", effort=count) for count in LOOKED_AT]
        kept = index.stats().kept * row_bytes / len(data.vectors)
        yield Layout(
            f"codes, {codebook.code_bytes} B + {share:.0%} of the vectors",
            HOT,
            codebook.code_bytes + kept,
            len(codebook.to_bytes()),
            _costs([curve]),
        )


def _graphs(data: Dataset, codebook: Codebook) -> Iterator[Layout]:
    """LEANN's layout searched as it does, by exact distances alone, and steered by codes."""
    yield _wide_graph(data, codebook)
    index = leann_design.build(data.vectors, codebook=codebook, code_bytes=None)
    size, once = codebook.code_bytes, len(codebook.to_bytes())
    plain = ours.links_per_node(index) * BYTES_A_LINK
    packed = _graph_bytes(index) / len(data.vectors)

    def curve(strategy: str, effort_of: Callable[[int], int | Effort]) -> list[Point]:
        return [_point(index, data, n, strategy=strategy, effort=effort_of(n)) for n in BEAMS]

    levels = _two_level_curves(index, data)
    walk = curve("walk", lambda n: Effort(rerank=n, beam=max(WALK_BEAM, n)))
    exact = curve("best-first", int)
    yield Layout("hub graph + codes, two-level", LEANN, plain + size, once, _costs(levels))
    yield Layout("hub graph alone, exact distances", LEANN, plain, 0, _costs([exact]))
    yield Layout("packed hub graph + codes, two-level", LEANN, packed + size, once, _costs(levels))
    yield Layout(
        "packed hub graph + codes, code-steered", OURS, packed + size, once, _costs([walk])
    )


def _wide_graph(data: Dataset, codebook: Codebook) -> Layout:
    """The same with nearly twice the links."""
    index = leann_design.build(data.vectors, leann_design.WIDE, codebook=codebook, code_bytes=None)
    plain = ours.links_per_node(index) * BYTES_A_LINK
    asked = _costs(_two_level_curves(index, data))
    once = len(codebook.to_bytes())
    return Layout(
        "wider hub graph + codes, two-level", LEANN, plain + codebook.code_bytes, once, asked
    )


def _two_level_curves(index: ours.Index, data: Dataset) -> list[list[Point]]:
    return [
        [
            _point(index, data, beam, strategy="two-level", effort=Effort(beam=beam, ratio=ratio))
            for beam in BEAMS
        ]
        for ratio in RATIOS
    ]


def _point(index: ours.Index, data: Dataset, setting: float, **options: object) -> Point:
    looked = ours.look(index, data.queries, K, data.vectors, **options)
    return Point(setting, recall(looked.ids, data.truth, K), looked.asked)


def _asked(ranked: Ids, data: Dataset) -> dict[str, float | None]:
    return {
        f"{target:.2f}": vectors_for_recall(ranked, data.truth, K, target) for target in TARGETS
    }


def _costs(curves: list[list[Point]]) -> dict[str, float | None]:
    """The cheapest setting at each recall."""
    costs = {}
    for target in TARGETS:
        found = [cost for curve in curves if (cost := cost_at(curve, target)) is not None]
        costs[f"{target:.2f}"] = min(found, default=None)
    return costs


def _graph_bytes(index: ours.Index) -> int:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "index"
        ours.save(index, path)
        sections = ours.section_bytes(path)
    # A graph puts its nodes into an order of its own, so that the ids of chunks are kept too.
    return sections["graph"] + sections["ids"]


def _codes_name(size: int) -> str:
    return f"codes, {size} B"
