"""Builds that never hold all vectors: within a fifth of the memory, and in 15 shards."""

import tempfile
from pathlib import Path
from typing import Any

from benchmarks import ours
from benchmarks.datasets import WHOLE, Dataset, mdn
from benchmarks.metrics import Point, cost_at, in_child
from benchmarks.report import Result, Row
from benchmarks.scale import FULL, SCALE, scaled

TITLE = "bounded build with 1/5 of the memory, against the unbounded one"
K = 3
COUNT = scaled(WHOLE, smoke=2_000, small=10_000)
QUERIES = scaled(1_000, smoke=50, small=200)
EFFORTS = (3, 4, 6, 8, 11, 16, 22, 32, 45, 64, 90, 128)
TARGETS = (0.85, 0.90, 0.95, 0.97)
SHARE = 5
# What a build holds besides vectors and graph weighs too much in a smaller set.
PEAK_BAR = 1 / SHARE if SCALE == FULL else None
SHARDS = 15
ASSIGNMENTS = ("kmeans", "random")
SCALAR_BYTES = 4

Curves = dict[str, list[Point]]


def run() -> Result:
    """All builds but the unpruned whole one run in a process of their own, on the same stream."""
    data = mdn().first(COUNT)
    data = Dataset(data.name, data.vectors, data.queries[:QUERIES], data.truth[:QUERIES])
    count = len(data.vectors)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        whole = in_child("build_bounded", count, 0, folder / "whole")
        budget = whole["peak"] // SHARE
        bounded = in_child("build_bounded", count, budget, folder / "bounded")
        sharded = {
            way: in_child("build_sharded", count, way, SHARDS, folder) for way in ASSIGNMENTS
        }
        indexes = {path.name: ours.open_index(path) for path in sorted(folder.iterdir())}
        indexes["whole-full"] = ours.build(data.vectors, graph="full")
        links = {name: ours.links_per_node(index) for name, index in indexes.items()}
        curves = {name: vectors_curve(index, data) for name, index in indexes.items()}
        del indexes  # they map files of the folder

    rows = budget_rows(whole, bounded, curves) + shard_rows(curves)
    saved = {name: [vars(point) for point in curve] for name, curve in curves.items()}
    builds = {"whole": whole, "bounded": bounded} | sharded
    shown = {"curves": saved, "links": links, "at": costs(curves), **builds}
    return Result(rows, shown | held(data, sharded))


def vectors_curve(index: ours.Index, data: Dataset) -> list[Point]:
    """One hop at a time, every vector asked for."""
    return ours.curve(index, data, K, EFFORTS, vectors=data.vectors, strategy="best-first")


def budget_rows(whole: dict[str, Any], bounded: dict[str, Any], curves: Curves) -> list[Row]:
    """A build with a fifth of the memory: what it takes and what its graph is worth."""
    rows = [
        Row(
            "peak MB above the start",
            bounded["peak"] / 1e6,
            whole["peak"] / 1e6,
            "unbounded",
            bar=PEAK_BAR,
            by_ratio=True,
        ),
        Row("largest loss of recall@3 at equal effort", largest_loss(curves), bar=0.05),
        Row("seconds", bounded["seconds"], whole["seconds"], "unbounded"),
    ]
    for target in (0.90, 0.95):
        asked, rival = (cost_at(curves[name], target) for name in ("bounded", "whole"))
        what = f"vectors at recall {target:.2f}"
        rows.append(Row(what, asked, rival, "unbounded", 1.05, by_ratio=True))
    return rows


def largest_loss(curves: Curves) -> float:
    """How far the bounded curve falls below the other one, as a share of it."""
    pairs = zip(curves["whole"], curves["bounded"], strict=True)
    return max(0.0, *((whole.recall - bounded.recall) / whole.recall for whole, bounded in pairs))


def shard_rows(curves: Curves) -> list[Row]:
    """Graphs merged from shards against those built whole, at one recall."""
    return [
        Row(
            f"vectors at recall 0.90, {SHARDS} shards by {way}, {kind}",
            cost_at(curves[f"{way}-{kind}"], 0.90),
            cost_at(curves[rival], 0.90),
            "unbounded",
        )
        for kind, rival in (("hub", "whole"), ("full", "whole-full"))
        for way in ASSIGNMENTS
    ]


def costs(curves: Curves) -> dict[str, dict[str, float | None]]:
    """Vectors asked for at each recall."""
    return {
        name: {f"{target:.2f}": cost_at(curve, target) for target in TARGETS}
        for name, curve in curves.items()
    }


def held(data: Dataset, sharded: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Bytes of the vectors that a build holds at once: all, or those of its largest shard."""
    row = SCALAR_BYTES * data.vectors.shape[1]
    most = {way: build["held"] * row for way, build in sharded.items()}
    return {
        "shards": SHARDS,
        "chunks": len(data.vectors),
        "held_bytes": {"whole": len(data.vectors) * row} | most,
    }
