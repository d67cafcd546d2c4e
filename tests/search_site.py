"""A site with the browser's package, and pages that search an index by it.

write_package(folder)
with StaticSite(folder, POLICY) as site:
    start(page, site.url)
    call(page, "(gossamer) => gossamer.names()")
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import web_bundle
from playwright.sync_api import Page

from gossamer import Index
from gossamer.single.engine import EngineChoice
from gossamer.single.export import ExportOptions, write_single_file
from gossamer.single.importing import import_single_file

MODEL = "pocket"
# What a careful page allows: nothing is made from strings, nothing comes from elsewhere.
POLICY = {
    "Content-Security-Policy": "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; "
    "connect-src 'self'; worker-src 'self'"
}

_START = """async (options) => {
  const { start } = await import(new URL("gossamer.js", document.baseURI).href);
  window.gossamer = start(options);
}"""


@dataclass
class PageError(Exception):
    """What a call in the page failed with."""

    reason: str
    message: str


def write_package(folder: Path) -> None:
    """Put the package into a folder as a page has it, and the model."""
    web_bundle.build_package(folder)
    web_bundle.write_page(folder)


def export_index(index: Index, path: Path, engine: EngineChoice | None = None) -> None:
    """Write an index as the one file that pages open."""
    write_single_file(*index.now(), path, ExportOptions(engine or EngineChoice()))


def imported(path: Path, folder: Path) -> Index:
    """Open a single file in Python: what the page reads is what is searched here."""
    import_single_file(path, folder)
    return Index.open(folder)


def start(page: Page, url: str, options: Mapping[str, object] | None = None) -> None:
    """Go to a page and start the package's worker there."""
    page.goto(url)
    page.evaluate(_START, dict(options or {}))


def call(page: Page, code: str, *args: object) -> Any:
    """Run an async function of the page, `(gossamer, ...args) => ...`; PageError if it fails."""
    found = page.evaluate(
        f"""async (args) => {{
          try {{
            return {{ value: await ({code})(window.gossamer, ...args) }};
          }} catch (error) {{
            return {{ reason: error.reason ?? error.name, message: error.message }};
          }}
        }}""",
        list(args),
    )
    if "reason" in found:
        raise PageError(found["reason"], found["message"])
    return found.get("value")
