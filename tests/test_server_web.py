"""What a server gives to pages that search by themselves."""

import re
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from served import make_index, problem, serve, use_page
from tiny_embedder import TinyEmbedder, use_tiny

from gossamer.index import Index
from gossamer.server import routes_single, routes_web, single_files

ORIGIN = "https://pages.example"
TOKEN = "a-token-of-enough-length"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    use_tiny(monkeypatch, with_codes=True)
    make_index(tmp_path)
    return tmp_path


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    built = tmp_path / "built"
    (built / "parts").mkdir(parents=True)
    (built / "index.html").write_text("<!doctype html>", encoding="utf-8")
    (built / "page.js").write_text("export {}", encoding="utf-8")
    (built / "parts/gossamer.wasm").write_bytes(b"\0asm")
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    monkeypatch.setattr(routes_web, "page_folder", lambda: built)
    return built


class TestSingleFile:
    def test_it_is_the_file_that_export_writes(self, folder: Path) -> None:
        Index.open(folder / "index").export(folder / "one.gossamer")

        with serve(folder) as client:
            answer = client.get("/v1/sync/file")

        assert answer.status_code == 200
        assert answer.content == (folder / "one.gossamer").read_bytes()

    def test_it_comes_by_ranges_that_belong_together(self, folder: Path) -> None:
        with serve(folder) as client:
            whole = client.get("/v1/sync/file")
            tag = whole.headers["ETag"]
            part = client.get("/v1/sync/file", headers={"Range": "bytes=64-127", "If-Range": tag})
            other = client.get(
                "/v1/sync/file", headers={"Range": "bytes=64-127", "If-Range": '"other"'}
            )
            beyond = client.get("/v1/sync/file", headers={"Range": "bytes=99999999-"})

        assert (part.status_code, part.content) == (206, whole.content[64:128])
        assert part.headers["Content-Range"] == f"bytes 64-127/{len(whole.content)}"
        assert part.headers["Accept-Ranges"] == "bytes"
        assert (other.status_code, other.content) == (200, whole.content)
        problem(beyond, 416, "range_not_satisfiable")

    def test_a_new_version_has_another_tag_and_the_old_file_goes(self, folder: Path) -> None:
        with serve(folder) as client:
            first = client.get("/v1/sync/file")
            client.post("/v1/texts", json={"texts": [{"id": "kelp", "text": "Kelp is no plant."}]})
            second = client.get("/v1/sync/file")
            third = client.get("/v1/sync/file")

        assert first.headers["ETag"] != second.headers["ETag"] == third.headers["ETag"]
        assert len(list((folder / "index/sync").glob("single-*.gossamer"))) == 1
        (folder / "one.gossamer").write_bytes(second.content)
        again = Index.import_file(folder / "one.gossamer", folder / "again")
        assert again.search("kelp plant", 1).hits[0].source == "kelp"

    def test_whoever_asks_while_it_is_made_comes_again(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with serve(folder) as client:
            monkeypatch.setattr(client.app.state.service.single_files, "_patience_s", 0)  # type: ignore[attr-defined]
            answers = [client.get("/v1/sync/file")]
            while answers[-1].status_code == 202:
                answers.append(client.get("/v1/sync/file"))

        assert answers[-1].status_code == 200
        for waiting in answers[:-1]:
            assert waiting.headers["Retry-After"] == "1"
            assert set(waiting.json()) == {"done", "total"}

    def test_whoever_reads_the_file_goes_on_with_it_until_there_is_a_new_one(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        going = threading.Event()
        write = single_files.write_single_file

        def later(*given: Any, **named: Any) -> Any:
            going.wait(10)
            return write(*given, **named)

        with serve(folder) as client:
            first = client.get("/v1/sync/file")
            files = client.app.state.service.single_files  # type: ignore[attr-defined]
            monkeypatch.setattr(files, "_patience_s", 0)
            monkeypatch.setattr(single_files, "write_single_file", later)
            client.post("/v1/texts", json={"texts": [{"id": "kelp", "text": "Kelp is no plant."}]})
            part = {"Range": "bytes=64-127", "If-Range": first.headers["ETag"]}
            waiting = client.get("/v1/sync/file")
            reading = client.get("/v1/sync/file", headers=part)
            going.set()
            while client.get("/v1/sync/file").status_code == 202:
                pass
            after = client.get("/v1/sync/file", headers=part)

        assert waiting.status_code == 202
        assert (reading.status_code, reading.content) == (206, first.content[64:128])
        assert (after.status_code, after.headers["ETag"] != first.headers["ETag"]) == (200, True)

    def test_a_file_that_lacks_texts_is_given_while_it_is_made_anew(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(single_files, "_RETRY_S", 0)
        gone = next((folder / "files").iterdir())
        text = gone.read_bytes()
        gone.unlink()

        with serve(folder) as client:
            client.get("/v1/sync/file")
            files = client.app.state.service.single_files  # type: ignore[attr-defined]
            monkeypatch.setattr(files, "_patience_s", 0)
            gone.write_bytes(text)
            answers = [client.get("/v1/sync/file")]
            while files._job is not None:
                answers.append(client.get("/v1/sync/file"))
            answers.append(client.get("/v1/sync/file"))

        assert {answer.status_code for answer in answers} == {200}
        assert len(answers[-1].content) > len(answers[0].content)

    def test_its_size_is_told_without_it(self, folder: Path) -> None:
        with serve(folder) as client:
            whole = client.get("/v1/sync/file")
            head = client.head("/v1/sync/file")

        assert head.status_code == 200
        assert head.headers["Content-Length"] == str(len(whole.content))
        assert head.headers["ETag"] == whole.headers["ETag"]

    def test_what_fails_is_said_and_tried_again(self, folder: Path) -> None:
        files = {path: path.read_bytes() for path in (folder / "files").iterdir()}
        for path in files:
            path.unlink()

        with serve(folder) as client:
            problem(client.get("/v1/sync/file"), 409, "wrong_state")
            for path, data in files.items():
                path.write_bytes(data)
            answer = client.get("/v1/sync/file")

        assert answer.status_code == 200

    def test_it_needs_the_token(self, folder: Path) -> None:
        with serve(folder, token=TOKEN) as client:
            problem(client.get("/v1/sync/file"), 401, "unauthorized")
            problem(client.get("/v1/model"), 401, "unauthorized")
            problem(client.post("/v1/sync/question", json={"question": "a"}), 401, "unauthorized")

    def test_pages_elsewhere_that_are_allowed_see_what_ranges_say(self, folder: Path) -> None:
        with serve(folder, allow_origins=(ORIGIN,)) as client:
            asked = client.options(
                "/v1/sync/file",
                headers={"Origin": ORIGIN, "Access-Control-Request-Headers": "Range, If-Range"},
            )
            part = client.get("/v1/sync/file", headers={"Origin": ORIGIN, "Range": "bytes=0-63"})
            other = client.get("/v1/sync/file", headers={"Origin": "https://other.example"})

        assert {"Range", "If-Range"} <= set(
            asked.headers["Access-Control-Allow-Headers"].split(", ")
        )
        assert part.headers["Access-Control-Allow-Origin"] == ORIGIN
        assert {"Accept-Ranges", "Content-Range", "ETag"} <= set(
            part.headers["Access-Control-Expose-Headers"].split(", ")
        )
        problem(other, 403, "forbidden_origin")


class TestQuestion:
    def test_a_question_is_embedded_as_the_model_does(self, folder: Path) -> None:
        with serve(folder) as client:
            uuid = client.get("/v1/sync").json()["index"]
            answer = client.post("/v1/sync/question", json={"question": "kelp", "index": uuid})

        expected = TinyEmbedder().embed_question("kelp").astype("<f2")
        assert answer.headers["Content-Type"] == "application/octet-stream"
        assert np.array_equal(np.frombuffer(answer.content, "<f2"), expected)

    def test_another_index_and_a_long_question_are_refused(self, folder: Path) -> None:
        with serve(folder, most_question=10) as client:
            other = client.post("/v1/sync/question", json={"question": "kelp", "index": "other"})
            epoch = client.post("/v1/sync/question", json={"question": "kelp", "epoch": "other"})
            long = client.post("/v1/sync/question", json={"question": "kelp" * 9})
            nothing = client.post("/v1/sync/question", json={})

        problem(other, 409, "wrong_state")
        problem(epoch, 409, "wrong_state")
        problem(long, 400, "invalid_argument")
        problem(nothing, 422, "invalid_request")


class TestModel:
    def test_a_model_that_is_no_file_is_said_to_be_none(self, folder: Path) -> None:
        with serve(folder) as client:
            said = problem(client.get("/v1/model"), 404, "unknown_id")

        assert "tiny" in said

    def test_a_model_file_comes_whole_and_by_ranges(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        Index.open(folder / "index").export(folder / "any.gossamer")
        monkeypatch.setattr(routes_single, "model_file_of", lambda _: folder / "any.gossamer")

        with serve(folder) as client:
            whole = client.get("/v1/model")
            part = client.get("/v1/model", headers={"Range": "bytes=8-15"})

        assert whole.content == (folder / "any.gossamer").read_bytes()
        assert (part.status_code, part.content) == (206, whole.content[8:16])
        assert whole.headers["ETag"] == part.headers["ETag"]


class TestPage:
    @pytest.mark.usefixtures("page")
    def test_its_files_come_without_a_token_and_with_their_types(self, folder: Path) -> None:
        with serve(folder, token=TOKEN) as client:
            first = client.get("/web/")
            script = client.get("/web/page.js")
            wasm = client.get("/web/parts/gossamer.wasm")
            led = client.get("/web", follow_redirects=False)

        assert first.headers["Content-Type"] == "text/html; charset=utf-8"
        assert script.headers["Content-Type"].startswith("text/javascript")
        assert (wasm.headers["Content-Type"], wasm.content) == ("application/wasm", b"\0asm")
        assert (led.status_code, led.headers["Location"]) == (308, "/web/")

    @pytest.mark.usefixtures("page")
    def test_it_may_compile_the_engine_and_nothing_from_elsewhere(self, folder: Path) -> None:
        with serve(folder) as client:
            policy = client.get("/web/").headers["Content-Security-Policy"]

        assert "script-src 'self' 'wasm-unsafe-eval';" in policy
        assert "worker-src 'self'" in policy
        assert "connect-src 'self'" in policy
        assert "http" not in policy

    def test_its_files_can_be_asked_for_by_head(self, folder: Path, page: Path) -> None:
        with serve(folder) as client:
            head = client.head("/web/page.js")

        assert head.status_code == 200
        assert head.headers["Content-Length"] == str((page / "page.js").stat().st_size)

    def test_a_browser_that_has_the_newest_gets_nothing(self, folder: Path, page: Path) -> None:
        with serve(folder) as client:
            tag = client.get("/web/page.js").headers["ETag"]
            again = client.get("/web/page.js", headers={"If-None-Match": tag})
            (page / "page.js").write_text("export const one = 1", encoding="utf-8")
            newer = client.get("/web/page.js", headers={"If-None-Match": tag})

        assert (again.status_code, again.content) == (304, b"")
        assert newer.status_code == 200

    @pytest.mark.parametrize(
        "name",
        [
            *("../secret.txt", "..%2Fsecret.txt", "%2e%2e/secret.txt", "%2e%2e%2fsecret.txt"),
            *(".hidden", "none.js", "parts", "a%00.js", "index.html.bak"),
        ],
    )
    @pytest.mark.usefixtures("page")
    def test_nothing_else_is_given(self, folder: Path, name: str) -> None:
        with serve(folder) as client:
            answer = client.get(f"/web/{name}")

        assert answer.status_code == 404
        assert b"secret" not in answer.content or b"no file" in answer.content

    def test_a_page_that_was_not_built_says_how_to(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(routes_web, "page_folder", lambda: None)

        with serve(folder) as client:
            said = {problem(client.get(path), 404, "unknown_id") for path in ("/", "/web/")}

        assert "make web" in said.pop()
        assert not said

    def test_the_page_that_the_server_answers_leads_to_the_one_that_searches_by_itself(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        use_page(monkeypatch)
        with serve(folder) as client:
            answered, by_itself = client.get("/"), client.get("/web/")

        assert 'href="web/"' in answered.text
        assert metas_of(answered.text) == {"server": "."}
        assert metas_of(by_itself.text) == {"index": "../v1/sync/file", "server": ".."}

    def test_the_page_knows_that_a_server_takes_no_changes(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        use_page(monkeypatch)
        with serve(folder, read_only=True) as client:
            assert metas_of(client.get("/").text)["read-only"] == "yes"

    def test_what_stands_beside_the_page_is_found_from_both_its_places(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        use_page(monkeypatch)
        with serve(folder) as client:
            text = client.get("/").text
            beside = re.findall(r'(?:src|href)="([^"]+\.(?:css|js|svg))"', text)
            answers = [client.get(f"/{name}") for name in beside if not name.endswith(".js")]

        assert "web/page.js" in beside
        assert len(answers) >= 7
        assert all(answer.status_code == 200 for answer in answers)

    def test_a_browser_that_has_the_newest_page_of_the_server_gets_nothing(
        self, folder: Path, page: Path
    ) -> None:
        with serve(folder) as client:
            tag = client.get("/").headers["ETag"]
            again = client.get("/", headers={"If-None-Match": tag})
            (page / "index.html").write_text("<!doctype html><p>", encoding="utf-8")
            newer = client.get("/", headers={"If-None-Match": tag})

        assert (again.status_code, again.content) == (304, b"")
        assert newer.status_code == 200


def metas_of(page: str) -> dict[str, str]:
    """What the page was told, by name."""
    return dict(re.findall(r'name="gossamer-([\w-]+)" content="([^"]+)"', page))
