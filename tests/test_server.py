"""The server's routes: what they answer, what they refuse, and what is left when it stops."""

import asyncio
import json
import logging
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from served import GARDEN, make_index, serve
from starlette.testclient import TestClient
from tiny_embedder import TinyEmbedder, use_tiny

from gossamer.cli import cli
from gossamer.cli.serve import _JsonLines
from gossamer.errors import Cancelled, Locked
from gossamer.index import Index
from gossamer.server.changes import ChangeQueue
from gossamer.server.uploads import Uploads
from gossamer.store import begin
from gossamer.store.manifest import MANIFEST
from gossamer.sync.package import Package
from gossamer.update.report import UpdateProgress, Watcher

TESTS = Path(__file__).parent


@pytest.fixture
def folder(tmp_path: Path, embedder: TinyEmbedder) -> Path:
    make_index(tmp_path)
    return tmp_path


@pytest.fixture
def client(folder: Path) -> Iterator[TestClient]:
    with serve(folder) as client:
        yield client


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[TestClient, Path]]:
    """A server for all tests that only ask, and where its index is."""
    folder = tmp_path_factory.mktemp("served")
    with pytest.MonkeyPatch.context() as patch:
        use_tiny(patch, with_codes=True)
        make_index(folder)
        with serve(folder) as client:
            yield client, folder


def lines_of(answer: Any) -> list[dict[str, Any]]:
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    return [json.loads(line) for line in answer.text.splitlines()]


def problem(answer: Any, status: int, reason: str) -> str:
    """The message of a refusal, which says why."""
    assert (answer.status_code, answer.json()["error"]) == (status, reason)
    assert set(answer.json()) == {"error", "message"}
    message: str = answer.json()["message"]
    assert len(message) > 10
    return message


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


class TestChanges:
    def test_texts_that_are_put_in_are_found(self, client: TestClient) -> None:
        given = {"id": "n1", "text": "Otters sleep in kelp.", "metadata": {"year": 2024}}

        report = client.post("/v1/texts", json={"texts": [given]}).json()

        assert (report["added"], report["chunks_embedded"]) == (1, 1)
        hit = client.get("/v1/search", params={"q": "otters"}).json()["hits"][0]
        assert (hit["path"], hit["metadata"]) == ("n1", {"year": 2024})

    def test_a_stream_says_how_far_it_is_and_ends_with_the_report(self, client: TestClient) -> None:
        texts = [{"id": str(n), "text": f"Otter number {n} sleeps."} for n in range(200)]

        answer = client.post("/v1/texts?stream=true", json={"texts": texts})

        *steps, last = lines_of(answer)
        assert {"phase", "files_done", "files_total", "chunks_embedded"} <= set(steps[0])
        assert steps[-1]["phase"] in ("embedding", "writing")
        assert last["report"]["added"] == 200

    def test_an_error_in_mid_stream_is_its_last_line(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        def fail(texts: Sequence[str]) -> None:
            if any("poison" in text for text in texts):
                raise RuntimeError("secret details of the machine")

        use_tiny(monkeypatch, with_codes=True, embedder=TinyEmbedder(fail))
        make_index(tmp_path)
        with serve(tmp_path) as client:
            texts = [{"id": "p", "text": "poison"}]
            streamed = lines_of(client.post("/v1/texts?stream=true", json={"texts": texts}))
            plain = client.post("/v1/texts", json={"texts": texts})

        assert streamed[-1]["error"] == "internal"
        assert "secret" not in problem(plain, 500, "internal")
        assert "secret details" in caplog.text

    def test_all_folders_are_brought_up_to_date(self, client: TestClient, folder: Path) -> None:
        (folder / "files" / "new.txt").write_text("Herons fish.", encoding="utf-8")

        report = client.post("/v1/paths", json={"paths": None}).json()

        assert (report["added"], report["unchanged"]) == (1, 2)

    def test_a_path_brings_the_folder_that_holds_it_up_to_date(
        self, client: TestClient, folder: Path
    ) -> None:
        (folder / "files" / "new.txt").write_text("Herons fish.", encoding="utf-8")

        report = client.post("/v1/paths", json={"paths": [str(folder / "files" / "new.txt")]})

        assert report.json()["added"] == 1
        assert client.get("/v1/status").json()["roots"] == [(folder / "files").as_posix()]

    def test_what_the_owner_excluded_stays_excluded(self, client: TestClient, folder: Path) -> None:
        hidden = folder / "files" / ".hidden"
        hidden.mkdir()
        (hidden / "key.txt").write_text("hush", encoding="utf-8")

        report = client.post("/v1/paths", json={"paths": [str(hidden)]}).json()

        assert report["added"] == 0
        assert client.get("/v1/search?q=hush&mode=lexical").json()["hits"] == []

    def test_a_name_is_taken_out(self, client: TestClient, folder: Path) -> None:
        name = str(folder / "files" / "garden.txt")

        report = client.post("/v1/remove", json={"names": [name, "nothing of this name"]}).json()

        assert report["removed"] == 1
        assert (folder / "files" / "garden.txt").exists()

    def test_another_process_that_changes_the_index_is_409(self, folder: Path) -> None:
        with serve(folder, lock_wait_s=0.0) as client, begin(folder / "index", "another"):
            answer = client.post("/v1/texts", json={"texts": [{"id": "a", "text": "b"}]})

        assert "another" in problem(answer, 409, "locked")

    def test_more_items_than_the_server_takes_are_413(self, folder: Path) -> None:
        with serve(folder, most_items=2) as client:
            names = client.post("/v1/remove", json={"names": ["a", "b", "c"]})

        problem(names, 413, "too_large")

    def test_metadata_that_cannot_be_kept_is_400(self, client: TestClient) -> None:
        body = '{"texts": [{"id": "a", "text": "b", "metadata": {"n": NaN}}]}'

        answer = client.post(
            "/v1/texts", content=body, headers={"Content-Type": "application/json"}
        )

        problem(answer, 400, "invalid_argument")


class TestFiles:
    def test_a_file_is_stored_and_found(self, client: TestClient, folder: Path) -> None:
        answer = client.put("/v1/files/notes/otter.md", content=b"# Otters\n\nThey sleep in kelp.")

        assert answer.json()["report"]["added"] == 1
        path = folder / "index" / "uploads" / "notes" / "otter.md"
        assert answer.json()["path"] == str(path)
        hit = client.get("/v1/search", params={"q": "kelp"}).json()["hits"][0]
        assert hit["path"] == path.as_posix()

    def test_a_file_takes_the_place_of_the_one_before(self, client: TestClient) -> None:
        client.put("/v1/files/a.txt", content=b"Otters sleep in kelp.")

        report = client.put("/v1/files/a.txt", content=b"Herons fish.").json()["report"]

        assert report["updated"] == 1
        assert client.get("/v1/search?q=kelp&mode=lexical").json()["hits"] == []

    def test_a_file_that_is_no_text_is_said_to_be_skipped(self, client: TestClient) -> None:
        report = client.put("/v1/files/a.jpg", content=b"\xff\xd8\xff\xe0" + bytes(99)).json()

        assert report["report"]["skipped"] == 1

    def test_what_was_put_goes_from_the_disk_when_it_is_removed(self, client: TestClient) -> None:
        path = client.put("/v1/files/a.txt", content=b"Otters sleep in kelp.").json()["path"]

        report = client.post("/v1/remove", json={"names": [path]}).json()

        assert report["removed"] == 1
        assert not Path(path).exists()

    @pytest.mark.parametrize(
        "name",
        [
            "../a.txt",
            "..%2Fa.txt",
            "a/../../b.txt",
            "%2Fetc%2Fcron.d%2Fa",
            "a//b",
            ".hidden",
            "a%5C..%5Cb",
            "C:%5Ca",
            "con.txt",
            "a%00b",
            "a.txt.",
            "x" * 300,
            "/".join("abcdefghijklmnopq"),
        ],
    )
    def test_no_name_leads_out_of_the_folder(
        self, client: TestClient, folder: Path, name: str
    ) -> None:
        before = sorted(folder.rglob("*"))

        answer = client.put(f"/v1/files/{name}", content=b"text")

        assert answer.status_code in (400, 404, 405)
        assert sorted(folder.rglob("*")) == before

    def test_a_name_below_a_file_is_refused(self, client: TestClient) -> None:
        client.put("/v1/files/a.txt", content=b"Otters sleep.")

        for name in ("a.txt/b.txt", "notes"):
            client.put("/v1/files/notes/c.txt", content=b"Herons fish.")
            problem(client.put(f"/v1/files/{name}", content=b"x"), 400, "invalid_argument")

    def test_a_file_that_is_too_large_leaves_nothing(self, folder: Path) -> None:
        def body() -> Iterator[bytes]:
            yield from [b"x" * 600] * 2

        with serve(folder, file_bytes=1000) as client:
            problem(client.put("/v1/files/a.txt", content=body()), 413, "too_large")
            problem(client.put("/v1/files/a.txt", content=b"x" * 1001), 413, "too_large")

        assert list((folder / "index" / "uploads").iterdir()) == []

    def test_a_body_is_counted_whatever_the_client_says_of_it(self, folder: Path) -> None:
        def body() -> Iterator[bytes]:
            yield b'{"texts": [{"id": "a", "text": "'
            yield b"x" * 2000

        with serve(folder, body_bytes=1000) as client:
            headers = {"Content-Type": "application/json"}
            answer = client.post("/v1/texts", content=body(), headers=headers)

        problem(answer, 413, "too_large")

    def test_what_a_killed_server_had_received_in_part_is_cleared_away(self, folder: Path) -> None:
        uploads = folder / "index" / "uploads"
        uploads.mkdir()
        (uploads / ".put-abc.part").write_bytes(b"half")

        Uploads(folder / "index")

        assert list(uploads.iterdir()) == []


class TestChangeQueue:
    def test_changes_run_one_at_a_time_and_in_order(self) -> None:
        running, order = [0], []

        def work(number: int) -> Callable[[Watcher], int]:
            def run(_: Watcher) -> int:
                running[0] += 1
                assert running[0] == 1
                order.append(number)
                running[0] -= 1
                return number

            return run

        async def run_all() -> list[int]:
            return await asyncio.gather(*(queue.run(work(n)) for n in range(20)))

        queue = ChangeQueue(100, 10)
        assert asyncio.run(run_all()) == order == list(range(20))
        queue.close()

    def test_a_change_goes_on_when_its_client_goes_away(self) -> None:
        has_begun, may_go_on, is_done = threading.Event(), threading.Event(), threading.Event()

        def work(_: Watcher) -> None:
            has_begun.set()
            assert may_go_on.wait(10)
            is_done.set()

        async def leave() -> None:
            waiting = asyncio.create_task(queue.run(work))
            await asyncio.to_thread(has_begun.wait, 10)
            waiting.cancel()

        queue = ChangeQueue(10, 10)
        asyncio.run(leave())
        may_go_on.set()
        assert is_done.wait(10)
        queue.close()

    def test_a_change_that_fails_after_its_client_went_is_in_the_log(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        has_begun, may_go_on = threading.Event(), threading.Event()

        def work(_: Watcher) -> None:
            has_begun.set()
            assert may_go_on.wait(10)
            raise RuntimeError("the disk burns")

        async def leave() -> None:
            waiting = asyncio.create_task(queue.run(work))
            await asyncio.to_thread(has_begun.wait, 10)
            waiting.cancel()

        queue = ChangeQueue(10, 10)
        asyncio.run(leave())
        may_go_on.set()
        queue.close()

        assert "the disk burns" in caplog.text

    def test_a_change_whose_turn_does_not_come_is_locked_and_never_begun(self) -> None:
        may_go_on, begun = threading.Event(), []

        async def ask() -> None:
            first = asyncio.create_task(queue.run(lambda _: may_go_on.wait(10)))
            await asyncio.sleep(0)
            with pytest.raises(Locked, match="in hand for long"):
                await queue.run(lambda _: begun.append(1))
            may_go_on.set()
            await first

        queue = ChangeQueue(10, 0.05)
        asyncio.run(ask())
        queue.close()
        assert begun == []

    def test_closing_ends_the_change_in_hand_at_its_next_step(self) -> None:
        has_begun = threading.Event()

        def work(watch: Watcher) -> None:
            while True:
                has_begun.set()
                watch(UpdateProgress("embedding"))

        async def ask() -> None:
            in_hand = asyncio.create_task(queue.run(work))
            waiting = asyncio.create_task(queue.run(lambda _: None))
            await asyncio.to_thread(has_begun.wait, 10)
            await asyncio.to_thread(queue.close)
            for change in (in_hand, waiting):
                with pytest.raises(Cancelled, match="shutting down"):
                    await change

        queue = ChangeQueue(10, 10)
        asyncio.run(ask())


class TestServer:
    def test_health_needs_the_index(self, client: TestClient, folder: Path) -> None:
        assert client.get("/health").json() == {"status": "ok"}

        (folder / "index" / MANIFEST).unlink()

        problem(client.get("/health"), 503, "no_index")

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

    def test_the_pages_load_nothing_from_elsewhere(self, client: TestClient) -> None:
        for path in ("/", "/docs"):
            answer = client.get(path)
            assert answer.headers["content-type"].startswith("text/html")
            assert "//" not in answer.text.replace("://www.w3.org", "")

    def test_files_of_the_page_have_their_types(self, client: TestClient) -> None:
        assert client.get("/page/page.js").headers["content-type"].startswith("text/javascript")
        for name in ("nothing.js", "%2e%2e%2fapp.py", "a%00.js", "index.html.bak"):
            assert client.get(f"/page/{name}").status_code == 404

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

    def test_every_route_says_which_answers_can_come(self, client: TestClient) -> None:
        schema = client.get("/openapi.json").json()

        for path, methods in schema["paths"].items():
            for route in methods.values():
                assert {"401", "403", "500", "503"} <= set(route["responses"]), path
        assert schema["info"]["title"] == "Gossamer"

    def test_hot_vectors_are_kept_when_the_server_stops(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        use_tiny(monkeypatch, with_codes=True)
        make_index(tmp_path, keep="hot:100KB")
        with serve(tmp_path) as client:
            for asked in ("lease", "tomatoes", "renewal"):
                client.get("/v1/search", params={"q": asked})

        later = Index.open(tmp_path / "index").search("renewal")

        assert "load model" not in later.explanation.stages


class TestSync:
    def test_an_edge_is_told_what_there_is(self, client: TestClient) -> None:
        info = client.get("/v1/sync").json()
        plan = client.get("/v1/sync/plan", params={"mode": "codes"}).json()

        assert (info["protocol"], info["version"]) == (1, 2)
        assert plan["estimate"]["total"] > 0

    def test_a_package_comes_whole_or_from_where_it_broke_off(
        self, client: TestClient, tmp_path: Path
    ) -> None:
        whole = client.get("/v1/sync/package")
        tag = whole.headers["ETag"]

        rest = client.get("/v1/sync/package", headers={"Range": "bytes=100-", "If-Range": tag})
        last = client.get("/v1/sync/package", headers={"Range": "bytes=-7"})
        other = client.get("/v1/sync/package", headers={"Range": "bytes=9-", "If-Range": '"x"'})
        beyond = client.get("/v1/sync/package", headers={"Range": "bytes=9999999-"})

        assert (whole.status_code, rest.status_code, other.status_code) == (200, 206, 200)
        assert whole.content[:100] + rest.content == other.content == whole.content
        assert rest.headers["Content-Range"] == f"bytes 100-{len(whole.content) - 1}/" + str(
            len(whole.content)
        )
        assert last.content == whole.content[-7:]
        problem(beyond, 416, "range_not_satisfiable")
        (tmp_path / "package").write_bytes(whole.content)
        with Package.open(tmp_path / "package", "") as package:
            assert package.head.kind == "snapshot"

    def test_an_edge_that_is_current_gets_nothing(self, client: TestClient, tmp_path: Path) -> None:
        (tmp_path / "package").write_bytes(client.get("/v1/sync/package").content)
        with Package.open(tmp_path / "package", "") as package:
            head = package.head

        base = {"epoch": head.epoch, "version": head.version, "state": head.state}
        answer = client.get("/v1/sync/package", params=base)

        assert (answer.status_code, answer.content) == (204, b"")
        ahead = client.get("/v1/sync/package", params={**base, "version": head.version + 1})
        problem(ahead, 409, "wrong_state")

    def test_what_makes_no_sense_is_refused(self, client: TestClient) -> None:
        for query in ({"mode": "everything"}, {"protocol": 2}, {"version": 3}):
            answer = client.get("/v1/sync/package", params=query)
            problem(answer, 400, "invalid_argument")

    def test_vectors_and_texts_of_chunks(self, client: TestClient, embedder: TinyEmbedder) -> None:
        data = client.post("/v1/sync/vectors", json={"ids": [1, 77, 2]}).content
        chunks = client.post("/v1/sync/chunks", json={"ids": [1, 77]}).json()["chunks"]

        assert data[:3] == b"\x01\x00\x01"
        rows = np.frombuffer(data[3:], "<f2").reshape(-1, embedder.dim)
        assert chunks[1] is None
        expected = embedder.embed([chunks[0]["embedded"]])[0]
        np.testing.assert_allclose(rows[0], expected, atol=1e-3)

    def test_pushed_texts_and_files_are_stored_and_conflicts_told(self, client: TestClient) -> None:
        def push(op: str, text: str | None, base: str = "") -> Any:
            body = None if text is None else {"id": "n", "text": text}
            item = {"op": op, "id": "n", "base": base, "text": body}
            return client.post("/v1/sync/push", json={"items": [item]}).json()

        first = push("1", "Otters sleep.")
        second = push("2", "Otters do not sleep.", "0" * 16)
        file = client.put("/v1/sync/files/a.md?op=3", content=b"Herons fish.").json()

        assert (first["results"][0]["outcome"], first["version"]) == ("stored", 3)
        number = second["results"][0]["conflict"]
        listed = client.get("/v1/conflicts").json()["conflicts"]
        assert [one["number"] for one in listed] == [number]
        assert client.get(f"/v1/conflicts/{number}").json()["lost"] == "Otters sleep."
        assert client.get("/v1/conflicts/99").status_code == 404
        assert file["outcome"] == "stored"


SERVER = """
import sys, threading
sys.path.insert(0, {tests!r})
import pytest
from tiny_embedder import TinyEmbedder, use_tiny
from gossamer.cli import main, serve

serve._GRACE_S = 0
use_tiny(
    pytest.MonkeyPatch(),
    with_codes=True,
    embedder=TinyEmbedder(lambda _: threading.Event().wait({pause!r})),
)
sys.argv = ["gossamer", "serve", {index!r}, "--port", "0"]
main()
"""


class TestProcess:
    def start(self, folder: Path, pause: float) -> tuple[subprocess.Popen[str], str]:
        """Start a server with a model that takes its time; give it and its address."""
        script = SERVER.format(tests=str(TESTS), index=str(folder / "index"), pause=pause)
        process = subprocess.Popen(
            [sys.executable, "-c", script],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        line = process.stdout.readline()
        assert "serving at http://127.0.0.1:" in line, process.communicate()
        return process, line.split()[2]

    @pytest.mark.skipif(sys.platform == "win32", reason="signals end a process there at once")
    def test_a_server_that_is_told_to_stop_in_the_middle_of_an_add_loses_nothing(
        self, folder: Path
    ) -> None:
        texts = [{"id": str(n), "text": f"Otter number {n} sleeps."} for n in range(1000)]
        process, url = self.start(folder, pause=0.02)
        request = urllib.request.Request(
            f"{url}v1/texts?stream=true",
            json.dumps({"texts": texts}).encode(),
            {"Content-Type": "application/json"},
        )

        with urllib.request.urlopen(request, timeout=30) as answer:
            steps = [json.loads(answer.readline())]
            while steps[-1].get("chunks_embedded") == 0:
                steps.append(json.loads(answer.readline()))
            process.send_signal(signal.SIGTERM)
            steps += [json.loads(line) for line in answer]
        _, said = process.communicate(timeout=60)

        assert process.returncode == 0, said
        assert steps[-1]["error"] == "cancelled"
        index = Index.open(folder / "index")
        assert {finding.severity for finding in index.check()} <= {"note"}
        assert index.status().documents == 2
        report = index.add_texts(texts)
        assert report.added == 1000
        assert report.chunks_resumed >= 64
        assert report.chunks_resumed + report.chunks_embedded == 1000

    @pytest.mark.skipif(sys.platform == "win32", reason="signals end a process there at once")
    def test_an_interrupt_ends_the_server_in_good_order(self, folder: Path) -> None:
        process, url = self.start(folder, pause=0)
        with urllib.request.urlopen(f"{url}health", timeout=30) as answer:
            assert json.load(answer) == {"status": "ok"}

        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)

        assert process.returncode == 0, said
        assert "Traceback" not in said
        assert "stopped serving" in said


class TestCommand:
    def test_other_commands_do_not_load_the_server(self) -> None:
        script = (
            "import sys; from gossamer.cli import cli; import gossamer.cli.search\n"
            "import gossamer.cli.serve, gossamer.index\n"
            "print([name for name in ('fastapi', 'uvicorn', 'pydantic') if name in sys.modules])"
        )

        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)

        assert done.stdout.strip() == "[]", done.stderr

    def test_what_is_not_installed_is_said(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "uvicorn", None)

        done = CliRunner().invoke(cli, ["serve", str(folder / "index")])

        assert done.exit_code == 2
        assert 'pip install "gossamer[server]"' in done.stderr

    def test_a_folder_without_an_index_is_no_server(self, tmp_path: Path) -> None:
        done = CliRunner().invoke(cli, ["serve", str(tmp_path)])

        assert done.exit_code == 3
        assert "no index" in done.stderr

    def test_logs_can_be_lines_of_json(self) -> None:
        record = logging.makeLogRecord(
            {
                "msg": "%s failed",
                "args": ("it",),
                "levelname": "ERROR",
                "path": "/v1/x",
                "status": 500,
            }
        )

        line = json.loads(_JsonLines().format(record))

        assert (line["level"], line["message"]) == ("error", "it failed")
        assert (line["path"], line["status"]) == ("/v1/x", 500)

    def test_a_port_that_is_taken_is_said(self, folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = str(taken.getsockname()[1])
            done = CliRunner().invoke(cli, ["serve", str(folder / "index"), "--port", port])

        assert done.exit_code == 2
        assert "--port 0" in done.stderr
