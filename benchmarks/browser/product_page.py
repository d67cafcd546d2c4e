"""A page that uses the package as any page would, and what travels to it."""

import subprocess
from pathlib import Path
from typing import Any

from benchmarks.browser.packages import WEB, bundle
from benchmarks.browser.tab import HOUR_MS, Browser

MODEL = "pocket"
MODEL_FILE = f"{MODEL}.model.gossamer"
_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Search</title>
<link rel="modulepreload" href="gossamer.js">
<script type="module" src="product.js"></script></html>
"""


def write_package(folder: Path) -> None:
    """Write the package as `make web` builds it, with the model, and the page that uses it."""
    subprocess.run(["node", str(WEB / "build.mjs"), str(folder)], check=True)
    bundle(["bench/product.ts"], folder)
    (folder / "index.html").write_text(_PAGE)


class ProductPage:
    """`window.product` of web/bench/product.ts, in a context without anything cached."""

    def __init__(self, browser: Browser, url: str) -> None:
        """Load the page."""
        self.context = browser.new_context()
        self.page = self.context.new_page()
        self.page.set_default_timeout(HOUR_MS)
        self.page.goto(url)
        self.page.wait_for_function("() => window.product !== undefined")

    def __call__(self, name: str, *given: object) -> Any:
        """Call one of its functions."""
        script = "([name, given]) => window.product[name](...given)"
        return self.page.evaluate(script, [name, list(given)])

    def close(self) -> None:
        """Close it with all it stored."""
        self.context.close()
