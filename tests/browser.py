"""The browser that pages are tested with: Chromium, or with BROWSER=firefox the system's Firefox.

`python tests/browser.py` puts it in place where it may: as root of a Debian-like system.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

import pytest
from playwright.sync_api import Browser, CDPSession, Page, sync_playwright

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_MAC = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
_ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
# The lists of packages may be old or not there.
_UPDATE = ("apt-get", "update", "--quiet=2")
_INSTALL = ("apt-get", "install", "--yes", "--quiet=2", "--no-install-recommends")
IS_FIREFOX = os.environ.get("BROWSER") == "firefox"
_PACKAGE, _VARIABLE = ("firefox-esr", "FIREFOX") if IS_FIREFOX else ("chromium", "CHROMIUM")
_FIREFOX = ("firefox", "firefox-esr", "/Applications/Firefox.app/Contents/MacOS/firefox")
MISSING = (
    f"no {_VARIABLE.capitalize()} was found: install it, or set {_VARIABLE} to where it is "
    "(as root of a Debian-like system, `python tests/browser.py` installs it)"
)


@dataclass
class Heard:
    """What pages said that they should not, and whom they asked."""

    errors: list[str] = field(default_factory=list)
    addresses: list[str] = field(default_factory=list)

    def listen(self, page: Page) -> None:
        """Note from now on what goes wrong in a page and whom it asks."""
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda said: said.type == "error" and self.errors.append(said.text))
        page.on("request", lambda request: self.addresses.append(request.url))


@contextmanager
def start_browser() -> Iterator[Browser]:
    """Start the browser; the test is skipped where there is none."""
    path = find_browser()
    if path is None:
        give_up(MISSING)
    with sync_playwright() as playwright:
        if IS_FIREFOX:
            browser = playwright.firefox.launch(executable_path=path, channel="moz-firefox")
        else:
            browser = playwright.chromium.launch(executable_path=path, args=list(_ARGUMENTS))
        yield browser
        browser.close()


def give_up(missing: str) -> NoReturn:
    """Skip the test for what is missing; it fails in CI, where all is to be there."""
    if "CI" in os.environ:
        pytest.fail(missing)
    pytest.skip(missing)


def devtools(page: Page) -> CDPSession:
    """Open what only Chromium can be asked beyond the page; elsewhere the test is skipped."""
    if IS_FIREFOX:
        pytest.skip(
            "only Chromium clears storage, sets quotas and composes text when it is told to"
        )
    return page.context.new_cdp_session(page)


def pick_folder(page: Page, chooser: str, folder: Path) -> None:
    """Pick a folder where the page asks for one; skipped where a browser cannot be made to."""
    if IS_FIREFOX:
        pytest.skip("Firefox takes files only when it is driven from outside")
    page.set_input_files(chooser, folder)


def find_browser() -> str | None:
    """Give the path of the browser: what CHROMIUM (FIREFOX) names, or one on the path, or None.

    CHROMIUM may also be a name on the path.
    """
    named = os.environ.get(_VARIABLE)
    names = (named,) if named else _FIREFOX if IS_FIREFOX else (*_NAMES, _MAC)
    return next((path for name in names if (path := shutil.which(name))), None)


def ensure_browser() -> str | None:
    """Give the path of the browser, installed if need be; None if that may not or cannot be."""
    if (found := find_browser()) or not _may_install():
        return found
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (_UPDATE, (*_INSTALL, _PACKAGE)):
        subprocess.run(command, check=False, stdout=subprocess.DEVNULL, env=environment)
    return find_browser()


def _may_install() -> bool:
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    return is_root and shutil.which("apt-get") is not None


if __name__ == "__main__":
    if ensure_browser() is None:
        sys.stderr.write(f"{MISSING}; the tests of the page are skipped\n")
