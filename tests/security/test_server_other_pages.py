"""Pages of other sites get nothing done by a server, and strangers learn nothing of its machine."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from served import make_index, problem, serve, use_page
from starlette.testclient import TestClient
from tiny_embedder import use_tiny

from gossamer.server import routes_pages
from gossamer.server.seldom import Seldom
from gossamer.store.manifest import MANIFEST

COSTLY = ("/v1/search?q=lease", "/v1/sync/package?mode=slim", "/v1/sync/file", "/v1/status")
PUBLIC = ("/", "/docs", "/health", "/openapi.json", "/web/base.css")
OTHERS = ("cross-site", "same-site", "Cross-Site")
ALLOWED = "https://a.example"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    folder = tmp_path_factory.mktemp("served")
    with pytest.MonkeyPatch.context() as patch:
        use_tiny(patch, with_codes=True)
        use_page(patch)
        make_index(folder)
        with serve(folder, allow_origins=(ALLOWED,)) as client:
            yield client


class TestOtherPages:
    @pytest.mark.parametrize("site", OTHERS)
    def test_an_image_or_a_form_elsewhere_gets_nothing_done(
        self, client: TestClient, site: str
    ) -> None:
        for mode in ("no-cors", "navigate", "cors", ""):
            headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode}
            for path in COSTLY:
                problem(client.get(path, headers=headers), 403, "forbidden_origin")
            answer = client.post("/v1/remove", headers=headers, json={"names": ["lease.md"]})
            problem(answer, 403, "forbidden_origin")

    @pytest.mark.parametrize("site", OTHERS)
    def test_a_link_elsewhere_leads_to_the_page_but_nothing_loads_it(
        self, client: TestClient, site: str
    ) -> None:
        for path in PUBLIC:
            headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate"}
            assert client.get(path, headers=headers).status_code == 200
            problem(
                client.get(path, headers={**headers, "Sec-Fetch-Mode": "no-cors"}),
                403,
                "forbidden_origin",
            )

    @pytest.mark.parametrize("site", ["same-origin", "none", None])
    def test_its_own_page_people_and_programs_are_answered(
        self, client: TestClient, site: str | None
    ) -> None:
        headers = {} if site is None else {"Sec-Fetch-Site": site}

        for path in (*PUBLIC, "/v1/search?q=lease"):
            assert client.get(path, headers=headers).status_code == 200

    def test_a_page_that_is_allowed_must_say_that_it_is(self, client: TestClient) -> None:
        headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"}

        named = client.get("/v1/status", headers={**headers, "Origin": ALLOWED})
        unnamed = client.get("/v1/status", headers=headers)

        assert named.status_code == 200
        assert named.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
        problem(unnamed, 403, "forbidden_origin")

    def test_no_answer_may_be_shown_by_pages_elsewhere(self, client: TestClient) -> None:
        for path in (*PUBLIC, "/v1/status", "/v1/nothing", "/nothing"):
            answer = client.get(path)
            assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"


class TestHealth:
    @pytest.mark.parametrize("left", [None, b"", b'{"format": "nonsense"}'])
    def test_of_an_index_that_cannot_be_read_only_the_log_says_where_it_is(
        self,
        folder: Path,
        left: bytes | None,
        monkeypatch: pytest.MonkeyPatch,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        monkeypatch.setattr(routes_pages._LOG, "filters", [Seldom()])
        with serve(folder) as client, caplog.at_level(logging.WARNING):
            manifest = folder / "index" / MANIFEST
            manifest.unlink()
            if left is not None:
                manifest.write_bytes(left)
            answers = [client.get("/health") for _ in range(20)]

        for answer in answers:
            assert answer.status_code == 503
            assert answer.json() == {
                "error": "unavailable",
                "message": "the index cannot be read now",
            }
        said = [record for record in caplog.records if "cannot be read" in record.getMessage()]
        assert len(said) == 1
        assert str(folder) in said[0].getMessage()
