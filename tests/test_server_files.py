"""Files that clients put: where they go, what they may be called, what is left of them."""

import asyncio
import errno
import io
import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from served import problem, serve
from starlette.testclient import TestClient

from gossamer.store import begin


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

    def test_what_a_killed_server_had_received_in_part_is_cleared_away_a_day_later(
        self, folder: Path
    ) -> None:
        uploads = folder / "index" / "uploads"
        uploads.mkdir()
        for name, age_s in ((".put-old.part", 90_000), (".put-new.part", 60)):
            (uploads / name).write_bytes(b"half")
            at = time.time() - age_s
            os.utime(uploads / name, (at, at))

        with serve(folder, read_only=True):
            assert len(list(uploads.iterdir())) == 2
        # Another server may be receiving the newer one.
        with serve(folder):
            assert [path.name for path in uploads.iterdir()] == [".put-new.part"]

    def test_a_folder_that_is_removed_does_not_come_back(
        self, client: TestClient, folder: Path
    ) -> None:
        uploads = folder / "index" / "uploads"
        for name in ("notes/a.md", "notes/deep/b.md", "c.md"):
            client.put(f"/v1/files/{name}", content=b"Otters sleep.")

        removed = client.post("/v1/remove", json={"names": [str(uploads / "notes")]}).json()
        report = client.put("/v1/files/d.md", content=b"Herons fish.").json()["report"]

        assert (removed["removed"], report["added"]) == (2, 1)
        assert sorted(path.name for path in uploads.rglob("*")) == ["c.md", "d.md"]

        client.post("/v1/remove", json={"names": [str(uploads)]})
        assert list(uploads.iterdir()) == []

    def test_a_removal_touches_no_other_files(self, client: TestClient, folder: Path) -> None:
        client.put("/v1/files/a.md", content=b"Otters sleep.")

        client.post("/v1/remove", json={"names": [str(folder)]})

        assert len(list((folder / "files").iterdir())) == 2
        assert list((folder / "index" / "uploads").iterdir()) == []
        assert client.get("/health").status_code == 200

    @pytest.mark.parametrize("name", ["node_modules/x.md", "__pycache__/b.txt"])
    def test_whatever_is_put_is_indexed(self, client: TestClient, name: str) -> None:
        answer = client.put(f"/v1/files/{name}", content=b"Otters sleep in kelp.").json()

        assert (answer["note"], answer["report"]["added"]) == ("", 1)

    def test_a_file_that_is_not_indexed_is_said_to_be_kept(self, client: TestClient) -> None:
        answer = client.put("/v1/files/a.jpg", content=b"\xff\xd8\xff\xe0" + bytes(99)).json()

        assert answer["note"].startswith("it is kept, but not indexed: ")

    def test_a_full_disk_is_503_and_leaves_nothing(
        self, client: TestClient, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        class Full(io.BufferedWriter):
            def flush(self) -> None:
                raise OSError(errno.ENOSPC, "No space left on device")

            def close(self) -> None:
                try:
                    self.flush()
                finally:
                    self.raw.close()

        def open_full(handle: int, mode: str, buffering: int) -> Full:
            return Full(io.FileIO(handle, mode), buffering)

        monkeypatch.setattr("gossamer.sync.uploads.os.fdopen", open_full)

        answer = client.put("/v1/files/a.txt", content=b"x" * 100)

        assert "disk is full" in problem(answer, 503, "unwritable")
        assert list((folder / "index" / "uploads").iterdir()) == []

    def test_a_file_that_is_refused_leaves_what_was_there(self, folder: Path) -> None:
        uploads = folder / "index" / "uploads"
        with serve(folder, lock_wait_s=0.0) as client:
            client.put("/v1/files/a.txt", content=b"Otters sleep.")
            with begin(folder / "index", "another"):
                locked = client.put("/v1/files/a.txt", content=b"Herons fish.")

        problem(locked, 409, "locked")
        assert [path.read_bytes() for path in uploads.iterdir()] == [b"Otters sleep."]

    def test_a_file_that_comes_when_too_much_waits_leaves_nothing(self, folder: Path) -> None:
        may_go_on = threading.Event()
        with serve(folder, changes_waiting=0) as client, ThreadPoolExecutor(1) as pool:
            service = client.app.state.service  # type: ignore[attr-defined]
            portal = client.portal
            assert portal is not None
            first = pool.submit(
                portal.call, service.changes.run, lambda _: may_go_on.wait(20) and None
            )
            for _ in range(100_000):
                if service.changes.waiting:
                    break
                threading.Event().wait(0.0001)

            for path in ("/v1/files/a.txt", "/v1/sync/files/a.txt?op=1"):
                problem(client.put(path, content=b"Otters sleep."), 503, "busy")
            may_go_on.set()
            first.result(10)

        assert list((folder / "index" / "uploads").iterdir()) == []

    def test_a_client_that_leaves_in_mid_file_is_no_fault(
        self, folder: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        messages = [
            {"type": "http.request", "body": b"half", "more_body": True},
            {"type": "http.disconnect"},
        ]
        scope = {
            "type": "http",
            "method": "PUT",
            "path": "/v1/files/a.txt",
            "raw_path": b"/v1/files/a.txt",
            "query_string": b"",
            "headers": [(b"host", b"localhost")],
            "server": ("localhost", 80),
        }
        sent: list[Any] = []

        async def receive() -> Any:
            return messages.pop(0)

        async def send(message: Any) -> None:
            sent.append(message)

        with serve(folder) as client:
            asyncio.run(client.app(scope, receive, send))  # type: ignore[arg-type]

        assert sent[0]["status"] == 499
        assert "Traceback" not in caplog.text
        assert list((folder / "index" / "uploads").iterdir()) == []


@pytest.mark.parametrize(
    "id", ["{up}/../../secret.txt", "../../secret.txt", "{up}/./a.txt", "{out}"]
)
def test_no_removal_leads_out_of_the_uploads(folder: Path, client: TestClient, id: str) -> None:
    client.put("/v1/files/a.txt", content=b"uploaded")
    secret = folder / "secret.txt"
    secret.write_text("top secret", encoding="utf-8")
    name = id.format(up=folder / "index" / "uploads", out=secret)

    item = {"op": "x1", "id": name, "base": "", "is_file": True}
    answer = client.post("/v1/sync/push", json={"items": [item]})

    assert answer.json()["results"][0]["outcome"] == "refused"
    assert secret.read_text(encoding="utf-8") == "top secret"
    assert (folder / "index/uploads/a.txt").exists()
    assert client.get("/v1/conflicts").json() == {"conflicts": []}


def test_removing_a_text_never_deletes_files_of_the_same_path(
    folder: Path, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    client.put("/v1/files/a.txt", content=b"uploaded")
    client.post("/v1/texts", json={"texts": [{"id": "index", "text": "a text"}]})

    report = client.post("/v1/remove", json={"names": ["index"]}).json()

    assert report["removed"] == 1
    assert (folder / "index/uploads/a.txt").exists()
