"""A static host for tests: files of a folder over HTTP, with byte ranges, counters and faults.

with StaticSite(folder) as site:
    fetch(site.url + "index.html")
    site.behave(ranges=False)
"""

import gzip
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Self
from urllib.parse import unquote, urlsplit

_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".mjs": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".wasm": "application/wasm",
}
_RANGE = re.compile(r"bytes=(\d*)-(\d*)")


@dataclass(frozen=True)
class Behaviour:
    """How the site answers; the defaults are those of a good host."""

    ranges: bool = True
    """Whether ranges are served; without, the whole file comes with status 200."""
    etag: str | None = None
    """In place of the ETag that is made of the content; "" for none."""
    status: int | None = None
    """Answer this status and nothing else (500, 404, 401, ...)."""
    cut_after: int | None = None
    """Close the connection after so many bytes of a body; its length is announced in full."""
    gzip: bool = False
    """Send whole files gzip-encoded, as some hosts do although a range was asked for."""
    times: int | None = None
    """How many requests this lasts, good ones follow; None for all."""
    only: str = ""
    """Only for paths that contain this; others are answered well."""


@dataclass
class StaticSite:
    """Serves `folder` while it is open. Paths outside it are not found."""

    folder: Path
    headers: Mapping[str, str] = field(default_factory=dict)
    """Sent with every answer, for example a content security policy."""
    url: str = ""
    """Where the site is, with a slash at its end."""
    requests: list[str] = field(default_factory=list)
    """What was asked for, as "GET /path 206"."""
    bytes_sent: int = 0
    """Bytes of bodies that were sent."""
    _behaviour: Behaviour = Behaviour()
    _left: int | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __enter__(self) -> Self:
        """Start serving on a free port of this machine."""
        handler = type("Handler", (_Handler,), {"served": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/"
        serve = self._server.serve_forever
        self._thread = threading.Thread(target=serve, args=(0.05,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def behave(
        self,
        *,
        ranges: bool = True,
        etag: str | None = None,
        status: int | None = None,
        cut_after: int | None = None,
        gzip: bool = False,
        times: int | None = None,
        only: str = "",
    ) -> None:
        """Answer like this from now on, see Behaviour; without arguments: well."""
        with self._lock:
            self._left = times
            self._behaviour = Behaviour(ranges, etag, status, cut_after, gzip, times, only)

    def reset_counters(self) -> None:
        """Forget what was asked and sent so far."""
        with self._lock:
            self.requests.clear()
            self.bytes_sent = 0

    def _behaviour_for(self, path: str) -> Behaviour:
        with self._lock:
            if self._behaviour.only not in path:
                return Behaviour()
            if self._left == 0:
                return Behaviour()
            if self._left is not None:
                self._left -= 1
            return self._behaviour

    def _note(self, request: str) -> None:
        with self._lock:
            self.requests.append(request)

    def _note_sent(self, count: int) -> None:
        with self._lock:
            self.bytes_sent += count

    def _find(self, path: str) -> Path | None:
        root = self.folder.resolve()
        found = (root / unquote(path).lstrip("/")).resolve()
        if found.is_dir():
            found /= "index.html"
        return found if found.is_relative_to(root) and found.is_file() else None


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    served: StaticSite

    def log_message(self, *_: object) -> None:
        """Keep quiet."""

    def do_HEAD(self) -> None:
        """Answer without the body."""
        self._answer()

    def do_GET(self) -> None:
        """Answer with a file, a range of one, or as the site was told to behave."""
        self._answer()

    def _answer(self) -> None:
        path = urlsplit(self.path).path
        behaviour = self.served._behaviour_for(path)
        found = self.served._find(path)
        if behaviour.status is not None or found is None:
            self._send(behaviour.status or 404, {}, b"", None)
            return
        content = found.read_bytes()
        etag = f'"{sha256(content).hexdigest()[:16]}"' if behaviour.etag is None else behaviour.etag
        headers = {"Content-Type": _TYPES.get(found.suffix, "application/octet-stream")}
        if etag:
            headers["ETag"] = etag
        if behaviour.gzip:
            packed = gzip.compress(content, mtime=0)
            self._send(200, {**headers, "Content-Encoding": "gzip"}, packed, behaviour.cut_after)
            return
        if behaviour.ranges:
            headers["Accept-Ranges"] = "bytes"
            if (span := self._asked_span(len(content), etag)) is not None:
                self._send_span(content, span, headers, behaviour.cut_after)
                return
        self._send(200, headers, content, behaviour.cut_after)

    def _asked_span(self, size: int, etag: str) -> tuple[int, int] | None:
        asked = _RANGE.fullmatch(self.headers.get("Range", ""))
        if asked is None or self.headers.get("If-Range", etag) != etag:
            return None
        first, last = asked.groups()
        if not first:
            return (max(0, size - int(last)), size) if last else None
        return int(first), min(size, int(last) + 1) if last else size

    def _send_span(
        self, content: bytes, span: tuple[int, int], headers: dict[str, str], cut: int | None
    ) -> None:
        start, end = span
        if start >= end:
            self._send(416, {"Content-Range": f"bytes */{len(content)}"}, b"", None)
            return
        place = f"bytes {start}-{end - 1}/{len(content)}"
        self._send(206, {**headers, "Content-Range": place}, content[start:end], cut)

    def _send(self, status: int, headers: Mapping[str, str], body: bytes, cut: int | None) -> None:
        self.served._note(f"{self.command} {self.path} {status}")
        self.send_response(status)
        standard = {"Content-Length": str(len(body)), "Cache-Control": "no-store"}
        for name, value in {**standard, **headers, **self.served.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "HEAD":
            return
        sent = body if cut is None else body[:cut]
        self.close_connection = len(sent) < len(body)
        # Before it is sent: whoever has read it may look at once.
        self.served._note_sent(len(sent))
        try:
            self.wfile.write(sent)
        except ConnectionError:
            self.close_connection = True
