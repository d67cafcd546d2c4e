"""Texts that wait at the same time, put in as one change, each request with its own report."""

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from served import make_index, serve
from starlette.testclient import TestClient
from tiny_embedder import TinyEmbedder, use_tiny

from gossamer.index import Index
from gossamer.store.folder import read_manifest

BUSY = "The first change takes its time."


class Asked:
    """A server whose first change is in hand until it is let go, and requests that wait."""

    def __init__(self, client: TestClient, folder: Path, pool: ThreadPoolExecutor) -> None:
        self.client = client
        self.folder = folder
        self._pool = pool
        self._asked: list[Future[Any]] = []

    def ask(self, path: str, **body: object) -> None:
        """Send a request that will wait, behind those that were sent before."""
        changes = self.client.app.state.service.changes  # type: ignore[attr-defined]
        before = changes.waiting
        self._asked.append(self._pool.submit(self.client.post, path, json=body))
        for _ in range(100_000):
            if changes.waiting > before:
                return
            threading.Event().wait(0.0001)
        raise AssertionError("the request did not come to wait")

    def add(self, **texts: str) -> None:
        """Ask for texts to be put in under these ids."""
        self.ask("/v1/texts", texts=[{"id": id, "text": text} for id, text in texts.items()])

    def answers(self) -> list[Any]:
        """What came of all that was asked, in order."""
        return [asked.result(20) for asked in self._asked]

    @property
    def version(self) -> int:
        return read_manifest(self.folder / "index").generation


@pytest.fixture
def embedding() -> Iterator[threading.Event]:
    """Lets the first change go on."""
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture
def asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, embedding: threading.Event
) -> Iterator[Asked]:
    has_begun = threading.Event()

    def wait(texts: Sequence[str]) -> None:
        if any(BUSY in text for text in texts):
            has_begun.set()
            assert embedding.wait(20)
        if any("poison" in text for text in texts):
            raise RuntimeError("no vector for this")

    use_tiny(monkeypatch, with_codes=True, embedder=TinyEmbedder(wait))
    make_index(tmp_path).add_texts([{"id": "old", "text": "Otters sleep."}])
    with _serve(tmp_path, embedding) as asked:
        asked.add(first=BUSY)
        assert has_begun.wait(10)
        yield asked


@contextmanager
def _serve(folder: Path, embedding: threading.Event) -> Iterator[Asked]:
    with serve(folder) as client, ThreadPoolExecutor(32) as pool:
        try:
            yield Asked(client, folder, pool)
        finally:
            embedding.set()


def test_texts_that_wait_are_one_commit_and_each_request_has_its_own_report(
    asked: Asked, embedding: threading.Event
) -> None:
    before = asked.version
    asked.add(a="Herons fish.", b="Newts swim.")
    asked.add(old="Otters do not sleep.")
    asked.add(c="Stoats run.")

    embedding.set()
    reports = [answer.json() for answer in asked.answers()]

    counts = [(one["added"], one["updated"], one["unchanged"], one["failed"]) for one in reports]
    assert counts == [(1, 0, 0, 0), (2, 0, 0, 0), (0, 1, 0, 0), (1, 0, 0, 0)]
    assert [one["chunks_embedded"] for one in reports] == [1, 2, 1, 1]
    assert asked.version == before + 2
    hits = asked.client.get("/v1/search?q=stoats&mode=lexical").json()["hits"]
    assert [hit["path"] for hit in hits] == ["c"]


def test_texts_that_are_there_already_are_said_to_be_unchanged(
    asked: Asked, embedding: threading.Event
) -> None:
    asked.add(old="Otters sleep.")
    asked.add(a="Herons fish.")

    embedding.set()
    _, same, new = (answer.json() for answer in asked.answers())

    assert (same["unchanged"], same["added"], same["chunks_embedded"]) == (1, 0, 0)
    assert (new["unchanged"], new["added"], new["chunks_embedded"]) == (0, 1, 1)


def test_of_two_requests_with_the_same_id_the_later_wins(
    asked: Asked, embedding: threading.Event
) -> None:
    before = asked.version
    asked.add(a="Herons fish.")
    asked.add(a="Newts swim.")
    asked.add(b="Stoats run.")

    embedding.set()
    _, first, second, third = (answer.json() for answer in asked.answers())

    assert (first["added"], second["updated"], third["added"]) == (1, 1, 1)
    # The third needs not wait for a change of its own: it goes with the second.
    assert asked.version == before + 3
    (hit,) = Index.open(asked.folder / "index").search("newts", mode="lexical")
    assert hit.source == "a"


def test_no_text_overtakes_a_change_of_another_kind(
    asked: Asked, embedding: threading.Event
) -> None:
    asked.add(a="Herons fish.")
    asked.ask("/v1/remove", names=["b", "a"])
    asked.add(b="Stoats run.")

    embedding.set()
    _, added, removed, later = (answer.json() for answer in asked.answers())

    assert (added["added"], removed["removed"], later["added"]) == (1, 1, 1)
    status = Index.open(asked.folder / "index").status()
    assert status.documents == 5


def test_a_text_that_cannot_be_put_in_fails_its_own_request_alone(
    asked: Asked, embedding: threading.Event, caplog: pytest.LogCaptureFixture
) -> None:
    asked.add(a="Herons fish.")
    asked.add(p="poison")
    asked.add(b="Stoats run.")

    embedding.set()
    _, first, bad, last = asked.answers()

    assert (first.status_code, bad.status_code, last.status_code) == (200, 500, 200)
    assert (first.json()["added"], last.json()["added"]) == (1, 1)
    assert "no vector for this" in caplog.text


def test_texts_that_edges_push_are_one_commit_too(asked: Asked, embedding: threading.Event) -> None:
    def item(op: str, id: str, text: str) -> dict[str, object]:
        return {"op": op, "id": id, "text": {"id": id, "text": text}}

    before = asked.version
    asked.ask("/v1/sync/push", items=[item("1", "a", "Herons fish."), item("2", "b", "Newts.")])
    asked.ask("/v1/sync/push", items=[item("3", "c", "Stoats run.")])

    embedding.set()
    _, first, second = (answer.json() for answer in asked.answers())

    assert [one["op"] for one in first["results"]] == ["1", "2"]
    assert [one["op"] for one in second["results"]] == ["3"]
    assert first["version"] == second["version"] == asked.version == before + 2


def test_two_texts_of_one_id_in_a_request_are_refused(client: TestClient) -> None:
    texts = [{"id": "a", "text": "Otters."}, {"id": "a", "text": "Herons."}]

    answer = client.post("/v1/texts", json={"texts": texts})

    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_argument")
