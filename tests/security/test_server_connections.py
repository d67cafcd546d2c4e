"""Connections that take their time, or are too many, do not keep others from being answered."""

import asyncio
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from starlette.types import Message

from gossamer.index import Index
from gossamer.server import connection, crowd, limits
from gossamer.server.app import create_app
from gossamer.server.crowd import BACKLOG, Crowd, most_connections
from gossamer.server.options import ServeOptions
from gossamer.server.run import create_server

HOST = "127.0.0.1"
TOKEN = "0123456789abcdef-token"
TESTS = Path(__file__).parent.parent
PATIENCE_S = 20  # of tests: nothing here takes so long, unless it takes for ever
HEAD = b"POST /v1/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
SLOW = HEAD + b"Content-Length: 1000\r\n\r\n{"
HEALTH = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
BIG, BIG_BYTES = b"GET /big HTTP/1.1\r\nHost: localhost\r\n\r\n", 40_000_000
HEALTH_ALONE = b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"

Port = int


@contextmanager
def running(app: FastAPI, most: int = 64) -> Iterator[Port]:
    """Let a server run in a thread, with at most so many connections."""
    server = create_server(app, most)
    listening = socket.create_server((HOST, 0), backlog=BACKLOG)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    while not server.started:
        threading.Event().wait(0.01)
    try:
        yield listening.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join()


@contextmanager
def serving(folder: Path, most: int = 64, **options: Any) -> Iterator[Port]:
    app = create_app(folder / "index", ServeOptions(**options))
    with running(app, most) as port:
        yield port


@contextmanager
def saying(port: Port, said: bytes) -> Iterator[socket.socket]:
    """Say something on a new connection."""
    with socket.create_connection((HOST, port), timeout=PATIENCE_S) as client:
        client.sendall(said)
        yield client


def hear(client: socket.socket) -> bytes:
    """Everything that the server says until it closes the connection."""
    heard = b""
    try:
        while more := client.recv(10_000):
            heard += more
    except ConnectionError:
        pass  # closed while something was on its way to it
    return heard


def drip(client: socket.socket) -> bytes:
    """Send a byte now and then until the connection is closed; give what was heard."""
    for _ in range(400):
        try:
            client.sendall(b" ")
        except ConnectionError:
            break
        threading.Event().wait(0.02)
    else:
        pytest.fail("the connection is still open")
    return hear(client)


def read_problem(heard: bytes) -> tuple[int, str]:
    """The status and the reason of an answer, of which there is one."""
    assert heard.count(b"HTTP/1.1 ") == 1, heard
    head, _, body = heard.partition(b"\r\n\r\n")
    assert b"Cross-Origin-Resource-Policy: same-origin" in head or b"cross-origin-re" in head
    return int(head.split()[1]), json.loads(body)["error"]


def ask_health(client: socket.socket) -> None:
    """Ask on a connection that stays; all that was said before to this server is read then."""
    client.sendall(HEALTH)
    heard = b""
    while not heard.endswith(b'{"status":"ok"}'):
        heard += client.recv(10_000)
        assert heard, "the connection was closed"
    assert heard.startswith(b"HTTP/1.1 200 ")


def is_healthy(port: Port) -> bool:
    with closing(HTTPConnection(HOST, port, timeout=PATIENCE_S)) as client:
        client.request("GET", "/health")
        return client.getresponse().status == 200


def big_app() -> FastAPI:
    """An application with an answer that no buffer of a system holds."""
    app = FastAPI()
    app.state.service = SimpleNamespace(
        changes=SimpleNamespace(waiting=0, stop=lambda: None), patience_s=0.1
    )
    app.add_api_route("/big", lambda: Response(bytes(BIG_BYTES)))
    app.add_api_route("/health", lambda: "ok")
    return app


class TestBodies:
    def test_one_that_stops_to_come_is_answered(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(limits, "_SILENT_S", 0.2)
        upload = b"PUT /v1/files/a.txt HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nx"
        chunked = HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n"
        with serving(folder) as port:
            for said in (SLOW, upload, chunked):
                with saying(port, said) as client:
                    assert read_problem(hear(client)) == (408, "too_slow")

        assert list((folder / "index" / "uploads").iterdir()) == []

    def test_one_byte_at_a_time_does_not_hold_it(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(limits, "_SILENT_S", 0.5)
        with serving(folder) as port, saying(port, SLOW) as client:
            assert b"too_slow" in drip(client)

    @pytest.mark.parametrize(
        ("piece", "is_taken"), [(1, False), (13_000, False), (14_000, True), (1 << 20, True)]
    )
    def test_it_may_take_as_long_as_a_slow_line_takes(
        self, piece: int, is_taken: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        now = 0.0

        async def receive() -> Message:
            nonlocal now
            await asyncio.sleep(0)
            now += 14.0
            return {"type": "http.request", "body": bytes(piece), "more_body": True}

        async def take() -> None:
            patience = limits._Patience(receive)
            for _ in range(100):
                await patience.receive()

        monkeypatch.setattr(limits, "time", SimpleNamespace(monotonic=lambda: now))
        if is_taken:
            asyncio.run(take())
        else:
            with pytest.raises(HTTPException, match="no more in time"):
                asyncio.run(take())

    def test_who_has_its_answer_may_listen_for_as_long_as_it_likes(self) -> None:
        async def ask() -> None:
            patience = limits._Patience(receive)
            await patience.receive()
            left = asyncio.create_task(patience.receive())
            await asyncio.sleep(0.1)
            assert not left.done()
            left.cancel()

        async def receive() -> Message:
            if said:
                return said.pop()
            await asyncio.Event().wait()
            raise AssertionError

        said: list[Message] = [{"type": "http.request", "body": b"", "more_body": False}]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(limits, "_SILENT_S", 0.01)
            asyncio.run(ask())


class TestRefused:
    """What was refused is not waited for."""

    @pytest.mark.parametrize(
        ("length", "answered"), [(1000, (401, "unauthorized")), (2 << 20, (413, "too_large"))]
    )
    def test_the_rest_of_it_is_not_waited_for(
        self,
        folder: Path,
        length: int,
        answered: tuple[int, str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(connection, "_REST_SILENT_S", 0.2)
        token = TOKEN if answered[0] == 401 else ""
        said = HEAD + f"Content-Length: {length}\r\n\r\nhalf".encode()
        with serving(folder, token=token) as port, saying(port, said) as client:
            assert read_problem(hear(client)) == answered

    def test_however_slowly_the_rest_of_it_comes(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(connection, "_REST_S", 0.5)
        with serving(folder, token=TOKEN) as port, saying(port, SLOW) as client:
            assert b"unauthorized" in drip(client)

    def test_whoever_sends_the_rest_of_it_can_ask_again(self, folder: Path) -> None:
        with serving(folder, token=TOKEN) as port, saying(port, SLOW) as client:
            heard = b""
            while b"unauthorized" not in heard or not heard.endswith(b"}"):
                heard += client.recv(10_000)
            client.sendall(b" " * 999)
            ask_health(client)


class TestCrowd:
    def test_slow_bodies_keep_nobody_out(self, folder: Path) -> None:
        with serving(folder, most=16) as port, ExitStack() as stack:
            kept = stack.enter_context(saying(port, b""))
            for number in range(200):
                stack.enter_context(saying(port, SLOW))
                if number % 5 == 0:
                    ask_health(kept)
                    assert is_healthy(port)

    def test_who_waits_longest_goes_first_and_is_told(self, folder: Path) -> None:
        with serving(folder, most=3) as port, ExitStack() as stack:
            first = stack.enter_context(saying(port, b""))
            ask_health(first)
            first.sendall(SLOW)
            second = stack.enter_context(saying(port, SLOW))
            kept = stack.enter_context(saying(port, b""))
            ask_health(kept)

            assert is_healthy(port)

            assert read_problem(hear(first)) == (503, "busy")
            ask_health(kept)
            with saying(port, b""):
                ask_health(kept)
                assert is_healthy(port)
            assert read_problem(hear(second)) == (503, "busy")

    def test_an_upload_that_comes_on_stays(self, folder: Path) -> None:
        size = 50_000
        head = f"PUT /v1/files/a.txt HTTP/1.1\r\nHost: localhost\r\nContent-Length: {size}\r\n\r\n"
        with serving(folder, most=3) as port, ExitStack() as stack:
            kept = stack.enter_context(saying(port, b""))
            upload = stack.enter_context(saying(port, head.encode()))
            ask_health(kept)
            slow = stack.enter_context(saying(port, SLOW))
            ask_health(kept)
            upload.sendall(b"a " * 10_000)
            ask_health(kept)

            assert is_healthy(port)

            assert read_problem(hear(slow)) == (503, "busy")
            upload.sendall(b"a " * 15_000)
            assert b"200 OK" in upload.recv(10_000)
            ask_health(kept)

    def test_a_request_that_is_worked_on_stays_and_others_are_told_to_come_again(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        search, may_end, begun = Index.search, threading.Event(), threading.Semaphore(0)

        def wait(self: Index, *given: Any, **options: Any) -> Any:
            begun.release()
            assert may_end.wait(PATIENCE_S)
            return search(self, *given, **options)

        ask = b"GET /v1/search?q=lease HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        with serving(folder, most=2) as port, ExitStack() as stack:
            monkeypatch.setattr(Index, "search", wait)
            asked = [stack.enter_context(saying(port, ask)) for _ in range(2)]
            assert all(begun.acquire(timeout=PATIENCE_S) for _ in asked)
            with saying(port, HEALTH) as client:
                refused = hear(client)
            may_end.set()
            answers = [hear(client) for client in asked]

        assert read_problem(refused) == (503, "busy")
        assert b"Retry-After: " in refused
        assert b"Connection: close" in refused
        assert [answer.split()[1] for answer in answers] == [b"200", b"200"]

    def test_a_client_that_reads_its_answer_slowly_stays(self) -> None:
        with running(big_app(), most=1) as port, saying(port, BIG) as slow:
            heard = slow.recv(100)
            with saying(port, HEALTH) as client:
                assert read_problem(hear(client)) == (503, "busy")
            while len(heard) < BIG_BYTES:
                heard += slow.recv(1 << 20)

    @pytest.mark.parametrize(
        ("patience", "seconds"),
        [("_READER_S", 0.2), ("_UNREAD_S", 0.1)],
        ids=["goes", "makes room"],
    )
    def test_a_client_that_does_not_read_its_answer_keeps_nobody_out(
        self, monkeypatch: pytest.MonkeyPatch, patience: str, seconds: float
    ) -> None:
        monkeypatch.setattr(connection, patience, seconds)
        with running(big_app(), most=1) as port, saying(port, BIG) as unread:
            assert unread.recv(100)
            for _ in range(100):
                with saying(port, HEALTH_ALONE) as client:
                    if hear(client).startswith(b"HTTP/1.1 200"):
                        break
                threading.Event().wait(0.05)
            else:
                pytest.fail("there is still no room")

    @pytest.mark.skipif(sys.platform == "win32", reason="files are not bounded there")
    def test_there_is_room_for_the_files_of_the_index(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import resource

        for files in (256, 1024, 20_000, resource.RLIM_INFINITY):
            monkeypatch.setattr(resource, "getrlimit", lambda _, n=files: (n, n))
            most = most_connections()
            assert most >= 16
            if files != resource.RLIM_INFINITY:
                assert 2 * most + BACKLOG + crowd._OTHER_FILES <= files

    def test_who_was_sent_away_is_not_counted_again(self) -> None:
        gone: list[str] = []

        inside = Crowd(2, clock=lambda: 0.0)
        first, second, third, fourth = (SimpleGuest(partial(gone.append, one)) for one in "abcd")
        assert inside.enter(first)
        assert inside.enter(second)
        inside.wait(first, is_idle=False)
        assert inside.enter(third)
        inside.wait(second, is_idle=False)  # which has gone
        inside.work(first)
        inside.work(third)
        assert not inside.enter(fourth)
        inside.leave(first)
        assert inside.enter(fourth)

        assert gone == ["b"]

    @pytest.mark.parametrize(("idle_s", "goes"), [(7.0, "slow"), (9.0, "idle")])
    def test_who_was_answered_before_may_wait_longer(self, idle_s: float, goes: str) -> None:
        gone: list[str] = []
        now = 0.0
        inside = Crowd(2, clock=lambda: now)
        idle, slow, other = (
            SimpleGuest(partial(gone.append, name)) for name in ("idle", "slow", "other")
        )
        inside.enter(idle)
        inside.wait(idle, is_idle=True)
        now = idle_s - 1.0
        inside.enter(slow)
        now = idle_s
        inside.enter(other)

        assert gone == [goes]


class SimpleGuest:
    def __init__(self, go: Callable[[], None]) -> None:
        self.make_room = go


FEW_FILES = """
import resource, sys
sys.path.insert(0, {tests!r})
resource.setrlimit(resource.RLIMIT_NOFILE, (300, 300))
import pytest
from tiny_embedder import use_tiny
from gossamer.cli import main

use_tiny(pytest.MonkeyPatch(), with_codes=True)
sys.argv = ["gossamer", "serve", {index!r}, "--port", "0"]
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="files are not bounded there")
def test_a_server_answers_though_more_connections_wait_than_it_may_open_files(
    folder: Path,
) -> None:
    script = FEW_FILES.format(tests=str(TESTS), index=str(folder / "index"))
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        port = int(process.stdout.readline().split()[2].rstrip("/").rpartition(":")[2])
        with ExitStack() as stack:
            for _ in range(400):
                stack.enter_context(saying(port, SLOW))
            assert is_healthy(port)
            with closing(HTTPConnection(HOST, port, timeout=PATIENCE_S)) as client:
                client.request("GET", "/v1/search?q=lease")
                assert client.getresponse().status == 200
    finally:
        process.terminate()
        _, said = process.communicate(timeout=30)

    assert process.returncode == 0
    assert "Traceback" not in said


class TestLengths:
    """A request whose length can be read in two ways: a proxy may read the other."""

    @pytest.mark.parametrize(
        "lengths",
        [
            b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n",
            b"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n",
            b"Content-Length: 4\r\nContent-Length: 5\r\n",
            b"Content-Length: 4, 5\r\n",
            b"Content-Length: +4\r\n",
            b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
        ],
    )
    def test_it_is_refused_and_what_follows_is_not_read(self, folder: Path, lengths: bytes) -> None:
        said = HEAD + lengths + b"\r\n0\r\n\r\n" + HEALTH
        with serving(folder) as port:
            with saying(port, said) as client:
                assert read_problem(hear(client)) == (400, "bad_request")
            # Also on a connection that was of use before.
            with saying(port, b"") as client:
                ask_health(client)
                client.sendall(said)
                assert read_problem(hear(client)) == (400, "bad_request")

    def test_chunks_are_not_of_http_1_0(self, folder: Path) -> None:
        said = HEAD.replace(b"HTTP/1.1", b"HTTP/1.0") + b"Transfer-Encoding: chunked\r\n\r\n"
        with serving(folder) as port, saying(port, said) as client:
            assert read_problem(hear(client)) == (400, "bad_request")

    @pytest.mark.parametrize(
        "rest",
        [
            b'Content-Length: 20\r\n\r\n{"question":"lease"}',
            b"Content-Length: 20\r\nContent-Length: 20\r\n\r\n" + b'{"question":"lease"}',
            b'Transfer-Encoding: chunked\r\n\r\n14\r\n{"question":"lease"}\r\n0\r\n\r\n',
        ],
    )
    def test_one_length_is_enough(self, folder: Path, rest: bytes) -> None:
        said = HEAD + b"Connection: close\r\n" + rest
        with serving(folder) as port, saying(port, said) as client:
            assert hear(client).startswith(b"HTTP/1.1 200 ")

    def test_a_body_that_turns_bad_while_it_is_read_ends_the_connection(self, folder: Path) -> None:
        with serving(folder) as port:
            with saying(port, HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n") as client:
                client.sendall(b"no number\r\n")
                assert read_problem(hear(client)) == (400, "bad_request")
            assert is_healthy(port)
