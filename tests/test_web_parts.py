"""Which parts of the package a page loads, in a real browser, and what it says if one is gone."""

import gzip
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page
from search_site import MODEL, POLICY, PageError, call, export_index, start, write_package
from static_site import StaticSite

from gossamer import Index

MOST_BYTES = 216_000  # of JavaScript and Wasm for a first question, compressed; the bar is 180,000

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
    parts = {name.split("-")[1] for name in more if name.startswith("worker-")}
    assert parts >= {"changes", "build"}
    assert not parts & {"following", "server", "tiers", "encoder"}


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


@pytest.mark.parametrize(
    ("content", "said"),
    [("\n<!doctype html><title>Home</title>", "a web page"), ("", "something else")],
)
def test_a_page_in_place_of_wasm_is_said_to_be_one(
    context: BrowserContext, public: Path, tmp_path: Path, content: str, said: str
) -> None:
    shutil.copytree(public, tmp_path, dirs_exist_ok=True)
    for path in tmp_path.glob("*.wasm"):
        path.write_text(content, encoding="utf-8")
    with StaticSite(tmp_path, POLICY) as site:
        page = context.new_page()
        start(page, site.url)
        with pytest.raises(PageError, match=f"came as {said}, not as WebAssembly") as caught:
            call(page, _SEARCH, "hybrid")
        assert caught.value.reason == "Unreachable"
        assert "npx gossamer-web copy" in caught.value.message

        for path in public.glob("*.wasm"):
            shutil.copyfile(path, tmp_path / path.name)
        assert call(page, _SEARCH, "hybrid") == "sea"


def test_a_worker_of_another_release_is_said_to_be_one(
    context: BrowserContext, public: Path, tmp_path: Path
) -> None:
    shutil.copytree(public, tmp_path, dirs_exist_ok=True)
    (main,) = tmp_path.glob("worker-main-*.js")
    build = main.stem.removeprefix("worker-main-")
    text = main.read_text(encoding="utf-8")
    assert build in text
    main.write_text(text.replace(build, "0" * len(build)), encoding="utf-8")
    with StaticSite(tmp_path, POLICY) as site:
        page = context.new_page()
        start(page, site.url, {"worker": "./worker.js"})
        with pytest.raises(PageError, match=r"another release .* `npx gossamer-web copy` again"):
            call(page, _SEARCH, "hybrid")


@pytest.mark.parametrize("address", ["./worker.js", "./worker.js?version=2"])
def test_a_worker_may_be_named_by_its_address(
    context: BrowserContext, site: StaticSite, address: str
) -> None:
    page = context.new_page()
    start(page, site.url, {"worker": address})

    assert call(page, _SEARCH, "hybrid") == "sea"
    assert call(page, _BUILD) == "new"
