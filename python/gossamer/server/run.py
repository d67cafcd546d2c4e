"""The process of a server, from its first connection to an end in good order."""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from functools import partial
from types import FrameType
from typing import cast

import uvicorn
from fastapi import FastAPI

from gossamer.server.connection import Connection
from gossamer.server.crowd import BACKLOG, Crowd, most_connections
from gossamer.server.seldom import Seldom

__all__ = ["BACKLOG", "create_server", "run"]

# After a signal: so long for requests to finish, and then for a change to come to a safe point.
_GRACE_S, _SAFE_POINT_S = 10.0, 60.0
# What a change that has ended has, to tell its client.
_LAST_WORDS_S = 1.0
_KEEP_ALIVE_S = 30
# In so many rounds of the loop all connections could be replaced, and not in fewer.
_ROUNDS = 8


def run(app: FastAPI, bound: socket.socket) -> None:
    """Serve until a signal comes, and end in good order; a second signal ends it at once."""
    logging.getLogger("asyncio").addFilter(Seldom())
    create_server(app, most_connections()).run(sockets=[bound])


def create_server(app: FastAPI, most: int) -> uvicorn.Server:
    """Give a server of an application that has at most so many connections at once."""
    # What has just come must be read before so many others come that it would have to go.
    taken_at_once = max(1, min(BACKLOG, most // _ROUNDS))
    config = uvicorn.Config(
        app,
        http=cast(type[asyncio.Protocol], partial(Connection, Crowd(most))),
        log_config=None,
        access_log=False,
        lifespan="on",
        ws="none",
        proxy_headers=False,
        server_header=False,
        backlog=taken_at_once,
        timeout_keep_alive=_KEEP_ALIVE_S,
    )
    return _Server(config, app)


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

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin; see uvicorn."""
        await super().startup(sockets)
        for bound in sockets or []:
            bound.listen(BACKLOG)  # others may wait in the system, though few are taken at once

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
