"""Bodies of a bounded size and time, counted as they come: what a client says is not believed."""

from __future__ import annotations

import asyncio
import time

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gossamer.server.answers import problem
from gossamer.server.options import ServeOptions

__all__ = ["BodyLimit"]

# Bodies that hold texts. All others ask or name something.
_WITH_TEXTS = frozenset({"/v1/texts", "/v1/sync/push"})
_MOST_ASKED_BYTES = 1 << 20
# Lists and objects in a body, in its texts too: each is a hundred bytes of memory once it is read.
_MOST_BRACKETS = 1_000_000
# How long the next piece of a body may take, and what all of them must not be slower than: one byte
# at a time would hold a connection for ever.
_SILENT_S = 15.0
_LEAST_BYTES_A_SECOND = 1000


class BodyLimit:
    """Answers 413 to a body that is too large, or of too many parts, at the latest when it comes.

    JSON is read as a whole, which nothing can interrupt: what would take seconds must not begin.
    A body that stops to come, or comes too slowly, is answered 408.
    """

    def __init__(self, app: ASGIApp, options: ServeOptions) -> None:
        self._app = app
        self._options = options

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, counting; see ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_file = scope["method"] == "PUT"  # everything else is posted
        most = self._most_bytes(scope["path"], is_file)
        said = Headers(scope=scope).get("content-length", "")
        if said.isascii() and said.isdigit() and (len(said) > 18 or int(said) > most):
            await problem(413, "too_large", _said(most))(scope, receive, send)
            return
        patience = _Patience(receive)
        received = brackets = 0

        async def answer(message: Message) -> None:
            patience.end()
            await send(message)

        async def counted() -> Message:
            nonlocal received, brackets
            message = await patience.receive()
            body = message.get("body", b"")
            received += len(body)
            if received > most:
                raise HTTPException(413, _said(most))
            if not is_file:
                brackets += body.count(b"{") + body.count(b"[")
            if brackets > _MOST_BRACKETS:
                raise HTTPException(
                    413, f"a body may hold {_MOST_BRACKETS:,} brackets; send less at a time"
                )
            return message

        await self._app(scope, counted, answer)

    def _most_bytes(self, path: str, is_file: bool) -> int:
        if is_file:
            return self._options.file_bytes
        most = self._options.body_bytes
        return most if path in _WITH_TEXTS else min(most, _MOST_ASKED_BYTES)


class _Patience:
    """Waits for the pieces of a body. Only what is waited for counts, not what is done between."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._received = 0
        self._waited_s = 0.0
        self._is_over = False

    async def receive(self) -> Message:
        """Give the next message; HTTPException with 408 if it does not come in time."""
        if self._is_over:  # what comes now is that the client leaves, which it may when it likes
            return await self._receive()
        left_s = _SILENT_S + self._received / _LEAST_BYTES_A_SECOND - self._waited_s
        start = time.monotonic()
        try:
            async with asyncio.timeout(min(_SILENT_S, left_s)):
                message = await self._receive()
        except TimeoutError:
            raise HTTPException(
                408,
                f"{self._received:,} bytes of the request came, and no more in time; a pause may "
                f"take {_SILENT_S:g} s, and all of it {_SILENT_S:g} s and one more for each "
                f"{_LEAST_BYTES_A_SECOND:,} bytes",
                {"Connection": "close"},
            ) from None
        self._waited_s += time.monotonic() - start
        self._received += len(message.get("body", b""))
        self._is_over = not message.get("more_body", False)
        return message

    def end(self) -> None:
        """Wait no longer for what nobody needs: there is an answer."""
        self._is_over = True


def _said(most: int) -> str:
    return f"a request may hold {most:,} bytes here; send less at a time"
