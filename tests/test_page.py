"""The page where a server answers it, in a real browser against a real server."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from browser import Heard, pick_folder
from page_server import CONTRAST, HOSTILE, Served, make_index, serve
from playwright.sync_api import Browser, Page, Route, expect
from tiny_embedder import use_tiny
from web_page import DROP

from gossamer.index import Index
from gossamer.server import routes_web

pytest_plugins = ["web_page_fixtures"]

TOKEN = "a-token-of-enough-letters"


@pytest.fixture(scope="module", autouse=True)
def tiny(built: Path) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        use_tiny(patch, with_codes=True)
        patch.setattr(routes_web, "page_folder", lambda: built)
        yield


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("page")
    make_index(folder)
    with serve(folder) as served:
        yield served


@pytest.fixture
def open_page(browser: Browser, heard: Heard) -> Iterator[Callable[..., Page]]:
    """Open pages that note what goes wrong in them and whom they ask."""
    with ExitStack() as stack:

        def open_page(address: str, **options: object) -> Page:
            context = stack.enter_context(browser.new_context(**options))
            context.set_default_timeout(10_000)
            page = context.new_page()
            heard.listen(page)
            page.goto(address)
            return page

        yield open_page


def test_a_search_shows_hits_with_the_place_where_each_stands(served, open_page, heard):
    page = open_page(served.url)
    page.get_by_role("searchbox", name="Search, in your own words").fill("krill baleen")
    page.keyboard.press("Enter")

    first = page.locator(".card").first
    expect(first.locator("button.location")).to_have_text("notes/whales.md:81")
    expect(first.locator("button.location")).to_have_attribute(
        "title", f"{served.folder / 'notes/whales.md'}:81"
    )
    expect(first.locator(".title")).to_have_text("Whales")
    expect(first.locator("mark")).to_have_text(["krill", "baleen"])
    expect(first.locator(".ranks .strength")).to_have_attribute("title", re.compile("words #1"))
    expect(page.get_by_role("status")).to_contain_text(re.compile(r"\d+ hits"))
    assert heard.errors == []
    assert all(address.startswith(served.url) for address in heard.addresses)


def test_the_page_forbids_scripts_from_elsewhere_and_within(served, open_page):
    page = open_page(served.url)
    answer = page.request.get(served.url)

    policy = answer.headers["content-security-policy"]
    assert "default-src" in policy
    assert "unsafe" not in policy
    assert "http" not in policy


def test_a_pause_in_typing_searches(served, open_page):
    page = open_page(served.url)
    expect(page.locator("#question")).to_be_focused()
    page.keyboard.type("python whale_length")

    expect(page.locator("button.location").first).to_have_text("notes/whale.py:1")
    expect(page).to_have_url(f"{served.url}/?q=python+whale_length")
    expect(page).to_have_title("python whale_length – Gossamer")


def test_a_hit_opens_in_its_context_and_more_of_it_can_be_had(served, open_page, heard):
    page = open_page(f"{served.url}/?q=krill+baleen&mode=lexical")
    card = page.locator(".card").first
    expect(card.locator("button.location")).to_have_text("notes/whales.md:81")
    card.locator(".snippet").click()

    expect(card.locator("button.location")).to_have_attribute("aria-expanded", "true")
    expect(card.locator(".chunk")).to_contain_text("eat krill, which their baleen holds")
    expect(card.locator(".chunk mark")).to_have_text(["krill", "baleen"])
    before = card.locator(".around").first
    expect(before).not_to_contain_text("Paragraph 1 of the")
    card.get_by_role("button", name="More context").click()
    expect(before).to_contain_text("Paragraph 1 of the")
    expect(card).to_contain_text("This is the whole text.")
    expect(card.locator(".around").last).to_contain_text("Paragraph 80 of the")
    assert heard.errors == []


def test_text_that_looks_like_markup_stays_text_and_runs_nothing(served, open_page, heard):
    page = open_page(f"{served.url}/?q=hostile+onerror")
    card = page.locator(".card").filter(has_text="hostile.md").first
    expect(card.locator(".snippet code")).to_have_text(HOSTILE)
    expect(card.locator(".title")).to_contain_text("<b>Hostile</b>")
    card.locator("button.location").click()
    expect(card.locator(".chunk")).to_contain_text(HOSTILE)

    assert page.evaluate("window.hacked") is None
    assert page.locator("#hits :is(img, script, b)").count() == 0
    assert not any("hostile.png" in address for address in heard.addresses)
    assert heard.errors == []


def test_marks_stand_right_behind_characters_outside_the_first_plane(served, open_page):
    page = open_page(f"{served.url}/?q=plankton&mode=lexical")

    expect(page.locator(".card mark").first).to_have_text("plankton")


def test_back_leads_to_a_link_that_was_followed(served, open_page):
    page = open_page(f"{served.url}/?q=krill&mode=lexical")
    expect(page.locator(".card mark").first).to_have_text("krill")
    page.fill("#question", "plankton")
    expect(page).to_have_url(f"{served.url}/?q=plankton&mode=lexical")

    page.go_back()

    expect(page.locator("#question")).to_have_value("krill")
    expect(page.locator(".card mark").first).to_have_text("krill")


def test_back_and_forward_and_reload_keep_the_query(served, open_page):
    page = open_page(served.url)
    page.fill("#question", "krill")
    page.keyboard.press("Enter")
    expect(page.locator(".card mark").first).to_have_text("krill")
    page.fill("#question", "plankton")
    page.get_by_text("Words", exact=True).click()
    expect(page).to_have_url(f"{served.url}/?q=plankton&mode=lexical")
    expect(page.locator(".card mark").first).to_have_text("plankton")

    page.go_back()
    expect(page.locator("#question")).to_have_value("krill")
    expect(page.get_by_role("radio", name="Hybrid")).to_be_checked()
    expect(page.locator(".card mark").first).to_have_text("krill")
    page.go_forward()
    expect(page.locator("#question")).to_have_value("plankton")
    page.reload()
    expect(page.get_by_role("radio", name="Words")).to_be_checked()
    expect(page.locator(".card mark").first).to_have_text("plankton")


def test_filters_narrow_what_is_found_and_stay_in_the_address(served, open_page):
    page = open_page(f"{served.url}/?q=whale")
    page.get_by_text("Filters", exact=True).click()
    page.get_by_label("Type").fill("python")
    page.keyboard.press("Enter")

    expect(page.locator("button.location")).to_have_text(["notes/whale.py:1"])
    expect(page).to_have_url(f"{served.url}/?q=whale&type=python")
    page.get_by_label("Path").fill("*.nothing")
    page.keyboard.press("Enter")
    expect(page.locator("#summary")).to_contain_text("Nothing found. Filters are set")
    page.get_by_role("button", name="Clear filters").click()
    expect(page).to_have_url(f"{served.url}/?q=whale")
    expect(page.locator(".card").nth(1)).to_be_visible()


def test_paths_are_what_they_hold_and_dates_are_those_of_the_files(served, open_page):
    page = open_page(f"{served.url}/?q=whale&path=whale&k=50")
    expect(page.locator("#filter-count")).to_have_text("(1)")
    expect(page.locator("#hits .file").first).to_be_visible()
    assert set(page.locator("#hits .file").all_inner_texts()) == {"whales.md", "whale.py"}

    page.get_by_label("Changed since").fill("2999-01-01")
    expect(page.locator("#summary")).to_contain_text("Nothing found.")
    page.get_by_label("Changed since").fill("")
    page.get_by_label("Changed before").fill("2999-01-01")
    expect(page.locator("#hits .file").first).to_be_visible()
    assert "before=2999-01-01" in page.url


def test_the_kinds_that_there_are_are_offered(served, open_page):
    page = open_page(served.url)

    expect(page.locator("#kinds option")).to_have_count(2)
    kinds = page.locator("#kinds option").evaluate_all("all => all.map((one) => one.value)")
    assert set(kinds) == {"markdown", "python"}


def test_neither_the_engine_nor_its_worker_is_loaded(served, open_page, heard):
    page = open_page(f"{served.url}/?q=whale")
    page.locator("button.location").first.click()
    expect(page.locator(".chunk")).to_be_visible()
    page.locator("#panel-button").click()
    expect(page.locator(".figures")).to_be_visible()

    loaded = {address.split("?")[0].rsplit("/", 1)[1] for address in heard.addresses}
    assert "page.js" in loaded
    assert not {name for name in loaded if name.endswith((".wasm", ".gossamer"))}
    assert not {name for name in loaded if name.startswith(("gossamer", "worker"))}
    assert page.workers == []


def test_titles_of_what_is_indexed_can_be_asked_by_a_press(served, open_page, heard):
    page = open_page(served.url)
    examples = page.locator("#examples button")
    expect(examples.filter(has_text="Whales")).to_be_visible()
    expect(examples.filter(has_text="<b>Hostile</b> whale")).to_be_visible()
    examples.filter(has_text="Whales").click()

    expect(page.locator("#question")).to_have_value("Whales")
    expect(page.locator(".card").first).to_be_visible()
    expect(page.locator("#start")).to_be_hidden()
    assert heard.errors == []


class TestFiles:
    def test_files_that_are_dropped_are_sent_and_found(self, open_page, tmp_path):
        make_index(tmp_path)
        with serve(tmp_path) as served:
            page = open_page(served.url)
            expect(page.locator("#zone")).to_contain_text("they are sent to this server")
            page.evaluate(DROP, {"otter.md": "# Otters\n\nOtters sleep in kelp.", "a.png": "\0"})
            expect(page.locator("#report")).to_contain_text("1 file added in “index”")
            page.locator("#report summary").click()
            expect(page.locator("#report")).to_contain_text("a.png")
            page.fill("#question", "kelp")
            page.keyboard.press("Enter")

            expect(page.locator("button.location").first).to_have_text("uploads/otter.md:3")
            expect(page.locator("#panel-line")).to_contain_text("6 documents")

    def test_a_folder_is_sent_with_its_paths(self, open_page, tmp_path):
        make_index(tmp_path)
        (tmp_path / "more/deep").mkdir(parents=True)
        (tmp_path / "more/deep/kelp & co.md").write_text("Kelp is no plant.", encoding="utf-8")
        with serve(tmp_path) as served:
            page = open_page(served.url)
            expect(page.locator("#zone")).to_be_visible()
            pick_folder(page, "#folder-input", tmp_path / "more")

            expect(page.locator("#report")).to_contain_text("1 file added")
            assert (tmp_path / "index/uploads/more/deep/kelp & co.md").is_file()

    def test_sending_that_is_cancelled_says_what_was_sent(self, open_page, tmp_path):
        make_index(tmp_path)
        with serve(tmp_path) as served:
            page = open_page(served.url)
            expect(page.locator("#zone")).to_be_visible()
            page.route("**/v1/files/b.md*", lambda _: None)  # it is never answered
            page.evaluate(DROP, {"a.md": "One.", "b.md": "Two.", "c.md": "Three."})
            expect(page.locator("#job")).to_contain_text("1 of 3 files")
            page.get_by_role("button", name="Cancel").click()

            expect(page.locator("#report")).to_contain_text("1 file added")
            expect(page.locator("#report")).to_contain_text("cancelled: 2 files not sent")

    def test_a_server_that_takes_no_changes_offers_none_and_says_why(self, served, open_page):
        with serve(served.folder, read_only=True) as fixed:
            page = open_page(fixed.url)
            expect(page.locator("#start")).to_be_visible()
            expect(page.locator("#zone")).to_be_hidden()
            page.evaluate(DROP, {"a.md": "One."})

            expect(page.locator("#report")).to_contain_text("read-only")


def test_a_filter_that_cannot_be_read_is_answered_with_the_reason(served, open_page):
    page = open_page(f"{served.url}/?q=whale&where=%3D%3D")

    expect(page.get_by_role("alert").first).to_contain_text("Cannot read the filter")
    expect(page.get_by_label("Where")).to_have_value("==")


def test_a_search_that_is_overtaken_is_given_up(served, open_page):
    page = open_page(served.url)
    expect(page.locator("#panel-line")).to_have_text("index · 5 documents, fresh")
    expect(page.locator("#examples button").first).to_be_visible()
    page.evaluate(
        """() => {
          const fetch = window.fetch;
          window.signals = [];
          window.fetch = (path, options) => {
            window.signals.push(options.signal);
            return fetch(path, options);
          };
        }"""
    )
    held: list[Route] = []

    def hold_first(route: Route) -> None:
        if held:
            route.continue_()
        else:
            held.append(route)

    page.route("**/v1/search", hold_first)
    page.fill("#question", "krill")
    with page.expect_request("**/v1/search"):
        page.keyboard.press("Enter")
    page.fill("#question", "plankton")
    page.keyboard.press("Enter")

    expect(page.locator(".card mark").first).to_have_text("plankton")
    # A slow machine may make a pause of what is typed here, and so a search of its own.
    first, *_, last = page.evaluate("window.signals.map((signal) => signal.aborted)")
    assert held
    assert first
    assert not last


def test_a_token_is_asked_for_kept_in_the_tab_and_sent(served, open_page):
    with serve(served.folder, token=TOKEN) as guarded:
        page = open_page(f"{guarded.url}/?q=krill")
        dialog = page.get_by_role("dialog", name="This server asks for a token")
        dialog.get_by_label("Token").fill("not-this-one-at-all")
        page.keyboard.press("Enter")
        expect(dialog.get_by_role("alert")).to_have_text("That token was not accepted.")
        dialog.get_by_label("Token").fill(TOKEN)
        dialog.get_by_role("button", name="Go on").click()

        expect(dialog).to_be_hidden()
        expect(page.locator(".card mark").first).to_have_text("krill")
        expect(page.locator("#panel-line")).to_contain_text("documents")
        page.reload()
        expect(page.locator(".card mark").first).to_have_text("krill")
        expect(dialog).to_be_hidden()


def test_without_a_token_the_page_says_what_is_needed_and_asks_again(served, open_page):
    with serve(served.folder, token=TOKEN) as guarded:
        page = open_page(f"{guarded.url}/?q=krill")
        dialog = page.get_by_role("dialog", name="This server asks for a token")
        expect(dialog).to_be_visible()
        page.keyboard.press("Escape")

        expect(page.locator("#problem")).to_contain_text("answers only with its token")
        page.locator("#problem").get_by_role("button", name="Try again").click()
        expect(dialog).to_be_visible()


def test_a_server_that_is_gone_is_said_and_can_be_tried_again(served, open_page):
    with serve(served.folder) as first:
        page = open_page(f"{first.url}/?q=krill")
        expect(page.locator(".card mark").first).to_have_text("krill")
    page.fill("#question", "plankton")
    page.keyboard.press("Enter")
    expect(page.locator("#problem")).to_contain_text("The server does not answer")
    expect(page.locator(".card")).to_have_count(0)

    with serve(served.folder, port=first.port):
        page.get_by_role("button", name="Try again").click()
        expect(page.locator(".card mark").first).to_have_text("plankton")
    expect(page.locator("#problem")).to_be_empty()


def test_nothing_found_and_an_empty_index_are_said(served, open_page, tmp_path):
    page = open_page(f"{served.url}/?q=zzzqqq&mode=lexical")
    expect(page.get_by_role("status")).to_contain_text("Nothing found.")

    Index.create(tmp_path / "index")
    with serve(tmp_path) as empty:
        page = open_page(empty.url)
        expect(page.locator("#start")).to_contain_text("This index is empty.")
        expect(page.locator("#start")).to_contain_text("gossamer add PATH")


def test_what_no_file_contains_is_said_above_the_hits(served, open_page):
    page = open_page(f"{served.url}/?q=krill+E99731")

    expected = "No file contains “E99731”; nearest by meaning:"
    expect(page.locator("#remarks .absence")).to_have_text(expected)
    expect(page.get_by_role("status")).to_contain_text("No file contains “E99731”")
    expect(page.locator("#hits .card").first).to_be_visible()


def test_a_question_says_which_files_and_words_there_must_be(served, open_page):
    page = open_page(served.url)
    page.locator("#question").fill('+krill -"no such phrase" path:whales type:md')
    page.keyboard.press("Enter")

    expect(page.locator(".card").first).to_be_visible()
    assert set(page.locator("#hits .file").all_inner_texts()) == {"whales.md"}


def test_files_that_changed_are_named_beside_the_hits_and_in_the_status(open_page, tmp_path):
    make_index(tmp_path)
    with serve(tmp_path) as served:
        (tmp_path / "notes/plankton.md").write_text("# Other\n\nnow plankton", encoding="utf-8")
        page = open_page(f"{served.url}/?q=plankton&mode=lexical")

        expect(page.locator("#remarks")).to_contain_text("1 file changed since the last update")
        expect(page.locator("#remarks")).to_contain_text("plankton.md")
        page.get_by_role("button", name="not fresh").click()
        expect(page.get_by_role("dialog", name="Status")).to_contain_text("1 file changed")


def test_the_status_says_what_is_indexed_and_what_it_takes(served, open_page, heard):
    page = open_page(served.url)
    page.get_by_role("button", name="5 documents, fresh").click()
    dialog = page.get_by_role("dialog", name="Status")

    expect(dialog.locator(".figures li").first).to_have_text("5documents")
    expect(dialog.locator(".figures li").last).to_contain_text("in all")
    expect(dialog.get_by_role("row").filter(has_text="vectors")).to_be_visible()
    expect(dialog.locator("svg.bar").first).to_be_visible()
    expect(dialog).to_contain_text(str(served.folder / "notes"))
    expect(dialog).to_contain_text("tiny")
    assert not (served.folder / "index/sync").exists()  # to look changes nothing
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    assert heard.errors == []


def test_conflicts_are_shown_with_the_text_that_was_replaced(open_page, tmp_path):
    conflict = {"number": 3, "id": "list", "at": "2026-01-02T03:04:05Z", "version": 7}
    conflict |= {"note": "took the place of version 6", "lost": ""}
    lost = conflict | {"lost": "<b>milk</b>"}
    make_index(tmp_path)
    with serve(tmp_path) as followed:
        page = open_page(followed.url)
        assert page.request.get(f"{followed.url}/v1/sync").ok  # begins the history
        page.route("**/v1/conflicts*", lambda route: route.fulfill(json={"conflicts": [conflict]}))
        page.route("**/v1/conflicts/3", lambda route: route.fulfill(json=lost))
        page.locator("#panel-button").click()
        dialog = page.get_by_role("dialog", name="Status")

        expect(dialog).to_contain_text("took the place of version 6")
        dialog.get_by_role("button", name="Show what was replaced").click()
        expect(dialog).to_contain_text("<b>milk</b>")


def test_what_was_done_and_how_long_it_took_can_be_read(served, open_page):
    page = open_page(f"{served.url}/?q=krill")
    page.locator("#explanation summary").click()

    expect(page.locator("#explanation summary")).to_contain_text(" ms")
    expect(page.locator("#explanation dl")).to_contain_text("chunks with “krill”")


def test_the_location_of_a_hit_can_be_copied(served, open_page):
    page = open_page(
        f"{served.url}/?q=krill&mode=lexical", permissions=["clipboard-read", "clipboard-write"]
    )
    page.get_by_role("button", name="Copy location").first.click()

    expect(page.locator(".copy").first).to_have_text("Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == f"{served.folder / 'notes/whales.md'}:81"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_scrolls_down_only_and_text_stands_out_from_its_ground(served, open_page, scheme):
    size = {"width": 360, "height": 740}
    page = open_page(f"{served.url}/?q=whale", viewport=size, color_scheme=scheme)
    page.locator("button.location").first.click()
    page.get_by_text("Filters", exact=True).click()
    page.locator("#explanation summary").click()
    expect(page.locator(".chunk").first).to_be_visible()

    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    for ink in ("--ink", "--soft", "--accent", "--bad"):
        for ground in ("--paper", "--card", "--chunk"):
            assert page.evaluate(CONTRAST, [ink, ground]) >= 4.5, (ink, ground)
    assert page.evaluate(CONTRAST, ["--on-accent", "--accent"]) >= 4.5
    assert page.evaluate(CONTRAST, ["--on-mark", "--mark"]) >= 4.5
    assert page.evaluate(CONTRAST, ["--edge", "--card"]) >= 3
    page.locator("#panel-button").click()
    expect(page.locator(".figures")).to_be_visible()
    assert page.evaluate("document.querySelector('#panel').scrollWidth") <= 360


def test_every_region_has_a_role_and_every_id_is_there_once(served, open_page):
    page = open_page(f"{served.url}/?q=whale")
    expect(page.locator(".card").first).to_be_visible()
    page.get_by_text("Filters", exact=True).click()

    assert page.get_by_role("search").count() == 1
    assert page.get_by_role("main").count() == 1
    assert page.get_by_role("group", name="Search by").get_by_role("radio").count() == 3
    expect(page.get_by_role("status")).to_have_attribute("aria-live", "polite")
    expect(page.get_by_role("region", name="Results").get_by_role("listitem").first).to_be_visible()
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map((it) => it.id)")
    assert len(ids) == len(set(ids))
