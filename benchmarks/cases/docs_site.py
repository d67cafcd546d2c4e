"""Documentation on a static host: the exported page, and Pagefind over the same pages."""

import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from playwright.sync_api import Page, expect

from benchmarks.browser.pagefind import write_pagefind
from benchmarks.browser.site import Line, Site
from benchmarks.browser.tab import HOUR_MS, Browser, browser
from benchmarks.documentation import corpus, labels
from benchmarks.report import Result, Row
from benchmarks.scale import scaled
from gossamer.cli import cli
from gossamer.index import Index

TITLE = "500 pages of documentation with the exported page: a slow line, and bytes beside Pagefind"
MODEL = "pocket"
QUESTIONS = 15
EVERY_FILE = scaled(1, smoke=60, small=12)
MEGABITS, LATENCY_S = 10.0, 0.05
VISITS = 3
# Seconds: to a page that can be asked, from there to hits by words, and by meaning.
BARS_S = {"usable": 1.5, "words": 0.6, "meaning": 3.5}
BYTES_BAR, BYTES_BAR_WITHOUT_MODEL = 4.0, 1.5
_WORDS = "() => /hit/.test(document.querySelector('#summary').textContent)"
_OVER = "() => /^\\d+ hits?$/.test(document.querySelector('#summary').textContent)"


def run() -> Result:
    """Visits over a slow line, then fifteen questions of one visitor."""
    pages = corpus("python")
    questions = [label.question for label in labels("python")][:QUESTIONS]
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as name, browser() as started:
        ours, theirs, source = (Path(name) / part for part in ("ours", "theirs", "pages"))
        for page in pages.files[::EVERY_FILE]:
            place = source / pages.name_of(page)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(page.read_bytes())
        exported = _export(source, ours, Path(name) / "index")
        theirs.mkdir()
        write_pagefind(source, theirs)
        with Site([ours]) as site:
            site.line = Line(MEGABITS, LATENCY_S)
            visits = [_first(started, site, questions[0]) for _ in range(VISITS)]
            site.line = None
            asked = _ask_all(started, site, questions)
        with Site([theirs]) as site:
            rival = _ask_pagefind(started, site, questions)
        sizes = [_megabytes(folder) for folder in (ours, theirs)]
    for what, bar in BARS_S.items():
        middle = sorted(visit[what] for visit in visits)[VISITS // 2]
        rows.append(Row(f"10 Mbit/s, 50 ms: {_NAMES[what]}, s", middle, bar=bar))
    total, without = (sum(asked["parts"].values()) / 1e6, _without_model(asked["parts"]) / 1e6)
    rival_mb = sum(rival["parts"].values()) / 1e6
    rows += [
        Row("15 questions, MB with the model", total, rival_mb, "pagefind", BYTES_BAR),
        Row("15 questions, MB without", without, rival_mb, "pagefind", BYTES_BAR_WITHOUT_MODEL),
        Row("15 questions, requests", asked["requests"], rival["requests"], "pagefind"),
        Row("on the host, MB", sizes[0], sizes[1], "pagefind"),
    ]
    details = {"visits": visits, "ours": asked, "pagefind": rival, "exported": exported}
    return Result(rows, details)


_NAMES = {
    "usable": "first visit to a page that can be asked",
    "words": "first question to hits by words",
    "meaning": "first question to hits by meaning",
}


def _export(source: Path, folder: Path, index: Path) -> str:
    """Make a site as its owner would."""
    Index.create(index, model=MODEL).add_paths([source])
    given = ["export", str(index), "--site", str(folder), "--base-url", "/docs/"]
    done = CliRunner().invoke(cli, given)
    if done.exit_code != 0:
        raise RuntimeError(done.output)
    return done.output


def _new_page(started: Browser) -> Page:
    page = started.new_context().new_page()
    page.set_default_timeout(HOUR_MS)
    return page


def _open(page: Page, site: Site) -> Page:
    page.goto(site.url, wait_until="commit")
    expect(page.locator("#panel-line")).to_contain_text("This site", timeout=60_000)
    return page


def _first(started: Browser, site: Site, question: str) -> dict[str, float]:
    """Visit with nothing cached, and ask one question: seconds of each step."""
    page = _new_page(started)
    begun = time.perf_counter()
    _open(page, site)
    usable = time.perf_counter() - begun
    asked = time.perf_counter()
    page.fill("#question", question)
    page.press("#question", "Enter")
    page.wait_for_function(_WORDS, polling=10)
    words = time.perf_counter() - asked
    page.wait_for_function(_OVER, polling=10)
    meaning = time.perf_counter() - asked
    page.context.close()
    return {"usable": usable, "words": words, "meaning": meaning}


def _ask_all(started: Browser, site: Site, questions: Sequence[str]) -> dict[str, Any]:
    """One visitor, all questions: bytes by file, and how many requests."""
    site.take_sent()
    page = _open(_new_page(started), site)
    for question in questions:
        page.fill("#question", question)
        page.press("#question", "Enter")
        expect(page).to_have_title(f"{question} – Gossamer")
        page.wait_for_function(_OVER, polling=10)
    page.context.close()
    return _taken(site)


def _ask_pagefind(started: Browser, site: Site, questions: Sequence[str]) -> dict[str, Any]:
    site.take_sent()
    page = started.new_context().new_page()
    page.goto(site.url)
    page.wait_for_function("() => window.ask !== undefined")
    found = [page.evaluate("(question) => window.ask(question)", one) for one in questions]
    page.context.close()
    return {**_taken(site), "found": found}


def _taken(site: Site) -> dict[str, Any]:
    sent = site.take_sent()
    sizes: Counter[str] = Counter()
    for one in sent:
        sizes[one.path.partition("?")[0]] += one.body
    return {"parts": dict(sizes), "requests": len(sent)}


def _without_model(parts: dict[str, int]) -> int:
    return sum(size for path, size in parts.items() if ".model." not in path)


def _megabytes(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6
