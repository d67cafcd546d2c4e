"""HTTP with one server, by the standard library alone: kept connections, no redirects.

A redirected request would carry texts and keys to an address that nobody named.
"""

from __future__ import annotations

import base64
import json
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any, Protocol
from urllib.parse import SplitResult, unquote, urlsplit

__all__ = [
    "Answer",
    "NoAnswer",
    "Response",
    "Web",
    "parse_json",
    "retry_after",
    "short",
    "split_address",
]

_BLOCK = 1 << 16
_MOST_IDLE = 4  # connections that wait for the next request
_LONGEST_WAIT_S = 3600.0
_CONNECT_S = 10.0


class NoAnswer(Exception):  # noqa: N818 - whoever asks says what it means
    """No answer came, or it broke off; `what` the server did, to stand behind its name."""

    def __init__(self, what: str, *, is_unknown_host: bool = False) -> None:
        super().__init__(what)
        self.what = what
        self.is_unknown_host = is_unknown_host


class Response(Protocol):
    """As much of an `HTTPResponse` as an answer needs."""

    status: int
    length: int | None  # bytes of the body that are left to read; None if it does not say

    def getheader(self, name: str, default: str) -> str:
        """Give a header by its name, in any case."""
        ...

    def read(self, amt: int | None = ...) -> bytes:
        """Give the next bytes of the body."""
        ...


class Answer:
    """What a server says: status and headers at once, the body as it is read."""

    def __init__(self, response: Response, until: float) -> None:
        self._response = response
        self._until = until
        self.status = response.status

    def header(self, name: str) -> str:
        """Give a header; "" if there is none of this name."""
        return self._response.getheader(name, "")

    def read(self, most: int) -> bytes:
        """Give the next bytes of the body, nothing at its end; NoAnswer if it breaks off."""
        try:
            data = self._response.read(most)
        except (OSError, HTTPException) as error:
            raise NoAnswer(f"broke off ({_reason(error)})") from error
        if not data and most and self._response.length:
            raise NoAnswer(f"broke off, {self._response.length:,} bytes before the end")
        return data

    def read_whole(self, most: int) -> bytes:
        """Give the whole body; NoAnswer if it has more bytes than `most`, or takes too long."""
        blocks, size = [], 0
        while block := self.read(_BLOCK):
            blocks.append(block)
            size += len(block)
            if size > most:
                raise NoAnswer(f"answered with more than {most:,} bytes")
            if time.monotonic() > self._until:
                raise NoAnswer("was too slow to finish its answer (timed out)")
        return b"".join(blocks)


class Web:
    """Requests to one server, from any thread; connections are kept for the next request."""

    def __init__(
        self,
        url: str,
        timeout_s: float,
        headers: Mapping[str, str] | None = None,
        connect_s: float = _CONNECT_S,
    ) -> None:
        """Expects an address that `split_address` takes. `headers` go with every request.

        A server that cannot be reached is given up after `connect_s`, one that is silent after
        `timeout_s`.
        """
        self._address = urlsplit(url)
        self._timeout_s = timeout_s
        self._connect_s = min(connect_s, timeout_s)
        self._headers = {"User-Agent": "gossamer", **(headers or {})}
        self._proxy = _proxy_for(self._address)
        # A proxy passes plain requests on by their whole address.
        self._before_target = ""
        if self._proxy is not None and self._address.scheme == "http":
            self._before_target = f"http://{self._address.netloc}"
            self._headers |= _proxy_headers(self._proxy)
        self._idle: list[HTTPConnection] = []
        self._lock = threading.Lock()

    @contextmanager
    def send(
        self,
        method: str,
        target: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Iterator[Answer]:
        """Ask for a target (path and query); NoAnswer if there is no answer to be had."""
        until = time.monotonic() + self._timeout_s
        connection, response = self._ask(method, target, body, {**self._headers, **(headers or {})})
        try:
            yield Answer(response, until)
        finally:
            self._keep(connection, response)

    def close(self) -> None:
        """Close the connections that are kept; the next request opens a new one."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def __del__(self) -> None:
        for connection in getattr(self, "_idle", ()):
            connection.close()

    def _ask(
        self, method: str, target: str, body: bytes | None, headers: dict[str, str]
    ) -> tuple[HTTPConnection, HTTPResponse]:
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        if connection is not None:
            try:
                return connection, self._exchange(connection, method, target, body, headers)
            except NoAnswer:
                pass  # the server may have closed it while it waited: a new one tells
        connection = self._connect()
        return connection, self._exchange(connection, method, target, body, headers)

    def _exchange(
        self,
        connection: HTTPConnection,
        method: str,
        target: str,
        body: bytes | None,
        headers: dict[str, str],
    ) -> HTTPResponse:
        try:
            is_new = connection.sock is None
            if is_new:
                connection.connect()
                connection.sock.settimeout(self._timeout_s)
        except (OSError, HTTPException) as error:
            connection.close()
            is_unknown = isinstance(error, socket.gaierror)
            what = f"did not answer ({_reason(error)})"
            raise NoAnswer(what, is_unknown_host=is_unknown) from error
        try:
            connection.request(method, self._before_target + target, body, headers)
            return connection.getresponse()
        except (OSError, HTTPException) as error:
            connection.close()
            raise NoAnswer(f"broke off ({_reason(error)})") from error

    def _connect(self) -> HTTPConnection:
        host, port, proxy = self._address.hostname or "", self._address.port, self._proxy
        is_safe = self._address.scheme == "https"
        kind = HTTPSConnection if is_safe else HTTPConnection
        if proxy is None:
            return kind(host, port, timeout=self._connect_s)
        connection = kind(proxy.hostname or "", proxy.port or 80, timeout=self._connect_s)
        if is_safe:
            connection.set_tunnel(host, port or 443, _proxy_headers(proxy))
        return connection

    def _keep(self, connection: HTTPConnection, response: HTTPResponse) -> None:
        """Keep a connection whose answer was read to the end, if the server keeps it too."""
        with self._lock:
            if response.isclosed() and not response.will_close and len(self._idle) < _MOST_IDLE:
                self._idle.append(connection)
                return
        response.close()
        connection.close()


def split_address(url: str) -> SplitResult | None:
    """Take a web address apart; None if it is none, or holds a name and password."""
    try:
        parts = urlsplit(url)
        is_address = bool(parts.hostname) and parts.port != 0 and not parts.username
    except ValueError:
        return None
    return parts if is_address and parts.scheme in ("http", "https") else None


def retry_after(answer: Answer) -> float:
    """Give the seconds that a server asks to wait for; 0 if it does not say."""
    try:
        seconds = float(answer.header("Retry-After") or 0)
    except ValueError:
        return 0.0
    return seconds if 0 < seconds < _LONGEST_WAIT_S else 0.0


def parse_json(data: bytes) -> Any:
    """Read JSON; ValueError for anything else, also for what is nested too deep."""
    try:
        return json.loads(data)
    except RecursionError:
        raise ValueError("nested too deep") from None


def short(said: Any) -> str:
    """Give the beginning of what a server said, for a message."""
    if isinstance(said, bytes):
        said = said[:2000].decode("utf-8", "replace").strip()
    text = said if isinstance(said, str) else json.dumps(said)
    return text if len(text) <= 200 else f"{text[:200]}..."


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__


def _proxy_for(address: SplitResult) -> SplitResult | None:
    """Give the proxy that the environment names for an address."""
    from urllib.request import getproxies, proxy_bypass

    proxy = getproxies().get(address.scheme)
    if not proxy or proxy_bypass(address.netloc.rpartition("@")[2]):
        return None
    return urlsplit(proxy if "://" in proxy else f"http://{proxy}")


def _proxy_headers(proxy: SplitResult) -> dict[str, str]:
    if not proxy.username:
        return {}
    who = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"Proxy-Authorization": f"Basic {base64.b64encode(who.encode()).decode('ascii')}"}
