"""What one text costs an index of 50,000 to a million chunks, and what segments cost a question."""

import os
import shutil
import statistics
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.indexes import scratch_folder
from benchmarks.made_up import made_up_text, made_up_texts
from benchmarks.metrics import best_times, in_child, timed
from benchmarks.report import Result, Row
from benchmarks.scale import scaled
from gossamer.index import Index

TITLE = "changes of one text, and segments (pocket model, short made-up texts)"
SIZES = scaled((50_000, 400_000, 1_000_000), smoke=(300, 600, 900), small=(10_000, 20_000, 50_000))
REPETITIONS = scaled(200, smoke=5, small=50)
COMMITS = scaled(1000, smoke=20, small=200)
MEMORY_OF = scaled(400_000, smoke=500, small=50_000)
SEGMENTS = 12
QUESTIONS = scaled(20, smoke=2)
CPU_MS, WRITTEN_KB, GROWTH = 30, 64, 1.3


def run() -> Result:
    """CPU time and bytes that this process writes; the encoder, a table of tokens, counts too."""
    rows: list[Row] = []
    details: dict[str, object] = {}
    changes = {}
    for size in SIZES:
        folder = _build(size)
        changes[size] = _change_often(folder, size)
        details[f"{size}"] = changes[size]
        rows += _rows_of_changes(size, changes[size])
        if size == SIZES[-1]:
            first = [in_child("ask_first", folder) for _ in range(5)]
            details["first question"] = first
            rows += _rows_of_first(size, first)
        shutil.rmtree(folder)
    for what in ("add", "remove"):
        least, most = (changes[size][what]["cpu_ms"] for size in (SIZES[0], SIZES[-1]))
        name = f"{what} one text: CPU, {SIZES[-1]:,} / {SIZES[0]:,} chunks"
        rows.append(Row(name, most / least, bar=GROWTH))
    rows += _commit_often(details)
    rows += _ask_over_segments(details)
    peak = in_child("add_many", scratch_folder("many"), MEMORY_OF)
    details["memory"] = peak
    rows.append(
        Row(f"add {MEMORY_OF:,} texts: peak MB beside the list", peak["grown"] / 1e6, bar=300)
    )
    return Result(rows, details)


def _build(count: int) -> Path:
    folder = scratch_folder(f"made-up-{count}")
    Index.create(folder, model="pocket").add_texts(made_up_texts(count))
    return folder


def _change_often(folder: Path, size: int) -> dict[str, dict[str, float]]:
    """Add and remove single texts, all over the index."""
    index = Index.open(folder)
    index.add_texts([{"id": "warm", "text": "loads the model"}])
    step = max(1, size // REPETITIONS)
    adds = [
        partial(index.add_texts, [{"id": f"t{n * step:07d}-new", "text": made_up_text(size + n)}])
        for n in range(REPETITIONS)
    ]
    removes = [partial(index.remove, [f"t{n * step:07d}"]) for n in range(REPETITIONS)]
    return {"add": _measure(adds), "remove": _measure(removes)}


def _measure(works: list[Callable[[], object]]) -> dict[str, float]:
    cpu, written = [], []
    for work in works:
        before = _written_bytes()
        cpu.append(timed(work).cpu * 1e3)
        written.append((_written_bytes() - before) / 1e3)
    return {
        "cpu_ms": statistics.median(cpu),
        "cpu_ms_mean": statistics.mean(cpu),
        "cpu_ms_most": max(cpu),
        "written_kb": statistics.median(written),
        "written_kb_mean": statistics.mean(written),
        "written_kb_most": max(written),
    }


def _written_bytes() -> int:
    lines = Path("/proc/self/io").read_text(encoding="ascii").splitlines()
    return int(next(line for line in lines if line.startswith("wchar")).split()[1])


def _rows_of_changes(size: int, changes: dict[str, dict[str, float]]) -> list[Row]:
    rows = []
    for what, cost in changes.items():
        name = f"{what} one text at {size:,} chunks"
        rows += [
            Row(f"{name}: CPU ms", cost["cpu_ms"], bar=CPU_MS),
            Row(f"{name}: CPU ms, mean with merges", cost["cpu_ms_mean"]),
            Row(f"{name}: KB written", cost["written_kb"], bar=WRITTEN_KB),
            Row(f"{name}: KB written, mean with merges", cost["written_kb_mean"]),
        ]
    return rows


def _rows_of_first(size: int, first: list[dict[str, float]]) -> list[Row]:
    seconds, grown = (
        statistics.median(one[name] for one in first) for name in ("seconds", "grown")
    )
    return [
        Row(f"open and first question at {size:,} chunks: s", seconds, bar=0.15),
        Row(f"open and first question at {size:,} chunks: RSS grows by MB", grown / 1e6, bar=100),
    ]


def _commit_often(details: dict[str, object]) -> list[Row]:
    """Compare what an index takes that grew text by text with one that was built at once."""
    whole = _bytes_of(_build(COMMITS))
    folder = scratch_folder("text-by-text")
    index = Index.create(folder, model="pocket")
    for text in made_up_texts(COMMITS):
        index.add_texts([text])
    segments = len(list(folder.glob("segment-*")))
    grown = _bytes_of(folder)
    index.compact()
    compact = _bytes_of(folder)
    details["commits"] = {"whole": whole, "grown": grown, "compact": compact, "segments": segments}
    return [
        Row(f"bytes after {COMMITS:,} commits / one build", grown / whole, bar=1.15),
        Row("the same after compact / one build", compact / whole, bar=1.0),
    ]


def _bytes_of(folder: Path) -> int:
    """Give what the segments take: all that grows with the index."""
    return sum(os.path.getsize(path) for path in folder.glob("segment-*"))


def _ask_over_segments(details: dict[str, object]) -> list[Row]:
    """Ask an index of twelve segments and its copy of one the same questions, in turns."""
    from unittest.mock import patch

    count = SIZES[0] // SEGMENTS
    many, one = scratch_folder("twelve"), scratch_folder("one")
    texts = made_up_texts(count * SEGMENTS)
    index = Index.create(many, model="pocket")
    with patch("gossamer.store.writer.merges_of", lambda *_: []):
        for start in range(0, len(texts), count):
            index.add_texts(texts[start : start + count])
    shutil.copytree(many, one)
    single = Index.open(one, trust=True)
    single.accept()
    single.compact()
    segments = [len(list(folder.glob("segment-*"))) for folder in (many, one)]

    def ask(which: Index) -> Callable[[], object]:
        def work() -> None:
            for number in range(QUESTIONS):
                which.search(made_up_text(number), mode="semantic")

        return work

    times = best_times([ask(index), ask(Index.open(one))], scaled(7, smoke=1))
    details["segments"] = {"segments": segments, "cpu": [one.cpu for one in times]}
    assert segments == [SEGMENTS, 1], segments
    name = f"question over {SEGMENTS} segments / one, {count * SEGMENTS:,} chunks: CPU"
    return [Row(name, times[0].cpu / times[1].cpu, bar=1.1)]
