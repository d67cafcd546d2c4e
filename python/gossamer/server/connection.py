"""One connection: how long it may take for what, and refusals before there is a request."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from enum import Enum
from http import HTTPStatus
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from gossamer.server.answers import json_bytes
from gossamer.server.crowd import Crowd
from gossamer.server.security import HEADERS

__all__ = ["Connection"]

# A connection is worth nothing before it has said what it wants.
_HEAD_S = 15.0
# After an answer that did not need the whole request, the rest of it is read, or the client might
# see a broken connection and no answer. But not for long.
_REST_SILENT_S, _REST_S = 5.0, 30.0
# A client that reads nothing of its answer for so long may have to make room, and then is gone.
_UNREAD_S, _READER_S = 5.0, 30.0
_REFUSED_S = 1.0
# So much of a body shows that it comes on. Less may be sent to hold the connection.
_COMES_ON_BYTES = 1 << 14
_BUSY = (
    "this server has as many connections as it can; ask again in a moment, and close connections "
    "that are not needed"
)


class _Stage(Enum):
    HEAD = "waits for a request"
    BODY = "waits for the rest of a request"
    WORK = "has a whole request to answer, or an answer to send"
    REST = "has answered, and the request is not over"


class Connection(H11Protocol):
    """A connection that is closed if no request comes, and whose refusals are JSON like others.

    The body of a request has its time too, where it is read: see BodyLimit.
    """

    def __init__(self, crowd: Crowd, **given: Any) -> None:
        super().__init__(**given)
        self.conn = _Strict(h11.SERVER)
        self._crowd = crowd
        self._stage: _Stage | None = None
        self._is_refused = False
        self._come_bytes = 0  # since the crowd was told that it comes on
        self._rest_until = 0.0
        self._deadline: asyncio.TimerHandle | None = None
        self._reader: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin, or refuse to; see asyncio."""
        if not self._crowd.enter(self):
            self._refuse(transport)
            return
        super().connection_made(transport)
        self._follow()

    def data_received(self, data: bytes) -> None:
        """Take what came; see asyncio."""
        if self._is_refused:
            return
        super().data_received(data)
        self._come_bytes += len(data)
        self._follow()

    def on_response_complete(self) -> None:
        """Wait for the next request; see uvicorn."""
        super().on_response_complete()
        self._follow()

    def connection_lost(self, exc: Exception | None) -> None:
        """End; see asyncio."""
        self._crowd.leave(self)
        self._forget_deadline()
        self._forget_reader()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Let the answer wait for its reader, but not for ever; see asyncio."""
        super().pause_writing()
        self._expect_reader()

    def resume_writing(self) -> None:
        """Go on; see asyncio."""
        super().resume_writing()
        self._forget_reader()
        self._expect_reader()
        self._follow()

    def timeout_keep_alive_handler(self) -> None:
        """Close a connection on which nothing comes; see uvicorn."""
        super().timeout_keep_alive_handler()
        self._expect_reader()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP."""
        assert isinstance(self.conn, _Strict)
        self._end_with(400, "bad_request", f"this is no HTTP request: {self.conn.fault or msg}")

    def make_room(self) -> None:
        """Go, since another one comes; a client that has begun to ask is told so."""
        if self._stage is _Stage.BODY:
            self._end_with(503, "busy", _BUSY, {"Retry-After": "2"})
        else:
            self.transport.close()
        if self.transport.get_write_buffer_size():
            self.transport.abort()

    def _follow(self) -> None:
        """See how far the request is, and wait for the rest of it as long as it may take."""
        if self.transport.is_closing():
            self._forget_deadline()
            self._expect_reader()
            return
        before, self._stage = self._stage, self._find_stage()
        is_new = self._stage is not before
        if is_new:
            self._forget_deadline()
        if self._stage is _Stage.WORK:
            self._crowd.work(self)
        elif self._stage is _Stage.HEAD:
            self._expect_head(is_new, has_asked=before is not None)
        elif self._stage is _Stage.BODY:
            self._expect_body(is_new)
        else:
            self._expect_rest(is_new)

    def _find_stage(self) -> _Stage:
        if self.flow.write_paused:
            return _Stage.WORK
        if self.conn.their_state is h11.IDLE:
            return _Stage.HEAD
        if self.conn.their_state is h11.SEND_BODY:
            return _Stage.REST if self.cycle.response_complete else _Stage.BODY
        return _Stage.WORK

    def _expect_head(self, is_new: bool, has_asked: bool) -> None:
        if is_new:
            self._crowd.wait(self, is_idle=has_asked)
        # Between two requests uvicorn waits, until the first byte of the next one.
        if self._deadline is None and self.timeout_keep_alive_task is None:
            self._close_in(_HEAD_S)

    def _expect_body(self, is_new: bool) -> None:
        if is_new or self._come_bytes >= _COMES_ON_BYTES:
            self._come_bytes = 0
            self._crowd.wait(self, is_idle=False)

    def _expect_rest(self, is_new: bool) -> None:
        now = self.loop.time()
        if is_new:
            self._rest_until = now + _REST_S
        self._forget_deadline()
        self._close_in(min(_REST_SILENT_S, self._rest_until - now))

    def _close_in(self, seconds: float) -> None:
        self._deadline = self.loop.call_later(seconds, self.timeout_keep_alive_handler)

    def _forget_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _expect_reader(self) -> None:
        """Break the connection off if nothing is read for a while of what is written already."""
        left = self.transport.get_write_buffer_size()
        if self._reader is None and left:
            self._look_later(left, self.loop.time() + _READER_S)

    def _look_later(self, left: int, until: float) -> None:
        pause = min(_UNREAD_S, until - self.loop.time())
        self._reader = self.loop.call_later(pause, self._look_at_reader, left, until)

    def _look_at_reader(self, before: int, until: float) -> None:
        self._reader = None
        if self.transport.get_write_buffer_size() < before:
            self._crowd.work(self)
            self._expect_reader()
        elif self.loop.time() >= until:
            self.transport.abort()
        else:
            self._crowd.wait(self, is_idle=False)
            self._look_later(before, until)

    def _forget_reader(self) -> None:
        if self._reader is not None:
            self._reader.cancel()
            self._reader = None

    def _refuse(self, transport: asyncio.Transport) -> None:
        """Answer that there are too many connections, whatever would be asked."""
        self._is_refused = True
        self.transport = transport
        transport.write(_write_answer(503, "busy", _BUSY, {"Retry-After": "2"}))
        if self._crowd.refuse(self):
            transport.write_eof()
            self.loop.call_later(_REFUSED_S, transport.abort)
        else:
            transport.close()

    def _end_with(
        self, status: int, reason: str, message: str, headers: Mapping[str, str] | None = None
    ) -> None:
        """Answer with a problem if there is no answer yet, and close the connection."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.write(_write_answer(status, reason, message, headers))
        if self.cycle is not None:
            self.cycle.disconnected = True  # what the application still says goes nowhere
        self.transport.close()


class _Strict(h11.Connection):
    """Refuses requests whose length can be read in two ways: a proxy may have read the other."""

    fault = ""  # of the request that was refused last

    def next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        """Give what came next; RemoteProtocolError if it is no good request."""
        event = super().next_event()
        if isinstance(event, h11.Request):
            self.fault = _find_fault(event)
            if self.fault:
                raise h11.RemoteProtocolError(self.fault)
        return event


def _find_fault(request: h11.Request) -> str:
    """Say what is wrong with how long a request says that it is; "" if nothing is."""
    names = {name for name, _ in request.headers}
    if b"transfer-encoding" not in names:
        return ""
    if b"content-length" in names:
        return "it has both Content-Length and Transfer-Encoding; send one of them"
    if request.http_version < b"1.1":
        return "it has a Transfer-Encoding, which HTTP/1.0 does not know; send Content-Length"
    return ""


def _write_answer(
    status: int, reason: str, message: str, headers: Mapping[str, str] | None = None
) -> bytes:
    """Give a whole answer, as it is sent before there is an application to ask."""
    body = json_bytes({"error": reason, "message": message})
    fields = {
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        "Connection": "close",
        **HEADERS,
        **(headers or {}),
    }
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}"]
    lines += [f"{name}: {value}" for name, value in fields.items()]
    return "\r\n".join([*lines, "", ""]).encode("ascii") + body
