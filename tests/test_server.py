"""The server itself: health, metrics, pages, and what is no route."""

import logging
import threading
import time
from pathlib import Path

import pytest
from served import make_index, problem, serve, use_page
from starlette.testclient import TestClient
from tiny_embedder import use_tiny

from gossamer.index import Index
from gossamer.store.manifest import MANIFEST


class TestServer:
    def test_health_needs_the_index(self, client: TestClient, folder: Path) -> None:
        assert client.get("/health").json() == {"status": "ok"}

        (folder / "index" / MANIFEST).unlink()

        problem(client.get("/health"), 503, "unavailable")
        assert client.head("/health").status_code == 503

    def test_health_is_answered_though_every_thread_is_busy(self, client: TestClient) -> None:
        may_go_on = threading.Event()
        service = client.app.state.service  # type: ignore[attr-defined]
        gates = (service.reads, service.searches, service.edges)
        for gate in gates:
            for _ in range(20):
                gate.submit(lambda: may_go_on.wait(20))

        assert client.head("/health").status_code == 200
        may_go_on.set()

    def test_what_keeps_the_index_from_being_searched_is_in_the_log(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        def fail(*_: object, **__: object) -> None:
            raise RuntimeError("the library of the model is broken")

        monkeypatch.setattr(Index, "search", fail)
        said = "the library of the model is broken"
        with serve(folder):
            # What it begins with is not begun if it ends before that.
            for _ in range(500):
                if said in caplog.text:
                    break
                time.sleep(0.02)

        assert said in caplog.text

    def test_nobody_forges_a_line_of_the_log(
        self, client: TestClient, caplog: pytest.LogCaptureFixture
    ) -> None:
        with caplog.at_level(logging.INFO, "gossamer.server.access"):
            client.get("/v1/a%0aGET /v1/b 200 1 ms")

        (message,) = [record.getMessage() for record in caplog.records if "/v1/a" in record.message]
        assert "\n" not in message

    def test_metrics_count_what_happened(self, client: TestClient) -> None:
        client.get("/v1/search", params={"q": "lease"})
        client.get("/v1/nothing")
        client.post("/v1/texts", json={"texts": [{"id": "a", "text": "Otters."}]})

        text = client.get("/metrics").text

        for line in (
            'gossamer_http_requests_total{method="GET",route="/v1/search",status="200"} 1.0',
            'gossamer_http_requests_total{method="GET",route="none",status="404"} 1.0',
            'gossamer_searches_total{mode="hybrid"} 1.0',
            'gossamer_chunks_embedded_total{use="update"} 1.0',
            'gossamer_index{what="version"} 3.0',
            'gossamer_index{what="chunks"} 3.0',
            'gossamer_waiting{kind="embedding"} 0.0',
        ):
            assert line in text
        assert "gossamer_embedding_round_texts_count" in text

    def test_the_pages_load_nothing_from_elsewhere(
        self, client: TestClient, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        use_page(monkeypatch)
        for path in ("/", "/docs"):
            answer = client.get(path)
            assert answer.headers["content-type"].startswith("text/html")
            assert "//" not in answer.text.replace("://www.w3.org", "")

    def test_what_is_no_route_is_said_so(self, client: TestClient) -> None:
        problem(client.get("/v2/search"), 404, "not_found")
        problem(client.get("/v1/search/"), 404, "not_found")
        wrong = client.request("PROPFIND", "/v1/search")
        problem(wrong, 405, "method_not_allowed")
        assert wrong.headers["Allow"] == "GET, POST"
        assert client.get("/v1/files/a.txt").headers["Allow"] == "PUT"

    def test_what_nobody_expected_is_500_without_a_trace(
        self, client: TestClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        def fail(*_: object) -> None:
            raise RuntimeError("secret details of the machine")

        monkeypatch.setattr(Index, "get", fail)

        answer = client.get("/v1/chunks/1")

        assert "secret" not in problem(answer, 500, "internal")
        assert "secret details" in caplog.text

    def test_every_route_says_which_answers_can_come_and_whether_it_needs_the_token(
        self, client: TestClient
    ) -> None:
        schema = client.get("/openapi.json").json()

        for path, methods in schema["paths"].items():
            for route in methods.values():
                assert {"403", "500", "503"} <= set(route["responses"]), path
                is_public = path in ("/", "/health", "/docs")
                assert is_public != ("401" in route["responses"]), path
                assert is_public != ("security" in route), path
        assert schema["info"]["title"] == "Gossamer"
        (scheme,) = schema["components"]["securitySchemes"].values()
        assert (scheme["type"], scheme["scheme"]) == ("http", "bearer")

    def test_hot_vectors_are_kept_when_the_server_stops(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        use_tiny(monkeypatch, with_codes=True)
        make_index(tmp_path, keep="hot:100KB")
        with serve(tmp_path) as client:
            for asked in ("lease", "tomatoes", "renewal"):
                client.get("/v1/search", params={"q": asked, "mode": "semantic"})

        later = Index.open(tmp_path / "index").search("renewal", mode="semantic")

        assert "load model" not in later.explanation.stages
