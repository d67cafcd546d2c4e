"""`gossamer serve` in a process of its own, and clients that ask it."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

STARTS_WITHIN_S = 60.0
STOPS_WITHIN_S = 60.0
ANSWERS_WITHIN_S = 120.0


@dataclass(frozen=True)
class Answer:
    """What came back, and how long it took."""

    status: int
    body: bytes
    seconds: float

    def json(self) -> Any:
        """The body as it was meant."""
        return json.loads(self.body)


class Client:
    """One connection that stays open, as a program would have it. For one thread."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWERS_WITHIN_S)

    def ask(self, method: str, path: str, body: Mapping[str, object] | None = None) -> Answer:
        """Send one request and read the whole answer."""
        content = None if body is None else json.dumps(body).encode()
        start = time.perf_counter()
        self._connection.request(method, path, content, {"Content-Type": "application/json"})
        response = self._connection.getresponse()
        read = response.read()
        return Answer(response.status, read, time.perf_counter() - start)

    def close(self) -> None:
        """Let go of the connection."""
        self._connection.close()


class Server:
    """A running server."""

    def __init__(self, folder: Path, log: Path) -> None:
        self.port = _free_port()
        command = [sys.executable, "-m", "gossamer", "--index", str(folder)]
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                [*command, "serve", "--port", str(self.port)],
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        self._log = log
        self._wait()

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def resident_bytes(self) -> int:
        """The memory of its process now (Linux)."""
        pages = int(Path(f"/proc/{self._process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def metrics(self) -> dict[str, float]:
        """Give what it counts, by name and labels."""
        client = Client(self.port)
        lines = client.ask("GET", "/metrics").body.decode().splitlines()
        client.close()
        found = (re.fullmatch(r"(\S+(?:\{.*\})?) (\S+)", line) for line in lines)
        return {match[1]: float(match[2]) for match in found if match}

    def stop(self) -> int:
        """Ask it to end, and give its exit status."""
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(STOPS_WITHIN_S)

    def kill(self) -> None:
        """End it if it still runs."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def _wait(self) -> None:
        start = time.monotonic()
        while time.monotonic() - start < STARTS_WITHIN_S and self._process.poll() is None:
            try:
                if Client(self.port).ask("GET", "/health").status == 200:
                    return
            except OSError:
                time.sleep(0.1)
        self.kill()
        raise RuntimeError(f"the server did not start: {self._log.read_text()[-2000:]}")


@contextmanager
def serving(folder: Path, log: Path) -> Iterator[Server]:
    """Run a server for as long as it is needed; it is gone afterwards in any case."""
    server = Server(folder, log)
    try:
        yield server
    finally:
        server.kill()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
