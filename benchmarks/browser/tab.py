"""A page of a real browser that the benchmark drives."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.report import Skipped

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
_HOUR_MS = 3_600_000


@contextmanager
def browser() -> Iterator[Browser]:
    """Start a browser: what CHROMIUM names, or one on the path."""
    given = os.environ.get("CHROMIUM")
    names = (given,) if given else _NAMES
    path = next((path for name in names if (path := shutil.which(name))), None)
    if path is None:
        raise Skipped("no Chromium was found: install it, or set CHROMIUM to where it is")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=list(_ARGUMENTS))
        try:
            yield started
        finally:
            started.close()


class Bench:
    """`window.bench` of web/bench/page.ts."""

    def __init__(self, browser: Browser, url: str) -> None:
        """Open a page of its own, with empty storage."""
        self.page: Page = browser.new_context().new_page()
        self.page.set_default_timeout(_HOUR_MS)
        self.page.goto(url)
        self.page.wait_for_function("() => window.bench !== undefined")

    def __call__(self, name: str, *given: object) -> Any:
        """Call one of its functions."""
        script = "([name, given]) => window.bench[name](...given)"
        return self.page.evaluate(script, [name, list(given)])

    def step(self, name: str, *given: object) -> Any:
        """Call a step of its worker."""
        return self("call", name, *given)

    def close(self) -> None:
        """Close the page; its storage goes with it."""
        self.page.context.close()
