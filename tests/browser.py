"""The browser that the page is tested with.

`python tests/browser.py` puts one in place where it may: as root of a Debian-like system.
"""

import os
import shutil
import subprocess
import sys

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_MAC = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
ARGUMENTS = (
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
