"""Bodies of a bounded size, counted as they come: what a client says of it is not believed."""

from __future__ import annotations

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


class BodyLimit:
    """Answers 413 to a body that is too large, or of too many parts, at the latest when it comes.

    JSON is read as a whole, which nothing can interrupt: what would take seconds must not begin.
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
        received = brackets = 0

        async def counted() -> Message:
            nonlocal received, brackets
            message = await receive()
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

        await self._app(scope, counted, send)

    def _most_bytes(self, path: str, is_file: bool) -> int:
        if is_file:
            return self._options.file_bytes
        most = self._options.body_bytes
        return most if path in _WITH_TEXTS else min(most, _MOST_ASKED_BYTES)


def _said(most: int) -> str:
    return f"a request may hold {most:,} bytes here; send less at a time"
