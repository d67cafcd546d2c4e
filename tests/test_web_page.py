"""The page that searches within the browser, as people use it: built, served, clicked."""

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import web_bundle
from click.testing import CliRunner
from page_server import serve
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect
from search_site import MODEL, chromium
from static_site import StaticSite

from gossamer import Index
from gossamer.cli import cli
from gossamer.server import routes_web
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
# Notes what the page's own thread does with Wasm, and its long tasks.
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
_CLEAR = """async () => {
  const root = await navigator.storage.getDirectory();
  for await (const name of root.keys()) {
    await root.removeEntry(name, { recursive: true }).catch(() => undefined);
  }
}"""
_DROP = """(files) => {
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


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page as `make web` builds it."""
    if not web_bundle.has_bundler():
        pytest.skip(web_bundle.MISSING)
    folder = tmp_path_factory.mktemp("page")
    command = ["node", str(web_bundle.WEB / "build.mjs"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("docs") / "index"
    Index.create(folder, model=MODEL).add_paths([ROOT / "docs", ROOT / "README.md"])
    return folder


@pytest.fixture(scope="module")
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


class TestSearch:
    def test_what_is_typed_is_found_with_its_words_marked_and_its_place_named(
        self, site: StaticSite, open_page: Callable[..., Page], heard: Heard
    ) -> None:
        page = open_page(site.url)
        expect(page.locator("#panel-line")).to_contain_text("This site")

        page.locator("#question").press_sequentially("how are vectors compressed")

        expect(page.locator("#summary")).to_have_text(FOUND)
        expect(page.locator("#said")).to_have_text(FOUND)
        assert page.locator("#hits .card").count() == 10
        expect(page.locator("#hits mark").first).to_be_visible()
        expect(page.locator("#hits .location").first).to_have_text(re.compile(r"\.md:\d+$"))
        assert "q=how+are+vectors+compressed" in page.url
        assert heard.errors == []
        assert {address.split("/")[2] for address in heard.addresses} == {site.url.split("/")[2]}

    def test_hits_by_words_are_there_before_the_model_is(
        self, site: StaticSite, open_page: Callable[..., Page]
    ) -> None:
        page = open_page(site.url)
        release = hold(page, "**/*.model.gossamer")

        page.locator("#question").fill("delta protocol")
        expect(page.locator("#summary")).to_contain_text("by words, searching by meaning")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        expect(page.locator("#hits .chunk")).to_be_visible()
        chosen = page.evaluate("() => document.activeElement.title")
        top = page.evaluate("() => document.activeElement.getBoundingClientRect().top")
        release()

        expect(page.locator("#summary")).to_have_text(FOUND)
        assert page.evaluate("() => document.activeElement.title") == chosen
        expect(page.locator("#hits .chunk")).to_be_visible()
        moved = page.evaluate("() => document.activeElement.getBoundingClientRect().top") - top
        assert abs(moved) <= 1

    def test_keys_lead_to_the_hits_and_back(
        self, site: StaticSite, open_page: Callable[..., Page]
    ) -> None:
        page = open_page(f"{site.url}?q=recall")
        expect(page.locator("#summary")).to_have_text(FOUND)
        page.locator("#theme").focus()

        page.keyboard.press("/")
        expect(page.locator("#question")).to_be_focused()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        second = page.locator("#hits .location").nth(1)
        expect(second).to_be_focused()
        page.keyboard.press("Enter")
        expect(second).to_have_attribute("aria-expanded", "true")
        page.keyboard.press("Escape")
        expect(second).to_have_attribute("aria-expanded", "false")
        page.keyboard.press("Escape")
        expect(page.locator("#question")).to_be_focused()
        page.keyboard.press("Escape")

        expect(page.locator("#question")).to_have_value("")
        expect(page.locator("#start")).to_be_visible()

    def test_filters_let_fewer_through_and_say_what_is_wrong_with_them(
        self, site: StaticSite, open_page: Callable[..., Page]
    ) -> None:
        page = open_page(f"{site.url}?q=vectors&path=vectors.md")
        expect(page.locator("#summary")).to_have_text(FOUND)
        paths = page.locator("#hits .file").all_inner_texts()
        page.locator("input[name=where]").fill("size = 3")
        page.locator("input[name=where]").press("Enter")

        expect(page.locator("#problem")).to_contain_text("write == to compare")
        assert set(paths) == {"vectors.md"}

    def test_the_engine_never_runs_in_the_thread_of_the_page(
        self, site: StaticSite, open_page: Callable[..., Page]
    ) -> None:
        page = open_page(site.url)

        ask(page, "quantisation")

        assert page.evaluate("() => window.heavy") == []
        assert len(page.workers) == 1

    def test_the_panel_says_what_is_fetched_kept_and_how_long_it_took(
        self, site: StaticSite, open_page: Callable[..., Page]
    ) -> None:
        page = open_page(site.url)
        ask(page, "graph")
        ask(page, "codes")

        open_panel(page)
        page.locator("#budget").fill("3")
        expect(page.locator("#panel output")).to_have_text("8 MiB")

        panel = page.locator("#panel")
        expect(panel).to_contain_text("MB in")
        expect(panel).to_contain_text("Storage of this site")
        expect(panel.get_by_role("img", name=re.compile("p50 .* ms"))).to_be_visible()
        assert panel.locator(".plot .whole").count() == 2


class TestPrivate:
    def test_dropped_files_are_found_and_nothing_of_them_is_sent(
        self, site: StaticSite, open_page: Callable[..., Page], heard: Heard
    ) -> None:
        page = open_page(site.url)
        expect(page.locator("#start")).to_be_visible()
        site.reset_counters()
        heard.addresses.clear()

        page.evaluate(_DROP, {"whales.md": NOTES["whales.md"], "bread.md": NOTES["bread.md"]})
        expect(page.locator("#report")).to_contain_text("2 files added")
        ask(page, "what do big sea animals feed on")

        expect(page.locator("#hits .file").first).to_have_text("whales.md")
        asked = {request.split()[1] for request in site.requests}
        assert all(request.startswith("GET ") for request in site.requests)
        assert asked - {"/pocket.model.gossamer", "/icon.svg"} == {
            name for name in asked if re.fullmatch(r"/gossamer[a-z-]*\.wasm", name)
        }
        assert not any("whale" in address for address in heard.addresses)
        assert heard.errors == []

    def test_a_folder_says_what_was_left_out_and_is_there_after_a_reload(
        self, site: StaticSite, open_page: Callable[..., Page], notes: Path
    ) -> None:
        page = open_page(site.url)
        add(page, notes)
        page.locator("#report summary").click()
        expect(page.locator("#report")).to_contain_text("photo.png")

        page.reload()
        ask(page, "night sky")

        expect(page.locator("#panel-line")).to_contain_text("notes")
        expect(page.locator("#hits .location").first).to_contain_text("notes/deep/stars.txt:1")

    def test_what_is_exported_opens_in_python_and_what_is_deleted_is_gone(
        self, site: StaticSite, open_page: Callable[..., Page], notes: Path, tmp_path: Path
    ) -> None:
        page = open_page(site.url)
        add(page, notes)
        open_panel(page)
        with page.expect_download() as download:
            page.get_by_role("button", name="Export notes").click()
        download.value.save_as(tmp_path / "notes.gossamer")
        open_panel(page)
        page.get_by_role("button", name="Delete notes").click()
        page.get_by_role("button", name="Delete", exact=True).click()

        expect(page.locator("#panel-line")).to_contain_text("This site")
        expect(page.locator("#report")).to_contain_text("was deleted")
        assert "name=" not in page.url
        imported = Index.import_file(tmp_path / "notes.gossamer", tmp_path / "imported")
        (hit,) = imported.search("krill", 1)
        assert hit.source.endswith("whales.md")

    def test_an_index_file_that_is_picked_is_read_and_can_be_kept(
        self, site: StaticSite, open_page: Callable[..., Page], index: Path, tmp_path: Path
    ) -> None:
        Index.open(index).export(tmp_path / "picked.gossamer")
        page = open_page(site.url)
        expect(page.locator("#start")).to_be_visible()

        page.set_input_files("#index-input", tmp_path / "picked.gossamer")
        expect(page.locator("#panel-line")).to_contain_text("picked.gossamer")
        ask(page, "recall")
        page.locator("#question").fill("")
        page.get_by_role("button", name="Keep it in this browser").click()

        expect(page.locator("#panel-line")).to_contain_text(re.compile("^picked ·"))
        assert "name=picked" in page.url

    def test_a_change_in_one_tab_is_found_in_the_other(
        self,
        site: StaticSite,
        new_context: Callable[..., BrowserContext],
        open_page: Callable[..., Page],
        notes: Path,
    ) -> None:
        context = new_context()
        page = open_page(site.url, context)
        add(page, notes)
        other = open_page(page.url, context)
        expect(other.locator("#panel-line")).to_contain_text("notes")
        other.evaluate(_DROP, {"fire.txt": "Volcanoes erupt with lava.\n"})
        expect(other.locator("#report")).to_contain_text("1 file added")

        ask(page, "lava")

        expect(page.locator("#hits .file").first).to_have_text("fire.txt")


class TestTrouble:
    def test_a_network_that_is_cut_is_said_to_be_and_mends(
        self, site: StaticSite, open_page: Callable[..., Page]
    ) -> None:
        site.behave(status=503, only="index.gossamer")
        page = open_page(site.url)
        expect(page.locator("#problem")).to_contain_text("No connection")
        site.behave()

        page.get_by_role("button", name="Try again").click()

        expect(page.locator("#panel-line")).to_contain_text("This site")
        expect(page.locator("#problem")).to_be_empty()
        ask(page, "recall")

    def test_without_the_model_words_are_found_and_meaning_once_it_is_back(
        self, site: StaticSite, open_page: Callable[..., Page]
    ) -> None:
        site.behave(status=503, only=".model.gossamer")
        page = open_page(site.url)
        page.locator("#question").fill("recall")
        expect(page.locator("#summary")).to_have_text("Found by words only.")
        assert page.locator("#hits .card").count() > 0
        site.behave()

        page.evaluate("() => dispatchEvent(new Event('online'))")

        expect(page.locator("#summary")).to_have_text(FOUND)
        expect(page.locator("#problem")).to_be_empty()

    def test_cleared_storage_of_a_private_index_is_said_and_the_page_goes_on(
        self, site: StaticSite, open_page: Callable[..., Page], notes: Path
    ) -> None:
        page = open_page(site.url)
        add(page, notes)
        page.goto(f"{site.url}icon.svg")
        page.evaluate(_CLEAR)
        page.goto(f"{site.url}?name=notes")
        expect(page.locator("#problem")).to_contain_text("There is no index here")

        page.get_by_role("button", name="Search this site instead").click()

        ask(page, "recall")
        expect(page.locator("#panel-line")).to_contain_text("This site")

    def test_cleared_storage_of_this_site_is_fetched_again(
        self, site: StaticSite, open_page: Callable[..., Page]
    ) -> None:
        page = open_page(site.url)
        ask(page, "recall")
        page.evaluate(_CLEAR)

        ask(page, "edges that follow a server")

        assert page.locator("#hits .card").count() == 10

    def test_a_damaged_file_is_said_to_be_one_and_the_index_before_it_stays(
        self, site: StaticSite, open_page: Callable[..., Page], public: Path, tmp_path: Path
    ) -> None:
        data = bytearray((public / "index.gossamer").read_bytes())
        for at in range(600, len(data), 400):
            data[at] ^= 0x55
        (tmp_path / "bad.gossamer").write_bytes(data)
        (tmp_path / "text.gossamer").write_text("no index", encoding="utf-8")
        page = open_page(site.url)
        expect(page.locator("#start")).to_be_visible()

        page.set_input_files("#index-input", tmp_path / "bad.gossamer")
        expect(page.locator("#problem")).to_contain_text("The index is damaged")
        page.set_input_files("#index-input", tmp_path / "text.gossamer")
        expect(page.locator("#problem")).to_contain_text("This is not an index file")

        ask(page, "recall")

    def test_a_site_without_an_index_explains_itself(
        self, built: Path, open_page: Callable[..., Page], notes: Path, tmp_path: Path
    ) -> None:
        shutil.copytree(built, tmp_path / "bare")
        with StaticSite(tmp_path / "bare", POLICY) as bare:
            page = open_page(bare.url)
            expect(page.locator("#start")).to_contain_text("Nothing is sent anywhere")
            expect(page.locator("#problem")).to_be_empty()
            add(page, notes)

            page.goto(bare.url)
            ask(page, "krill")

    def test_a_full_storage_is_said_and_what_was_there_stays(
        self, site: StaticSite, open_page: Callable[..., Page], notes: Path
    ) -> None:
        page = open_page(site.url)
        add(page, notes)
        quota = {"origin": site.url.rstrip("/"), "quotaSize": 1000}
        page.context.new_cdp_session(page).send("Storage.overrideQuotaForOrigin", quota)

        page.evaluate(_DROP, {"large.md": "# Large\n\nlarge words\n" * 20_000})
        expect(page.locator("#report")).to_contain_text("full")

        ask(page, "krill")
        expect(page.locator("#hits .file").first).to_have_text("whales.md")

    def test_indexing_that_is_cancelled_leaves_nothing(
        self, site: StaticSite, open_page: Callable[..., Page]
    ) -> None:
        page = open_page(site.url)
        expect(page.locator("#start")).to_be_visible()
        page.route("**/*.model.gossamer", lambda _: None)  # it never comes
        page.evaluate(_DROP, {"a.md": "One.", "b.md": "Two."})

        page.get_by_role("button", name="Cancel").click()

        expect(page.locator("#report")).to_contain_text("nothing was changed")
        open_panel(page)
        expect(page.locator("#panel .names li")).to_have_count(1)


class TestLook:
    @pytest.mark.parametrize("question", ["", "how are vectors compressed"])
    def test_a_phone_shows_it_without_scrolling_sideways(
        self, site: StaticSite, open_page: Callable[..., Page], question: str
    ) -> None:
        page = open_page(site.url, viewport={"width": 360, "height": 740})
        if question:
            ask(page, question)
        else:
            expect(page.locator("#start")).to_be_visible()
        page.locator("#filters summary").click()
        wide = page.evaluate("() => document.documentElement.scrollWidth")
        open_panel(page)

        assert wide == 360
        assert page.evaluate("() => document.querySelector('#panel').scrollWidth") <= 360

    def test_dark_and_light_follow_the_system_until_the_button_is_pressed(
        self, site: StaticSite, open_page: Callable[..., Page]
    ) -> None:
        page = open_page(site.url, color_scheme="dark")
        color = "() => getComputedStyle(document.body).backgroundColor"
        dark = page.evaluate(color)
        page.locator("#theme").click()
        light = page.evaluate(color)
        page.reload()

        assert dark == "rgb(20, 23, 26)"
        assert light == "rgb(247, 247, 245)"
        assert page.evaluate(color) == light

    def test_everything_that_can_be_used_has_a_name(
        self, site: StaticSite, open_page: Callable[..., Page]
    ) -> None:
        page = open_page(f"{site.url}?q=recall")
        expect(page.locator("#summary")).to_have_text(FOUND)
        open_panel(page)

        nameless = page.evaluate("""() => {
          const controls = document.querySelectorAll("input, select, button, summary");
          const named = (one) => one.labels?.length || one.getAttribute("aria-label") ||
            one.textContent.trim();
          return [...controls].filter((one) => !named(one)).map((one) => one.outerHTML);
        }""")

        assert nameless == []


class TestServed:
    def test_a_server_gives_the_page_its_index_and_asks_for_its_token(
        self,
        built: Path,
        index: Path,
        open_page: Callable[..., Page],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(routes_web, "page_folder", lambda: built)
        with serve(index.parent, token="a-token-of-enough-letters") as served:
            page = open_page(f"{served.url}/web/")
            expect(page.locator("#token")).to_be_visible()
            page.locator("#token-value").fill("a-token-of-enough-letters")
            page.locator("#token-value").press("Enter")

            ask(page, "how are vectors compressed")

            expect(page.locator("#panel-line")).to_contain_text("This site")
            assert page.locator("#hits .card").count() == 10
            page.evaluate(_DROP, {"whales.md": NOTES["whales.md"]})
            expect(page.locator("#report")).to_contain_text("1 file added")
            ask(page, "krill")
            expect(page.locator("#hits .file").first).to_have_text("whales.md")


def test_the_example_is_a_whole_page(
    built: Path, public: Path, open_page: Callable[..., Page], heard: Heard, tmp_path: Path
) -> None:
    shutil.copytree(built, tmp_path / "site")
    shutil.copyfile(public / "index.gossamer", tmp_path / "site/index.gossamer")
    shutil.copyfile(ROOT / "examples/page.html", tmp_path / "site/page.html")
    with StaticSite(tmp_path / "site") as site:
        page = open_page(f"{site.url}page.html")

        page.get_by_role("searchbox").fill("recall")

        expect(page.locator("li").first).to_contain_text(".md:")
        assert heard.errors == []
