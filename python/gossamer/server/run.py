"""The process of a server: connections that come to nothing, and an end in good order."""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from types import FrameType
from typing import Any

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from gossamer.server.answers import json_bytes

__all__ = ["BACKLOG", "Seldom", "run"]

# Connections that wait to be taken. The loop takes so many at once, and where it cannot it says so
# for each of them.
BACKLOG = 64
# After a signal: so long for requests to finish, and then for a change to come to a safe point.
_GRACE_S, _SAFE_POINT_S = 10.0, 60.0
# What a change that has ended has, to tell its client.
_LAST_WORDS_S = 1.0
_KEEP_ALIVE_S = 30
# A connection is worth nothing before it has said what it wants.
_HEAD_S = 15.0
_SAID_EVERY_S = 10.0


def run(app: FastAPI, bound: socket.socket) -> None:
    """Serve until a signal comes, and end in good order; a second signal ends it at once."""
    config = uvicorn.Config(
        app,
        http=_Connection,
        log_config=None,
        access_log=False,
        lifespan="on",
        ws="none",
        proxy_headers=False,
        server_header=False,
        backlog=BACKLOG,
        timeout_keep_alive=_KEEP_ALIVE_S,
    )
    logging.getLogger("asyncio").addFilter(Seldom())
    _Server(config, app).run(sockets=[bound])


class _Server(uvicorn.Server):
    """A server that ends requests and changes that take too long, each with an answer."""

    def __init__(self, config: uvicorn.Config, app: FastAPI) -> None:
        super().__init__(config)
        self._service = app.state.service

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to end, or end at once if that has begun."""
        if self.should_exit:
            self.force_exit = True
            self._service.patience_s = 0
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End: see uvicorn, which waits for as long as requests take."""
        ending = asyncio.create_task(self._end_late_requests())
        try:
            await super().shutdown(sockets)
        finally:
            ending.cancel()
        if self.force_exit:
            await self.lifespan.shutdown()  # which uvicorn leaves out then

    async def _end_late_requests(self) -> None:
        await asyncio.sleep(_GRACE_S)
        changes = self._service.changes
        if changes.waiting:
            changes.stop()
            until = time.monotonic() + _SAFE_POINT_S
            while changes.waiting and time.monotonic() < until:
                await asyncio.sleep(0.05)
            await asyncio.sleep(_LAST_WORDS_S)
        for task in list(self.server_state.tasks):
            task.cancel()
        # A client that does not read what it asked for is not waited for.
        await asyncio.sleep(_LAST_WORDS_S)
        for connection in list(self.server_state.connections):
            connection.transport.abort()


class _Connection(H11Protocol):
    """A connection that is closed if no request comes, and whose refusals are JSON like others."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin; see asyncio."""
        super().connection_made(transport)
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        """Take what came; see asyncio."""
        super().data_received(data)
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """End; see asyncio."""
        self._forget_deadline()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP."""
        body = json_bytes({"error": "bad_request", "message": f"this is no HTTP request: {msg}"})
        headers = [("Content-Type", "application/json"), ("Connection", "close")]
        events: tuple[Any, ...] = (
            h11.Response(status_code=400, headers=headers, reason=b"Bad Request"),
            h11.Data(data=body),
            h11.EndOfMessage(),
        )
        for event in events:
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _expect_head(self) -> None:
        """Close the connection in a while if no whole head has come by then."""
        if self.conn.their_state is not h11.IDLE:
            self._forget_deadline()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(_HEAD_S, self.timeout_keep_alive_handler)

    def _forget_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


class Seldom(logging.Filter):
    """Lets the same complaint through once in a while: each comes with a long trace."""

    def __init__(self) -> None:
        super().__init__()
        self._next: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Say whether to log it; see logging."""
        now, said = time.monotonic(), str(record.msg)[:100]
        if now < self._next.get(said, 0.0):
            return False
        if len(self._next) > 100:
            self._next.clear()
        self._next[said] = now + _SAID_EVERY_S
        return True
