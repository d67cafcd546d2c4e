"""Recall, speed and memory, measured the same way for everyone."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.datasets import REPOSITORY, Ids


def recall(found: Ids, truth: Ids, k: int) -> float:
    """Return the share of the true k nearest that are among the first k found."""
    hits = (found[:, :k, None] == truth[:, None, :k]).any(axis=1)
    return float(hits.mean())


def vectors_for_recall(ranked: Ids, truth: Ids, k: int, target: float) -> int | None:
    """Return how many of `ranked` must be looked at exactly to reach `target`; None if all fail.

    Looking at the first R finds those true neighbors that stand among the first R.
    """
    is_true = (ranked[:, :, None] == truth[:, None, :k]).any(axis=2)
    reached = is_true.cumsum(axis=1).mean(axis=0) / k
    enough = np.flatnonzero(reached >= target)
    return int(enough[0]) + 1 if enough.size else None


def smallest_effort(
    recall_at: Callable[[int], float], target: float, low: int, high: int
) -> int | None:
    """Return the smallest effort in [low, high] whose recall reaches `target`, by bisection."""
    if recall_at(high) < target:
        return None
    while low < high:
        middle = (low + high) // 2
        if recall_at(middle) >= target:
            high = middle
        else:
            low = middle + 1
    return high


@dataclass(frozen=True)
class Point:
    """One setting of a search: what it reached and what it cost."""

    effort: float
    recall: float
    cost: float


def cost_at(curve: Sequence[Point], target: float) -> float | None:
    """Return the cost of `target` recall, between the two points around it; None if not reached.

    Costs grow like a power of the error, so the logarithm of both is interpolated.
    """
    points = sorted(curve, key=lambda point: point.effort)
    for below, above in pairwise(points):
        if below.recall < target <= above.recall:
            errors = np.log(np.maximum([1 - p for p in (below.recall, target, above.recall)], 1e-6))
            share = (errors[0] - errors[1]) / (errors[0] - errors[2])
            return float(np.exp(np.log(below.cost) * (1 - share) + np.log(above.cost) * share))
    if points and points[0].recall >= target:
        return points[0].cost
    return None


@dataclass(frozen=True)
class Seconds:
    """How long something took on the clock, and how much CPU time this process spent on it."""

    wall: float
    cpu: float


def timed(work: Callable[[], object]) -> Seconds:
    """Run `work` once."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return Seconds(time.perf_counter() - wall, time.process_time() - cpu)


def best_times(works: Sequence[Callable[[], object]], repetitions: int) -> list[Seconds]:
    """Return the best of `repetitions` of each, taken in turns so that all meet the same load."""
    runs = [[timed(work) for work in works] for _ in range(repetitions)]
    return [
        Seconds(min(run.wall for run in column), min(run.cpu for run in column))
        for column in zip(*runs, strict=True)
    ]


def in_child(task: str, *arguments: object) -> dict[str, Any]:
    """Run a task of `benchmarks.child` in a fresh process, where memory can be measured."""
    command = [sys.executable, "-m", "benchmarks.child", task, *map(str, arguments)]
    done = subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True, text=True)
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def resident_bytes() -> int:
    """Return this process's resident memory: anonymous and mapped pages (Linux)."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def peak_bytes() -> int:
    """Return the highest resident memory since the start or `reset_peak` (Linux)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (line,) = (line for line in lines if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024


def reset_peak() -> None:
    """Let `peak_bytes` start from what is resident now."""
    Path("/proc/self/clear_refs").write_text("5")
