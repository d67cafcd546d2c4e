"""Routes that answer: what they find, what they refuse, and how many at once."""

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from served import GARDEN, make_index, problem, serve
from starlette.testclient import TestClient
from tiny_embedder import TinyEmbedder, use_tiny

from gossamer.cli import cli
from gossamer.index import Index


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[TestClient, Path]]:
    """A server for all tests that only ask, and where its index is."""
    folder = tmp_path_factory.mktemp("served")
    with pytest.MonkeyPatch.context() as patch:
        use_tiny(patch, with_codes=True)
        make_index(folder)
        with serve(folder) as client:
            yield client, folder


class TestSearch:
    @pytest.fixture
    def client(self, unchanged: tuple[TestClient, Path]) -> TestClient:
        return unchanged[0]

    @pytest.fixture
    def folder(self, unchanged: tuple[TestClient, Path]) -> Path:
        return unchanged[1]

    def test_a_search_answers_with_what_the_command_line_prints(
        self, client: TestClient, folder: Path
    ) -> None:
        asked = "when is the lease due"

        answer = client.post("/v1/search", json={"question": asked}).json()

        printed = CliRunner().invoke(
            cli, ["--index", str(folder / "index"), "search", asked, "--json"]
        )
        expected = json.loads(printed.stdout)
        for one in (answer, expected):
            del one["took_ms"], one["explanation"]["stages"]
        # A server has one index.
        assert {hit.pop("index") for hit in expected["hits"]} == {str(folder / "index")}
        assert answer == expected
        assert answer["hits"][0]["location"].endswith("lease.md:3")

    def test_an_address_asks_the_same(self, client: TestClient) -> None:
        query = {"q": "tomatoes", "k": 1, "mode": "lexical", "type": "text", "path": "*.txt"}

        answer = client.get("/v1/search", params=query).json()

        assert [hit["text"] for hit in answer["hits"]] == [GARDEN.strip()]
        assert answer["mode"] == "lexical"

    def test_filters_hold(self, client: TestClient) -> None:
        for filters in (
            {"where": 'extension == "md"'},
            {"where": {"extension": "md"}},
            {"paths": ["*.md"]},
            {"types": ["markdown"]},
        ):
            answer = client.post("/v1/search", json={"question": "tomatoes", **filters}).json()
            assert [hit["kind"] for hit in answer["hits"]] == ["markdown"]

    def test_explanations_can_be_left_out(self, client: TestClient) -> None:
        asked = {"question": "lease", "explain": False}

        assert client.post("/v1/search", json=asked).json()["explanation"] == {}

    def test_like_a_chunk_or_a_place(self, client: TestClient, folder: Path) -> None:
        by_place = f"{folder / 'files' / 'lease.md'}:3"

        for place in (1, by_place):
            answer = client.post("/v1/similar", json={"place": place})
            assert answer.status_code == 200
            assert len(answer.json()["hits"]) == 1

    def test_a_place_that_is_none_is_said_so(self, client: TestClient) -> None:
        for place, status in (("nothing", 400), ("a.md:²", 400), ("/a.md:7", 404), (99, 404)):
            assert client.post("/v1/similar", json={"place": place}).status_code == status

    def test_a_chunk_with_the_text_around_it(self, client: TestClient) -> None:
        hit = client.get("/v1/search", params={"q": "tomatoes", "k": 1}).json()["hits"][0]

        chunk = client.get(f"/v1/chunks/{hit['id']}").json()
        context = client.get(f"/v1/chunks/{hit['id']}/context", params={"margin": 10}).json()

        assert chunk["text"] == context["text"] == hit["text"]
        assert context["before"] + context["text"] + context["after"] == GARDEN

    def test_a_chunk_that_is_not_there_is_404(self, client: TestClient) -> None:
        for id in ("999", "0", "-1", str(10**30)):
            problem(client.get(f"/v1/chunks/{id}"), 404, "unknown_id")

    def test_status_says_what_the_command_line_says(self, client: TestClient, folder: Path) -> None:
        answer = client.get("/v1/status").json()

        printed = CliRunner().invoke(cli, ["--index", str(folder / "index"), "status", "--json"])
        assert answer == json.loads(printed.stdout)

    def test_more_hits_than_the_server_gives_are_refused(self, client: TestClient) -> None:
        answer = client.post("/v1/search", json={"question": "lease", "k": 101})

        assert "100" in problem(answer, 400, "invalid_argument")

    def test_a_question_may_not_be_a_book(self, folder: Path) -> None:
        with serve(folder, most_question=50) as client:
            problem(client.get("/v1/search", params={"q": "a " * 26}), 400, "invalid_argument")

    def test_arguments_that_are_not_known_are_refused(self, client: TestClient) -> None:
        answer = client.post("/v1/search", json={"question": "lease", "limit": 3})

        assert "limit" in problem(answer, 422, "invalid_request")

    @pytest.mark.parametrize("path", ["/v1/search?q=lease&limit=3", "/v1/status?limit=3"])
    def test_so_are_those_in_an_address(self, client: TestClient, path: str) -> None:
        assert "limit" in problem(client.get(path), 422, "invalid_request")

    @pytest.mark.parametrize(
        ("filters", "status"),
        [
            ({"paths": ["[" * 1001]}, 422),
            ({"paths": ["a"] * 101}, 413),
            ({"types": ["a" * 101]}, 422),
            ({"types": ["a"] * 101}, 413),
            ({"where": "a" * 10_001}, 422),
            ({"after": "2" * 101}, 422),
        ],
    )
    def test_filters_have_a_most(
        self, client: TestClient, filters: dict[str, Any], status: int
    ) -> None:
        in_address = {name.removesuffix("s"): value for name, value in filters.items()}

        assert client.get("/v1/search", params={"q": "a", **in_address}).status_code == status
        posted = client.post("/v1/search", json={"question": "a", **filters})
        assert posted.status_code == status

    @pytest.mark.parametrize(
        "body",
        [
            b"",
            b"{",
            b"[]",
            b"null",
            b'{"question": "\\ud800 lease"}',
            b'{"question": "lease", "recall": NaN}',
            b'{"question": "lease", "k": 1e400}',
            b'{"question": "lease", "k": ' + b"9" * 5000 + b"}",
            b'{"question": ' + b"[" * 100_000,
            b'{"question": "lease", "where": ' + b'{"a":' * 500 + b"1" + b"}" * 501,
            b'{"question": "lease", "where": "' + b"(" * 5000 + b'"}',
            b'{"question": "lease", "where": "year == ' + b"9" * 5000 + b'"}',
            b'{"question": "lease", "paths": ["[\\u0000-"]}',
            b"\xff\xfe",
        ],
    )
    def test_nonsense_is_the_clients_fault(self, client: TestClient, body: bytes) -> None:
        answer = client.post(
            "/v1/search", content=body, headers={"Content-Type": "application/json"}
        )

        assert answer.status_code in (200, 400, 422)
        assert answer.status_code != 200 or b"paths" in body
        assert "Traceback" not in answer.text

    def test_a_body_that_is_not_json_is_refused(self, client: TestClient) -> None:
        answer = client.post("/v1/search", content=b'{"question": "lease"}')

        problem(answer, 422, "invalid_request")

    def test_too_many_searches_are_told_to_come_again(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        is_in_call, may_go_on = threading.Event(), threading.Event()

        class Slow(TinyEmbedder):
            def embed_question(self, text: str) -> Any:
                if text == "lease":
                    is_in_call.set()
                    assert may_go_on.wait(10)
                return super().embed_question(text)

        use_tiny(monkeypatch, with_codes=True, embedder=Slow())
        make_index(tmp_path)
        with (
            serve(tmp_path, searches_at_once=1, searches_waiting=0) as client,
            ThreadPoolExecutor(1) as pool,
        ):
            first = pool.submit(client.get, "/v1/search", params={"q": "lease"})
            assert is_in_call.wait(10)

            second = client.get("/v1/search", params={"q": "lease"})

            may_go_on.set()
            problem(second, 503, "busy")
            assert int(second.headers["Retry-After"]) > 0
            assert first.result(10).status_code == 200

    def test_searches_at_the_same_time_answer_as_one_after_the_other(
        self, client: TestClient
    ) -> None:
        def ask(number: int) -> tuple[int, list[tuple[int, float]]]:
            answer = client.get("/v1/search", params={"q": f"lease sun {number}"})
            return answer.status_code, [(h["id"], h["distance"]) for h in answer.json()["hits"]]

        with ThreadPoolExecutor(8) as pool:
            together = list(pool.map(ask, range(24)))

        assert together == [ask(number) for number in range(24)]
        assert {status for status, _ in together} == {200}


class TestTitles:
    def test_some_documents_are_named_by_their_titles(self, client: TestClient) -> None:
        texts = [{"id": str(i), "text": "Sun.", "title": f"Day {i}"} for i in range(40)]
        assert client.post("/v1/texts", json={"texts": texts}).status_code == 200

        titles = client.get("/v1/titles").json()["titles"]

        assert 7 <= len(titles) == len(set(titles)) <= 8  # one of the files has none
        assert set(titles) <= {"Lease", *(f"Day {i}" for i in range(40))}

    def test_files_that_changed_and_texts_without_a_title_are_passed_over(
        self, client: TestClient, folder: Path
    ) -> None:
        (folder / "files/lease.md").write_text("Another text.", encoding="utf-8")

        assert client.get("/v1/titles").json() == {"titles": []}

    @pytest.mark.usefixtures("embedder")
    def test_an_empty_index_names_none(self, tmp_path: Path) -> None:
        Index.create(tmp_path / "index")
        with serve(tmp_path) as client:
            assert client.get("/v1/titles").json() == {"titles": []}


# Files that changed


def change(folder: Path) -> str:
    path = folder / "files" / "lease.md"
    path.write_text("# Lease\n\nNow it ends.\n\nThe zeppelin mast is let.\n", encoding="utf-8")
    return path.as_posix()


def test_a_changed_file_is_brought_up_to_date_if_the_client_says_so(
    client: TestClient, folder: Path
) -> None:
    path = change(folder)

    before = client.post("/v1/search", json={"question": "lease zeppelin mast"}).json()
    found = client.post("/v1/search", json={"question": "zeppelin mast", "update": "auto"}).json()

    assert (before["updated"], before["stale"]) == ([], [path])
    assert (found["updated"], found["stale"], found["gone"]) == ([path], [], [])
    assert found["hits"][0]["location"] == f"{path}:5"


def test_a_question_changes_no_server_that_is_read_only_and_never_by_its_address(
    folder: Path, client: TestClient
) -> None:
    change(folder)
    with serve(folder, read_only=True) as other:
        said = other.post("/v1/search", json={"question": "zeppelin", "update": "auto"})
        assert "read-only" in problem(said, 403, "read_only")
        assert other.post("/v1/search", json={"question": "zeppelin"}).status_code == 200

    assert client.get("/v1/search", params={"q": "zeppelin", "update": "auto"}).status_code == 422
    said = client.post("/v1/search", json={"question": "zeppelin", "update": "always"})
    assert said.status_code == 422


def test_what_is_gone_is_said(client: TestClient, folder: Path) -> None:
    (folder / "files").rename(folder / "moved")

    found = client.post("/v1/search", json={"question": "lease"}).json()

    assert (found["stale"], found["gone"]) == ([], [(folder / "files").as_posix()])
    assert "gossamer remove" in found["notes"][0]
