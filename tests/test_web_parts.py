"""Which parts of the package a page loads, in a real browser, and what it says if one is gone."""

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page
from search_site import MODEL, POLICY, PageError, call, export_index, start, write_package
from static_site import StaticSite

from gossamer import Index

MOST_BYTES = 224_000  # of JavaScript and Wasm for a first question, compressed; the bar is 180,000

_SEARCH = """async (gossamer, mode) => {
  const index = await gossamer.open("./notes.gossamer");
  return (await index.search("whales", { k: 1, mode })).hits[0].source;
}"""
_BUILD = """async (gossamer) => {
  const index = await gossamer.build(null, [{ id: "new", text: "Volcanoes erupt." }]);
  return (await index.search("volcanoes", { k: 1 })).hits[0].source;
}"""


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("parts")
    index = Index.create(folder / "index", model=MODEL)
    index.add_texts([{"id": "sea", "text": "Whales swim."}, {"id": "land", "text": "Goats climb."}])
    write_package(folder / "public")
    export_index(index, folder / "public" / "notes.gossamer")
    return folder / "public"


@pytest.fixture
def site(public: Path) -> Iterator[StaticSite]:
    with StaticSite(public, POLICY) as site:
        yield site


@pytest.fixture
def page(context: BrowserContext, site: StaticSite) -> Page:
    page = context.new_page()
    start(page, site.url)
    return page


def loaded(site: StaticSite) -> set[str]:
    """Name the scripts and modules that were asked for."""
    names = {request.split()[1].removeprefix("/") for request in site.requests}
    return {name for name in names if name.endswith((".js", ".wasm"))}


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "lexical"])
def test_a_first_question_loads_little(
    page: Page, site: StaticSite, public: Path, mode: str
) -> None:
    assert call(page, _SEARCH, mode) == "sea"

    names = loaded(site)
    assert len([name for name in names if name.endswith(".js")]) == 2  # page's side and worker's
    sizes = [len(gzip.compress((public / name).read_bytes(), 9)) for name in names]
    assert sum(sizes) <= MOST_BYTES


def test_what_changes_an_index_is_loaded_when_one_is_changed(page: Page, site: StaticSite) -> None:
    call(page, _SEARCH, "hybrid")
    before = loaded(site)
    assert call(page, _BUILD) == "new"

    more = loaded(site) - before
    assert {name.split("-")[1] for name in more if name.startswith("worker-")} >= {"changes"}


def test_a_part_that_does_not_come_is_said_plainly_and_asked_for_again(
    page: Page, site: StaticSite
) -> None:
    site.behave(status=500, only="worker-changes")
    with pytest.raises(PageError, match="a part of gossamer-web could not be loaded") as caught:
        call(page, _BUILD)
    assert caught.value.reason == "Unreachable"
    assert "worker-changes" in caught.value.message
    assert call(page, _SEARCH, "hybrid") == "sea"

    site.behave()
    assert call(page, _BUILD) == "new"


@pytest.mark.parametrize("address", ["./worker.js", "./worker.js?version=2"])
def test_a_worker_may_be_named_by_its_address(
    context: BrowserContext, site: StaticSite, address: str
) -> None:
    page = context.new_page()
    start(page, site.url, {"worker": address})

    assert call(page, _SEARCH, "hybrid") == "sea"
    assert call(page, _BUILD) == "new"
