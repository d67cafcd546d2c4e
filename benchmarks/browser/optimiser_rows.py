"""The cache-size optimiser: WebANNS' algorithm 2 and table 3."""

from typing import Any

from benchmarks.browser.speed_files import DIM, Kind
from benchmarks.browser.speed_page import QUERIES, WARMED_BY, K, Request, SpeedPage
from benchmarks.report import Row
from benchmarks.scale import scaled

# p and T_θ (ms): WebANNS' own, and one for storage that answers in a tenth of a millisecond.
TARGETS = ((0.8, 100.0), (0.5, 0.5))
TESTED = scaled(60, 20)
FOLLOWED = scaled(300, 60)


def optimiser_rows(
    page: SpeedPage, kind: Kind, exact: Request, details: dict[str, Any]
) -> list[Row]:
    """Let it choose from all in memory, and ask other queries before and after."""
    request = {**exact, "strategy": "lazy"}
    rows, kept = [], {}
    size = f"{page.count // 1000}k"
    for share, access_ms in TARGETS:
        name = f"optimiser p={share}, T={access_ms:g} ms"
        page.open_ours(name, kind.file(page.count), worker=True, share=1.0)
        page.bench("warm", name)
        page.add_ours(name, name, request)
        before = page.measure([name], count=FOLLOWED, rounds=1)[name]
        asked = {**request, "k": K, "share": share, "accessMs": access_ms}
        report = page.bench("optimise", name, QUERIES, DIM, TESTED, asked)
        after = page.measure([name], count=FOLLOWED, rounds=1, first=WARMED_BY + FOLLOWED)[name]
        now = page.bench("status", name)["tiers"]
        page.bench("closeOurs", name)
        kept[name] = {
            "report": report,
            "before": before.as_saved(),
            "after": after.as_saved(),
            "bytes at the end": now["bytes"],
            "rolled back": now["bytes"] > report["bytesAfter"],
        }
        last = report["steps"][-1]
        rows += [
            Row(f"{size}: {name}: vectors in memory, MB", *_megabytes(report), "C0"),
            Row(f"{size}: {name}: at the end of {FOLLOWED} others, MB", now["bytes"] / 1e6),
            Row(f"{size}: {name}: p50", after.p50, before.p50, "before"),
            Row(f"{size}: {name}: p99", after.p99, before.p99, "before"),
            Row(f"{size}: {name}: accesses a query at the last step", last["accesses"]),
            Row(f"{size}: {name}: steps tried", len(report["steps"])),
        ]
    details["optimiser"] = kept
    return rows


def _megabytes(report: dict[str, Any]) -> tuple[float, float]:
    return report["bytesAfter"] / 1e6, report["bytesBefore"] / 1e6
