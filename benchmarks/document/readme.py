"""The tables of the README, written below their markers from the results of the full run."""

import re
from pathlib import Path

from benchmarks.datasets import REPOSITORY
from benchmarks.document import readme_local, readme_remote
from benchmarks.document.readme_lines import Line, Table
from benchmarks.document.records import Records, load_records
from benchmarks.scale import FULL

README = REPOSITORY / "README.md"
RESULTS = "benchmarks/results"
# A table named NAME stands right below `<!-- measured: NAME -->`, up to the next empty line.
TABLES: dict[str, Table] = {
    "costs": readme_local.COSTS,
    "engine": readme_local.ENGINE,
    "edge": readme_remote.EDGE,
    "web": readme_remote.WEB,
}


def write() -> Path:
    """Write the README's tables anew; it stays as it is while a result that it shows is missing."""
    text, records = README.read_text(encoding="utf-8"), load_records(FULL)
    if missing := shown_cases(text) - records.keys():
        print(f"README.md left as it is: no results of {', '.join(sorted(missing))}")
    else:
        README.write_text(filled(text, records), encoding="utf-8")
    return README


def shown_cases(text: str) -> set[str]:
    """Give the cases whose results the README leads to."""
    return set(re.findall(rf"\({RESULTS}/(\w+)\.json\)", text))


def filled(text: str, records: Records) -> str:
    """Give the README with every marked table made of the records."""

    def table(found: re.Match[str]) -> str:
        made = TABLES[found[1]]
        rows = [_row(line(records)) for line in made.lines]
        head = [f"| {made.head} | Gossamer | against |", "|---|---|---|"]
        return "\n".join([f"<!-- measured: {found[1]} -->", *head, *rows, ""])

    return re.sub(r"<!-- measured: (\w+) -->\n(?:\|.*\n)*", table, text)


def _row(line: Line) -> str:
    against = _linked(line.against, line.rival)
    return f"| {_linked(line.what, line.case)} | {line.ours} | {against} |"


def _linked(text: str, case: str) -> str:
    """Let what stands in brackets lead to the case's result."""
    return re.sub(r"\[(.+?)\]", rf"[\1]({RESULTS}/{case}.json)", text, count=1)
