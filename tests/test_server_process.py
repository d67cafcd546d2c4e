"""`gossamer serve` as a command and as a process, from its start to its end."""

import json
import logging
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
from pathlib import Path

import pytest
from click.testing import CliRunner

from gossamer.cli import cli
from gossamer.cli.serve import _addresses, _JsonLines
from gossamer.index import Index
from gossamer.server.seldom import Seldom

TESTS = Path(__file__).parent


SERVER = """
import sys, threading
sys.path.insert(0, {tests!r})
import pytest
from tiny_embedder import TinyEmbedder, use_tiny
from gossamer.cli import main
from gossamer.server import connection, run, service

run._GRACE_S = {grace_s!r}
connection._HEAD_S = {head_s!r}
service._PATIENCE_S = {patience_s!r}
use_tiny(
    pytest.MonkeyPatch(),
    with_codes=True,
    embedder=TinyEmbedder(lambda _: threading.Event().wait({pause!r})),
)
sys.argv = ["gossamer", "serve", {index!r}, "--port", "0"]
main()
"""
HOST = "127.0.0.1"


@pytest.mark.skipif(sys.platform == "win32", reason="signals end a process there at once")
class TestProcess:
    def start(
        self,
        folder: Path,
        *,
        pause: float = 0.0,
        grace_s: float = 0.0,
        head_s: float = 30.0,
        patience_s: float = 30.0,
    ) -> tuple[subprocess.Popen[str], int]:
        """Start a server with a model that takes its time; give it and its port."""
        script = SERVER.format(
            tests=str(TESTS),
            index=str(folder / "index"),
            pause=pause,
            grace_s=grace_s,
            head_s=head_s,
            patience_s=patience_s,
        )
        process = subprocess.Popen(
            [sys.executable, "-c", script],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        line = process.stdout.readline()
        assert f"serving at http://{HOST}:" in line, process.communicate()
        return process, int(line.split()[2].rstrip("/").rpartition(":")[2])

    def check_health(self, port: int) -> None:
        with urllib.request.urlopen(f"http://{HOST}:{port}/health", timeout=30) as answer:
            assert json.load(answer) == {"status": "ok"}

    def say(self, port: int, said: bytes) -> socket.socket:
        """Say something to a server on a new connection, which is given."""
        connection = socket.create_connection((HOST, port), timeout=30)
        connection.sendall(said)
        return connection

    def hear(self, connection: socket.socket) -> bytes:
        """Everything that a server says until it closes the connection."""
        with connection:
            return b"".join(iter(lambda: connection.recv(10_000), b""))

    def test_a_server_that_is_told_to_stop_in_the_middle_of_an_add_loses_nothing(
        self, folder: Path
    ) -> None:
        texts = [{"id": str(n), "text": f"Otter number {n} sleeps."} for n in range(1000)]
        process, port = self.start(folder, pause=0.02)
        request = urllib.request.Request(
            f"http://{HOST}:{port}/v1/texts?stream=true",
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

    def test_an_interrupt_ends_the_server_in_good_order(self, folder: Path) -> None:
        process, port = self.start(folder)
        self.check_health(port)

        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)

        assert process.returncode == 0, said
        assert "Traceback" not in said
        assert "stopped serving" in said

    def test_a_request_that_never_comes_to_its_end_is_answered_when_the_server_ends(
        self, folder: Path
    ) -> None:
        process, port = self.start(folder, grace_s=0.2)
        head = b"PUT /v1/files/a.txt HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n"
        connection = self.say(port, head + b"half")
        uploads = folder / "index" / "uploads"
        for _ in range(1000):
            if uploads.is_dir() and list(uploads.iterdir()):
                break
            threading.Event().wait(0.01)

        process.send_signal(signal.SIGTERM)
        answer = self.hear(connection)
        _, said = process.communicate(timeout=30)

        assert answer.startswith(b"HTTP/1.1 503 ")
        assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"] == "cancelled"
        assert process.returncode == 0
        assert "Traceback" not in said
        assert list(uploads.iterdir()) == []

    def test_a_search_that_never_ends_does_not_keep_the_server_from_ending(
        self, folder: Path
    ) -> None:
        process, port = self.start(folder, pause=1000, patience_s=0.2)
        self.check_health(port)
        connection = self.say(port, b"GET /v1/search?q=lease HTTP/1.1\r\nHost: localhost\r\n\r\n")

        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=30)

        connection.close()
        assert process.returncode == 0
        assert "did not end in time" in said

    def test_a_second_signal_ends_it_at_once(self, folder: Path) -> None:
        process, port = self.start(folder, pause=1000, grace_s=1000, patience_s=1000)
        self.check_health(port)
        connection = self.say(port, b"GET /v1/search?q=lease HTTP/1.1\r\nHost: localhost\r\n\r\n")

        process.send_signal(signal.SIGTERM)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.5)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)

        connection.close()
        assert process.returncode == 0

    def test_a_connection_that_asks_nothing_or_nonsense_is_closed(self, folder: Path) -> None:
        process, port = self.start(folder, head_s=0.2)

        for said in (b"", b"GET /health HTTP/1.1\r\nHost: loc"):
            assert self.hear(self.say(port, said)) == b""
        answer = self.hear(self.say(port, b"Good morning\r\n\r\n"))

        assert answer.startswith(b"HTTP/1.1 400 ")
        assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"] == "bad_request"

        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)


def test_the_same_complaint_is_logged_once_in_a_while() -> None:
    seldom = Seldom()
    complaints = [logging.makeLogRecord({"msg": said}) for said in ("no files left", "other")]

    heard = [seldom.filter(complaint) for complaint in complaints * 3]

    assert heard == [True, True, False, False, False, False]


class TestCommand:
    def test_a_server_bound_to_everything_says_addresses_that_it_answers_to(self) -> None:
        assert _addresses("192.0.2.7") == ["192.0.2.7"]
        assert _addresses("0.0.0.0")[0] == "127.0.0.1"
        assert _addresses("::")[0] == "::1"
        assert not {"0.0.0.0", "::"} & {*_addresses("0.0.0.0"), *_addresses("::")}

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


UNREAD = """
import os, signal, socket, threading
from types import SimpleNamespace
from fastapi import FastAPI
from fastapi.responses import Response
from gossamer.server import run

run._GRACE_S = run._LAST_WORDS_S = 0.1
app = FastAPI()
app.state.service = SimpleNamespace(
    changes=SimpleNamespace(waiting=0, stop=lambda: None), patience_s=0.1
)

@app.get("/big")
async def big():
    return Response(bytes(40_000_000))

listening = socket.create_server(("127.0.0.1", 0))
client = socket.socket()
client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
client.connect(listening.getsockname())

def ask():
    client.sendall(b"GET /big HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")
    client.recv(100)
    os.kill(os.getpid(), signal.SIGTERM)

threading.Thread(target=ask).start()
run.run(app, listening)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals end a process there at once")
def test_a_client_that_does_not_read_its_answer_does_not_keep_the_server() -> None:
    done = subprocess.run(
        [sys.executable, "-c", UNREAD], capture_output=True, text=True, timeout=30, check=False
    )

    # uvicorn passes the signal on once it has ended.
    assert done.returncode in (0, -signal.SIGTERM), done.stderr
