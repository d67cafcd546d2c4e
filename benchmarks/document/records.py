"""Saved results as the sections of the document read them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.cases import CASES
from benchmarks.report import load


@dataclass(frozen=True)
class Record:
    """One saved result; see `benchmarks.report.save`."""

    case: str
    title: str
    scale: str
    commit: str
    date: str
    machine: Mapping[str, Any]
    versions: Mapping[str, str]
    seeds: Mapping[str, int]
    rows: list[dict[str, Any]]
    details: dict[str, Any]
    seconds: float = 0.0  # not known of the oldest

    def row(self, what: str, rival: str | None = None) -> dict[str, Any]:
        """Give the row of this name (and rival); there must be just one."""
        found = [
            row
            for row in self.rows
            if row["what"] == what and (rival is None or row["rival_name"] == rival)
        ]
        if len(found) != 1:
            raise KeyError(f"{self.case} has {len(found)} rows {what!r} against {rival!r}, not one")
        return found[0]

    def rows_like(self, *words: str) -> list[dict[str, Any]]:
        """Give the rows whose names hold all these words."""
        return [row for row in self.rows if all(word in row["what"] for word in words)]

    def ours(self, what: str, rival: str | None = None) -> float:
        """Give what was measured of ours in a row."""
        return float(self.row(what, rival)["ours"])

    def rival(self, what: str, rival: str | None = None) -> float:
        """Give what was measured of the rival in a row."""
        return float(self.row(what, rival)["rival"])

    def ratio(self, what: str, rival: str | None = None) -> float:
        """Give ours as a share of the rival's in a row."""
        return self.ours(what, rival) / self.rival(what, rival)


Records = Mapping[str, Record]


def load_records(scale: str) -> Records:
    """Give the results of a scale by case."""
    found = ((case, load(case, scale)) for case in CASES)
    return {case: Record(**record) for case, record in found if record is not None}


def named_rows(records: Records, topics: Mapping[str, str]) -> list[dict[str, Any]]:
    """Give the rows of some cases, each with the topic of its case in front of its name."""
    return [
        {**row, "what": f"{topic}: {row['what'].strip()}"}
        for case, topic in topics.items()
        if case in records
        for row in records[case].rows
    ]
