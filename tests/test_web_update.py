"""Indexes made and changed inside a page, and the file that a page and Python share."""

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
import web_bundle
from browser import devtools
from playwright.sync_api import BrowserContext, Page
from static_site import StaticSite

from gossamer import Index

DOCS = Path(__file__).resolve().parent.parent / "docs"
MODEL = "pocket.gossamer"
QUESTIONS = ("how are vectors compressed", "who holds the lock", "what does a page fetch")

_START = """async () => {
  const { start } = await import("./index.js");
  window.gossamer = start({ worker: "worker/host.js", wasm: "." });
  window.bytesOf = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}"""
_BUILD = """async (name) => {
  window.index = await gossamer.build(name, [], { model: "pocket.gossamer" });
}"""
_OPEN = """async ([name, text]) => {
  const file = new File([bytesOf(text)], "index.gossamer");
  window.index = await gossamer.open(file, { name, model: "pocket.gossamer" });
}"""
_ADD_FILES = """async (files) => {
  const picked = files.map(([name, text]) => new File([bytesOf(text)], name, { lastModified: 1 }));
  return index.addFiles(picked);
}"""
_EXPORT = """async () => {
  const bytes = new Uint8Array(await (await index.export()).arrayBuffer());
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
}"""
_SEARCH = """async (question) => {
  const { hits } = await index.search(question, { k: 5, recall: 0.99 });
  return hits.map((hit) => [hit.source, hit.start, hit.end, hit.id]);
}"""
_ADD_MUCH = """async (stops) => {
  const stop = new AbortController();
  async function* texts() {
    for (let n = 0; n < 400; n += 1) {
      if (stops && n === 300) stop.abort();
      yield { id: `text ${n}`, text: `Number ${n} says much of nothing. `.repeat(200) };
    }
  }
  return index.add(texts(), { signal: stop.signal }).then(() => "", (error) => error.reason);
}"""


@dataclass
class Tab:
    """A page with an index open in its worker."""

    page: Page

    def build(self, name: str | None) -> None:
        """Make an empty index and keep it open."""
        self.page.evaluate(_BUILD, name)

    def open(self, name: str, file: bytes) -> None:
        """Put a file into storage and open it."""
        self.page.evaluate(_OPEN, [name, _letters(file)])

    def add_files(self, files: dict[str, bytes]) -> dict[str, Any]:
        """Drop files into the page."""
        given = [[name, _letters(data)] for name, data in files.items()]
        return self.page.evaluate(_ADD_FILES, given)

    def add(self, *texts: dict[str, object]) -> dict[str, Any]:
        """Give texts to the index."""
        return self.page.evaluate("(texts) => index.add(texts)", list(texts))

    def remove(self, *sources: str) -> dict[str, Any]:
        """Take sources out."""
        return self.page.evaluate("(sources) => index.remove(sources)", list(sources))

    def export(self) -> bytes:
        """Give the index as one file."""
        return base64.b64decode(self.page.evaluate(_EXPORT))

    def search(self, question: str) -> list[tuple[object, ...]]:
        """Give source, start, end and id of the best hits."""
        return [tuple(hit) for hit in self.page.evaluate(_SEARCH, question)]


def _letters(data: bytes) -> str:
    return base64.b64encode(data).decode()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StaticSite]:
    folder = tmp_path_factory.mktemp("update")
    web_bundle.bundle(["src/index.ts", "src/worker/host.ts"], folder)
    web_bundle.write_page(folder)
    web_bundle.copy_wasm(folder)
    data = resources.files("gossamer.models").joinpath("data", MODEL).read_bytes()
    (folder / MODEL).write_bytes(data)
    with StaticSite(folder) as site:
        yield site


@pytest.fixture
def tab(context: BrowserContext, site: StaticSite) -> Tab:
    return new_tab(context, site)


def new_tab(context: BrowserContext, site: StaticSite) -> Tab:
    page = context.new_page()
    page.goto(site.url)
    page.evaluate(_START)
    return Tab(page)


def docs() -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(DOCS.glob("*.md"))}


def imported(file: bytes, folder: Path) -> Index:
    path = folder / "page.gossamer"
    path.write_bytes(file)
    return Index.import_file(path, folder / "imported")


def found(index: Index, question: str) -> list[tuple[object, ...]]:
    hits = index.search(question, k=5, recall=0.99).hits
    return [(hit.source, hit.start, hit.end, hit.id) for hit in hits]


@pytest.mark.parametrize("name", ["notes", None])
def test_what_a_page_indexes_answers_the_same_in_python(tab, tmp_path, name):
    tab.build(name)
    report = tab.add_files(docs())

    index = imported(tab.export(), tmp_path)

    assert (report["added"], report["failed"]) == (len(docs()), [])
    assert index.check() == []
    for question in QUESTIONS:
        assert tab.search(question) == found(index, question)


def test_a_page_and_python_make_the_same_chunks_and_codes(tab, tmp_path):
    texts = [{"id": name, "text": text.decode()} for name, text in docs().items()]
    tab.build(None)
    tab.add(*texts)
    theirs = imported(tab.export(), tmp_path).snapshot

    index = Index.create(tmp_path / "own", model="pocket", store_text=True)
    index.add_texts(texts)
    ours = index.snapshot

    assert theirs.catalogue.chunk_ids.tolist() == ours.catalogue.chunk_ids.tolist()
    ids = ours.catalogue.chunk_ids
    assert theirs.catalogue.checks(ids).tolist() == ours.catalogue.checks(ids).tolist()
    vectors = [one.vectors.codes_of(ids) for one in (theirs, ours)]
    assert (vectors[0] == vectors[1]).all()


def test_an_index_of_python_is_changed_in_a_page_and_comes_back(tab, tmp_path):
    folder = tmp_path / "guide"
    folder.mkdir()
    for name, data in docs().items():
        (folder / name).write_bytes(data)
    ours = Index.create(tmp_path / "own", model="pocket")
    ours.add_paths([folder])
    ours.export(tmp_path / "guide.gossamer")

    tab.open("guide", (tmp_path / "guide.gossamer").read_bytes())
    before = [tab.search(question) for question in QUESTIONS]
    report = tab.add({"id": "tea", "text": "Green tea is brewed with water that is not boiling."})
    removed = tab.remove("guide/format.md")
    index = imported(tab.export(), tmp_path)

    own = imported((tmp_path / "guide.gossamer").read_bytes(), tmp_path / "guide")
    assert before == [found(own, question) for question in QUESTIONS]
    assert (report["added"], removed["removed"]) == (1, 1)
    assert found(index, "how to brew tea")[0][0] == "tea"
    assert all(tab.search(question) == found(index, question) for question in QUESTIONS)
    assert "guide/format.md" not in index.snapshot.catalogue.paths


def test_a_change_is_there_after_the_page_is_opened_again(context, site):
    tab = new_tab(context, site)
    tab.build("notes")
    tab.add({"id": "cat", "text": "Our cat sleeps in the sun all day."})
    tab.page.close()

    again = new_tab(context, site)
    again.page.evaluate("async () => { window.index = await gossamer.open('notes'); }")

    assert again.search("a sleeping animal")[0][0] == "cat"


def test_another_tab_sees_what_was_added(context, site):
    tab, other = new_tab(context, site), new_tab(context, site)
    tab.build("notes")
    tab.add({"id": "cat", "text": "Our cat sleeps in the sun all day."})
    other.page.evaluate("async () => { window.index = await gossamer.open('notes'); }")

    tab.add({"id": "tea", "text": "Green tea is brewed with water that is not boiling."})

    assert other.search("a hot drink")[0][0] == "tea"
    other.add({"id": "rail", "text": "The night train to Vienna leaves at nine."})
    assert tab.search("railway")[0][0] == "rail"


def test_a_change_that_is_cancelled_leaves_the_index_as_it_was(tab):
    tab.build("notes")
    tab.add({"id": "cat", "text": "Our cat sleeps in the sun all day."})
    before = tab.export()

    reason = tab.page.evaluate(_ADD_MUCH, True)

    assert reason == "Cancelled"
    assert tab.export() == before
    assert tab.add({"id": "tea", "text": "Green tea."})["chunks"] == 2


def test_storage_that_is_full_leaves_the_index_as_it_was(tab, site):
    tab.build("notes")
    tab.add({"id": "cat", "text": "Our cat sleeps in the sun all day."})
    before = tab.export()
    session = devtools(tab.page)
    origin = {"origin": site.url.rstrip("/")}
    used = tab.page.evaluate("async () => (await gossamer.storage()).used")
    session.send("Storage.overrideQuotaForOrigin", {**origin, "quotaSize": used + 500_000})

    reason = tab.page.evaluate(_ADD_MUCH, False)
    session.send("Storage.overrideQuotaForOrigin", origin)

    assert reason == "Unwritable"
    assert tab.export() == before
    assert tab.search("a sleeping animal")[0][0] == "cat"
