"""The browser that the page is tested with.

`python tests/browser.py` puts one in place where it may: as root of a Debian-like system.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NoReturn

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

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
_INSTALL = ("apt-get", "install", "--yes", "--quiet=2", "--no-install-recommends", "chromium")
MISSING = (
    "no Chromium was found: install it, or set CHROMIUM to where it is "
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
def chromium() -> Iterator[Browser]:
    """Start the browser; the test is skipped where there is none."""
    path = find_chromium()
    if path is None:
        give_up(MISSING)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(_ARGUMENTS))
        yield browser
        browser.close()


def give_up(missing: str) -> NoReturn:
    """Skip the test for what is missing; it fails in CI, where all is to be there."""
    if "CI" in os.environ:
        pytest.fail(missing)
    pytest.skip(missing)


def find_chromium() -> str | None:
    """Give the path of a Chromium: what CHROMIUM names, or one on the path; None if there is none.

    CHROMIUM may also be a name on the path.
    """
    named = os.environ.get("CHROMIUM")
    names = (named,) if named else (*_NAMES, _MAC)
    return next((path for name in names if (path := shutil.which(name))), None)


def ensure_chromium() -> str | None:
    """Give the path of a Chromium, installed if need be; None if that may not or cannot be."""
    if (found := find_chromium()) or not _may_install():
        return found
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (_UPDATE, _INSTALL):
        subprocess.run(command, check=False, stdout=subprocess.DEVNULL, env=environment)
    return find_chromium()


def _may_install() -> bool:
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    return is_root and shutil.which("apt-get") is not None


if __name__ == "__main__":
    if ensure_chromium() is None:
        sys.stderr.write(f"{MISSING}; the tests of the page are skipped\n")
