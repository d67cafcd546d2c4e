"""The server under load."""

from typing import Any

from benchmarks.document.markdown import either, table
from benchmarks.document.records import Record, Records

ITEM = ""
TITLE = "The server under load"
CASES = ("server_load",)
PICTURES = {"server-memory": "resident memory of the server while 32 clients search and add"}
LOADS = {
    "alone": "one client, searches",
    "together": "32 clients, searches",
    "mixed": "32 clients, searches and adds",
}


def write(records: Records) -> list[str]:
    """Requests and waiting times of each load, with and without stored vectors."""
    record = records["server_load"]
    errors = sum(sum(load["errors"].values()) for _, _, load in _loads(record))
    lost = sum(row["ours"] for row in record.rows_like("lost"))
    return [
        "`gossamer serve` on this machine, with clients that each keep one connection and ask "
        "another question each time; one request in ten adds a text. Keeping no vectors (`none`), "
        "chunks are embedded again until the server remembers them; the first searches are "
        "therefore the slowest. "
        + either(
            errors + lost == 0,
            "No request failed, and no text that was acknowledged is missing.",
            f"{errors} requests failed; {lost:.0f} acknowledged texts are missing.",
        ),
        table(
            (
                "",
                "searches",
                "a second",
                "search p50, s",
                "p99, s",
                "adds",
                "add p50, s",
                "p99, s",
            ),
            [_cells(keep, what, load) for keep, what, load in _loads(record)],
        ),
    ]


def draw(records: Records) -> dict[str, Any]:
    """Memory over time."""
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 3.2), layout="constrained")
    for keep, measured in records["server_load"].details.items():
        if isinstance(measured, dict) and "resident_mb" in measured:
            seconds = range(1, len(measured["resident_mb"]) + 1)
            axes.plot(seconds, measured["resident_mb"], label=f"keep {keep}")
    axes.set(xlabel="seconds of searching and adding", ylabel="resident memory, MB", ylim=(0, None))
    axes.legend()
    return {"server-memory": figure}


def _loads(record: Record) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (keep, said, measured[load])
        for keep, measured in record.details.items()
        if isinstance(measured, dict)
        for load, said in LOADS.items()
        if load in measured
    ]


def _cells(keep: str, what: str, load: dict[str, Any]) -> list[str | float | None]:
    search, add = load["search_s"], load["add_s"]
    return [
        f"keep {keep}: {what}",
        load["searches"],
        load["searches"] / load["seconds"],
        search.get("p50"),
        search.get("p99"),
        load["adds"],
        add.get("p50"),
        add.get("p99"),
    ]
