"""Who may ask a server, from where, and what nobody gets it to do."""

import os
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from served import make_index, serve, use_page
from starlette.testclient import TestClient
from tiny_embedder import use_tiny

from gossamer.cli import cli
from gossamer.errors import InvalidArgument
from gossamer.server import guesses
from gossamer.server.app import create_app
from gossamer.server.options import ServeOptions, check_bind, is_loopback, make_token
from gossamer.sync.uploads import check_name

TOKEN = "0123456789abcdef-token"
PUBLIC = ("/", "/health", "/web/base.css", "/docs", "/openapi.json")
CHANGES = (
    ("POST", "/v1/texts"),
    ("POST", "/v1/paths"),
    ("POST", "/v1/remove"),
    ("PUT", "/v1/files/a.txt"),
    ("POST", "/v1/sync/push"),
    ("PUT", "/v1/sync/files/a.txt?op=1"),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """An index for all tests: none of them gets anything changed."""
    folder = tmp_path_factory.mktemp("served")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(guesses, "_LONGEST_S", 0.0)  # many wrong tokens come from one address
        use_tiny(patch, with_codes=True)
        use_page(patch)
        make_index(folder)
        yield folder


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[TestClient]:
    with serve(folder) as client:
        yield client


@pytest.fixture(scope="module")
def guarded(folder: Path) -> Iterator[TestClient]:
    with serve(folder, token=TOKEN) as client:
        yield client


def reason_of(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]


class TestToken:
    @pytest.mark.parametrize(
        "header",
        [
            None,
            "",
            "Bearer",
            "Bearer ",
            f"Bearer {TOKEN}x",
            f"Bearer {TOKEN[:-1]}",
            f"Basic {TOKEN}",
            TOKEN,
            "Bearer \xff\xfe",
        ],
    )
    def test_without_the_token_nothing_is_answered(
        self, guarded: TestClient, header: str | None
    ) -> None:
        headers = {} if header is None else {"Authorization": header.encode("latin-1")}

        for path in ("/v1/search?q=lease", "/v1/status", "/v1/sync", "/metrics", "/nothing"):
            answer = guarded.get(path, headers=headers)
            assert reason_of(answer) == (401, "unauthorized")
            assert answer.headers["WWW-Authenticate"] == "Bearer"
        for method, path in CHANGES:
            assert guarded.request(method, path, headers=headers).status_code == 401

    def test_with_the_token_everything_is(self, guarded: TestClient) -> None:
        answer = guarded.get("/v1/status", headers={"Authorization": f"bearer {TOKEN}"})

        assert answer.status_code == 200

    def test_the_page_and_health_need_none(self, guarded: TestClient) -> None:
        for path in PUBLIC:
            assert guarded.get(path).status_code == 200

    def test_no_spelling_of_a_path_gets_around_it(self, guarded: TestClient) -> None:
        for path in (
            "/web/../v1/status",
            "/web/%2e%2e/v1/status",
            "//v1/status",
            "/v1//status",
            "/%76%31/status",
            "/health/../v1/status",
        ):
            assert guarded.get(path).status_code in (401, 404)

    def test_what_others_can_reach_needs_a_token(self, folder: Path) -> None:
        for host in ("0.0.0.0", "::", "192.0.2.7"):
            with pytest.raises(InvalidArgument, match="token is needed"):
                create_app(folder / "index", ServeOptions(host=host))
            done = CliRunner().invoke(
                cli, ["serve", str(folder / "index"), "--host", host], env={"GOSSAMER_TOKEN": ""}
            )
            assert done.exit_code == 2
            assert "token is needed" in done.stderr

    @pytest.mark.parametrize(
        "token", ["short", "fifteen-letters", "with a space in it", "ümläut" * 5]
    )
    def test_a_token_that_can_be_guessed_or_not_be_sent_is_refused(self, token: str) -> None:
        with pytest.raises(InvalidArgument, match="at least 16"):
            check_bind(ServeOptions(token=token))

    def test_a_token_that_is_made_is_good_and_another_one_each_time(self) -> None:
        tokens = {make_token() for _ in range(50)}

        assert len(tokens) == 50
        for token in tokens:
            check_bind(ServeOptions(host="0.0.0.0", token=token))

    def test_only_this_machine_reaches_loopback(self) -> None:
        assert all(map(is_loopback, ("127.0.0.1", "127.8.9.1", "localhost", "::1")))
        assert not any(map(is_loopback, ("0.0.0.0", "::", "192.0.2.7")))
        with pytest.raises(InvalidArgument, match="no address"):
            is_loopback("no such name.invalid")


class TestHost:
    @pytest.mark.parametrize(
        "host",
        [
            "localhost",
            "LOCALHOST:1",
            "127.0.0.1:8321",
            "[::1]",
            "[::1]:8321",
            "[0:0:0:0:0:0:0:1]",
            "localhost.",
        ],
    )
    def test_its_own_names_are_answered(self, client: TestClient, host: str) -> None:
        assert client.get("/health", headers={"Host": host}).status_code == 200

    @pytest.mark.parametrize(
        "host",
        [
            "",
            "evil.example",
            "localhost.evil.example",
            "evil.example:8321",
            "127.0.0.1.evil.example",
            "192.0.2.7",
            "localhost@evil.example",
            "localhost:8321:1",
            "[::2]",
            "localhost evil",
        ],
    )
    def test_other_names_are_not(self, client: TestClient, host: str) -> None:
        for path in ("/", "/health", "/v1/search?q=lease"):
            answer = client.get(path, headers={"Host": host})
            assert reason_of(answer) == (403, "forbidden_host")

    def test_names_can_be_allowed(self, folder: Path) -> None:
        with serve(folder, allow_hosts=("search.example",)) as client:
            assert client.get("/health", headers={"Host": "Search.Example"}).status_code == 200
            assert client.get("/health", headers={"Host": "a.example"}).status_code == 403

    def test_the_name_it_is_bound_to_is_its_own(self, folder: Path) -> None:
        with serve(folder, host="192.0.2.7", token=TOKEN) as client:
            assert client.get("/health", headers={"Host": "192.0.2.7:80"}).status_code == 200

    def test_bound_to_all_addresses_it_answers_to_the_one_that_was_reached(
        self, folder: Path
    ) -> None:
        app = create_app(folder / "index", ServeOptions(host="0.0.0.0", token=TOKEN))
        with TestClient(app, base_url="http://192.0.2.7:8321") as client:
            assert client.get("/health").status_code == 200
            assert client.get("/health", headers={"Host": "192.0.2.8"}).status_code == 403
            assert client.get("/health", headers={"Host": "evil.example"}).status_code == 403

    @pytest.mark.parametrize("name", ["a b", "a.example:80", "http://a.example", ""])
    def test_what_is_no_name_cannot_be_allowed(self, folder: Path, name: str) -> None:
        with pytest.raises(InvalidArgument, match="host to allow"):
            create_app(folder / "index", ServeOptions(allow_hosts=(name,)))


class TestOrigin:
    @pytest.mark.parametrize(
        "origin",
        [
            "https://evil.example",
            "null",
            "",
            "http://localhost",
            "http://localhost:8322",
            "http://localhost:8321.evil.example",
            "http://localhost:8321/path",
            "file://localhost:8321",
            "http://[::1",
        ],
    )
    def test_other_pages_may_not_ask(self, client: TestClient, origin: str) -> None:
        for method, path in (("GET", "/v1/status"), *CHANGES):
            answer = client.request(method, path, headers={"Origin": origin})
            assert reason_of(answer) == (403, "forbidden_origin")
            assert "access-control-allow-origin" not in answer.headers

    def test_its_own_page_may(self, client: TestClient) -> None:
        headers = {"Origin": "http://localhost:8321"}

        assert client.get("/v1/status", headers=headers).status_code == 200

    def test_behind_a_proxy_its_own_page_has_another_scheme(self, folder: Path) -> None:
        with serve(folder, allow_hosts=("search.example",)) as client:
            headers = {"Host": "search.example", "Origin": "https://search.example"}
            assert client.get("/v1/status", headers=headers).status_code == 200

    def test_a_page_that_is_allowed_gets_answers_that_it_may_read(self, folder: Path) -> None:
        with serve(folder, token=TOKEN, allow_origins=("https://a.example",)) as client:
            headers = {"Origin": "https://a.example"}
            asked = client.options(
                "/v1/search", headers={**headers, "Access-Control-Request-Method": "POST"}
            )
            refused = client.get("/v1/status", headers=headers)
            answered = client.get(
                "/v1/status", headers={**headers, "Authorization": f"Bearer {TOKEN}"}
            )
            other = client.get("/v1/status", headers={"Origin": "https://b.example"})

        assert asked.status_code == 204
        assert "Authorization" in asked.headers["Access-Control-Allow-Headers"]
        for answer, status in ((refused, 401), (answered, 200), (asked, 204)):
            assert answer.status_code == status
            assert answer.headers["Access-Control-Allow-Origin"] == "https://a.example"
            assert "Origin" in answer.headers["Vary"]
        assert other.status_code == 403

    @pytest.mark.parametrize(
        "allowed", ["https://A.example", "https://a.example:443", "HTTPS://a.example"]
    )
    def test_an_origin_may_be_spelled_as_people_do(self, folder: Path, allowed: str) -> None:
        with serve(folder, allow_origins=(allowed,)) as client:
            answer = client.get("/v1/status", headers={"Origin": "https://a.example"})

        assert answer.headers["Access-Control-Allow-Origin"] == "https://a.example"

    @pytest.mark.parametrize("origin", ["a.example", "*", "https://a.example/", "ftp://a.example"])
    def test_what_is_no_origin_cannot_be_allowed(self, folder: Path, origin: str) -> None:
        with pytest.raises(InvalidArgument, match="an origin is"):
            create_app(folder / "index", ServeOptions(allow_origins=(origin,)))


class TestReadOnly:
    def test_every_change_is_refused_and_asking_writes_nothing(self, folder: Path) -> None:
        before = stamps(folder / "index")
        with serve(folder, read_only=True) as client:
            for method, path in CHANGES:
                answer = client.request(method, path, content=b"nonsense")
                assert reason_of(answer) == (403, "read_only")
            assert client.get("/v1/search", params={"q": "lease"}).json()["hits"]
            assert client.get("/v1/conflicts").json() == {"conflicts": []}
            assert client.get("/v1/conflicts/1").status_code == 404
            assert client.get("/v1/status").status_code == 200

        assert stamps(folder / "index") == before

    def test_edges_may_follow_and_only_their_history_is_written(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        use_tiny(monkeypatch, with_codes=True)
        make_index(tmp_path)
        before = stamps(tmp_path / "index")
        with serve(tmp_path, read_only=True) as client:
            assert client.get("/v1/sync/package").status_code == 200
            assert client.post("/v1/sync/vectors", json={"ids": [1]}).status_code == 200

        after = stamps(tmp_path / "index")
        new = {path.relative_to(tmp_path / "index").parts[0] for path in after.keys() - before}
        assert new == {"sync"}
        assert {path: after[path] for path in before} == before

    def test_no_route_that_changes_was_forgotten(self, client: TestClient) -> None:
        schema = client.get("/openapi.json").json()
        sync = {"/v1/sync/vectors", "/v1/sync/chunks", "/v1/sync/question"}
        asking = {"/v1/search", "/v1/similar", *sync}

        changing = {
            (method.upper(), path)
            for path, methods in schema["paths"].items()
            for method in methods
            if method != "get" and path not in asking
        }

        known = {(method, path.partition("?")[0]) for method, path in CHANGES}
        assert changing == {(method, path.replace("a.txt", "{name}")) for method, path in known}


def stamps(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


class TestPaths:
    def test_paths_outside_the_roots_are_refused(self, client: TestClient, folder: Path) -> None:
        (folder / "files-beside").mkdir()
        for path in (
            "/etc/passwd",
            "/",
            str(folder),
            str(folder / "files-beside"),
            str(folder / "files" / ".." / "files-beside"),
            str(folder / "index"),
            "relative.txt",
            "~/.ssh",
            "a\0b",
            "x" * 5000,
        ):
            answer = client.post("/v1/paths", json={"paths": [path]})
            assert reason_of(answer) == (403, "forbidden"), path

    @pytest.mark.skipif(sys.platform == "win32", reason="links need a permission there")
    def test_a_link_that_leads_out_is_outside(self, client: TestClient, folder: Path) -> None:
        (folder / "secret").mkdir()
        (folder / "secret" / "key.txt").write_text("hush", encoding="utf-8")
        os.symlink(folder / "secret", folder / "files" / "link")

        answer = client.post("/v1/paths", json={"paths": [str(folder / "files" / "link")]})

        assert reason_of(answer) == (403, "forbidden")

    @given(name=st.text(st.characters(codec="utf-8"), max_size=40))
    def test_a_name_that_is_taken_stays_below_the_folder(self, name: str) -> None:
        try:
            parts = check_name(name)
        except InvalidArgument:
            return
        joined = os.path.normpath(os.path.join("/uploads", *parts))
        assert joined == "/uploads/" + unicodedata.normalize("NFC", name)


def test_every_answer_tells_browsers_to_be_careful(client: TestClient) -> None:
    for path in ("/", "/v1/status", "/nothing", "/health"):
        headers = client.get(path).headers
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["X-Frame-Options"] == "DENY"
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert "server" not in headers
    assert client.get("/v1/status").headers["Cache-Control"] == "no-store"
