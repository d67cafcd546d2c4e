"""How the vectors asked for grow with the set, by the length of a code and by strategy.

Without a GPU the set is MDN. Where GOSSAMER_BENCH_GPU_MODEL names a model it is a million chunks
of all sets, embedded by that model (`benchmarks.gpu.pool`).
"""

import json
import os
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import ours
from benchmarks.datasets import Dataset, Ids, cache_folder, exact_nearest, mdn
from benchmarks.gpu.device import machine, model_folders, package_versions
from benchmarks.gpu.pool import pool
from benchmarks.metrics import cost_at
from benchmarks.report import Result, Row, current_commit
from benchmarks.scale import SCALE, scaled
from gossamer import Effort

TITLE = "growth: vectors asked for as the set grows"
KS = (3, 10)
RECALLS = (0.90, 0.95, 0.99)
FIRST = scaled(4_096, smoke=500)
MOST_MDN = scaled(10**9, smoke=2_000, small=10_000)
QUESTIONS = scaled(500, smoke=50, small=200)
# Codebooks are trained on each size; that of 24 B is the default model's, which ships with it.
TRAINED_BYTES = scaled((8, 16, 32), smoke=(16,), small=(16, 32))
SHIPPED_BYTES = 24
MOST_RANKED = scaled(20_000, smoke=400, small=4_000)
TIMED = 100
# Of these codes the adaptive stop is measured, too; its margins are in tenths.
ADAPTIVE_BYTES = (24, 32)
MARGINS = (10, 20, 30, 35, 40, 45, 50, 60, 70, 85, 100, 120)
SEARCHED = 200  # questions, where every effort is a search
BEAMS = (3, 5, 8, 16, 32, 64, 128, 256, 512, 1024)
RATIOS = (0.03, 0.05, 0.1, 0.2)
WALK_BEAM = 512
THREADS = os.cpu_count() or 1
SHUFFLE_SEED = 9
# Exponents of faiss's OPQ on 4,200 to 134,000 chunks, measured when codes were chosen.
STUDY = {8: 0.69, 16: 0.46, 32: 0.24}

Measured = dict[str, Any]


def run() -> Result:
    """Every size of a set that doubles, up to all of it."""
    data, facts = material()
    measured = [kept(data, count) for count in sizes(len(data.vectors))]
    codes = [one for size in measured for one in size["codes"]]
    graphs = [size["graph"] for size in measured]
    # Where chunks were shifted to make the last size up, they overlap as none do before.
    pure = [size for size in measured if size["graph"]["count"] <= facts["chunks"]]
    grown = exponents(
        [one for size in pure for one in size["codes"]], [size["graph"] for size in pure]
    )
    for path in cache_folder().glob("growth-*.json"):
        path.unlink()
    has_model = bool(model_folders())
    return Result(
        rows=make_rows(codes, graphs, grown),
        details={"set": facts, "codes": codes, "graphs": graphs, "exponents": grown},
        seeds={"shuffle": SHUFFLE_SEED},
        versions=package_versions() if has_model else {},
        machine=machine() if has_model else {},
    )


def material() -> tuple[Dataset, Measured]:
    """The vectors in a random order, the questions, and where they are from."""
    if model_folders():
        made = pool()
        nothing = np.zeros((0, 0), np.int64)
        return Dataset("all sets", made.vectors, made.queries, nothing), made.facts
    data = mdn()
    order = np.random.default_rng(SHUFFLE_SEED).permutation(len(data.vectors))[:MOST_MDN]
    queries = data.queries[:QUESTIONS]
    facts = {"sets": {"mdn": len(order)}, "chunks": len(order), "shifted": 0}
    return Dataset("mdn", data.vectors[order], queries, data.truth), facts


def sizes(most: int) -> list[int]:
    """FIRST, twice as much, ... and all."""
    doubled = [FIRST << step for step in range(20) if FIRST << step < 0.8 * most]
    return [*doubled, most]


def kept(data: Dataset, count: int) -> Measured:
    """What was measured of a size before the run was broken off, or is measured now."""
    path = cache_folder() / f"growth-{SCALE}-{current_commit()}-{len(data.vectors)}-{count}.json"
    if not path.exists():
        path.write_text(json.dumps(measure(data, count)), encoding="utf-8")
    found: Measured = json.loads(path.read_text(encoding="utf-8"))
    return found


def measure(data: Dataset, count: int) -> Measured:
    """Codes of every length, and a graph, over the first vectors."""
    start = time.perf_counter()
    part = part_of(data, count)
    indexes = {
        code_bytes: ours.build(part.vectors, code_bytes=code_bytes, threads=THREADS)
        for code_bytes in TRAINED_BYTES
    }
    indexes[SHIPPED_BYTES] = ours.Index.create(ours.shipped_codebook()[0])
    indexes[SHIPPED_BYTES].add(part.vectors)
    codes = [
        {"count": count, "code_bytes": code_bytes} | measure_codes(index, part)
        for code_bytes, index in sorted(indexes.items())
    ]
    graph = {"count": count} | measure_graph(part, indexes[max(indexes)])
    print(f"  {count:,} chunks: {time.perf_counter() - start:.0f} s", flush=True)
    return {"codes": codes, "graph": graph}


def part_of(data: Dataset, count: int) -> Dataset:
    """The first vectors, with the truth among them."""
    vectors = data.vectors[:count]
    return Dataset(
        data.name, vectors, data.queries, exact_nearest(vectors, data.queries, max(KS), "ip")
    )


def measure_codes(index: ours.Index, part: Dataset) -> Measured:
    """What a scan asks for at each recall, how long it takes, and the bytes of the index."""
    most = min(MOST_RANKED, len(part.vectors))
    ranked: Ids = np.stack([index.estimate(query, most)[0] for query in part.queries])
    asked = vectors_asked(ranked, part.truth)
    found = {
        "asked": asked,
        "one_scan_ms": scan_ms(index, part),
        "bytes_a_chunk": bytes_a_chunk(index),
    }
    stats = index.stats()
    return found | (
        {"adaptive": adaptive(index, part)} if stats.code_bytes in ADAPTIVE_BYTES else {}
    )


def vectors_asked(ranked: Ids, truth: Ids) -> dict[str, dict[str, int | None]]:
    """How many of `ranked` must be looked at for each recall of each k; None if all fail."""
    is_same = ranked[:, :, None] == truth[:, None, : max(KS)]
    asked: dict[str, dict[str, int | None]] = {}
    for k in KS:
        reached = is_same[:, :, :k].any(axis=2).mean(axis=0).cumsum() / k
        first = {target: int(np.searchsorted(reached, target - 1e-9)) + 1 for target in RECALLS}
        asked[f"{k}"] = {
            f"{target}": count if count <= len(reached) else None for target, count in first.items()
        }
    return asked


def scan_ms(index: ours.Index, part: Dataset) -> float:
    """Milliseconds of a scan, the median of questions that come one by one."""
    options: dict[str, Any] = {"vectors": part.vectors, "strategy": "scan", "effort": KS[0]}
    some = (query[None] for query in part.queries[:TIMED])
    return 1000 * float(np.median([ours.search(index, q, KS[0], **options).scan_s for q in some]))


def adaptive(index: ours.Index, part: Dataset) -> dict[str, float | None]:
    """Vectors asked for on average where the search stops by itself."""
    curve = ours.curve(
        index,
        some_of(part),
        KS[0],
        MARGINS,
        vectors=part.vectors,
        strategy="scan",
        make_effort=lambda tenths: Effort(margin=tenths / 10),
    )
    return {f"{target}": cost_at(curve, target) for target in RECALLS}


def measure_graph(part: Dataset, coded: ours.Index) -> Measured:
    """What LEANN's design asks for, and a walk by codes, on one hub graph with the same codes."""
    index = ours.build(part.vectors, graph="hub", codebook=coded.codebook, threads=THREADS)

    def curve(strategy: str, make_effort: Any) -> dict[str, float | None]:
        points = ours.curve(
            index,
            some_of(part),
            KS[0],
            BEAMS,
            vectors=part.vectors,
            strategy=strategy,
            make_effort=make_effort,
        )
        return {f"{target}": cost_at(points, target) for target in RECALLS}

    two_level = [
        curve("two-level", lambda beam, ratio=ratio: Effort(beam=beam, ratio=ratio))
        for ratio in RATIOS
    ]
    return {
        "two-level": {key: least(one[key] for one in two_level) for key in two_level[0]},
        "walk": curve("walk", lambda count: Effort(rerank=count, beam=WALK_BEAM)),
        "bytes_a_chunk": bytes_a_chunk(index),
    }


def some_of(part: Dataset) -> Dataset:
    """Fewer questions, for what is searched with many efforts."""
    return Dataset(part.name, part.vectors, part.queries[:SEARCHED], part.truth[:SEARCHED])


def least(costs: Iterable[float | None]) -> float | None:
    """The lowest cost; None if none gets there."""
    return min((cost for cost in costs if cost is not None), default=None)


def bytes_a_chunk(index: ours.Index) -> float:
    """Bytes of the index as a file for one chunk; the codebook counts unless it ships."""
    codebook = index.codebook
    is_shipped = codebook is not None and codebook.code_bytes == SHIPPED_BYTES
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "index"
        return index.save(path, with_codebook=not is_shipped) / len(index)


def exponents(codes: Sequence[Measured], graphs: Sequence[Measured]) -> dict[str, float]:
    """The power of the number of chunks that the vectors asked for follow, at recall@3 of 0.90."""
    fitted = {}
    for code_bytes in sorted({one["code_bytes"] for one in codes}):
        mine = [one for one in codes if one["code_bytes"] == code_bytes]
        fitted[f"{code_bytes} B"] = exponent(mine, [one["asked"]["3"]["0.9"] for one in mine])
        if "adaptive" in mine[0]:
            costs = [one["adaptive"]["0.9"] for one in mine]
            fitted[f"{code_bytes} B, adaptive"] = exponent(mine, costs)
    for strategy in ("two-level", "walk"):
        fitted[strategy] = exponent(graphs, [one[strategy]["0.9"] for one in graphs])
    return {name: power for name, power in fitted.items() if power is not None}


def exponent(measured: Sequence[Measured], costs: Sequence[float | None]) -> float | None:
    """Slope of the straight line through the logarithms; None for fewer than three points."""
    pairs = [(one["count"], cost) for one, cost in zip(measured, costs, strict=True) if cost]
    if len(pairs) < 3:
        return None
    counts, asked = np.log(np.array(pairs, np.float64)).T
    return float(np.polyfit(counts, asked, 1)[0])


def make_rows(
    codes: Sequence[Measured], graphs: Sequence[Measured], grown: dict[str, float]
) -> list[Row]:
    """The largest size, and the exponents."""
    count = graphs[-1]["count"]
    two_level = graphs[-1]["two-level"]["0.9"]
    rows = [
        Row(
            f"{count:,} chunks, {one['code_bytes']} B codes, recall@3 0.90",
            one["asked"]["3"]["0.9"],
            two_level,
            "two-level",
        )
        for one in codes
        if one["count"] == count
    ]
    for name, power in grown.items():
        study = STUDY.get(int(name.removesuffix(" B"))) if name.endswith(" B") else None
        rows.append(Row(f"exponent, {name}", power, study, "an earlier study" if study else ""))
    return rows
