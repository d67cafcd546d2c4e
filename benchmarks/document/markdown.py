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


def _row_cells(row: dict[str, Any]) -> list[Cell]:
    ours, rival = row["ours"], row["rival"]
    what = row["what"] + (f" [{row['rival_name']}]" if row["rival_name"] else "")
    bar = "" if row["bar"] is None else f"{'≥' if row['at_least'] else '≤'} {show(row['bar'])}"
    ratio = ours / rival if rival and ours is not None else ""
    verdict = {"pass": "pass", "miss": "**miss**", "": ""}[row["verdict"]]
    return [what, bar, ours, "" if rival is None else rival, ratio, verdict]


def percent(share: float, digits: int = 1) -> str:
    """Give a share of one in percent."""
    return f"{100 * share:.{digits}f} %"


def either(holds: bool, yes: str, no: str) -> str:
    """Give the sentence that the numbers bear out."""
    return yes if holds else no
