"""Searching inside a page, in a real browser: storage, networks that fail, several tabs."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page
from search_site import MODEL, POLICY, PageError, call, export_index, start, write_package
from static_site import StaticSite

from gossamer import Index
from gossamer.single.importing import import_single_file

DOCS = Path(__file__).resolve().parent.parent / "docs"
TEXTS = [
    {"id": f"note {n}", "text": f"Note {n} tells of {what}.", "metadata": {"number": n}}
    for n, what in enumerate(
        ["whales in the deep sea", "a recipe for bread", "the engine of a train", "stars at night"]
        * 10
    )
]

_SEARCH = """async (gossamer, target, question, options, open) => {
  window.index ??= await gossamer.open(target, open ?? {});
  return window.index.search(question, options ?? {});
}"""
_STATUS = "() => window.index.status()"


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("query")
    index = Index.create(folder / "index", model=MODEL)
    index.add_texts(TEXTS)
    public = folder / "public"
    public.mkdir()
    write_package(public)
    export_index(index, public / "notes.gossamer")
    return public


@pytest.fixture(scope="module")
def versions(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, bytes]:
    """Two versions of an index that is too large to come with the first request."""
    folder = tmp_path_factory.mktemp("versions")
    index = Index.create(folder / "index", model=MODEL)
    index.add_paths([DOCS])
    export_index(index, folder / "older.gossamer")
    index.add_texts([{"id": "new", "text": "A new note about volcanoes."}])
    export_index(index, folder / "newer.gossamer")
    older, newer = ((folder / f"{name}.gossamer").read_bytes() for name in ("older", "newer"))
    return older, newer


@pytest.fixture
def site(public: Path) -> Iterator[StaticSite]:
    with StaticSite(public, POLICY) as site:
        yield site


@pytest.fixture
def page(context: BrowserContext, site: StaticSite) -> Page:
    page = context.new_page()
    start(page, site.url)
    return page


def search(page: Page, question: str, **options: object) -> list[str]:
    results = call(page, _SEARCH, "./notes.gossamer", question, options)
    return [hit["text"] for hit in results["hits"]]


def test_a_second_search_fetches_nothing_and_a_reopened_index_hardly_anything(
    page: Page, site: StaticSite
) -> None:
    first = call(page, _SEARCH, "./notes.gossamer", "whales")
    site.reset_counters()
    second = call(page, _SEARCH, "./notes.gossamer", "whales")
    assert first["explanation"]["bytesFetched"] > 0
    assert second["explanation"]["bytesFetched"] == 0
    assert site.requests == []
    call(page, "() => window.index.close()")

    start(page, site.url)
    site.reset_counters()
    again = call(page, _SEARCH, "./notes.gossamer", "whales")

    fetched = [request for request in site.requests if ".gossamer" in request]
    assert len(fetched) == 1, "two bytes tell whether the file is the same"
    assert [hit["id"] for hit in again["hits"]] == [hit["id"] for hit in first["hits"]]
    assert call(page, _STATUS)["bytesFetched"] < 100


def test_what_was_fetched_opens_by_its_name_without_the_network(
    page: Page, site: StaticSite
) -> None:
    (expected,) = search(page, "bread recipe", k=1)
    call(page, "() => window.index.close()")
    (name,) = call(page, "(gossamer) => gossamer.names()")
    start(page, site.url)
    site.behave(status=503, only=".gossamer")

    results = call(page, _SEARCH, name, "bread recipe", {"k": 1})

    assert [hit["text"] for hit in results["hits"]] == [expected]


def test_a_network_that_is_cut_is_said_to_be_and_mends(page: Page, site: StaticSite) -> None:
    call(page, "async (gossamer) => { window.index = await gossamer.open('./notes.gossamer'); }")
    site.behave(status=500, only=".gossamer")
    with pytest.raises(PageError) as caught:
        search(page, "whales in the sea")
    site.behave()

    (best,) = search(page, "whales in the sea", k=1)

    assert caught.value.reason == "Unreachable"
    assert "whales" in best


def test_an_answer_that_is_cut_off_half_way_is_asked_for_again(
    page: Page, site: StaticSite
) -> None:
    site.behave(cut_after=700, times=1, only="notes.gossamer")

    (best,) = search(page, "a train's engine", k=1)

    assert "engine" in best


def test_a_host_without_ranges_gives_the_whole_file_once(page: Page, site: StaticSite) -> None:
    site.behave(ranges=False)

    (best,) = search(page, "stars", k=1)

    assert "stars" in best


def test_an_abort_in_the_page_cancels_the_search(page: Page) -> None:
    code = """async (gossamer) => {
      const index = await gossamer.open("./notes.gossamer");
      const abort = new AbortController();
      const search = index.search("whales", { signal: abort.signal });
      abort.abort();
      await search;
    }"""

    with pytest.raises(PageError) as caught:
        call(page, code)

    assert caught.value.reason == "Cancelled"


@pytest.mark.parametrize(
    ("code", "reason", "part"),
    [
        ("(g) => g.open('no such name')", "NoIndex", "no such name"),
        ("(g) => g.open('./missing.gossamer')", "NoIndex", "missing.gossamer"),
        ("(g) => g.open('')", "InvalidArgument", "a name"),
        ("(g) => g.open('./worker.js')", "NotGossamer", "not a Gossamer"),
        (
            "async (g) => (await g.open('./notes.gossamer')).search('x', { k: -1 })",
            "InvalidArgument",
            "k must be at least 1",
        ),
        (
            "async (g) => (await g.open('./notes.gossamer')).search('x', { filter: 'a = 1' })",
            "InvalidArgument",
            "write ==",
        ),
        (
            "async (g) => (await g.open('./notes.gossamer', { vectors: 'stored' })).search('x')",
            "InvalidArgument",
            "keeps none",
        ),
        (
            "async (g) => (await g.open('./notes.gossamer', { model: './no.model' })).search('x')",
            "NoIndex",
            "no.model",
        ),
        (
            "async (g) => (await g.open('./notes.gossamer')).add([{ id: 'a', text: 'b' }])",
            "WrongState",
            "cannot be changed",
        ),
        ("(g) => g.build('x', [{ id: 'a' }], { model: './notes.gossamer' })", "", ""),
    ],
)
def test_what_cannot_be_done_is_said_with_a_reason(
    page: Page, code: str, reason: str, part: str
) -> None:
    with pytest.raises(PageError) as caught:
        call(page, code)

    assert reason in caught.value.reason
    assert part in caught.value.message
    assert len(caught.value.message) > 20


def test_a_model_that_is_not_beside_the_index_is_named(page: Page, public: Path) -> None:
    folder = public / "alone"
    folder.mkdir()
    (folder / "notes.gossamer").write_bytes((public / "notes.gossamer").read_bytes())
    code = "async (g, mode) => (await g.open('./alone/notes.gossamer')).search('whales', { mode })"

    with pytest.raises(PageError) as caught:
        call(page, code, "semantic")
    assert caught.value.reason == "MissingModel"
    assert "pocket.model.gossamer" in caught.value.message

    found = call(page, code, "hybrid")
    assert "whales" in found["hits"][0]["text"].lower()
    assert any("by words only" in note and "pocket.model" in note for note in found["notes"])

    # Some hosts answer with their first page where they have nothing.
    (folder / "pocket.model.gossamer").write_text("<!doctype html>", encoding="utf-8")
    assert call(page, code, "hybrid")["explanation"]["mode"] == "lexical"


def test_a_damaged_file_gives_an_error_and_no_wrong_hits(page: Page, public: Path) -> None:
    damaged = bytearray((public / "notes.gossamer").read_bytes())
    for at in range(2000, len(damaged), 500):
        damaged[at] ^= 0x5A
    (public / "damaged.gossamer").write_bytes(damaged)
    code = "async (g) => (await g.open('./damaged.gossamer')).search('whales')"

    with pytest.raises(PageError) as caught:
        call(page, code)

    assert caught.value.reason == "Damaged"


def test_a_file_that_was_replaced_on_the_server_is_read_anew(
    page: Page, public: Path, versions: tuple[bytes, bytes]
) -> None:
    older, newer = versions
    target = public / "changing.gossamer"
    target.write_bytes(older)
    call(page, _SEARCH, "./changing.gossamer", "recall", {"mode": "lexical"})
    target.write_bytes(newer)

    results = call(page, _SEARCH, "", "volcanoes", {"k": 1})

    assert results["hits"][0]["source"] == "new"


def test_cleared_storage_of_a_remote_index_is_fetched_again(page: Page) -> None:
    before = search(page, "bread", k=3)
    call(
        page,
        """async () => {
          const root = await navigator.storage.getDirectory();
          for await (const name of root.keys()) {
            await root.removeEntry(name, { recursive: true }).catch(() => undefined);
          }
        }""",
    )

    assert search(page, "bread", k=3) == before


def test_a_worker_that_is_not_there_is_no_silence(
    context: BrowserContext, site: StaticSite
) -> None:
    page = context.new_page()
    start(page, site.url, {"worker": "./nowhere.js"})

    with pytest.raises(PageError) as caught:
        call(page, "(gossamer) => gossamer.names()")

    assert caught.value.reason == "Unreachable"
    assert "nowhere.js" in caught.value.message


def test_a_worker_that_dies_ends_what_waits(context: BrowserContext, site: StaticSite) -> None:
    page = context.new_page()
    page.goto(site.url)
    code = """async () => {
      const { start } = await import(new URL("gossamer.js", document.baseURI).href);
      const worker = new Worker("./worker.js", { type: "module" });
      const gossamer = start({ worker });
      await gossamer.names();
      const open = gossamer.open("./notes.gossamer");
      worker.terminate();
      await open;
    }"""

    with pytest.raises(PageError) as caught:
        call(page, code)

    assert caught.value.reason == "WrongState"


def test_texts_are_indexed_searched_changed_and_exported_in_the_page(
    page: Page, tmp_path: Path
) -> None:
    code = """async (gossamer, texts) => {
      const index = await gossamer.build("private", texts);
      const first = await index.search("whales in the sea", { k: 1 });
      await index.add([{ id: "new", text: "Volcanoes erupt.", title: "Fire" }]);
      await index.remove(["note 0"]);
      const second = await index.search("volcanoes", { k: 1, filter: 'source == "new"' });
      const blob = await index.export();
      const opened = await gossamer.open(blob);
      const third = await opened.search("volcanoes", { k: 1 });
      const bytes = Array.from(new Uint8Array(await blob.arrayBuffer()));
      const names = await gossamer.names();
      return { first, second, third, bytes, names, chunks: (await index.status()).chunks };
    }"""

    found = call(page, code, TEXTS)

    assert "whales" in found["first"]["hits"][0]["text"]
    assert found["second"]["hits"][0]["source"] == "new"
    assert found["third"]["hits"][0]["source"] == "new"
    assert found["names"] == ["private"]
    assert found["chunks"] == len(TEXTS)
    file = tmp_path / "exported.gossamer"
    file.write_bytes(bytes(found["bytes"]))
    import_single_file(file, tmp_path / "folder")
    (hit,) = Index.open(tmp_path / "folder").search("volcanoes", 1)
    assert hit.source == "new"


def test_a_change_of_one_tab_is_found_in_the_other(
    context: BrowserContext, page: Page, site: StaticSite
) -> None:
    call(page, "async (g, texts) => { window.index = await g.build('shared', texts); }", TEXTS)
    other = context.new_page()
    start(other, site.url)
    call(
        other,
        """async (gossamer) => {
          const index = await gossamer.open("shared");
          await index.add([{ id: "new", text: "Volcanoes erupt." }]);
        }""",
    )

    results = call(page, _SEARCH, "", "volcanoes", {"k": 1})

    assert results["hits"][0]["source"] == "new"


def test_searches_are_answered_while_another_worker_commits(page: Page) -> None:
    found = call(
        page,
        """async (gossamer, texts) => {
          const { start } = await import(new URL("gossamer.js", document.baseURI).href);
          const other = start();
          const written = await other.build("busy", texts);
          const read = await gossamer.open("busy");
          let isOver = false;
          const outcomes = [];
          const note = ({ hits, message }) => outcomes.push(message ?? hits.length);
          const search = async (i) => {
            while (!isOver) await read.search(`whales and bread ${i}`, { k: 3 }).then(note, note);
          };
          const searches = [1, 2, 3].map(search);
          for (let n = 0; n < 12; n++) {
            await written.add([{ id: `later ${n}`, text: `Later note ${n} about whales.` }]);
          }
          isOver = true;
          await Promise.all(searches);
          return { failures: outcomes.filter((one) => one !== 3), count: outcomes.length };
        }""",
        TEXTS,
    )
    assert found["failures"] == []
    assert found["count"] >= 3


def test_two_tabs_search_one_remote_index_side_by_side(
    context: BrowserContext, page: Page, public: Path, versions: tuple[bytes, bytes]
) -> None:
    (public / "both.gossamer").write_bytes(versions[1])
    other = context.new_page()
    start(other, page.url)

    for question in ("volcanoes", "recall of a search", "volcanoes"):
        texts = [
            [hit["text"] for hit in call(tab, _SEARCH, "./both.gossamer", question)["hits"]]
            for tab in (page, other)
        ]
        assert texts[0] == texts[1]


def test_a_private_index_whose_storage_was_cleared_says_what_can_be_done(page: Page) -> None:
    call(page, "async (g, texts) => { await (await g.build('lost', texts)).close(); }", TEXTS[:3])
    call(page, "(gossamer) => gossamer.remove('lost')")

    with pytest.raises(PageError) as caught:
        call(page, "(gossamer) => gossamer.open('lost')")

    assert caught.value.reason == "NoIndex"
    assert "build it" in caught.value.message
