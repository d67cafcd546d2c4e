"""Cards of the page as links: to the pages of the site that was indexed."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from browser import Heard
from click.testing import CliRunner
from playwright.sync_api import Page, expect
from search_site import MODEL
from static_site import StaticSite
from web_page import POLICY, ask

from gossamer import Index
from gossamer.cli import cli
from gossamer.single import site as single_site

pytest_plugins = ["web_page_fixtures"]

_ZOO = """<!doctype html><title>Zoo</title><h1>Zoo</h1><p>Welcome to the menagerie.</p>
<section id="lions"><h2>Big cats</h2><p>The lion roars at dawn.</p></section>
<h2>Bears</h2><p>The bear hibernates all winter.</p>"""


@pytest.fixture
def linked(built: Path, tmp_path: Path) -> Iterator[StaticSite]:
    """A site of pages in docs/, with a page to search them in search/."""
    docs = tmp_path / "public" / "docs"
    docs.mkdir(parents=True)
    (docs / "zoo.html").write_text(_ZOO)
    index = Index.create(tmp_path / "index", model=MODEL)
    index.add_paths([docs])
    evil = {"url": "javascript:document.title='caught'//"}
    index.add_texts(
        [
            {"id": "evil", "text": "The basilisk stares.", "metadata": evil},
            {"id": "far", "text": "The phoenix rises.", "metadata": {"url": "https://a.example/x"}},
        ]
    )
    options = ["--site", str(tmp_path / "public" / "search"), "--base-url", "/docs/"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(single_site, "page_folder", lambda: built)
        made = CliRunner().invoke(cli, ["export", str(tmp_path / "index"), *options])
    assert made.exit_code == 0, made.output
    with StaticSite(tmp_path / "public", POLICY) as site:
        yield site


@pytest.fixture
def page(linked: StaticSite, open_page: Callable[..., Page]) -> Page:
    return open_page(f"{linked.url}search/index.html")


def test_a_card_leads_to_its_page_at_the_heading(
    page: Page, linked: StaticSite, heard: Heard
) -> None:
    ask(page, "lion roars")
    card = page.locator("#hits .card").first
    link = card.get_by_role("link", name="Zoo Big cats")

    expect(link).to_have_attribute("href", "/docs/zoo.html#lions")
    assert link.inner_text() == "Zoo › Big cats"
    assert heard.errors == []
    link.click()
    page.wait_for_url(f"{linked.url}docs/zoo.html#lions")


def test_where_there_is_no_anchor_a_card_leads_to_the_words(page: Page) -> None:
    ask(page, "bear hibernates")

    expect(page.locator("#hits .card a.page").first).to_have_attribute(
        "href", "/docs/zoo.html#:~:text=The%20bear%20hibernates%20all%20winter."
    )


def test_the_text_of_a_card_that_is_a_link_unfolds(page: Page) -> None:
    ask(page, "lion roars")
    card = page.locator("#hits .card").first
    button = card.locator("button.location")

    button.click()
    expect(button).to_have_attribute("aria-expanded", "true")
    expect(card.locator(".chunk")).to_contain_text("The lion roars at dawn.")
    expect(button).to_have_text("docs/zoo.html:2")


def test_keys_lead_to_the_links_and_enter_follows_one(page: Page, linked: StaticSite) -> None:
    ask(page, "lion roars")
    links = page.locator("#hits .card h3").locator("a, button")

    page.locator("#question").press("ArrowDown")
    expect(links.nth(0)).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(links.nth(1)).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Copy location").first).to_be_focused()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{linked.url}docs/zoo.html#lions")


def test_a_card_with_an_address_that_is_none_of_the_web_is_no_link(page: Page) -> None:
    ask(page, "basilisk stares")
    card = page.locator("#hits .card", has_text="basilisk").first

    expect(card.locator("h3 button.location")).to_have_text("evil:1")
    expect(card.locator("a")).to_have_count(0)


def test_a_text_that_names_its_address_is_a_link_there(page: Page) -> None:
    ask(page, "phoenix rises")

    expect(page.locator("#hits .card a.page").first).to_have_attribute(
        "href", "https://a.example/x#:~:text=The%20phoenix%20rises."
    )
