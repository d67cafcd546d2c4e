"""Somebody between server and edge: what the server did not say to this request is not used."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from offer_wire import Reply, as_json, contents
from served import make_index, serve
from starlette.testclient import TestClient
from tiny_embedder import DIM, use_tiny

from gossamer.cli import cli
from gossamer.errors import GossamerError, TooLarge, UnknownId, Unreachable, WrongState
from gossamer.index import Index
from gossamer.store.folder import read_manifest
from gossamer.sync import remote_chunks
from gossamer.sync.client import Client
from gossamer.sync.follow import Edge
from gossamer.sync.following import base_of
from gossamer.sync.outbox import count_waiting
from gossamer.sync.records import Base, Mode, PushItem
from gossamer.sync.remote_chunks import ServerChunks, Speeds
from gossamer.sync.send import Outgoing, push
from gossamer.sync.signing import NONCE, SIGNATURE, Answered, Asked, is_nonce, is_signed, sign
from gossamer.web import Answer

URL = "http://localhost:8321"
TOKEN = "a-token-that-nobody-guesses"
UNSIGNED = "not signed with the token"
Calls = Mapping[str, Callable[[Client], object]]


class Between:
    """Carries requests to a real server. It can change all of them, and knows no token."""

    def __init__(self, server: TestClient) -> None:
        self.server = server
        self.nonces: list[str] = []
        self.base = ""  # a path that a proxy takes away
        self.change_body: Callable[[bytes | None], bytes | None] = lambda body: body
        self.change_target: Callable[[str], str] = lambda target: target
        self.change: Callable[[str, Reply], Reply] = lambda _, reply: reply

    @contextmanager
    def send(
        self,
        method: str,
        target: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Iterator[Answer]:
        sent = {"Authorization": f"Bearer {TOKEN}", **(headers or {})}
        self.nonces.append(sent.get(NONCE, ""))
        asked = self.change_target(target.removeprefix(self.base))
        found = self.server.request(method, asked, content=self.change_body(body), headers=sent)
        reply = Reply(found.status_code, found.content)
        reply.headers = dict(found.headers)
        yield Answer(self.change(target, reply), float("inf"))

    def close(self) -> None:
        pass


@pytest.fixture(scope="module", autouse=True)
def _tiny() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        use_tiny(monkeypatch, with_codes=True)
        yield


@pytest.fixture
def server(tmp_path: Path) -> Iterator[TestClient]:
    make_index(tmp_path, model="tiny")
    with serve(tmp_path, token=TOKEN) as client:
        yield client


@pytest.fixture
def between(server: TestClient, monkeypatch: pytest.MonkeyPatch) -> Iterator[Between]:
    wire = Between(server)
    monkeypatch.setattr("gossamer.sync.client.connect", lambda *_: wire)
    remote_chunks._known.clear()
    yield wire
    remote_chunks._known.clear()


@pytest.fixture
def client(between: Between) -> Client:
    return Client(URL, TOKEN)


@pytest.fixture
def edge(between: Between, tmp_path: Path) -> Index:
    return Index.follow(URL, tmp_path / "edge", token=TOKEN)


def base(edge: Index) -> Base:
    found = base_of(read_manifest(edge.folder))
    assert found is not None
    return found


def fetch(client: Client, base: Base | None = None, **headers: str) -> tuple[int, bytes]:
    """Ask for a package; its status and content."""
    with client.package("codes", "kept", base, headers) as (answer, said):
        return answer.status, said or answer.read_whole(1 << 30)


def put(server: TestClient, id: str = "new") -> None:
    """Change the index of the server."""
    body = {"items": [{"op": id, "id": id, "text": {"id": id, "text": "An otter swims."}}]}
    said = server.post("/v1/sync/push", json=body, headers={"Authorization": f"Bearer {TOKEN}"})
    assert said.status_code == 200, said.text


CALLS: Calls = {
    "info": Client.info,
    "plan": lambda client: client.plan(Mode("codes"), "kept", None),
    "package": fetch,
    "vectors": lambda client: client.vectors(np.array([1, 2]), DIM),
    "chunks": lambda client: client.chunks([1, 2]),
    "context": lambda client: client.context(1, 10),
    "push": lambda client: client.push([PushItem("op", "a", text={"id": "a", "text": "Ä otter"})]),
    "push_file": lambda client: client.push_file(PushItem("op2", "ü b.md", file=b"# Otters\n\nx")),
    "conflicts": Client.conflicts,
}


# What is signed


@pytest.mark.parametrize("name", CALLS)
def test_every_answer_is_signed_and_one_that_is_not_is_refused(
    between: Between, client: Client, name: str
):
    CALLS[name](client)
    between.change = lambda _, reply: without_signature(reply)

    with pytest.raises(Unreachable, match=UNSIGNED):
        CALLS[name](client)


def without_signature(reply: Reply) -> Reply:
    del reply.headers[SIGNATURE.lower()]
    return reply


def test_the_parts_of_a_package_and_its_end_are_signed(client: Client, edge: Index):
    _, whole = fetch(client)
    tag = f'"{whole[-32:].hex()}"'

    rest = fetch(client, None, Range="bytes=100-", **{"If-Range": tag})
    beyond = fetch(client, None, Range=f"bytes={len(whole)}-", **{"If-Range": tag})
    current = fetch(client, base(edge))

    assert rest == (206, whole[100:])
    assert (beyond[0], current) == (416, (204, b""))


def test_an_error_that_is_signed_is_raised_by_its_name(client: Client):
    with pytest.raises(UnknownId, match="no conflict 7"):
        client.conflict(7)


def test_a_body_that_is_refused_unread_is_refused_by_a_signed_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    make_index(tmp_path, model="tiny")
    with serve(tmp_path, token=TOKEN, file_bytes=10) as server:
        wire = Between(server)
        monkeypatch.setattr("gossamer.sync.client.connect", lambda *_: wire)

        with pytest.raises(TooLarge, match="may hold 10 bytes"):
            Client(URL, TOKEN).push_file(PushItem("op", "a.md", file=b"# Otters and more"))


def test_behind_a_proxy_that_takes_a_path_away_signatures_fit(between: Between):
    between.base = "/gossamer"

    assert Client(f"{URL}/gossamer", TOKEN).info()["protocol"] == 1


def test_without_a_token_nothing_is_signed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    make_index(tmp_path, model="tiny")
    with serve(tmp_path) as server:
        wire = Between(server)
        monkeypatch.setattr("gossamer.sync.client.connect", lambda *_: wire)

        Client(URL).info()
        with pytest.raises(Unreachable, match="has no token"):
            Client(URL, TOKEN).info()

    assert wire.nonces[0] == ""


def test_a_page_elsewhere_may_send_a_nonce_and_read_the_signature(tmp_path: Path):
    make_index(tmp_path, model="tiny")
    origin = {"Origin": "https://a.example"}
    with serve(tmp_path, token=TOKEN, allow_origins=("https://a.example",)) as server:
        asked = server.options("/v1/sync", headers=origin).headers
        headers = {**origin, "Authorization": f"Bearer {TOKEN}", NONCE: "0" * 32}
        answer = server.get("/v1/sync", headers=headers).headers

    assert NONCE in asked["Access-Control-Allow-Headers"].split(", ")
    signed = {SIGNATURE, "ETag", "Content-Length", "Content-Range"}
    assert signed <= set(answer["Access-Control-Expose-Headers"].split(", "))


# What somebody between may try


def test_a_forged_nothing_new_does_not_freeze_an_edge(
    server: TestClient, between: Between, edge: Index
):
    put(server)
    before = contents(edge.folder), read_manifest(edge.folder)
    between.change = lambda target, reply: Reply(204) if "package" in target else reply

    with pytest.raises(Unreachable, match=UNSIGNED):
        Edge.open(edge.folder).pull()
    result = CliRunner().invoke(cli, ["pull", str(edge.folder)])

    assert (result.exit_code, UNSIGNED in result.stderr) == (5, True), result.output
    assert (contents(edge.folder), read_manifest(edge.folder)) == before
    between.change = lambda _, reply: reply
    assert Edge.open(edge.folder).pull().kind == "delta"


def test_a_nothing_new_of_yesterday_is_refused_today(
    server: TestClient, between: Between, edge: Index
):
    kept: dict[str, Reply] = {}
    between.change = lambda target, reply: kept.setdefault(target, reply)
    assert Edge.open(edge.folder).pull().kind == "current"
    put(server)

    with pytest.raises(Unreachable, match=UNSIGNED):
        Edge.open(edge.folder).pull()
    (package,) = (target for target in kept if "package" in target)
    between.change = lambda target, reply: kept[target] if target == package else reply
    with pytest.raises(Unreachable, match=UNSIGNED):
        Edge.open(edge.folder).pull()


@pytest.mark.parametrize("name", CALLS)
def test_an_answer_that_was_given_before_is_refused(between: Between, client: Client, name: str):
    kept: list[tuple[int, bytes, dict[str, str]]] = []

    def replay(_: str, reply: Reply) -> Reply:
        kept.append((reply.status, reply._body, reply.headers))
        status, body, headers = kept[0]
        old = Reply(status, body)
        old.headers = headers
        return old

    between.change = replay
    CALLS[name](client)

    with pytest.raises(Unreachable, match=UNSIGNED):
        CALLS[name](client)


def test_an_answer_to_another_request_is_refused(between: Between, client: Client):
    between.change_body = lambda _: json.dumps({"ids": [2]}).encode()
    with pytest.raises(Unreachable, match=UNSIGNED):
        client.vectors(np.array([1]), DIM)
    between.change_body = lambda body: body
    between.change_target = lambda target: target.replace("margin=10", "margin=0")
    with pytest.raises(Unreachable, match=UNSIGNED):
        client.context(1, 10)
    between.change_target = lambda target: target.replace("/1/", "/2/")
    with pytest.raises(Unreachable, match=UNSIGNED):
        client.context(1, 10)


@pytest.mark.parametrize("status", [200, 202, 204, 206, 416])
def test_another_status_is_refused(between: Between, client: Client, edge: Index, status: int):
    for begin in (None, base(edge)):
        right: list[int] = []

        def flip(_: str, reply: Reply) -> Reply:
            right.append(reply.status)  # noqa: B023 - called in this round
            reply.status = status
            return reply

        between.change = flip

        assert fetches(client, begin) == (right == [status])
        assert len(right) == 1


def fetches(client: Client, base: Base | None) -> bool:
    """Whether an answer is taken."""
    said = ""
    try:
        fetch(client, base)
    except Unreachable as error:
        said = str(error)
    assert not said or UNSIGNED in said
    return not said


@pytest.mark.parametrize("name", ["ETag", "Content-Range", "Content-Length"])
def test_the_head_of_a_package_is_signed(between: Between, client: Client, name: str):
    def change(_: str, reply: Reply) -> Reply:
        reply.headers[name.lower()] = reply.getheader(name, "") + "0"
        return reply

    between.change = change

    assert not fetches(client, None)


def test_a_bit_of_an_answer_that_was_changed_is_noticed(between: Between, client: Client):
    def flip(_: str, reply: Reply) -> Reply:
        reply._body = reply._body[:-1] + bytes([reply._body[-1] ^ 1])
        return reply

    between.change = flip

    with pytest.raises(Unreachable, match=UNSIGNED):
        client.vectors(np.array([1]), DIM)


def test_a_package_of_somebody_else_does_not_spoil_what_came(
    between: Between, edge: Index, tmp_path: Path
):
    def cut(target: str, reply: Reply) -> Reply:
        reply._body = reply._body[:100] if "package" in target else reply._body
        return reply

    between.change = cut
    other = tmp_path / "other"
    with pytest.raises(Unreachable, match="500 bytes that came"):
        Index.follow(URL, other, token=TOKEN)
    part = (other / "package.part").read_bytes()
    between.change = lambda target, reply: (
        without_signature(reply) if "package" in target else reply
    )
    with pytest.raises(Unreachable, match=UNSIGNED):
        Edge.open(other).pull()

    assert (other / "package.part").read_bytes() == part
    between.change = lambda _, reply: reply
    Edge.open(other).pull()
    assert contents(other) == contents(edge.folder)


# Errors of nobody known


def forged(status: int, reason: str) -> Callable[[str, Reply], Reply]:
    return lambda *_: as_json({"error": reason, "message": "the reason why"}, status)


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (400, Unreachable),
        (401, WrongState),
        (403, WrongState),
        (404, Unreachable),
        (409, Unreachable),
        (413, Unreachable),
        (502, Unreachable),
    ],
)
@pytest.mark.parametrize("reason", ["unknown_id", "too_large", "empty"])
def test_an_error_that_is_not_signed_is_told_but_not_believed(
    between: Between, client: Client, status: int, expected: type[GossamerError], reason: str
):
    between.change = forged(status, reason)

    with pytest.raises(expected, match="the reason why") as caught:
        client.context(1, 10)
    assert type(caught.value) is expected


def test_a_chunk_is_not_gone_because_somebody_says_so(
    between: Between, client: Client, tmp_path: Path
):
    asking = ServerChunks(client, Speeds(), DIM, tmp_path / "unanswered")
    between.change = forged(404, "unknown_id")

    assert asking.context(1, 10) is None
    assert asking.is_away
    assert UNSIGNED in asking.notes[0]


@pytest.mark.parametrize("status", [400, 404, 413])
def test_a_change_is_not_refused_because_somebody_says_so(
    between: Between, edge: Index, status: int
):
    between.change = forged(status, "invalid_argument" if status == 400 else "unknown_id")
    with pytest.raises(Unreachable, match="1 change waits"):
        push(Edge.open(edge.folder), Outgoing([{"id": "a", "text": "Otter."}]))

    assert count_waiting(edge.folder) == 1
    between.change = lambda _, reply: reply
    assert [result.outcome for result in edge.push().results] == ["stored"]


# Nonces and codes


def test_no_two_requests_have_the_same_nonce(between: Between, tmp_path: Path):
    def cut(target: str, reply: Reply) -> Reply:
        reply._body = reply._body[:100] if "package" in target else reply._body
        return reply

    between.change = cut
    with pytest.raises(Unreachable):
        Index.follow(URL, tmp_path / "edge", token=TOKEN)

    assert len(between.nonces) > 5
    assert len(set(between.nonces)) == len(between.nonces)
    assert all(map(is_nonce, between.nonces))


@pytest.mark.parametrize("nonce", ["", "0" * 31, "0" * 33, "A" * 32, "g" * 32, "0" * 31 + "\n"])
def test_a_nonce_of_another_form_is_refused(server: TestClient, nonce: str):
    assert not is_nonce(nonce)
    headers = {"Authorization": f"Bearer {TOKEN}", NONCE: nonce.replace("\n", "x")}

    answer = server.get("/v1/sync", headers=headers)

    assert (answer.status_code, SIGNATURE in answer.headers) == (400, False)
    assert "32 hexadecimal digits" in answer.json()["message"]


@pytest.mark.parametrize(("path", "status"), [("/health", 200), ("/", 200), ("/v1/sync", 401)])
def test_who_has_no_token_gets_no_code_to_guess_it_by(server: TestClient, path: str, status: int):
    answer = server.get(path, headers={NONCE: "0" * 32})

    assert (answer.status_code, SIGNATURE in answer.headers) == (status, False)


ASKED = Asked("00112233445566778899aabbccddeeff", "POST", "/v1/sync/vectors", "a=ü", "")
ANSWERED = Answered(200, '"tag"', "bytes 1-2/3", "2")


def test_the_code_is_that_of_the_format():
    # The page's twin has the same one in its tests.
    code = "778bcee2155aec29d46eba1f44d40f72ba3717bc3626d9f582f7ab8ca2308fac"

    assert sign("secret", ASKED, ANSWERED) == code
    assert is_signed("secret", ASKED, ANSWERED, code)
    for wrong in ("", code[:-1], code.upper(), "é" * 64):
        assert not is_signed("secret", ASKED, ANSWERED, wrong)


def test_every_field_counts_and_none_runs_into_the_next():
    codes = {sign("secret", ASKED, ANSWERED), sign("other", ASKED, ANSWERED)}
    changed = [(replace(ASKED, path=ASKED.path + "a", query=ASKED.query[1:]), ANSWERED)]
    changed += [
        (replace(ASKED, **{field.name: getattr(ASKED, field.name) + "0"}), ANSWERED)
        for field in fields(Asked)
    ]
    for field in fields(Answered):
        value = getattr(ANSWERED, field.name)
        other = value + 1 if isinstance(value, int) else value + "0"
        changed.append((ASKED, replace(ANSWERED, **{field.name: other})))
    codes |= {sign("secret", *pair) for pair in changed}

    assert len(codes) == 2 + len(changed)
