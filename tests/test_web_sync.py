"""An index in a page that follows a server: pulled, kept, searched with and without the server."""

import json
import socket
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from playwright.sync_api import Browser, BrowserContext, Page
from search_site import MODEL, PageError, call, start, write_package
from static_site import StaticSite

from gossamer import Index
from gossamer.server.app import create_app
from gossamer.server.options import ServeOptions

TOKEN = "a-song-of-whales"
NEW = {"id": "new", "text": "A volcano spits fire and ashes over the island."}
QUESTIONS = ("whales in the deep sea", "how is bread made", "what can be seen at night")
TEXTS = [
    {"id": f"note {n}", "text": f"Note {n} tells of {what}.", "metadata": {"number": n}}
    for n, what in enumerate(
        ["whales in the deep sea", "a recipe for bread", "the engine of a train", "stars at night"]
        * 10
    )
]

_FOLLOW = """async (gossamer, url, options) => {
  window.phases = new Set();
  const onProgress = ({ phase }) => window.phases.add(phase);
  window.index = await gossamer.follow("notes", url, { onProgress, ...options });
  return window.index.pulled;
}"""
_OPEN = """async (gossamer, options) => {
  window.index = await gossamer.open("notes", options);
  return window.index.status();
}"""
_PULL = "(gossamer, options) => window.index.pull(options ?? {})"
_SEARCH = "(gossamer, question, options) => window.index.search(question, options)"


class Server:
    """`gossamer serve` in a thread, for pages of one other origin."""

    def __init__(self, folder: Path, origin: str) -> None:
        self.index = Index.create(folder / "index", model=MODEL)
        self.index.add_texts(TEXTS)
        options = ServeOptions(token=TOKEN, allow_origins=(origin,))
        app = create_app(folder / "index", options)
        config = uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1)
        self._server = uvicorn.Server(config)
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        arguments = {"sockets": [self._socket]}
        self._thread = threading.Thread(target=self._server.run, kwargs=arguments)
        self._thread.start()

    def add(self, *texts: dict[str, str]) -> None:
        """Put texts in, as a client of the server does."""
        request = urllib.request.Request(
            f"{self.url}/v1/texts",
            json.dumps({"texts": texts}).encode(),
            {"Content-Type": "application/json", "Authorization": f"Bearer {TOKEN}"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            assert json.load(answer)["added"] == len(texts)

    def stop(self) -> None:
        """Be away from now on."""
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()


@pytest.fixture(scope="module")
def site(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StaticSite]:
    public = tmp_path_factory.mktemp("public")
    write_package(public)
    (public / "pocket.model.gossamer").unlink()  # it comes from the server
    with StaticSite(public) as site:
        yield site


@pytest.fixture
def server(site: StaticSite, tmp_path: Path) -> Iterator[Server]:
    server = Server(tmp_path, site.url.rstrip("/"))
    yield server
    server.stop()


@pytest.fixture
def page(context: BrowserContext, site: StaticSite) -> Page:
    page = context.new_page()
    start(page, site.url)
    return page


def search(page: Page, question: str, **options: object) -> dict[str, Any]:
    return call(page, _SEARCH, question, {"k": 5, "recall": 0.99, **options})


def check_same(page: Page, server: Server) -> None:
    """Compare what the page finds with what the server does."""
    for question in QUESTIONS:
        expected = server.index.search(question, 5, recall=0.99)
        found = search(page, question)
        assert [(hit["id"], hit["text"]) for hit in found["hits"]] == [
            (hit.id, hit.text) for hit in expected
        ]
        distances = [hit["distance"] for hit in found["hits"] if hit["distance"] is not None]
        known = [hit.distance for hit in expected if hit.distance is not None]
        assert distances == pytest.approx(known, abs=1e-5)


def test_a_page_follows_a_server_and_finds_the_same_before_and_after_a_change(
    page: Page, server: Server
) -> None:
    first = call(page, _FOLLOW, server.url, {"token": TOKEN})
    assert first["kind"] == "snapshot"
    assert "receiving" in page.evaluate("[...window.phases]")
    check_same(page, server)
    server.add(NEW)

    second = call(page, _PULL)

    assert second["kind"] == "delta"
    assert second["documentsChanged"] == 1
    assert second["bytesReceived"] < first["bytesReceived"]
    check_same(page, server)
    assert search(page, NEW["text"])["hits"][0]["source"] == "new"
    assert call(page, _PULL)["kind"] == "current"


def test_what_was_pulled_opens_by_its_name_and_is_searched_without_the_server(
    page: Page, server: Server, site: StaticSite
) -> None:
    call(page, _FOLLOW, server.url, {"token": TOKEN})
    expected = search(page, QUESTIONS[1])
    server.stop()
    start(page, site.url)

    status = call(page, _OPEN, {})
    found = search(page, QUESTIONS[1])

    assert status["origin"] == server.url
    assert status["chunks"] == len(TEXTS)
    assert [hit["text"] for hit in found["hits"]] == [hit["text"] for hit in expected["hits"]]
    assert found["notes"] == expected["notes"]
    with pytest.raises(PageError) as error:
        call(page, _PULL)
    assert error.value.reason == "Unreachable"
    assert search(page, QUESTIONS[1])["hits"] == found["hits"]


def test_texts_and_vectors_come_from_the_server_and_a_note_says_when_they_do_not(
    page: Page, server: Server
) -> None:
    call(page, _FOLLOW, server.url, {"token": TOKEN, "texts": "away"})

    found = search(page, QUESTIONS[0], mode="semantic")

    assert call(page, "() => window.index.status()")["vectors"] == "server"
    assert found["explanation"]["chunksAsked"] > 0
    assert found["hits"][0]["text"].endswith("whales in the deep sea.")
    expected = server.index.search(QUESTIONS[0], 5, mode="semantic", recall=0.99)
    assert [hit["id"] for hit in found["hits"]] == [hit.id for hit in expected]

    server.stop()
    offline = search(page, QUESTIONS[2], mode="semantic")

    assert len(offline["hits"]) == 5
    assert {hit["text"] for hit in offline["hits"]} == {""}
    assert all(hit["source"].startswith("note") for hit in offline["hits"])
    assert any(server.url in note for note in offline["notes"])


def test_a_slim_edge_needs_no_server_and_no_embedding_but_the_question_s(
    page: Page, server: Server
) -> None:
    first = call(page, _FOLLOW, server.url, {"token": TOKEN, "mode": "slim"})
    server.add(NEW)
    second = call(page, _PULL)
    server.stop()

    found = search(page, NEW["text"], mode="semantic")

    assert (first["kind"], second["kind"]) == ("snapshot", "delta")
    assert second["bytesReceived"] < first["bytesReceived"]
    assert call(page, "() => window.index.status()")["vectors"] == "stored"
    assert found["explanation"]["chunksEmbedded"] == 0
    assert found["hits"][0]["source"] == "new"


def test_a_wrong_token_is_said_to_be_wrong_and_nothing_stays(page: Page, server: Server) -> None:
    with pytest.raises(PageError) as error:
        call(page, _FOLLOW, server.url, {"token": "wrong"})

    assert error.value.reason == "WrongState"
    assert "token" in error.value.message
    assert call(page, "(gossamer) => gossamer.names()") == []


def test_an_index_that_follows_a_server_is_changed_there_alone(page: Page, server: Server) -> None:
    call(page, _FOLLOW, server.url, {"token": TOKEN})

    with pytest.raises(PageError) as error:
        call(page, "() => window.index.add([{ id: 'own', text: 'mine' }])")

    assert error.value.reason == "WrongState"
    assert "follows a server" in error.value.message
