"""A page in a real browser, and what goes wrong in it."""

import pytest
from browser import Heard
from playwright.sync_api import BrowserContext, Page


@pytest.fixture
def heard(context: BrowserContext) -> Heard:
    return Heard()


@pytest.fixture
def page(context: BrowserContext, heard: Heard) -> Page:
    page = context.new_page()
    heard.listen(page)
    return page
