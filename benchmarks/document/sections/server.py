"""The server under load."""

from typing import Any

from benchmarks.document.markdown import either, table
from benchmarks.document.records import Record, Records

ITEM = ""
TITLE = "The server under load"
CASES = ("server_load", "server_slow_bodies")
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
    blocks = [
        "`gossamer serve` on this machine, with clients that each keep one connection and ask "
        "another question each time; one request in ten adds a text. Each question embeds "
        "its candidates, also where vectors are kept (`all`): it compares their tokens. "
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
    slow = records.get("server_slow_bodies")
    return blocks if slow is None else [*blocks, *_beside_slow(slow)]


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


def _beside_slow(record: Record) -> list[str]:
    """The same clients without and beside connections that send next to nothing."""
    details, slow = record.details, record.details["slow"]
    errors = sum(details["beside"]["errors"].values())
    rows = [
        [what, *(details[load][kind].get(share) for load in ("without", "beside"))]
        for what, kind, share in (
            ("search p50, s", "search_s", "p50"),
            ("search p99, s", "search_s", "p99"),
            ("add p50, s", "add_s", "p50"),
            ("add p99, s", "add_s", "p99"),
        )
    ]
    return [
        f"Beside {slow['count']:,} connections that begin a request and then send a byte every "
        f"{slow['drip_s']:g} seconds, on a server that may open {details['files']:,} files: "
        + either(errors == 0, "no request failed. ", f"{errors} requests failed. ")
        + f"Up to {slow['most_open']:,} of the slow ones were open at once; the server closed "
        f"{slow['closed']:,} of them to make room, and they came again.",
        table(
            ("", "without", "beside", "ratio"),
            [
                [what, without, beside, beside / without if without and beside else None]
                for what, without, beside in rows
            ],
        ),
    ]


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
