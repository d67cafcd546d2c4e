"""Memory for a part of the vectors, the others in storage: WebANNS' table 2."""

from dataclasses import dataclass
from typing import Any

from benchmarks.browser.speed_files import DIM, Kind
from benchmarks.browser.speed_page import MEASURED, QUERIES, WARMED_BY, K, Request, SpeedPage, dials
from benchmarks.report import Row
from benchmarks.scale import scaled

SHARES = (1.0, 0.96, 0.9, 0.2)
LEAST = SHARES[-1]
EVICTIONS = ("lru", "fifo", "hub")
# "codes" leaves it to the engine, which has codes; "lazy" is WebANNS' algorithm 1, without them.
WAYS = ("codes", "lazy")
SHRINK_BARS = {"codes": 2.2, "lazy": 5.0}
# Every round asks other queries: what a query brought into memory must not answer it again.
ROUNDS = 3
SLOWLY_WARMED = 20
CAP_S = scaled(60, 5)


@dataclass(frozen=True)
class Setting:
    """How much memory, which storage, who goes first, and how is searched."""

    share: float
    way: str
    eviction: str = "lru"
    storage: str = "opfs"

    @property
    def name(self) -> str:
        """What rows call it."""
        extra = "" if self.eviction == "lru" else f", {self.eviction}"
        extra += "" if self.storage == "opfs" else ", IndexedDB"
        return f"{self.share:.0%} of vectors in memory, {self.way}{extra}"


def memory_rows(page: SpeedPage, kind: Kind, exact: Request, details: dict[str, Any]) -> list[Row]:
    """Measure all settings in turns; `exact` is the walk that reaches the recall in memory."""
    file = kind.file(page.count)
    page.bench("put", file, "indexeddb")
    settings = [Setting(share, way) for way in WAYS for share in SHARES]
    settings += [Setting(LEAST, way, eviction) for way in WAYS for eviction in EVICTIONS[1:]]
    settings += [Setting(LEAST, way, storage="indexeddb") for way in WAYS]
    kept: dict[str, Any] = {}
    requests = {("lazy", share): {**exact, "strategy": "lazy"} for share in SHARES}
    for setting in settings:
        kept[setting.name] = _open(page, setting, file, requests)
    before = {setting: _reads(page, setting) for setting in settings}
    names = [setting.name for setting in settings]
    timings = page.measure(
        names, count=MEASURED // ROUNDS, rounds=ROUNDS, advances=True, cap_s=CAP_S
    )
    for setting in settings:
        kept[setting.name] |= timings[setting.name].as_saved()
        asked = timings[setting.name].queries
        reads = _reads(page, setting)
        kept[setting.name] |= {
            what: round((reads[what] - before[setting][what]) / asked, 2) for what in reads
        }
        page.bench("closeOurs", setting.name)
    details["memory"] = kept
    return _rows(page, settings, kept)


def _open(
    page: SpeedPage, setting: Setting, file: str, requests: dict[tuple[str, float], Request]
) -> dict[str, Any]:
    """Open it, let it fill its memory, and choose how hard it searches if nobody has yet."""
    opening = {"share": setting.share, "storage": setting.storage, "eviction": setting.eviction}
    opened = page.open_ours(setting.name, file, worker=True, **opening)
    page.bench("warm", setting.name)
    place = (setting.way, setting.share)
    if place not in requests:
        requests[place] = page.cheapest(setting.name, dials())
    request = requests[place]
    page.add_ours(setting.name, setting.name, request)
    # Memory holds what searches leave there, not what was put there before the first.
    queries = WARMED_BY if setting.storage == "opfs" else SLOWLY_WARMED
    page.bench("fill", setting.name, QUERIES, DIM, queries, {**request, "k": K})
    return {"request": request, "opened": opened}


def _reads(page: SpeedPage, setting: Setting) -> dict[str, float]:
    stats = page.bench("status", setting.name)["tiers"]["storage"]
    return {"reads a query": stats["reads"], "rows read a query": stats["rows"]}


def _rows(page: SpeedPage, settings: list[Setting], kept: dict[str, Any]) -> list[Row]:
    size = f"{page.count // 1000}k"
    rows = []
    for setting in settings:
        whole = Setting(1.0, setting.way).name
        one, full = kept[setting.name], kept[whole]
        if setting.name != whole:
            is_judged = setting.eviction == "lru" and setting.storage == "opfs"
            bar = SHRINK_BARS[setting.way] if is_judged else None
            what = f"{size}: {setting.name}, p50"
            rows.append(Row(what, one["p50"], full["p50"], "all in memory", bar, by_ratio=True))
        rows.append(Row(f"{size}: {setting.name}, recall@10", one["recall"]))
    return rows
