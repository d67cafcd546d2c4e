"""The page within the browser and what is from elsewhere: hosts, names, models, tokens."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from browser import Heard
from click.testing import CliRunner
from page_server import Served, serve
from playwright.sync_api import Page, Route, expect
from static_site import StaticSite
from tiny_embedder import use_tiny
from web_page import NOTES, POLICY, ask

from gossamer import Index
from gossamer.cli import cli
from gossamer.server import routes_web
from gossamer.single import site as single_site

pytest_plugins = ["web_page_fixtures"]

TOKEN = "a-token-of-enough-letters"
ALLOWED = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Headers": "*",
    "Access-Control-Expose-Headers": "Content-Range, ETag",
}


@pytest.fixture
def other(public: Path, tmp_path: Path) -> Iterator[StaticSite]:
    """Another host, whose index goes by the name of the site's own."""
    (tmp_path / "other").mkdir()
    for name in ("This site", "100%.gossamer"):
        shutil.copyfile(public / "index.gossamer", tmp_path / "other" / name)
    with StaticSite(tmp_path / "other", ALLOWED) as other:
        yield other


@pytest.fixture
def served(built: Path, index: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    monkeypatch.setattr(routes_web, "page_folder", lambda: built)
    with serve(index.parent, token=TOKEN) as served:
        yield served


def give_token(page: Page, token: str) -> None:
    expect(page.locator("#token")).to_be_visible()
    page.locator("#token-value").fill(token)
    page.locator("#token-value").press("Enter")


class TestElsewhere:
    def test_an_index_of_another_host_says_whose_it_is(
        self, public: Path, other: StaticSite, open_page: Callable[..., Page]
    ) -> None:
        host = other.url.split("/")[2]
        with StaticSite(public) as site:
            page = open_page(f"{site.url}?index={other.url}This%20site")
            expect(page.locator("#panel-line")).to_contain_text(f"{host}/This site ·")
            expect(page.locator("#start-text")).to_contain_text(f"comes from {host}")

            page.goto(f"{site.url}?index={other.url}100%25.gossamer")

            expect(page.locator("#panel-line")).to_contain_text(f"{host}/100%.gossamer")

    def test_a_policy_that_forbids_another_host_is_named_as_what_may_be_behind_it(
        self, site: StaticSite, other: StaticSite, open_page: Callable[..., Page]
    ) -> None:
        page = open_page(f"{site.url}?index={other.url}This%20site")

        expect(page.locator("#problem")).to_contain_text("connect-src")
        assert other.requests == []

    def test_an_address_that_is_none_is_said_to_be_none(
        self, site: StaticSite, open_page: Callable[..., Page]
    ) -> None:
        page = open_page(f"{site.url}?index=http://")

        expect(page.locator("#problem")).to_contain_text("The address of an index was expected")

    def test_a_name_is_never_taken_for_an_address(
        self,
        site: StaticSite,
        other: StaticSite,
        public: Path,
        open_page: Callable[..., Page],
        tmp_path: Path,
    ) -> None:
        page = open_page(f"{site.url}?name={other.url}This%20site")
        expect(page.locator("#problem")).to_contain_text("There is no index here")
        expect(page.get_by_role("button", name="Delete what is left")).to_have_count(0)
        assert other.requests == []

        shutil.copyfile(public / "index.gossamer", tmp_path / ".dot.gossamer")
        page.set_input_files("#import-input", tmp_path / ".dot.gossamer")

        expect(page.locator("#panel-line")).to_contain_text(".dot ·")
        page.reload()
        expect(page.locator("#panel-line")).to_contain_text(".dot ·")

    def test_opened_from_a_disk_the_page_says_what_it_needs(
        self, public: Path, open_page: Callable[..., Page], site: StaticSite
    ) -> None:
        page = open_page((public / "index.html").as_uri())
        expect(page.locator("#unserved")).to_be_visible()
        assert "web host" in " ".join(page.locator("#unserved").inner_text().split())

        page.goto(site.url)

        expect(page.locator("#start")).to_be_visible()
        expect(page.locator("#unserved")).to_have_count(0)


def test_an_index_whose_model_pages_cannot_load_is_searched_by_words(
    built: Path, open_page: Callable[..., Page], heard: Heard, tmp_path: Path
) -> None:
    (tmp_path / "whales.md").write_text(NOTES["whales.md"], encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        use_tiny(patch, with_codes=True)
        patch.setattr(single_site, "page_folder", lambda: built)
        Index.create(tmp_path / "index").add_paths([tmp_path / "whales.md"])
        target = ["export", str(tmp_path / "index"), "--site", str(tmp_path / "site")]
        made = CliRunner().invoke(cli, target)
    assert made.exit_code == 0, made.output
    assert "by words only" in " ".join(made.output.split())
    with StaticSite(tmp_path / "site", POLICY) as site:
        page = open_page(f"{site.url}?mode=semantic")
        ask(page, "krill")
        expect(page.locator("#report")).to_contain_text("by words only")
        expect(page.locator("#problem")).to_be_empty()
        assert page.locator(".modes input:disabled").count() == 2
        page.get_by_role("button", name="Dismiss").click()

        ask(page, "baleen")

        expect(page.locator("#problem")).to_be_empty()
        expect(page.locator("#report")).to_be_hidden()


class TestServed:
    def test_a_token_that_the_server_has_changed_is_asked_for_again(
        self, served: Served, open_page: Callable[..., Page]
    ) -> None:
        page = open_page(f"{served.url}/web/")
        give_token(page, TOKEN)
        expect(page.locator("#panel-line")).to_contain_text("This site")
        refused: list[Route] = []

        def refuse(route: Route) -> None:
            refused.append(route)
            route.fulfill(status=401, body="{}")

        page.route("**/v1/sync/file*", refuse)
        page.locator("#question").fill("how are vectors compressed")
        expect(page.locator("#token")).to_be_visible()
        assert page.evaluate("() => sessionStorage.getItem('gossamer-token')") is None
        assert refused
        page.unroute("**/v1/sync/file*")
        give_token(page, TOKEN)

        ask(page, "how are vectors compressed")

    def test_the_address_of_the_site_s_own_index_is_the_site(
        self, served: Served, open_page: Callable[..., Page]
    ) -> None:
        page = open_page(f"{served.url}/web/?index=../v1/sync/file")
        give_token(page, "another-token-of-letters")
        expect(page.locator("#token-problem")).to_contain_text("not accepted")
        assert page.evaluate("() => sessionStorage.getItem('gossamer-token')") is None

        give_token(page, TOKEN)

        expect(page.locator("#panel-line")).to_contain_text("This site")

    def test_what_another_address_refuses_is_not_asked_of_the_user(
        self, served: Served, open_page: Callable[..., Page]
    ) -> None:
        page = open_page(f"{served.url}/web/?index=../v1/sync/file?other")

        expect(page.locator("#problem")).to_contain_text("token")
        expect(page.locator("#token")).to_be_hidden()

    def test_an_index_that_follows_the_server_says_so_and_is_brought_up_to_date(
        self, served: Served, open_page: Callable[..., Page]
    ) -> None:
        page = open_page(f"{served.url}/web/icon.svg")
        page.evaluate(
            """async ([url, token]) => {
              const { start } = await import(`${url}/web/gossamer.js`);
              const gossamer = start();
              await gossamer.follow("edge", url, { token });
              gossamer.close();
            }""",
            [served.url, TOKEN],
        )
        page.goto(f"{served.url}/web/?name=edge")
        expect(page.locator("#panel-line")).to_contain_text("edge ·")
        expect(page.locator("#start-text")).to_contain_text("it follows a server")

        page.get_by_role("button", name="Update").click()

        expect(page.locator("#report")).to_contain_text("is up to date")
        ask(page, "how are vectors compressed")
