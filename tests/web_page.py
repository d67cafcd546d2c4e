"""The page that searches within the browser, for its tests: what is put into it and asked of it."""

import re
from collections.abc import Callable
from pathlib import Path

from browser import pick_folder
from playwright.sync_api import Page, Route, expect

from gossamer.server.routes_web import _HEADERS as HEADERS

ROOT = Path(__file__).resolve().parent.parent
POLICY = {"Content-Security-Policy": HEADERS["Content-Security-Policy"]}
FOUND = re.compile(r"^\d+ hits?$")
NOTES = {
    "whales.md": "# Whales\n\nWhales eat krill, which their baleen holds back.\n",
    "bread.md": "# Bread\n\nFlour, water, salt, and a night of waiting.\n",
    "photo.png": "\x89PNG",
    "deep/stars.txt": "At night the stars turn about the pole.\n",
}
# Notes what the page's own thread does with Wasm.
WATCH = """
window.heavy = [];
for (const name of ["compile", "compileStreaming", "instantiate", "instantiateStreaming"]) {
  const before = WebAssembly[name];
  WebAssembly[name] = (...given) => { window.heavy.push(name); return before(...given); };
}
for (const name of ["Module", "Instance"]) {
  WebAssembly[name] = class extends WebAssembly[name] {
    constructor(...given) { super(...given); window.heavy.push(name); }
  };
}
"""
CLEAR = """async () => {
  const root = await navigator.storage.getDirectory();
  for await (const name of root.keys()) {
    await root.removeEntry(name, { recursive: true }).catch(() => undefined);
  }
}"""
DROP = """(files) => {
  const data = new DataTransfer();
  for (const [name, text] of Object.entries(files)) data.items.add(new File([text], name));
  const target = document.querySelector("main");
  for (const kind of ["dragover", "drop"]) {
    const options = { dataTransfer: data, bubbles: true, cancelable: true };
    target.dispatchEvent(new DragEvent(kind, options));
  }
}"""


def ask(page: Page, question: str) -> None:
    page.locator("#question").fill(question)
    expect(page).to_have_title(f"{question} – Gossamer")
    expect(page.locator("#results:not([aria-busy]) #summary")).to_have_text(FOUND)


def add(page: Page, notes: Path) -> None:
    expect(page.locator("#start")).to_be_visible()
    pick_folder(page, "#folder-input", notes)
    expect(page.locator("#panel-line")).to_contain_text("notes")
    expect(page.locator("#report")).to_contain_text("3 files added")


def open_panel(page: Page) -> None:
    page.locator("#panel-button").click()
    expect(page.locator("#budget")).to_be_visible()


def hold(page: Page, pattern: str) -> Callable[[], None]:
    """Let requests wait until what this gives is called."""
    waiting: list[Route] = []
    released: list[bool] = []
    page.route(pattern, lambda route: route.continue_() if released else waiting.append(route))

    def release() -> None:
        released.append(True)
        for route in waiting:
            route.continue_()

    return release
