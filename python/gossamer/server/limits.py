"""Bodies of a bounded size, counted as they come: what a client says of it is not believed."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gossamer.server.answers import problem
from gossamer.server.options import ServeOptions

__all__ = ["BodyLimit"]


class BodyLimit:
    """Answers 413 to a body that is too large, at the latest when that byte comes."""

    def __init__(self, app: ASGIApp, options: ServeOptions) -> None:
        self._app = app
        self._options = options

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, counting; see ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # Files are put, everything else is posted.
        options = self._options
        most = options.file_bytes if scope["method"] == "PUT" else options.body_bytes
        said = Headers(scope=scope).get("content-length", "")
        if said.isascii() and said.isdigit() and (len(said) > 18 or int(said) > most):
            await problem(413, "too_large", _said(most))(scope, receive, send)
            return
        received = 0

        async def counted() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > most:
                raise HTTPException(413, _said(most))
            return message

        await self._app(scope, counted, send)


def _said(most: int) -> str:
    return f"a request may hold {most:,} bytes here; send less at a time"
