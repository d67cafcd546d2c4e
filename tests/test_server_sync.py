"""Routes for edges."""

import asyncio
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from served import make_index, problem, serve
from starlette.datastructures import Headers
from starlette.testclient import TestClient
from tiny_embedder import TinyEmbedder, use_tiny

from gossamer.index import Index
from gossamer.server.offering import Offering
from gossamer.server.options import ServeOptions
from gossamer.server.ranges import OpenFile, answer_with_file
from gossamer.sync.offer import Offer
from gossamer.sync.package import Package
from gossamer.sync.records import PushItem


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


class TestTroubles:
    """What happens to the folder, or around it, while edges are served."""

    def test_an_index_that_was_made_anew_is_offered_anew(
        self, client: TestClient, folder: Path
    ) -> None:
        before = client.get("/v1/sync").json()
        client.get("/v1/sync/package")
        shutil.rmtree(folder / "index")
        shutil.rmtree(folder / "files")
        make_index(folder)

        after = client.get("/v1/sync").json()

        assert after["index"] != before["index"]
        assert after["epoch"] != before["epoch"]
        assert client.get("/v1/sync/package").status_code == 200
        assert client.get("/v1/sync/plan", params={"mode": "slim"}).status_code == 200
        item = {"op": "1", "id": "n", "text": {"id": "n", "text": "Otters sleep."}}
        client.post("/v1/sync/push", json={"items": [item]})
        # The push is known to the history that is there, not to one that nobody can see.
        again = Offering(Index.open(folder / "index"), folder / "uploads", ServeOptions())
        client.app.state.service.offering.close()  # type: ignore[attr-defined]
        (result,) = again.get().push([PushItem("1", "n", "", item["text"])])  # type: ignore[arg-type]
        again.close()
        assert result.outcome == "stored"

    def test_a_history_that_was_deleted_is_begun_anew(
        self, client: TestClient, folder: Path
    ) -> None:
        before = client.get("/v1/sync").json()
        client.get("/v1/sync/package", params={"mode": "slim"})
        sync = folder / "index" / "sync"
        while sync.exists():  # the slim index is in the making, and files come until it ends
            shutil.rmtree(sync, ignore_errors=True)

        after = client.get("/v1/sync").json()

        assert after["epoch"] != before["epoch"]
        assert client.get("/v1/sync/package").status_code == 200
        assert client.get("/v1/sync/package", params={"mode": "slim"}).status_code in (200, 202)

    def test_of_two_servers_of_one_folder_one_is_followed_and_both_are_searched(
        self, client: TestClient, folder: Path
    ) -> None:
        assert client.get("/v1/sync/package").status_code == 200
        with serve(folder) as second:
            problem(second.get("/v1/sync/package"), 409, "locked")
            assert second.get("/v1/search", params={"q": "lease"}).json()["hits"]
            added = second.put("/v1/files/a.md", content=b"Otters sleep.").json()

        assert added["report"]["added"] == 1
        assert client.get("/v1/search", params={"q": "otters"}).json()["hits"]
        assert client.get("/v1/sync").json()["version"] == 3

    def test_a_package_that_is_deleted_before_it_is_opened_is_made_again(
        self, client: TestClient, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        package, asked = Offer.package, []

        def delete_first(*given: Any, **options: Any) -> Any:
            path = package(*given, **options)
            if not asked:
                path.unlink()
            asked.append(path)
            return path

        monkeypatch.setattr(Offer, "package", delete_first)

        assert client.get("/v1/sync/package").status_code == 200
        assert len(asked) == 2

    def test_an_edge_does_not_wait_for_a_slim_index_to_be_made(
        self, client: TestClient, embedder: TinyEmbedder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        may_go_on = threading.Event()
        monkeypatch.setattr(embedder, "_before", lambda _: may_go_on.wait(20))

        answer = client.get("/v1/sync/package", params={"mode": "slim"})

        may_go_on.set()
        assert answer.status_code == 202
        assert answer.headers["Retry-After"] == "1"

    def test_however_many_edges_ask_searches_have_threads_of_their_own(
        self, client: TestClient, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        may_go_on = threading.Event()
        vectors = Offer.vectors

        def wait(*given: Any) -> Any:
            assert may_go_on.wait(20)
            return vectors(*given)

        monkeypatch.setattr(Offer, "vectors", wait)
        with ThreadPoolExecutor(20) as pool:
            asked = [
                pool.submit(client.post, "/v1/sync/vectors", json={"ids": [1]}) for _ in range(20)
            ]
            found = client.get("/v1/search", params={"q": "lease", "mode": "lexical"})
            chunk = client.get("/v1/chunks/1")
            may_go_on.set()
            assert {one.result(20).status_code for one in asked} == {200}

        assert (found.status_code, chunk.status_code) == (200, 200)


def test_a_file_that_nobody_reads_of_is_closed(tmp_path: Path) -> None:
    async def fail(_: Any) -> None:
        raise ConnectionError

    async def receive() -> Any:
        return {"type": "http.disconnect"}

    (tmp_path / "package").write_bytes(bytes(100))
    found = OpenFile.open(tmp_path / "package")
    answer = answer_with_file(found, Headers())

    with pytest.raises(BaseException):  # noqa: B017, PT011 - whichever group it is wrapped in
        asyncio.run(answer({"type": "http", "method": "GET"}, receive, fail))

    assert found.file.closed


def test_a_model_that_is_no_more_needed_is_let_go(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Other(TinyEmbedder):
        fingerprint = "8282" * 8

    def count() -> int:
        return sum(thread.name == "gossamer-shared" for thread in threading.enumerate())

    before = count()
    with serve(folder) as client:
        client.get("/v1/search", params={"q": "lease"})
        assert count() == before + 1
        for _ in range(2):
            shutil.rmtree(folder / "index")
            shutil.rmtree(folder / "files")
            use_tiny(monkeypatch, with_codes=True, embedder=Other())
            make_index(folder)
            assert client.get("/v1/search", params={"q": "lease"}).json()["hits"]
            client.post("/v1/texts", json={"texts": [{"id": "a", "text": "Otters."}]})
            assert count() == before + 1
    assert count() == before
