"""The page where it searches by itself, as people use it: typed, dropped, clicked."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from browser import IS_FIREFOX, Heard, devtools, pick_folder
from playwright.sync_api import BrowserContext, Page, expect
from static_site import StaticSite
from web_page import DROP, FOUND, NOTES, POLICY, ROOT, add, ask, hold, open_panel

from gossamer import Index

pytest_plugins = ["web_page_fixtures"]

# What the page may load when files are dropped: modules, and parts of its worker.
_OWN_FILES = r"/gossamer[a-z-]*\.wasm|/worker-[a-z]+-[A-Z0-9]{8}\.js"


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
        expect(page.locator("#hits .strength").first).to_have_attribute(
            "title", re.compile(r"tokens \d\.\d\d")
        )
        expect(page.locator("#hits .location").first).to_have_text(re.compile(r"\.md:\d+$"))
        assert "q=how+are+vectors+compressed" in page.url
        assert heard.errors == []
        assert {address.split("/")[2] for address in heard.addresses} == {site.url.split("/")[2]}

    def test_what_an_input_method_writes_is_searched_when_it_is_written(
        self, site: StaticSite, open_page: Callable[..., Page]
    ) -> None:
        page = open_page(site.url)
        page.locator("#question").focus()
        keyboard = devtools(page)
        composing = {"text": "recal", "selectionStart": 5, "selectionEnd": 5}
        keyboard.send("Input.imeSetComposition", composing)
        keyboard.send("Input.insertText", {"text": "recall"})

        expect(page.locator("#summary")).to_have_text(FOUND)
        expect(page).to_have_title("recall – Gossamer")

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
        page.locator("input[value=hybrid]").focus()

        page.keyboard.press("/")
        expect(page.locator("#question")).to_be_focused()
        expect(page.locator("#question")).to_have_value("recall")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        second = page.locator("#hits .location").nth(1)
        expect(second).to_be_focused()
        page.keyboard.press("Enter")
        expect(second).to_have_attribute("aria-expanded", "true")
        page.keyboard.press("Escape")
        expect(second).to_have_attribute("aria-expanded", "false")
        expect(second).to_be_focused()
        page.keyboard.press("ArrowUp")
        expect(page.locator("#hits .location").nth(0)).to_be_focused()
        page.keyboard.press("Escape")
        expect(page.locator("#question")).to_be_focused()
        page.keyboard.press("Escape")

        expect(page.locator("#question")).to_have_value("")
        expect(page.locator("#hits .card")).to_have_count(0)
        expect(page.locator("#start")).to_be_visible()

    def test_filters_let_fewer_through_and_say_what_is_wrong_with_them(
        self, site: StaticSite, open_page: Callable[..., Page]
    ) -> None:
        page = open_page(f"{site.url}?q=vectors&path=vectors.md")
        expect(page.locator("#summary")).to_have_text(FOUND)
        paths = page.locator("#hits .file").all_text_contents()
        page.locator("input[name=where]").fill("size = 3")
        page.locator("input[name=where]").press("Enter")

        expect(page.locator("#problem")).to_contain_text("write == to compare")
        assert set(paths) == {"vectors.md"}

    def test_a_question_names_files_and_what_must_stand_in_them(
        self, site: StaticSite, open_page: Callable[..., Page]
    ) -> None:
        page = open_page(site.url)
        expect(page.locator("#start .hint")).to_contain_text('"exact phrase" +must -not')

        ask(page, 'recall +graph "the graph" path:vectors.md -type:pdf')

        assert set(page.locator("#hits .file").all_inner_texts()) == {"vectors.md"}
        expect(page.locator("#remarks .absence")).to_have_count(0)

    def test_what_no_file_contains_is_said_above_the_hits(
        self, site: StaticSite, open_page: Callable[..., Page]
    ) -> None:
        page = open_page(site.url)
        absence = page.locator("#remarks .absence")

        ask(page, "error E99731")
        expect(absence).to_have_text("No file contains “E99731”; nearest by meaning:")
        expect(page.locator("#said")).to_contain_text("No file contains “E99731”")
        page.get_by_text("Words", exact=True).click()
        expect(absence).to_have_text("No file contains “E99731”; nearest by other words:")
        page.locator("#question").fill("+zzzyqx +qxzzz vectors")
        expect(absence).to_contain_text("No file contains “zzzyqx” or “qxzzz”;")
        page.locator("#question").fill("E99731")
        expect(absence).to_have_text("No file contains “E99731”.")
        ask(page, "vectors")
        expect(absence).to_have_count(0)

    def test_filters_by_date_and_type_let_fewer_through(
        self, site: StaticSite, open_page: Callable[..., Page]
    ) -> None:
        page = open_page(f"{site.url}?q=vectors&type=md&before=2999-01-01")
        expect(page.locator("#summary")).to_have_text(FOUND)
        expect(page.locator("#filter-count")).to_have_text("(2)")

        page.get_by_label("Changed since").fill("2999-01-01")

        expect(page.locator("#summary")).to_contain_text("Nothing found. Filters are set")
        page.get_by_role("button", name="Clear filters").click()
        expect(page.locator("#summary")).to_have_text(FOUND)
        assert page.url.endswith("?q=vectors")

    def test_titles_of_what_is_indexed_can_be_asked_by_a_press(
        self, site: StaticSite, open_page: Callable[..., Page]
    ) -> None:
        page = open_page(site.url)
        example = page.locator("#examples button").first
        title = example.inner_text()
        example.click()

        expect(page.locator("#results:not([aria-busy]) #summary")).to_have_text(FOUND)
        expect(page.locator("#question")).to_have_value(title)
        expect(page.locator("#hits .title").filter(has_text=title).first).to_be_visible()

    def test_a_site_names_what_can_be_asked(
        self, public: Path, open_page: Callable[..., Page], tmp_path: Path
    ) -> None:
        shutil.copytree(public, tmp_path / "site")
        first = tmp_path / "site/index.html"
        name, text = '"gossamer-examples" content="', first.read_text("utf-8")
        assert name in text
        first.write_text(text.replace(name, f"{name}what is a code | why so small?"), "utf-8")
        with StaticSite(tmp_path / "site", POLICY) as site:
            page = open_page(site.url)
            examples = page.locator("#examples button")

            expect(examples).to_have_text(["what is a code", "why so small?"])

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
        expect(page.locator("#examples button").first).to_be_visible()
        site.reset_counters()
        heard.addresses.clear()

        page.evaluate(DROP, {"whales.md": NOTES["whales.md"], "bread.md": NOTES["bread.md"]})
        expect(page.locator("#report")).to_contain_text("2 files added")
        ask(page, "what do big sea animals feed on")

        expect(page.locator("#hits .file").first).to_have_text("whales.md")
        asked = {request.split()[1] for request in site.requests}
        assert all(request.startswith("GET ") for request in site.requests)
        assert asked - {"/pocket.model.gossamer", "/icon.svg"} == {
            name for name in asked if re.fullmatch(_OWN_FILES, name)
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
        other.evaluate(DROP, {"fire.txt": "Volcanoes erupt with lava.\n"})
        expect(other.locator("#report")).to_contain_text("1 file added")

        ask(page, "lava")

        expect(page.locator("#hits .file").first).to_have_text("fire.txt")
        expect(page.locator("#panel-line")).to_have_text("notes · 4 documents")
        expect(page.locator("#report")).to_contain_text("The index has changed")

    def test_what_another_tab_uses_is_not_deleted_and_stays_open(
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
        ask(other, "stars")

        open_panel(page)
        page.get_by_role("button", name="Delete notes").click()
        page.get_by_role("button", name="Delete", exact=True).click()

        expect(page.locator("#report")).to_contain_text("tab")
        expect(page.locator("#panel-line")).to_have_text("notes · 3 documents")
        ask(page, "krill")
        expect(page.locator("#hits .file").first).to_have_text("whales.md")

    def test_the_focus_stays_in_the_panel_when_what_had_it_goes(
        self, site: StaticSite, open_page: Callable[..., Page], notes: Path
    ) -> None:
        page = open_page(site.url)
        add(page, notes)
        page.goto(site.url)
        expect(page.locator("#panel-line")).to_contain_text("This site")
        open_panel(page)
        page.get_by_role("button", name="Delete notes").click()
        page.get_by_role("button", name="Delete", exact=True).click()

        expect(page.locator("#panel .names li")).to_have_count(1)
        expect(page.locator("#panel [data-close]")).to_be_focused()

    def test_folders_that_were_left_out_are_named_and_others_of_such_names_are_read(
        self, site: StaticSite, open_page: Callable[..., Page], tmp_path: Path
    ) -> None:
        for name in ("out/trip.md", "app/package.json", "app/dist/made.md", "app/.git/head.md"):
            path = tmp_path / "mine" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text('{"a": 1}' if name.endswith("json") else "# A walk\n", encoding="utf-8")
        page = open_page(site.url)
        expect(page.locator("#start")).to_be_visible()
        pick_folder(page, "#folder-input", tmp_path / "mine")

        report = page.locator("#report")
        expect(report).to_contain_text("2 files added")
        expect(report).to_contain_text("mine/app/dist/")
        expect(report).to_contain_text("mine/app/.git/")

    def test_a_loose_file_that_takes_the_place_of_another_is_named(
        self, site: StaticSite, open_page: Callable[..., Page]
    ) -> None:
        page = open_page(site.url)
        expect(page.locator("#start")).to_be_visible()
        page.evaluate(DROP, {"a.md": "One."})
        expect(page.locator("#panel-line")).to_have_text("a · 1 document")
        expect(page.locator("#job")).to_be_hidden()

        page.evaluate(DROP, {"a.md": "Quite another."})

        expect(page.locator("#report")).to_contain_text("same name")
        expect(page.locator("#report")).to_contain_text("replaced: a.md")


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

        assert wide <= 360
        assert page.evaluate("() => document.querySelector('#panel').scrollWidth") <= 360

    @pytest.mark.skipif(IS_FIREFOX, reason="its colors cannot be chosen from outside")
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

    @pytest.mark.skipif(IS_FIREFOX, reason="its colors cannot be chosen from outside")
    def test_colors_of_the_system_show_the_mode_and_the_state(
        self, site: StaticSite, open_page: Callable[..., Page]
    ) -> None:
        page = open_page(site.url, forced_colors="active")
        expect(page.locator("#panel-line")).to_contain_text("This site")
        color = "(one) => getComputedStyle(one).backgroundColor"
        modes = page.locator(".modes span")

        assert modes.nth(0).evaluate(color) != modes.nth(1).evaluate(color)
        assert page.locator(".dot").evaluate(color) == "rgb(0, 0, 0)"

    def test_everything_that_can_be_used_has_a_name(
        self, site: StaticSite, open_page: Callable[..., Page]
    ) -> None:
        page = open_page(f"{site.url}?q=recall")
        expect(page.locator("#summary")).to_have_text(FOUND)
        open_panel(page)

        nameless = page.evaluate("""() => {
          const controls = document.querySelectorAll("input, select, button, summary");
          const text = (one) => one.matches("button, summary") ? one.textContent.trim() : "";
          const labels = (one) => [...(one.labels ?? [])].map((label) => {
            const copy = label.cloneNode(true);
            for (const inner of copy.querySelectorAll("select")) inner.remove();
            return copy.textContent.trim();
          }).join("");
          const named = (one) => labels(one) || one.getAttribute("aria-label") || text(one);
          return [...controls].filter((one) => !named(one)).map((one) => one.outerHTML);
        }""")

        assert nameless == []


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
