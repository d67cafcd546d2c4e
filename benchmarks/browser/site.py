"""A static host on this machine that counts what it sends, for one page at a time."""

import gzip
import re
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Self
from urllib.parse import unquote, urlsplit

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".wasm": "application/wasm",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
_PACKED = (".html", ".js", ".wasm", ".css", ".svg")
_RANGE = re.compile(r"bytes=(\d+)-(\d*)")
# With these a page's clock ticks in microseconds; nothing else depends on them.
_ISOLATED = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
}
_PIECE = 1 << 20
_PACKET = 1 << 14


@dataclass(frozen=True)
class Sent:
    """One answer: what was asked for, and the bytes of its body."""

    path: str
    body: int


@dataclass
class Line:
    """A network: so much time before each answer, so many bits a second for all together."""

    megabits: float
    latency_s: float
    _free_at: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def carry(self, count: int) -> None:
        """Wait as long as so many bytes take, after those that are on their way."""
        with self._lock:
            now = time.perf_counter()
            self._free_at = max(now, self._free_at) + 8 * count / (1e6 * self.megabits)
            wait = self._free_at - now
        time.sleep(wait)


@dataclass
class Site:
    """Serves the files of some folders while it is open; what is PUT goes into the first.

    Pages, scripts and modules go out gzip-packed, as static hosts send them; others as they are,
    whole or by ranges.
    """

    folders: list[Path]
    line: Line | None = None
    """What lies between this host and the page; nothing without it."""
    url: str = ""
    sent: list[Sent] = field(default_factory=list)

    def __enter__(self) -> Self:
        handler = type("Handler", (_Handler,), {"site": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/"
        threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def take_sent(self) -> list[Sent]:
        """Give what was sent since the last call."""
        taken, self.sent = self.sent, []
        return taken

    def find(self, path: str) -> Path | None:
        """Find a file by the path of its address."""
        name = unquote(urlsplit(path).path).lstrip("/") or "index.html"
        for folder in self.folders:
            found = (folder / name).resolve()
            if found.is_relative_to(folder.resolve()) and found.is_file():
                return found
        return None


def _pieces(path: Path, start: int, end: int) -> Iterator[bytes]:
    with path.open("rb") as file:
        file.seek(start)
        while start < end and (piece := file.read(min(_PIECE, end - start))):
            yield piece
            start += len(piece)


@cache
def _packed(path: Path) -> bytes:
    return gzip.compress(path.read_bytes(), 9, mtime=0)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    site: Site

    def log_message(self, *_: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        path = self.site.find(self.path)
        if path is None:
            self._send_head(404, {"Content-Length": "0"})
            return
        size = path.stat().st_size
        headers = {"Content-Type": _TYPES.get(path.suffix, "application/octet-stream")}
        headers["ETag"] = f'"{size:x}-{path.stat().st_mtime_ns:x}"'
        asked = _RANGE.fullmatch(self.headers.get("Range", ""))
        if path.suffix in _PACKED and asked is None:
            body = _packed(path)
            headers |= {"Content-Encoding": "gzip", "Content-Length": str(len(body))}
            self._send_head(200, headers)
            self._send_body([body])
            return
        start, end = 0, size
        if asked is not None:
            start = int(asked[1])
            end = min(size, int(asked[2]) + 1) if asked[2] else size
            headers["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
        headers |= {"Accept-Ranges": "bytes", "Content-Length": str(end - start)}
        self._send_head(200 if asked is None else 206, headers)
        self._send_body(_pieces(path, start, end))

    def do_PUT(self) -> None:
        left = int(self.headers.get("Content-Length", "0"))
        name = Path(urlsplit(self.path).path).name
        with (self.site.folders[0] / name).open("wb") as file:
            while left > 0 and (piece := self.rfile.read(min(left, _PIECE))):
                file.write(piece)
                left -= len(piece)
        self._send_head(204, {"Content-Length": "0"})

    def _send_head(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Cache-Control": "no-store", **_ISOLATED, **headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def _send_body(self, pieces: Iterable[bytes]) -> None:
        if self.command == "HEAD":
            return
        line, total = self.site.line, 0
        if line is not None:
            time.sleep(line.latency_s)
        for piece in pieces:
            step = len(piece) if line is None else _PACKET
            for at in range(0, len(piece), step):
                packet = piece[at : at + step]
                if line is not None:
                    line.carry(len(packet))
                self.wfile.write(packet)
                total += len(packet)
        self.site.sent.append(Sent(self.path, total))
