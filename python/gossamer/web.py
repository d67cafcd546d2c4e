"""HTTP with one server, by the standard library alone: kept connections, no redirects.

A redirected request would carry texts and keys to an address that nobody named.
"""

from __future__ import annotations

import base64
import io
import json
import re
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from ssl import SSLEOFError, SSLZeroReturnError
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import SplitResult, unquote, urlsplit

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

__all__ = [
    "Answer",
    "NoAnswer",
    "Response",
    "Web",
    "is_loopback",
    "parse_json",
    "retry_after",
    "short",
    "split_address",
]

_BLOCK = 1 << 16
_SMALL_BLOCK = 1 << 12  # of a slow server: little is lost where it falls silent
_SLOW_S = 1.0  # for a block
_MOST_IDLE = 4  # connections that wait for the next request
_LONGEST_WAIT_S = 3600.0
_CONNECT_S = 10.0


class NoAnswer(Exception):  # noqa: N818 - whoever asks says what it means
    """No answer came, or it broke off; `what` the server did, to stand behind its name."""

    def __init__(
        self, what: str, *, is_unknown_host: bool = False, was_closed: bool = False
    ) -> None:
        super().__init__(what)
        self.what = what
        self.is_unknown_host = is_unknown_host
        self.was_closed = was_closed  # before anything of an answer came


class Response(Protocol):
    """As much of an `HTTPResponse` as an answer needs."""

    status: int
    length: int | None  # bytes of the body that are left to read; None if it does not say
    until: float  # when reading is given up, by the monotonic clock

    def getheader(self, name: str, default: str) -> str:
        """Give a header by its name, in any case."""
        ...

    def read(self, amt: int | None = ...) -> bytes:
        """Give the next bytes of the body."""
        ...


class Answer:
    """What a server says: status and headers at once, the body as it is read."""

    def __init__(self, response: Response, timeout_s: float) -> None:
        self._response = response
        self._timeout_s = timeout_s
        self._until = response.until
        self._block = _SMALL_BLOCK
        self.status = response.status

    def header(self, name: str) -> str:
        """Give a header; "" if there is none of this name."""
        return self._response.getheader(name, "")

    def read(self, most: int) -> bytes:
        """Give the next bytes of the body, nothing at its end; NoAnswer if it breaks off.

        A long body may take as long as it likes, if some of it comes within each timeout.
        """
        start = time.monotonic()
        data = self._read(min(most, self._block), start + self._timeout_s)
        self._block = _BLOCK if time.monotonic() - start < _SLOW_S else _SMALL_BLOCK
        return data

    def read_whole(self, most: int) -> bytes:
        """Give the whole body; NoAnswer if it has more bytes than `most`, or takes too long."""
        blocks, size = [], 0
        while block := self._read(_BLOCK, self._until):
            blocks.append(block)
            size += len(block)
            if size > most:
                raise NoAnswer(f"answered with more than {most:,} bytes")
        return b"".join(blocks)

    def _read(self, most: int, until: float) -> bytes:
        self._response.until = until
        try:
            data = self._response.read(most)
        except TimeoutError as error:
            raise NoAnswer("was too slow to finish its answer (timed out)") from error
        except (OSError, HTTPException) as error:
            raise NoAnswer(f"broke off ({_reason(error)})") from error
        if not data and most and self._response.length:
            raise NoAnswer(f"broke off, {self._response.length:,} bytes before the end")
        return data


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
        connection, response = self._ask(method, target, body, {**self._headers, **(headers or {})})
        try:
            yield Answer(response, self._timeout_s)
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
    ) -> tuple[HTTPConnection, _TimedResponse]:
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        if connection is not None:
            try:
                return connection, self._exchange(connection, method, target, body, headers)
            except NoAnswer as error:
                # The server may have closed it while it waited: a new one tells.
                if not error.was_closed:
                    raise
        connection = self._connect()
        return connection, self._exchange(connection, method, target, body, headers)

    def _exchange(
        self,
        connection: HTTPConnection,
        method: str,
        target: str,
        body: bytes | None,
        headers: dict[str, str],
    ) -> _TimedResponse:
        reading = _Reading(time.monotonic() + self._timeout_s)
        connection.response_class = partial(_TimedResponse, reading)  # type: ignore[assignment]
        try:
            if connection.sock is None:
                connection.connect()
            connection.sock.settimeout(self._timeout_s)
        except (OSError, HTTPException) as error:
            connection.close()
            is_unknown = isinstance(error, socket.gaierror)
            what = f"did not answer ({_reason(error)})"
            raise NoAnswer(what, is_unknown_host=is_unknown) from error
        try:
            connection.request(method, self._before_target + target, body, headers)
            # A large body takes its own time to be sent, which is not the answer's.
            reading.until = time.monotonic() + self._timeout_s
            response = connection.getresponse()
        except (OSError, HTTPException) as error:
            connection.close()
            was_closed = isinstance(error, _CLOSED) and not reading.has_begun
            raise NoAnswer(f"broke off ({_reason(error)})", was_closed=was_closed) from error
        assert isinstance(response, _TimedResponse)
        return response

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

    def _keep(self, connection: HTTPConnection, response: _TimedResponse) -> None:
        """Keep a connection whose answer was read to the end, if the server keeps it too."""
        with self._lock:
            if response.isclosed() and not response.will_close and len(self._idle) < _MOST_IDLE:
                self._idle.append(connection)
                return
        response.close()
        connection.close()


# How it shows that the other side has closed a connection.
_CLOSED = (ConnectionError, SSLEOFError, SSLZeroReturnError)


@dataclass(slots=True)
class _Reading:
    """Until when an answer may come, and whether any of it came."""

    until: float
    has_begun: bool = False


class _TimedResponse(HTTPResponse):
    """An answer whose parts all have to come in time: status, headers and body.

    A timeout of a socket alone begins anew with every byte.
    """

    def __init__(self, reading: _Reading, sock: socket.socket, *args: Any, **named: Any) -> None:
        super().__init__(sock, *args, **named)
        self._reading = reading
        self.fp = io.BufferedReader(_TimedSocket(reading, sock, self.fp.detach()))

    @property
    def until(self) -> float:
        """When reading is given up, by the monotonic clock."""
        return self._reading.until

    @until.setter
    def until(self, until: float) -> None:
        self._reading.until = until


class _TimedSocket(io.RawIOBase):
    """What comes over a socket, up to a moment."""

    def __init__(self, reading: _Reading, sock: socket.socket, raw: io.RawIOBase) -> None:
        self._reading = reading
        self._socket = sock
        self._raw = raw

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int | None:
        left = self._reading.until - time.monotonic()
        if left <= 0:
            raise TimeoutError("timed out")
        self._socket.settimeout(min(left, _LONGEST_WAIT_S))
        count = self._raw.readinto(buffer)
        self._reading.has_begun |= bool(count)
        return count

    def close(self) -> None:
        self._raw.close()
        super().close()


def split_address(url: str) -> SplitResult | None:
    """Take a web address apart; None if it is none, or holds a name and password."""
    try:
        parts = urlsplit(url)
        is_address = bool(parts.hostname) and parts.port != 0 and not parts.username
    except ValueError:
        return None
    return parts if is_address and parts.scheme in ("http", "https") else None


def is_loopback(host: str | None) -> bool:
    """Whether a host is this machine, by a name or number that always means it."""
    named = (host or "").rstrip(".").lower()
    return named in ("localhost", "::1") or re.fullmatch(r"127(\.\d{1,3}){3}", named) is not None


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
    """Give the beginning of what a server said, for a message: in one line."""
    if isinstance(said, bytes):
        said = said[:2000].decode("utf-8", "replace").strip()
    text = " ".join((said if isinstance(said, str) else json.dumps(said)).split())
    return text if len(text) <= 200 else f"{text[:200]}..."


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__


def _proxy_for(address: SplitResult) -> SplitResult | None:
    """Give the proxy that the environment names for an address: none for this machine."""
    from urllib.request import getproxies, proxy_bypass

    if is_loopback(address.hostname):
        return None
    proxy = getproxies().get(address.scheme)
    if not proxy or proxy_bypass(address.netloc.rpartition("@")[2]):
        return None
    return urlsplit(proxy if "://" in proxy else f"http://{proxy}")


def _proxy_headers(proxy: SplitResult) -> dict[str, str]:
    if not proxy.username:
        return {}
    who = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"Proxy-Authorization": f"Basic {base64.b64encode(who.encode()).decode('ascii')}"}
