"""Signs answers with the token, for clients that ask for it by a nonce."""

from __future__ import annotations

import hashlib

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gossamer.server.answers import problem
from gossamer.server.options import ServeOptions
from gossamer.sync.signing import NONCE, SIGNATURE, Answered, Asked, is_nonce, sign

__all__ = ["Sign"]

# What only who has the token can ask for. A code for anybody else would let tokens be guessed
# without asking again.
_SIGNED_BELOW = "/v1/"


class Sign:
    """Signs every answer to a request that carries a nonce, where the server has a token.

    It stands behind what checks the token.
    """

    def __init__(self, app: ASGIApp, options: ServeOptions) -> None:
        self._app = app
        self._token = options.token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, and sign what comes back; see ASGI."""
        is_signed = scope["type"] == "http" and scope["path"].startswith(_SIGNED_BELOW)
        nonce = Headers(scope=scope).get(NONCE) if is_signed and self._token else None
        if nonce is None:
            await self._app(scope, receive, send)
        elif not is_nonce(nonce):
            said = f"{NONCE} is 32 hexadecimal digits in small letters, new for each request"
            await problem(400, "invalid_argument", said)(scope, receive, send)
        else:
            exchange = _Exchange(scope, receive, send, self._token, nonce)
            await self._app(scope, exchange.receive, exchange.send)


class _Exchange:
    """A request and its answer on their way."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, token: str, nonce: str) -> None:
        self._scope = scope
        self._receive = receive
        self._send = send
        self._token = token
        self._nonce = nonce
        self._body = hashlib.sha256()  # of the request
        self._has_body = self._is_read = False
        self._head: Message | None = None  # of the answer, until it can be signed

    async def receive(self) -> Message:
        """Give what came of the request."""
        message = await self._receive()
        if message["type"] == "http.request":
            body = message.get("body", b"")
            self._body.update(body)
            self._has_body |= bool(body)
            self._is_read = not message.get("more_body", False)
        return message

    async def send(self, message: Message) -> None:
        """Send a part of the answer: its head once it is known what follows."""
        if message["type"] == "http.response.start":
            self._head = message
            return
        head, self._head = self._head, None
        if head is not None:
            # An answer that comes in parts is a file.
            is_whole = not message.get("more_body", False)
            headers = MutableHeaders(scope=head)
            headers[SIGNATURE] = self._sign(
                head["status"], headers, message.get("body", b"") if is_whole else None
            )
            await self._send(head)
        await self._send(message)

    def _sign(self, status: int, headers: Headers, body: bytes | None) -> str:
        asked = Asked(
            self._nonce,
            self._scope["method"],
            self._scope["path"],
            self._scope["query_string"].decode("latin-1"),
            self._body.hexdigest() if self._has_body and self._is_read else "",
        )
        answered = Answered.of(status, lambda name: headers.get(name, ""), body)
        return sign(self._token, asked, answered)
