"""Every number that had to be reached, and whether it was."""

from typing import Any

from benchmarks.cases import CASES as EVERY_CASE
from benchmarks.document.markdown import bar_text, row_name, table
from benchmarks.document.records import Records
from benchmarks.report import show

ITEM = ""
TITLE = "What was asked for, and what was reached"
CASES = EVERY_CASE
# Whose bars they are: those of the engine, of the folder, of server and edge, of the browser.
GROUPS = {
    "engine": (
        "codes",
        "adaptive",
        "dial",
        "stored_qps",
        "graph_bytes",
        "build_time",
        "prune_time",
        "scan_speed",
        "insert",
        "open_1m",
        "two_level",
        "hub_graph",
        "bounded_build",
    ),
    "folder": (
        "lexical",
        "folder_bytes",
        "text_share",
        "folder_recall",
        "answer_quality",
        "documentation",
        "copies",
        "places",
        "furniture",
        "encoder",
        "pipeline_speed",
        "strength",
        "query_cost",
        "query_overhead",
        "update_cost",
        "segments",
        "install_size",
    ),
    "server and edge": (
        "slim_rivals",
        "delta",
        "long_run",
        "server_load",
        "server_slow_bodies",
        "remote_question",
    ),
    "browser": ("browser_speed", "browser_bytes", "docs_site"),
}
PAPERS = "papers"  # everything else
# Between rival and verdict stands what the bar is for, where that is neither of both.
HEADER = ("", "ours", "rival", "judged", "bar", "", "from")
Bars = list[tuple[str, dict[str, Any]]]


def write(records: Records) -> list[str]:
    """How many are met, those that are not, and then all of them, folded away."""
    groups = {name: _bars(records, cases) for name, cases in _groups().items()}
    everything = [bar for bars in groups.values() for bar in bars]
    missed = [bar for bar in everything if _is_missed(bar)]
    blocks = [
        f"{len(everything) - len(missed)} of {len(everything)} bars are met; numbers without a bar "
        "are in the sections below. In brackets stands the rival; *judged* is what the bar is held "
        "against where that is not *ours* (×: ours as a multiple of the rival's); *from* names the "
        "case, and [benchmarks/README.md](../benchmarks/README.md) what it measures.",
        table(("", "bars", "met", "missed"), [_counts(*group) for group in groups.items()]),
    ]
    if missed:
        blocks += ["The missed ones:", _table(missed)]
    for name, bars in groups.items():
        if bars:
            summary = f"<summary>All bars: {name}</summary>"
            blocks.append(f"<details>{summary}\n\n{_table(bars)}\n\n</details>")
    return blocks


def _groups() -> dict[str, tuple[str, ...]]:
    grouped = {case for cases in GROUPS.values() for case in cases}
    return GROUPS | {PAPERS: tuple(case for case in EVERY_CASE if case not in grouped)}


def _bars(records: Records, cases: tuple[str, ...]) -> Bars:
    return [
        (case, row)
        for case in cases
        if case in records
        for row in records[case].rows
        if row["verdict"]
    ]


def _is_missed(bar: tuple[str, dict[str, Any]]) -> bool:
    return bool(bar[1]["verdict"] == "miss")


def _counts(name: str, bars: Bars) -> tuple[str, int, int, int]:
    missed = sum(map(_is_missed, bars))
    return name, len(bars), len(bars) - missed, missed


def _table(bars: Bars) -> str:
    return table(HEADER, (_cells(case, row) for case, row in bars))


def _cells(case: str, row: dict[str, Any]) -> list[str | float | None]:
    ours, rival = row["ours"], row["rival"]
    verdict = "**miss**" if row["verdict"] == "miss" else "met"
    shown = "" if rival is None else rival
    return [row_name(row), ours, shown, _judged(row), bar_text(row), verdict, f"`{case}`"]


def _judged(row: dict[str, Any]) -> str | float:
    if row["value"] is not None:
        return float(row["value"])
    if row["by_ratio"] and row["rival"] and row["ours"] is not None:
        return f"{show(row['ours'] / row['rival'])}×"
    return ""
