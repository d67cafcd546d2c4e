"""Small pieces of Markdown."""

from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.report import show

Cell = str | float | int | None


def table(header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """Give a table; numbers with about four digits, a dash for None."""
    lines = [header, ["---"] + ["---:"] * (len(header) - 1)]
    lines += [[cell(value) for value in row] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def cell(value: Cell) -> str:
    """Give a value as it stands in a table."""
    return value.replace("|", "\\|") if isinstance(value, str) else show(value)


def row_table(rows: Iterable[dict[str, Any]]) -> str:
    """Give saved rows as they are printed by a run."""
    header = ["", "bar", "ours", "rival", "ours / rival", ""]
    return table(header, (_row_cells(row) for row in rows))


def row_name(row: dict[str, Any]) -> str:
    """Give what a row is about, with its rival."""
    rival = f" [{row['rival_name']}]" if row["rival_name"] else ""
    return f"{row['what'].strip()}{rival}"


def bar_text(row: dict[str, Any]) -> str:
    """Give a row's bar; one for the ratio to the rival has a sign of its own."""
    if row["bar"] is None:
        return ""
    times = "×" if row["by_ratio"] else ""
    return f"{'≥' if row['at_least'] else '≤'} {show(row['bar'])}{times}"


def _row_cells(row: dict[str, Any]) -> list[Cell]:
    ours, rival = row["ours"], row["rival"]
    ratio = ours / rival if rival and ours is not None else ""
    verdict = {"pass": "pass", "miss": "**miss**", "": ""}[row["verdict"]]
    return [row_name(row), bar_text(row), ours, "" if rival is None else rival, ratio, verdict]


def percent(share: float, digits: int = 1) -> str:
    """Give a share of one in percent."""
    return f"{100 * share:.{digits}f} %"


def either(holds: bool, yes: str, no: str) -> str:
    """Give the sentence that the numbers bear out."""
    return yes if holds else no
