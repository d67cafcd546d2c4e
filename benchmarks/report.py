"""Rows of the benchmark table: how they are judged, printed and saved."""

import json
import math
import os
import platform
import re
import subprocess
import tomllib
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks.datasets import REPOSITORY, SPLIT_SEED, made_from_originals
from benchmarks.scale import FULL, SCALE, SMALL

RESULTS = Path(__file__).parent / "results"
COMPARED = (
    "numpy",
    "onnxruntime",
    "faiss-cpu",
    "hnswlib",
    "usearch",
    "bm25s",
    "chromadb",
    "lancedb",
    "sqlite-vec",
    "mteb",
)
# What runs write, for git.
NOT_SOURCES = (
    ":(exclude)benchmarks/results",
    ":(exclude)docs/benchmarks*.md",
    ":(exclude)README.md",
)
# What every case draws by: the index's own choices, and which vectors are queries.
SEEDS = {"index": 1, "split": SPLIT_SEED}


class Skipped(Exception):  # noqa: N818 - nothing went wrong
    """Raised by a case that cannot be measured here; says why."""


@dataclass(frozen=True)
class Row:
    """One measured quantity against its bar.

    The bar limits `ours`, or ours / rival (`by_ratio`), or `value` where it is given. A bar of
    None makes it a number shown for information; a rival of None with `by_ratio` is one that
    does not get there at all, and is beaten.
    """

    what: str
    ours: float | None
    rival: float | None = None
    rival_name: str = ""
    bar: float | None = None
    at_least: bool = False
    by_ratio: bool = False
    value: float | None = None

    @property
    def judged(self) -> float | None:
        """What the bar is held against; None if ours does not get there."""
        if self.value is not None or not self.by_ratio or self.ours is None:
            return self.ours if self.value is None else self.value
        if not self.rival:
            return math.inf if self.at_least else 0.0
        return self.ours / self.rival

    @property
    def verdict(self) -> str:
        """`pass`, `miss`, or nothing where there is no bar."""
        if self.bar is None:
            return ""
        if self.judged is None:
            return "miss"
        is_met = self.judged >= self.bar if self.at_least else self.judged <= self.bar
        return "pass" if is_met else "miss"

    @property
    def bar_text(self) -> str:
        """The bar as it is printed."""
        return "" if self.bar is None else f"{'≥' if self.at_least else '≤'} {show(self.bar)}"


@dataclass(frozen=True)
class Result:
    """What a case gives: rows for the table, and whatever else is worth keeping."""

    rows: list[Row]
    details: dict[str, Any] = field(default_factory=dict)
    seeds: dict[str, int] = field(default_factory=dict)  # besides those of SEEDS
    versions: dict[str, str] = field(default_factory=dict)  # of rivals that live elsewhere
    machine: dict[str, str] = field(default_factory=dict)  # besides its processor, as a GPU


def show(number: float | None) -> str:
    """Return a number with about four digits; a dash for None."""
    if number is None:
        return "–"
    if number == int(number) and abs(number) < 1e6:
        return f"{int(number):,}"
    return f"{number:,.0f}" if abs(number) >= 1000 else f"{number:.4g}"


def print_table(title: str, rows: Sequence[Row]) -> None:
    """Print the rows of one case."""
    print(f"\n{title}")
    print(f"  {'':58}{'bar':>9}{'ours':>10}{'rival':>10}{'ratio':>8}  verdict")
    for row in rows:
        has_ratio = bool(row.rival) and row.ours is not None
        shared = show(row.ours / row.rival) if has_ratio else ""
        rival = show(row.rival) if row.rival is not None else ""
        what = row.what + (f"  [{row.rival_name}]" if row.rival_name else "")
        print(f"  {what:58}{row.bar_text:>9}{show(row.ours):>10}{rival:>10}{shared:>8}  ", end="")
        print(row.verdict)


def save(case: str, title: str, result: Result, seconds: float) -> Path:
    """Write the result over the case's last one of this scale; git keeps the older ones."""
    record = {
        "case": case,
        "title": title,
        "scale": SCALE,
        "commit": current_commit(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(seconds, 1),
        "machine": {
            "cpu": cpu_model(),
            "cores": os.cpu_count(),
            "system": platform.platform(),
            **result.machine,
        },
        "versions": {
            "python": platform.python_version(),
            **package_versions(),
            **made_from_originals(),
            **result.versions,
        },
        "seeds": SEEDS | result.seeds,
        "rows": [{**asdict(row), "verdict": row.verdict} for row in result.rows],
        "details": result.details,
    }
    path = result_path(case)
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return path


def result_path(case: str, scale: str = SCALE) -> Path:
    """Where the result of a case stands: full runs in one folder, small ones in another."""
    return RESULTS / f"{case}.json" if scale == FULL else RESULTS / SMALL / f"{case}.json"


def load(case: str, scale: str = FULL) -> dict[str, Any] | None:
    """Give a saved result, None if there is none."""
    path = result_path(case, scale)
    if not path.exists():
        return None
    record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return record


def current_commit() -> str:
    """Return seven digits of the commit; `-dirty` is added when the tree differs from it.

    What a run itself writes does not count: the second case would be dirty by the first. A copy
    without its history is told by GOSSAMER_BENCH_COMMIT.
    """
    if given := os.environ.get("GOSSAMER_BENCH_COMMIT"):
        return given
    commit = _git("rev-parse", "--short=7", "HEAD")
    changed = _git("status", "--porcelain", "--untracked-files=no", "--", ".", *NOT_SOURCES)
    return (commit or "unknown") + ("-dirty" if changed else "")


def _git(*command: str) -> str:
    done = subprocess.run(
        ["git", *command], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )
    return done.stdout.strip()


def cpu_model() -> str:
    """Return the processor's name as the system gives it."""
    info = Path("/proc/cpuinfo")
    if info.exists() and (found := re.search(r"model name\s*:\s*(.+)", info.read_text())):
        return found[1].strip()
    return platform.processor() or platform.machine()


def package_versions() -> dict[str, str]:
    """Return the versions of what is compared, as far as installed; ours is that of this tree."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    found = {"gossamer": str(project["project"]["version"])}
    for name in COMPARED:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
