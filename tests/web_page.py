"""The page that searches within the browser, for its tests: built, served, opened.

pytest_plugins = ["web_page"]
"""

import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import web_bundle
from click.testing import CliRunner
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect
from search_site import MODEL, chromium
from static_site import StaticSite

from gossamer import Index
from gossamer.cli import cli
from gossamer.server.routes_web import _HEADERS as HEADERS
from gossamer.single import site as single_site

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
_WATCH = """
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


@dataclass
class Heard:
    """What pages said that they should not, and whom they asked."""

    errors: list[str] = field(default_factory=list)
    addresses: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page as `make web` builds it."""
    if not web_bundle.has_bundler():
        pytest.skip(web_bundle.MISSING)
    folder = tmp_path_factory.mktemp("page")
    command = ["node", str(web_bundle.WEB / "build.mjs"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="session")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs") / "index"
    Index.create(folder, model=MODEL).add_paths([ROOT / "docs", ROOT / "README.md"])
    return folder


@pytest.fixture(scope="session")
def public(built: Path, index: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site as `gossamer export --site` makes it."""
    folder = tmp_path_factory.mktemp("site")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(single_site, "page_folder", lambda: built)
        made = CliRunner().invoke(cli, ["export", str(index), "--site", str(folder)])
    assert made.exit_code == 0, made.output
    return folder


@pytest.fixture
def site(public: Path) -> Iterator[StaticSite]:
    with StaticSite(public, POLICY) as site:
        yield site


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def new_context(browser: Browser) -> Iterator[Callable[..., BrowserContext]]:
    with ExitStack() as stack:

        def new_context(**options: object) -> BrowserContext:
            context = stack.enter_context(browser.new_context(**options))
            context.set_default_timeout(15_000)
            context.add_init_script(_WATCH)
            return context

        yield new_context


@pytest.fixture
def open_page(new_context: Callable[..., BrowserContext], heard: Heard) -> Callable[..., Page]:
    """Open pages that note what goes wrong in them and whom they ask."""

    def open_page(address: str, context: BrowserContext | None = None, **options: object) -> Page:
        page = (context or new_context(**options)).new_page()
        page.on("pageerror", lambda error: heard.errors.append(str(error)))
        page.on("console", lambda said: said.type == "error" and heard.errors.append(said.text))
        page.on("request", lambda request: heard.addresses.append(request.url))
        page.goto(address)
        return page

    return open_page


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    for name, text in NOTES.items():
        path = tmp_path / "notes" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="latin-1")
    return tmp_path / "notes"


def ask(page: Page, question: str) -> None:
    page.locator("#question").fill(question)
    expect(page).to_have_title(f"{question} – Gossamer")
    expect(page.locator("#results:not([aria-busy]) #summary")).to_have_text(FOUND)


def add(page: Page, notes: Path) -> None:
    expect(page.locator("#start")).to_be_visible()
    page.set_input_files("#folder-input", notes)
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
