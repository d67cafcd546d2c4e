"""A page of a real browser that the benchmark drives."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import BrowserContext, BrowserType, Page, sync_playwright

from benchmarks.report import Skipped

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
HOUR_MS = 3_600_000


@dataclass(frozen=True)
class Browser:
    """Starts browsers, each with a profile of its own that is empty at first.

    Contexts within one browser would be incognito, where storage is slower than users have it.
    """

    chromium: BrowserType
    path: str
    profiles: Path

    def new_context(self) -> BrowserContext:
        """Start one; it goes when the context is closed."""
        profile = tempfile.mkdtemp(dir=self.profiles)
        return self.chromium.launch_persistent_context(
            profile, headless=True, executable_path=self.path, args=list(_ARGUMENTS)
        )


@contextmanager
def browser() -> Iterator[Browser]:
    """Find a browser: what CHROMIUM names, or one on the path."""
    given = os.environ.get("CHROMIUM")
    names = (given,) if given else _NAMES
    path = next((path for name in names if (path := shutil.which(name))), None)
    if path is None:
        raise Skipped("no Chromium was found: install it, or set CHROMIUM to where it is")
    folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    with folder as profiles, sync_playwright() as started:
        yield Browser(started.chromium, path, Path(profiles))


class Bench:
    """`window.bench` of web/bench/page.ts."""

    def __init__(self, browser: Browser, url: str) -> None:
        """Open a page of its own, with empty storage."""
        self.page: Page = browser.new_context().new_page()
        self.page.set_default_timeout(HOUR_MS)
        self.page.goto(url)
        self.page.wait_for_function("() => window.bench !== undefined")

    def __call__(self, name: str, *given: object) -> Any:
        """Call one of its functions."""
        script = "([name, given]) => window.bench[name](...given)"
        return self.page.evaluate(script, [name, list(given)])

    def close(self) -> None:
        """Close the page; its storage goes with it."""
        self.page.context.close()
