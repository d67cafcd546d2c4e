"""The page that searches within the browser when something is wrong, and at servers."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from browser import devtools
from page_server import serve
from playwright.sync_api import Page, expect
from static_site import StaticSite
from web_page import CLEAR, DROP, FOUND, NOTES, POLICY, add, ask, open_panel

from gossamer.server import routes_web

pytest_plugins = ["web_page_fixtures"]


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
        page.evaluate(CLEAR)
        page.goto(f"{site.url}?name=notes")
        expect(page.locator("#problem")).to_contain_text("There is no index here")

        page.get_by_role("button", name="Search this site instead").click()

        ask(page, "recall")
        expect(page.locator("#panel-line")).to_contain_text("This site")

    def test_the_panel_of_an_index_that_was_cleared_still_shows_the_rest(
        self, site: StaticSite, open_page: Callable[..., Page], notes: Path
    ) -> None:
        page = open_page(site.url)
        add(page, notes)
        cleared = {"origin": site.url.rstrip("/"), "storageTypes": "all"}
        devtools(page).send("Storage.clearDataForOrigin", cleared)
        page.locator("#panel-button").click()

        expect(page.locator("#panel .problem")).to_contain_text("any more")
        expect(page.locator("#panel")).to_contain_text("Storage of this site")
        expect(page.locator("#panel-button")).to_have_attribute("data-state", "bad")

    def test_cleared_storage_of_this_site_is_fetched_again(
        self, site: StaticSite, open_page: Callable[..., Page]
    ) -> None:
        page = open_page(site.url)
        ask(page, "recall")
        page.evaluate(CLEAR)

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
        devtools(page).send("Storage.overrideQuotaForOrigin", quota)

        page.evaluate(DROP, {"large.md": "# Large\n\nlarge words\n" * 20_000})
        expect(page.locator("#report")).to_contain_text("full")

        ask(page, "krill")
        expect(page.locator("#hits .file").first).to_have_text("whales.md")

    def test_indexing_that_is_cancelled_leaves_nothing(
        self, site: StaticSite, open_page: Callable[..., Page]
    ) -> None:
        page = open_page(site.url)
        expect(page.locator("#start")).to_be_visible()
        page.route("**/*.model.gossamer", lambda _: None)  # it never comes
        page.evaluate(DROP, {"a.md": "One.", "b.md": "Two."})

        page.get_by_role("button", name="Cancel").click()

        expect(page.locator("#report")).to_contain_text("nothing was changed")
        open_panel(page)
        expect(page.locator("#panel .names li")).to_have_count(1)


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
            page.evaluate(DROP, {"whales.md": NOTES["whales.md"]})
            expect(page.locator("#report")).to_contain_text("1 file added")
            ask(page, "krill")
            expect(page.locator("#hits .file").first).to_have_text("whales.md")
