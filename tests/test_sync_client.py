"""What an edge says to a server and hears from it, and what it writes down in between."""

import http.server
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from faults import count_calls, failing_at, needs_fork, run_killed_at
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.errors import (
    Damaged,
    GossamerError,
    InvalidArgument,
    Locked,
    TooLarge,
    UnknownId,
    Unreachable,
    Unwritable,
    WrongState,
)
from gossamer.store import hash_of_bytes
from gossamer.sync.client import Client, clean_url
from gossamer.sync.following import Following, read_following
from gossamer.sync.outbox import Outbox, Waiting, count_waiting
from gossamer.sync.records import Mode, PushItem, PushResult
from gossamer.sync.remote_chunks import ServerChunks, Speeds
from gossamer.sync.signing import NONCE, SIGNATURE, Answered, Asked, sign
from gossamer.sync.state import base_hash
from gossamer.update.prepare import GivenText, hash_of_given
from gossamer.web import NoAnswer, Web

Answer = tuple[int, dict[str, str], bytes]


TOKEN = "secret"


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers with what `server.answer` holds, again and again, signed for who wants it."""

    protocol_version = "HTTP/1.1"

    def handle_any(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.asked.append((self.command, self.path, dict(self.headers), body))
        self.server.peers.add(self.client_address)
        self.server.before_answer()
        status, headers, data = self.server.answer
        self.send_response(status)
        for name, value in {"Content-Length": str(len(data)), **headers}.items():
            self.send_header(name, value)
        if nonce := self.headers.get(NONCE, ""):
            asked = Asked.of(nonce, self.command, self.path, body)
            answered = Answered.of(status, lambda name: headers.get(name, ""), data)
            self.send_header(SIGNATURE, sign(TOKEN, asked, answered))
        self.end_headers()
        with suppress(OSError):
            self.wfile.write(data)
        if "Content-Length" in headers:
            self.close_connection = True

    do_GET = do_POST = do_PUT = handle_any  # noqa: N815

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Any]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as serving:
        serving.daemon_threads = True
        serving.asked, serving.peers = [], set()
        serving.answer = (200, {}, b"{}")
        serving.before_answer = lambda: None
        serving.url = f"http://127.0.0.1:{serving.server_port}"
        thread = threading.Thread(target=serving.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield serving
        serving.shutdown()
        thread.join()


@pytest.fixture
def client(server: Any) -> Iterator[Client]:
    with Client(server.url, TOKEN, timeout_s=5) as asking:
        yield asking


def said(value: object, status: int = 200) -> Answer:
    return status, {}, json.dumps(value).encode()


INFO = {"index": "u", "epoch": "e", "version": 3, "protocol": 1}

# Requests and answers


def test_every_request_carries_the_token_and_connections_are_kept(server: Any, client: Client):
    server.answer = said(INFO)

    assert client.info() == client.info() == INFO
    assert {headers["Authorization"] for _, _, headers, _ in server.asked} == {"Bearer secret"}
    assert len(server.peers) == 1


def test_a_server_without_a_token_gets_none(server: Any):
    server.answer = said(INFO)
    with Client(server.url) as client:
        client.info()

    assert "Authorization" not in server.asked[0][2]


def test_vectors_come_in_one_request_and_some_may_be_missing(server: Any, client: Client):
    rows = np.array([[1, 2], [3, 4]], "<f2")
    server.answer = (200, {}, bytes([1, 0, 1]) + rows.tobytes())

    mask, vectors = client.vectors(np.array([5, 6, 7]), 2)

    assert mask.tolist() == [True, False, True]
    assert vectors.tolist() == [[1, 2], [3, 4]]
    assert json.loads(server.asked[0][3]) == {"ids": [5, 6, 7]}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        bytes([1, 0]),
        bytes([1, 1, 1]),
        bytes([2, 0, 0]) + bytes(4),
        bytes([1, 0, 0]) + bytes(3),
        bytes([1, 0, 0]) + bytes(5),
        bytes([1, 0, 0]) + np.array([np.nan, 1], "<f2").tobytes(),
        bytes(1000),
    ],
)
def test_bytes_that_are_no_vectors_are_refused(server: Any, client: Client, data: bytes):
    server.answer = (200, {}, data)

    with pytest.raises(Unreachable, match=r"something else|more than"):
        client.vectors(np.array([5, 6, 7]), 2)


def ask_for_chunks(client: Client) -> object:
    return client.chunks([1])


CALLS: dict[str, Callable[[Client], object]] = {
    "info": Client.info,
    "plan": lambda client: client.plan(Mode("codes"), "kept", None),
    "chunks": ask_for_chunks,
    "context": lambda client: client.context(1, 10),
    "push": lambda client: client.push([PushItem("op", "id")]),
    "push_file": lambda client: client.push_file(PushItem("op", "id", file=b"x")),
    "conflicts": Client.conflicts,
    "conflict": lambda client: client.conflict(1),
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["chunks", "results", "conflicts", "id", "op"]), inner)
    ),
    max_leaves=6,
)


@pytest.mark.parametrize("name", CALLS)
@given(answer=JSON)
@settings(max_examples=30, deadline=None)
def test_whatever_a_server_answers_is_understood_or_refused(name: str, answer: object):
    with Client("http://127.0.0.1:9") as client, pytest.MonkeyPatch.context() as patch:
        patch.setattr(client, "_wire", Saying(json.dumps(answer).encode()))

        with suppress(Unreachable):
            CALLS[name](client)


class Saying:
    """A wire that says one thing."""

    status = 200

    def __init__(self, body: bytes) -> None:
        self._body = body

    def send(self, *_: object) -> "Saying":
        return self

    def __enter__(self) -> "Saying":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def close(self) -> None:
        pass

    def read_whole(self, _: int) -> bytes:
        return self._body


@pytest.mark.parametrize("body", [b"<html>", b"[" * 100_000, b"\xff\xfe", b""])
def test_an_answer_that_is_no_json_is_refused(server: Any, client: Client, body: bytes):
    server.answer = (200, {}, body)

    with pytest.raises(Unreachable, match="address of a gossamer server"):
        client.info()


@pytest.mark.parametrize(
    ("status", "reason", "expected"),
    [
        (400, "invalid_argument", InvalidArgument),
        (401, "unauthorized", WrongState),
        (403, "read_only", WrongState),
        (404, "unknown_id", UnknownId),
        (404, "not_found", Unreachable),
        (409, "wrong_state", WrongState),
        (409, "locked", Locked),
        (413, "too_large", TooLarge),
        (422, "invalid_request", InvalidArgument),
        (500, "damaged", Unreachable),
        (503, "unreachable", Unreachable),
        (418, "__all__", InvalidArgument),
        (418, "GossamerError", InvalidArgument),
    ],
)
def test_an_error_of_the_server_is_raised_in_its_own_words(
    server: Any, client: Client, status: int, reason: str, expected: type[GossamerError]
):
    server.answer = said({"error": reason, "message": "the reason why"}, status)

    with pytest.raises(expected, match="the reason why") as caught:
        client.info()
    assert type(caught.value) is expected


def test_a_redirect_is_not_followed_and_the_token_stays_here(server: Any, client: Client):
    server.answer = (307, {"Location": "http://127.0.0.1:9/v1/sync"}, b"")

    with pytest.raises(Unreachable, match="redirect to http://127"):
        client.info()
    assert len(server.asked) == 1


def test_an_answer_that_ends_too_early_is_no_answer(server: Any, client: Client):
    server.answer = (200, {"Content-Length": "900"}, json.dumps(INFO).encode())

    with pytest.raises(Unreachable, match="broke off"):
        client.info()


def test_an_answer_beyond_all_measure_is_not_read(
    server: Any, client: Client, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("gossamer.sync.client._MOST_JSON_BYTES", 10)
    server.answer = said(INFO)

    with pytest.raises(Unreachable, match="more than 10 bytes"):
        client.info()


def test_a_server_that_is_not_there_is_named():
    with (
        Client("http://127.0.0.1:9") as client,
        pytest.raises(Unreachable, match=r"127\.0\.0\.1:9"),
    ):
        client.info()


def test_a_connection_that_the_server_closed_meanwhile_is_opened_again(server: Any, client: Client):
    server.answer = (200, {}, json.dumps(INFO).encode())
    client.info()
    for connection in client._wire._idle:  # type: ignore[attr-defined]
        connection.sock.shutdown(2)

    assert client.info() == INFO


class Dripping(http.server.BaseHTTPRequestHandler):
    """Answers a few bytes at a time, as long as anybody listens; `server.kind` says with what."""

    def do_GET(self) -> None:
        self.server.asked += 1
        kind = self.server.kind
        beginning, drop = {
            "a body": (b"HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n", b" "),
            "a header": (b"HTTP/1.1 200 OK\r\nX-Long: ", b"x"),
            "promises": (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
            "nothing": (b"", b""),
        }[kind]
        with suppress(OSError):
            self.wfile.write(beginning)
            for _ in range(3000):
                if self.server.is_over.wait(0.01):
                    break
                self.wfile.write(drop)
                self.server.drops += 1

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def dripping() -> Iterator[Any]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Dripping) as serving:
        serving.daemon_threads, serving.is_over = True, threading.Event()
        serving.asked = serving.drops = 0
        thread = threading.Thread(target=serving.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield serving
        serving.is_over.set()
        serving.shutdown()
        thread.join()


@pytest.mark.parametrize("kind", ["a body", "a header", "promises", "nothing"])
def test_a_server_that_drips_is_given_up_in_time(dripping: Any, kind: str):
    dripping.kind = kind
    with (
        Client(f"http://127.0.0.1:{dripping.server_port}", timeout_s=0.2) as client,
        pytest.raises(Unreachable, match="timed out"),
    ):
        client.info()

    assert dripping.drops < 1000


def test_a_long_download_may_drip_no_more_than_an_answer(dripping: Any):
    dripping.kind = "a body"
    web = Web(f"http://127.0.0.1:{dripping.server_port}", 0.2)

    with web.send("GET", "/") as answer, pytest.raises(NoAnswer, match="too slow"):
        answer.read(1 << 16)

    assert dripping.drops < 1000


def test_a_request_that_timed_out_is_not_sent_again(server: Any, client: Client):
    server.answer = said(INFO)
    client.info()
    server.answer = (200, {"Content-Length": "900"}, b"")
    (connection,) = client._wire._idle  # type: ignore[attr-defined]
    connection.sock.settimeout(0.05)
    client._wire._timeout_s = 0.05  # type: ignore[attr-defined]
    has_asked = threading.Event()
    server.before_answer = lambda: has_asked.wait(5)

    with pytest.raises(Unreachable, match="timed out"):
        client.info()
    has_asked.set()

    assert len(server.asked) == 2


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.8.9.1", "[::1]"])
def test_this_machine_is_not_reached_through_a_proxy(host: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("http_proxy", "http://proxy.example:3128")
    monkeypatch.delenv("no_proxy", raising=False)

    assert Web(f"http://{host}:8321", 1.0)._proxy is None
    assert Web("http://127.example:8321", 1.0)._proxy is not None


def test_what_a_server_says_stands_in_one_line(server: Any, client: Client):
    server.answer = (418, {}, b"<html>\n  <body>\r\n\tteapot</body>\n</html>")

    with pytest.raises(InvalidArgument, match="<html> <body> teapot</body> </html>"):
        client.info()


@pytest.mark.parametrize(("token", "what"), [("", "none was given"), ("wrong", "not its own")])
def test_a_token_that_is_missing_is_told_from_a_wrong_one(server: Any, token: str, what: str):
    server.answer = said({"error": "unauthorized", "message": "no"}, 401)

    with Client(server.url, token) as client, pytest.raises(WrongState, match=what) as caught:
        client.info()
    assert "GOSSAMER_TOKEN" in str(caught.value)


def test_chunks_are_asked_of_one_index_only(server: Any, client: Client):
    origin = {"index": "u", "epoch": "e"}
    server.answer = (200, {}, bytes(1))
    client.vectors(np.array([5]), 2, origin)
    server.answer = said({"chunks": [None]})
    client.chunks([5], origin)
    server.answer = said({"before": "", "after": ""})
    client.context(5, 10, origin)

    bodies = [json.loads(body) for _, _, _, body in server.asked[:2]]
    assert bodies == [{"ids": [5], **origin}] * 2
    assert server.asked[2][1] == "/v1/chunks/5/context?margin=10&index=u&epoch=e"


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("https://Host.Example/", "https://host.example"),
        ("host:8080", "http://host:8080"),
        ("http://host:80/base/", "http://host/base"),
        ("https://host:443", "https://host"),
    ],
)
def test_an_address_has_one_form(given: str, url: str):
    assert clean_url(given) == url


@pytest.mark.parametrize(
    "url", ["", "ftp://host", "http://", "http://u:p@host", "http://h:x", "http://h/?q", "h:0"]
)
def test_what_is_no_address_is_refused(url: str):
    with pytest.raises(InvalidArgument, match="like https://host"):
        clean_url(url)


@pytest.mark.parametrize("token", ["two words", "line\nbreak", "é"])
def test_a_token_that_cannot_be_sent_is_refused(token: str):
    with pytest.raises(InvalidArgument, match="ASCII"):
        Client("http://host", token)


# What is remembered


def test_what_was_written_down_is_read_again(tmp_path: Path):
    following = Following("http://host", "secret", "slim:f16:8", "away", 50_000, "minilm")

    following.save(tmp_path)

    assert read_following(tmp_path) == following
    assert read_following(tmp_path / "nowhere") is None


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"url": 3}', '{"url": "u", "budget": "x"}'])
def test_a_file_that_does_not_say_whom_to_follow_is_named(tmp_path: Path, text: str):
    (tmp_path / "follow.json").write_text(text, encoding="utf-8")

    with pytest.raises(Damaged, match=r"follow\.json .*gossamer pull URL"):
        read_following(tmp_path)


# The outbox


def item(id: str, text: str | None = "", base: str = "", file: bytes | None = None) -> PushItem:
    given = None if text is None or file is not None else {"id": id, "text": text}
    return PushItem(uuid4().hex, id, base, given, file)


def answer_of(entry: Waiting, outcome: str = "stored") -> tuple[PushItem, PushResult]:
    sent = replace(entry.item, is_file=entry.key[0])
    return sent, PushResult(sent.op, sent.id, outcome)


def test_what_waits_comes_in_order_with_its_files(tmp_path: Path):
    outbox = Outbox(tmp_path)
    items = [item("a", "one"), item("b", file=b"\x00\xff"), item("c", None)]

    outbox.put(items)

    again = Outbox(tmp_path)
    assert [again.load(entry) for entry in again.waiting()] == items
    assert count_waiting(tmp_path) == 3


def test_a_second_change_takes_the_place_of_the_first_and_keeps_its_base(tmp_path: Path):
    outbox = Outbox(tmp_path)
    outbox.put([item("a", "one", "seen"), item("b", "other")])

    outbox.put([item("a", "two", "later"), item("a", file=b"a file of the same name")])

    found = [(one.item.id, one.item.text, one.item.base) for one in outbox.waiting()]
    assert found == [
        ("b", {"id": "b", "text": "other"}, ""),
        ("a", {"id": "a", "text": "two"}, "seen"),
        ("a", None, ""),
    ]
    assert count_waiting(tmp_path) == 3


def test_only_what_was_answered_for_is_forgotten(tmp_path: Path):
    outbox = Outbox(tmp_path)
    outbox.put([item("a", "one"), item("b", file=b"bytes")])
    first, second = outbox.waiting()
    outbox.put([item("a", "newer")])

    outbox.answered([answer_of(first), answer_of(second)])

    assert [one.item.text for one in outbox.waiting()] == [{"id": "a", "text": "newer"}]
    assert sorted(path.name for path in outbox.folder.iterdir()) == ["0003.json", "last", "lock"]


def test_an_answer_that_comes_late_forgets_no_later_change(tmp_path: Path):
    first, second = Outbox(tmp_path), Outbox(tmp_path)
    first.put([item("x", "old")])
    (early,), (late,) = first.waiting(), second.waiting()
    second.answered([answer_of(late)])
    second.put([item("x", "new")])

    first.answered([answer_of(early)])

    assert texts_of(tmp_path) == [("x", "", "new")]


def test_a_change_made_while_its_predecessor_is_sent_is_one_of_what_that_makes(tmp_path: Path):
    outbox = Outbox(tmp_path)
    outbox.put([item("x", "one", "seen"), item("f", file=b"one"), item("y", None, "there")])
    on_the_way = [outbox.load(entry) for entry in outbox.waiting()]
    outbox.put([item("x", "two", "seen"), item("f", file=b"two"), item("y", "again", "there")])
    outbox.put([item("x", "three", "seen")])

    outbox.answered([(sent, PushResult(sent.op, sent.id, "stored")) for sent in on_the_way])

    bases = {entry.item.id: entry.item.base for entry in outbox.waiting()}
    assert bases == {
        "x": base_hash(hash_of_given(GivenText("x", "one"))),
        "f": base_hash(hash_of_bytes(b"one")),
        "y": "",
    }


def test_what_the_server_refused_is_nothing_to_begin_from(tmp_path: Path):
    outbox = Outbox(tmp_path)
    outbox.put([item("x", "one", "seen")])
    (entry,) = outbox.waiting()
    outbox.put([item("x", "two", "seen")])

    outbox.answered([answer_of(entry, "refused")])

    assert [one.item.base for one in outbox.waiting()] == ["seen"]


def test_a_change_that_was_replaced_is_not_sent(tmp_path: Path):
    outbox = Outbox(tmp_path)
    outbox.put([item("a", file=b"one"), item("b", "one")])
    file, text = outbox.waiting()
    outbox.put([item("a", file=b"two"), item("b", "two")])

    assert (outbox.load(file), outbox.load(text)) == (None, None)


def test_two_processes_do_not_send_at_once(tmp_path: Path):
    with (
        Outbox(tmp_path).sending(0),
        pytest.raises(Locked, match="push"),
        Outbox(tmp_path).sending(0),
    ):
        pass


def test_what_was_refused_is_put_aside(tmp_path: Path):
    outbox = Outbox(tmp_path)
    outbox.put([item("b", file=b"bytes")])
    (entry,) = outbox.waiting()

    outbox.answered([answer_of(entry, "refused")])

    assert outbox.waiting() == []
    assert (outbox.folder / "refused" / f"{entry.item.op}.bin").read_bytes() == b"bytes"


def test_an_entry_that_cannot_be_read_is_named(tmp_path: Path):
    outbox = Outbox(tmp_path)
    outbox.put([item("a", "one")])
    (outbox.folder / "0001.json").write_text('{"op": ', encoding="utf-8")

    with pytest.raises(Damaged, match=r"0001\.json"):
        outbox.waiting()


def test_a_file_that_is_gone_from_the_outbox_is_named(tmp_path: Path):
    outbox = Outbox(tmp_path)
    outbox.put([item("a", file=b"bytes")])
    (outbox.folder / "0001.bin").unlink()

    with pytest.raises(Damaged, match=r"0001\.bin"):
        outbox.load(outbox.waiting()[0])


def texts_of(folder: Path) -> list[object]:
    outbox = Outbox(folder)
    found = [item for one in outbox.waiting() if (item := outbox.load(one)) is not None]
    return [(one.id, one.base, one.file or (one.text or {}).get("text")) for one in found]


OLD = [("a", "seen", "one"), ("f", "", b"first")]
NEW = [("b", "", "more"), ("a", "seen", "two"), ("f", "", b"second")]


def prepare(folder: Path) -> Path:
    folder.mkdir()
    Outbox(folder).put([item("a", "one", "seen"), item("f", file=b"first")])
    return folder


def change(folder: Path) -> None:
    Outbox(folder).put([item("b", "more"), item("a", "two"), item("f", file=b"second")])


@needs_fork
def test_killed_at_any_moment_every_change_waits_as_it_was_or_as_it_is(tmp_path: Path):
    counted = prepare(tmp_path / "counted")
    calls = count_calls(lambda: change(counted))

    for point in range(1, calls + 1):
        folder = prepare(tmp_path / f"killed{point}")
        assert run_killed_at(point, lambda: change(folder))  # noqa: B023

        found = texts_of(folder)
        assert set(map(repr, found)) <= set(map(repr, OLD + NEW))
        assert {one[0] for one in found} >= {"a", "f"}  # type: ignore[index]
        change(folder)
        assert texts_of(folder) == NEW
        assert not list((folder / "outbox").glob(".*.part"))


def test_a_full_disk_is_named_and_loses_no_change(tmp_path: Path):
    counted = prepare(tmp_path / "counted")
    with failing_at(10**9) as calls:
        change(counted)

    for point in range(1, calls[0] + 1):
        folder = prepare(tmp_path / f"full{point}")
        with failing_at(point), suppress(Unwritable):
            change(folder)

        assert {one[0] for one in texts_of(folder)} >= {"a", "f"}  # type: ignore[index]
        change(folder)
        assert texts_of(folder) == NEW


@needs_fork
def test_killed_while_it_is_answered_a_change_waits_or_is_gone(tmp_path: Path):
    def answer(folder: Path) -> None:
        outbox = Outbox(folder)
        for entry in outbox.waiting():
            outbox.answered([answer_of(entry)])

    counted = prepare(tmp_path / "counted")
    calls = count_calls(lambda: answer(counted))

    for point in range(1, calls + 1):
        folder = prepare(tmp_path / f"killed{point}")
        assert run_killed_at(point, lambda: answer(folder))  # noqa: B023

        assert texts_of(folder) in (OLD, OLD[1:], [])
        answer(folder)
        assert texts_of(folder) == []


# Which side is faster


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def learnt(here_s: float, start_s: float, each_s: float, clock: Clock | None = None) -> Speeds:
    """A machine that needs so long for a chunk, and a server with such answers."""
    speeds = Speeds(clock or Clock())
    for count in (4, 16, 64, 8, 32):
        speeds.embedded_here(count, here_s * count)
        speeds.answered(count, start_s + each_s * count)
    return speeds


def test_the_first_time_a_small_part_is_asked_for_to_learn():
    speeds = Speeds(Clock())

    assert (speeds.share(64), speeds.share(1), speeds.share(0)) == (8, 1, 0)


@pytest.mark.parametrize(
    ("here_s", "start_s", "each_s"), [(0.01, 0.05, 0.001), (0.002, 0.02, 0.002), (0.05, 0.1, 0.0)]
)
def test_the_share_lets_both_sides_finish_together(here_s: float, start_s: float, each_s: float):
    share = learnt(here_s, start_s, each_s).share(100)

    there, here = start_s + each_s * share, here_s * (100 - share)
    assert abs(there - here) <= here_s + each_s


def test_a_server_slower_than_all_of_it_here_is_not_asked():
    assert learnt(0.001, 1.0, 0.01).share(50) == 0


def test_a_server_that_is_much_faster_is_asked_for_nearly_all():
    assert learnt(1.0, 0.001, 0.0001).share(50) >= 49


def test_a_server_that_did_not_answer_is_left_alone_for_a_while():
    clock = Clock()
    speeds = learnt(1.0, 0.001, 0.0001, clock)

    speeds.failed("it is down")
    at_once = (speeds.why_dead, speeds.share(50))
    clock.now += 31
    later = (speeds.why_dead, speeds.share(50) > 0)

    assert at_once == ("it is down", 0)
    assert later == ("", True)


def test_what_was_learnt_long_ago_is_learnt_anew():
    clock = Clock()
    speeds = learnt(0.001, 10.0, 0.0, clock)
    before = speeds.share(80)

    clock.now += 1000

    assert (before, speeds.share(80)) == (0, 10)


@given(
    st.lists(st.tuples(st.integers(1, 500), st.floats(0, 100)), max_size=20), st.integers(0, 1000)
)
def test_a_share_is_never_more_than_all_nor_less_than_nothing(
    answers: list[tuple[int, float]], count: int
):
    speeds = Speeds(Clock())
    for asked, seconds in answers:
        speeds.answered(asked, seconds)
        speeds.embedded_here(asked, seconds)

    assert 0 <= speeds.share(count) <= count


def test_a_failed_request_is_a_note_and_no_error(server: Any, tmp_path: Path):
    with Client(server.url, timeout_s=5) as client:
        elsewhere = ServerChunks(client, Speeds(), 2, tmp_path / "unanswered")
        server.answer = said({"error": "unknown_id", "message": "gone"}, 404)
        gone = elsewhere.context(7, 10)
        was_away = elsewhere.is_away
        server.answer = (200, {}, b"nonsense")

        mask, rows = elsewhere.vectors(np.array([1, 2]))
        asked = len(server.asked)
        texts = elsewhere.chunks(np.array([1, 2]))

    assert (gone, was_away, elsewhere.is_away) == (None, False, True)
    assert (mask.tolist(), rows.shape, texts) == ([False, False], (0, 2), [None, None])
    assert len(server.asked) == asked  # which was left alone
    assert elsewhere.share(10) == 0
    assert all(server.url in note for note in elsewhere.notes)


def test_a_server_that_keeps_searches_waiting_is_asked_for_less(tmp_path: Path):
    marker = tmp_path / "unanswered"
    speeds = learnt(0.01, 0.001, 0.001)
    with Client("http://127.0.0.1:9") as client:
        before = ServerChunks(client, speeds, 2, marker).share(64)
        ServerChunks(client, speeds, 2, marker).gave_up(8, 5.0)
        after = ServerChunks(client, speeds, 2, marker).share(64)
        to_come = ServerChunks(client, Speeds(Clock()), 2, marker).share(64)

    assert before > 32
    assert (after, to_come) == (0, 0)


def test_more_vectors_than_fit_a_request_come_in_several(
    server: Any, client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("gossamer.sync.remote_chunks.MOST_VECTORS", 2)
    server.answer = (200, {}, bytes([1, 0]) + np.ones((1, 2), "<f2").tobytes())

    found = ServerChunks(client, Speeds(), 2, tmp_path / "unanswered").vectors(np.arange(4))

    assert [json.loads(body)["ids"] for _, _, _, body in server.asked] == [[0, 1], [2, 3]]
    assert found[0].tolist() == [True, False, True, False]
    assert found[1].shape == (2, 2)


def test_one_failure_is_one_note_in_every_search(server: Any, tmp_path: Path):
    speeds = Speeds()
    server.answer = said({"error": "wrong_state", "message": "there is another index"}, 409)
    with Client(server.url, timeout_s=5) as client:
        searches = [ServerChunks(client, speeds, 2, tmp_path / "marker") for _ in range(2)]
        for search in searches:
            search.vectors(np.array([1]))
            search.chunks(np.array([1]))

    assert len(server.asked) == 1
    assert searches[0].notes == searches[1].notes
    assert [note.count("there is another index") for note in searches[0].notes] == [1]


def test_a_process_to_come_does_not_wait_for_a_server_that_did_not_answer(
    server: Any, tmp_path: Path
):
    marker = tmp_path / "unanswered"
    with Client(server.url, timeout_s=5) as client:
        before = ServerChunks(client, Speeds(), 2, marker).share(16)
        ServerChunks(client, Speeds(), 2, marker).chunks(np.array([1]))
        after = ServerChunks(client, Speeds(), 2, marker).share(16)
        server.answer = said({"chunks": [None]})
        ServerChunks(client, Speeds(), 2, marker).chunks(np.array([1]))
        again = ServerChunks(client, Speeds(), 2, marker).share(16)

    assert (before, after, again) == (2, 0, 2)
