"""Routes for edges."""

from pathlib import Path
from typing import Any

import numpy as np
from served import problem
from starlette.testclient import TestClient
from tiny_embedder import TinyEmbedder

from gossamer.sync.package import Package


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
