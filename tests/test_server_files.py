"""Files that clients put: where they go, what they may be called, what is left of them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from served import problem, serve
from starlette.testclient import TestClient



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

        with serve(folder):
            pass

        assert list(uploads.iterdir()) == []
