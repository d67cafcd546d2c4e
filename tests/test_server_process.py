"""`gossamer serve` as a command and as a process, from its start to its end."""

import json
import logging
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from click.testing import CliRunner

from gossamer.cli import cli
from gossamer.cli.serve import _JsonLines
from gossamer.index import Index

TESTS = Path(__file__).parent


SERVER = """
import sys, threading
sys.path.insert(0, {tests!r})
import pytest
from tiny_embedder import TinyEmbedder, use_tiny
from gossamer.cli import main, serve

serve._GRACE_S = 0
use_tiny(
    pytest.MonkeyPatch(),
    with_codes=True,
    embedder=TinyEmbedder(lambda _: threading.Event().wait({pause!r})),
)
sys.argv = ["gossamer", "serve", {index!r}, "--port", "0"]
main()
"""


class TestProcess:
    def start(self, folder: Path, pause: float) -> tuple[subprocess.Popen[str], str]:
        """Start a server with a model that takes its time; give it and its address."""
        script = SERVER.format(tests=str(TESTS), index=str(folder / "index"), pause=pause)
        process = subprocess.Popen(
            [sys.executable, "-c", script],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        line = process.stdout.readline()
        assert "serving at http://127.0.0.1:" in line, process.communicate()
        return process, line.split()[2]

    @pytest.mark.skipif(sys.platform == "win32", reason="signals end a process there at once")
    def test_a_server_that_is_told_to_stop_in_the_middle_of_an_add_loses_nothing(
        self, folder: Path
    ) -> None:
        texts = [{"id": str(n), "text": f"Otter number {n} sleeps."} for n in range(1000)]
        process, url = self.start(folder, pause=0.02)
        request = urllib.request.Request(
            f"{url}v1/texts?stream=true",
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

    @pytest.mark.skipif(sys.platform == "win32", reason="signals end a process there at once")
    def test_an_interrupt_ends_the_server_in_good_order(self, folder: Path) -> None:
        process, url = self.start(folder, pause=0)
        with urllib.request.urlopen(f"{url}health", timeout=30) as answer:
            assert json.load(answer) == {"status": "ok"}

        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)

        assert process.returncode == 0, said
        assert "Traceback" not in said
        assert "stopped serving" in said


class TestCommand:
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
