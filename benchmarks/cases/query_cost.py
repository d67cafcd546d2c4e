"""What one question costs a user: warm, by stage, and from the command line."""

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.indexes import mdn_index, open_index
from benchmarks.metrics import best_times
from benchmarks.report import Result, Row
from benchmarks.scale import scaled

TITLE = "a question to mdn: default settings, chunks really embedded again"
CPU_BAR_S = 0.75
# Chunks that may be embedded again, by the number of hits.
EMBEDDED_BARS = {5: 20, 10: 30, 20: 45}
COLD_BAR_S = 1.5
# Every tenth page has about 7,500 chunks, as the set has that LEANN was measured on.
PARTS = (10, 1)
COLD_QUESTIONS = 3
COLD_REPETITIONS = scaled(5, smoke=2, small=3)
WARM_UP = "what is a web worker"
QUESTIONS = (
    "how do I center a div with flexbox",
    "what is the difference between a promise and an async function when an error is thrown",
    "how can a page find out whether the user prefers a dark color scheme",
    "which headers must a server send so that another origin may read the answer",
    "how long does a cookie live if no date is given",
    "make an image load only when it is scrolled into view",
    "what happens if two rules of the same specificity set the same property",
    "read a file that the user chose, piece by piece",
    "why does my grid item overflow its container",
    "how to cancel a fetch that takes too long",
    "keep a phone's screen from turning off while a video call is running",
    "what is the order in which event listeners of parents and children are called",
    "convert a string to a number without surprises",
    "accessible names for buttons that show only an icon",
    "store a few megabytes of structured data in the browser",
)[: scaled(15, smoke=4, small=8)]
# Measured by others on 2 cores: 7,497 chunks of another text, the same model, three questions.
LEANN = "LEANN 0.3.8 at recall 1.00, quoted"
LEANN_CPU_S = (70.0, 107.0)
LEANN_EMBEDDED = 897.0


@dataclass(frozen=True)
class Cost:
    """Warm questions to one index, on average."""

    chunks: int
    cpu_s: float
    slowest_cpu_s: float
    wall_s: float
    embedded: float
    stages_ms: dict[str, float]


def run() -> Result:
    """A part and all of the pages; the command line with all of them."""
    rows: list[Row] = []
    details: dict[str, object] = {"questions": QUESTIONS, "leann_cpu_s": LEANN_CPU_S}
    for every in PARTS:
        cost = _warm(mdn_index(every))
        details[f"{cost.chunks} chunks"] = asdict(cost)
        rows += _rows(cost, is_compared=every == PARTS[0])
    depths = {k: _compare(mdn_index(PARTS[-1]), k) for k in EMBEDDED_BARS}
    details["by_k"] = {k: [asdict(one) for one in pair] for k, pair in depths.items()}
    rows += [row for k, pair in depths.items() for row in _depth_rows(k, *pair)]
    cold, warm = _cold_and_warm(mdn_index(PARTS[-1]))
    details["cold_s"], details["same_warm_s"] = cold, warm
    rows.append(Row("s of `gossamer search` in a new process", float(np.mean(cold))))
    more = float(np.mean(np.subtract(cold, warm)))
    rows.append(Row("s more than the same questions warm", more, bar=COLD_BAR_S))
    return Result(rows, details)


def _rows(cost: Cost, is_compared: bool) -> list[Row]:
    where = f"{cost.chunks} chunks"
    cpu_s = LEANN_CPU_S[0] if is_compared else None
    embedded = LEANN_EMBEDDED if is_compared else None
    rival = LEANN if is_compared else ""
    return [
        Row(f"{where}: CPU s", cost.cpu_s, cpu_s, rival, CPU_BAR_S),
        Row(f"{where}: CPU s, slowest", cost.slowest_cpu_s, bar=CPU_BAR_S),
        Row(f"{where}: wall s", cost.wall_s),
        Row(f"{where}: chunks embedded again", cost.embedded, embedded, rival),
        *(Row(f"{where}: ms, {stage}", ms) for stage, ms in cost.stages_ms.items()),
    ]


def _compare(folder: Path, k: int) -> tuple[Cost, Cost]:
    """Ask for so many hits: the best of both rankings ranked again, and places added up."""
    return _warm(folder, k=k), _warm(folder, k=k, rerank="none")


def _depth_rows(k: int, ours: Cost, places: Cost) -> list[Row]:
    name = "places added up"
    return [
        Row(
            f"k = {k}: chunks embedded again",
            ours.embedded,
            places.embedded,
            name,
            bar=EMBEDDED_BARS[k],
            value=ours.embedded,
        ),
        Row(f"k = {k}: CPU s", ours.cpu_s, places.cpu_s, name),
    ]


def _warm(folder: Path, **options: Any) -> Cost:
    index = open_index(folder)
    index.search(WARM_UP)
    cpu, wall, explained = [], [], []
    for question in QUESTIONS:
        start = time.perf_counter(), time.process_time()
        results = index.search(question, **options)
        wall.append(time.perf_counter() - start[0])
        cpu.append(time.process_time() - start[1])
        explained.append(results.explanation)
    stages = dict.fromkeys(stage for one in explained for stage in one.stages)
    return Cost(
        chunks=explained[0].chunks,
        cpu_s=float(np.mean(cpu)),
        slowest_cpu_s=max(cpu),
        wall_s=float(np.mean(wall)),
        embedded=float(np.mean([one.chunks_embedded for one in explained])),
        stages_ms={
            stage: float(np.mean([one.stages.get(stage, 0.0) for one in explained]))
            for stage in stages
        },
    )


def _cold_and_warm(folder: Path) -> tuple[list[float], list[float]]:
    """Seconds of some questions by a new process from start to end, and in this one, in turns."""
    index = open_index(folder)
    index.search(WARM_UP)
    command = [sys.executable, "-m", "gossamer", "--index", str(folder), "search"]
    cold, warm = [], []
    for question in QUESTIONS[:COLD_QUESTIONS]:
        works: list[Callable[[], object]] = [
            partial(subprocess.run, [*command, question], check=True, capture_output=True),
            partial(index.search, question),
        ]
        outside, inside = best_times(works, COLD_REPETITIONS)
        cold.append(outside.wall)
        warm.append(inside.wall)
    return cold, warm
