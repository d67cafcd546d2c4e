"""Every number that had to be reached, and whether it was."""

from benchmarks.cases import CASES as EVERY_CASE
from benchmarks.document.markdown import row_table
from benchmarks.document.records import Record, Records

ITEM = ""
TITLE = "What was asked for, and what was reached"
CASES = EVERY_CASE


def write(records: Records) -> list[str]:
    """A table for each case that has bars."""
    judged = {case: _judged(record) for case, record in records.items()}
    verdicts = [row["verdict"] for rows in judged.values() for row in rows]
    blocks = [f"{verdicts.count('pass')} of {len(verdicts)} bars are met."]
    for case, rows in judged.items():
        if rows:
            blocks += [f"**{records[case].title}**", row_table(rows)]
    return blocks


def _judged(record: Record) -> list[dict[str, object]]:
    return [row for row in record.rows if row["verdict"]]
