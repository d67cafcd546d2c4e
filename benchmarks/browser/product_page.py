"""A page that uses the package as any page would, and what travels to it."""

import shutil
from pathlib import Path
from typing import Any

from playwright.sync_api import Request

import gossamer
from benchmarks.browser.packages import WEB, bundle
from benchmarks.browser.tab import HOUR_MS, Browser

MODEL = "pocket"
MODEL_FILE = f"{MODEL}.model.gossamer"
_PACKAGED = Path(gossamer.__file__).parent / "models" / "data" / f"{MODEL}.gossamer"
# What the browser tells of requests comes a little later.
_SETTLED_MS = 500
_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Search</title>
<script type="module" src="product.js"></script></html>
"""


def write_package(folder: Path) -> None:
    """Write the page, the package's worker, its Wasm modules and the model."""
    bundle(["bench/product.ts"], folder)
    bundle(["src/worker/host.ts"], folder)
    (folder / "host.js").rename(folder / "worker.js")
    for module in (WEB / "wasm" / "built").glob("*.wasm"):
        shutil.copy(module, folder)
    shutil.copy(_PACKAGED, folder / MODEL_FILE)
    (folder / "index.html").write_text(_PAGE)


class ProductPage:
    """`window.product` of web/bench/product.ts, in a context without anything cached."""

    def __init__(self, browser: Browser, url: str) -> None:
        """Load the page; what comes is counted from the first byte on."""
        self.context = browser.new_context()
        self.page = self.context.new_page()
        self.page.set_default_timeout(HOUR_MS)
        self._finished: list[Request] = []
        self.page.on("requestfinished", lambda request: self._finished.append(request))
        self.page.goto(url)
        self.page.wait_for_function("() => window.product !== undefined")

    def __call__(self, name: str, *given: object) -> Any:
        """Call one of its functions."""
        script = "([name, given]) => window.product[name](...given)"
        return self.page.evaluate(script, [name, list(given)])

    def take_received(self) -> int:
        """Give the bytes that the browser says it received since the last call, with headers."""
        self.page.wait_for_timeout(_SETTLED_MS)
        sizes = [request.sizes() for request in self._finished]
        self._finished.clear()
        return sum(size["responseBodySize"] + size["responseHeadersSize"] for size in sizes)

    def close(self) -> None:
        """Close it with all it stored."""
        self.context.close()
