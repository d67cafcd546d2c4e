"""The page that searches within the browser, for its tests: built, served, opened.

pytest_plugins = ["web_page_fixtures"]
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import web_bundle
from browser import Heard
from click.testing import CliRunner
from playwright.sync_api import Browser, BrowserContext, Page
from search_site import MODEL
from static_site import StaticSite
from web_page import NOTES, POLICY, ROOT, WATCH

from gossamer import Index
from gossamer.cli import cli
from gossamer.single import site as single_site


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page as `make web` builds it."""
    folder = tmp_path_factory.mktemp("page")
    web_bundle.build_package(folder)
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
            context.add_init_script(WATCH)
            return context

        yield new_context


@pytest.fixture
def open_page(new_context: Callable[..., BrowserContext], heard: Heard) -> Callable[..., Page]:
    """Open pages that note what goes wrong in them and whom they ask."""

    def open_page(address: str, context: BrowserContext | None = None, **options: object) -> Page:
        page = (context or new_context(**options)).new_page()
        heard.listen(page)
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
