"""Who may ask: the names the server answers to, the pages that may ask it, and the token."""

from __future__ import annotations

import hmac
import ipaddress
import re
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gossamer.errors import InvalidArgument
from gossamer.server.answers import problem
from gossamer.server.guesses import Guesses
from gossamer.server.options import ServeOptions

__all__ = ["HEADERS", "Guard", "allowed_names"]

_LOCAL = ("localhost", "127.0.0.1", "[::1]")
_ANY = ("0.0.0.0", "::", "")
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^\s:/@\[\]]+)(?::([0-9]{1,5}))?")
_PORTS = {"http": "80", "https": "443"}
# What says nothing of the index: the page, which asks for the token, and the list of routes.
_PUBLIC = frozenset({"/", "/health", "/docs", "/openapi.json", "/web"})
_PUBLIC_BELOW = "/web/"
# What browsers say of a request that a page of another origin caused.
_OTHER_SITES = frozenset({"cross-site", "same-site"})
_METHODS = "GET, POST, PUT"
_EXPOSED = "Accept-Ranges, Content-Length, Content-Range, ETag, Gossamer-Signature, Retry-After"
# Of every answer. Pages elsewhere may not even show what they asked for.
HEADERS = {
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
}


class Guard:
    """Refuses requests for other names, from other pages and without the token.

    Names are checked so that a page elsewhere cannot reach a local server by a name of its own
    that leads here (DNS rebinding). Wrong tokens wait for their answer.
    """

    def __init__(self, app: ASGIApp, options: ServeOptions) -> None:
        self._app = app
        self._token = options.token.encode("ascii")
        self._is_bound_to_all = options.host in _ANY
        self._hosts, self._origins = allowed_names(options)
        self._guesses = Guesses()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what may come in; see ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        origin = headers.get("origin", "")

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                added = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    added.setdefault(name, value)
                if scope["path"].startswith("/v1/"):
                    added.setdefault("Cache-Control", "no-store")
                if origin in self._origins:
                    added["Cross-Origin-Resource-Policy"] = "cross-origin"
                    added["Access-Control-Allow-Origin"] = origin
                    added["Access-Control-Expose-Headers"] = _EXPOSED
                    added.add_vary_header("Origin")
            await send(message)

        answer = self._refusal(scope, headers, origin)
        if answer is None and self._needs_token(scope["path"]):
            answer = await self._token_refusal(scope, headers)
        await (answer or self._app)(scope, receive, with_headers)

    def _refusal(self, scope: Scope, headers: Headers, origin: str) -> Response | None:
        """Give the answer to a request that does not come in; None for one that does."""
        host = headers.get("host", "").lower()
        if not self._is_own_host(host, scope):
            return problem(
                403,
                "forbidden_host",
                f"this server does not answer to the name {host!r}; start it with "
                "--allow-host NAME if it should",
            )
        is_allowed = origin in self._origins
        if "origin" in headers and not is_allowed and not _is_same_origin(origin, host):
            return problem(
                403,
                "forbidden_origin",
                f"pages of {origin!r} may not ask this server; start it with "
                "--allow-origin ORIGIN if they should",
            )
        if not is_allowed and _is_by_other_page(scope["path"], headers):
            return problem(
                403,
                "forbidden_origin",
                "a page of another origin asked for this; open it by itself, or start the server "
                "with --allow-origin ORIGIN and let the page ask with CORS",
            )
        if is_allowed and scope["method"] == "OPTIONS":
            return _preflight()
        return None

    async def _token_refusal(self, scope: Scope, headers: Headers) -> Response | None:
        """Give the answer to a request without the token; None for one that has it."""
        kind, _, given = headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer" or not given.strip():
            return _unauthorized()  # nobody learns anything by this, so it need not wait
        is_right = hmac.compare_digest(given.strip().encode("utf-8", "replace"), self._token)
        address, _ = scope.get("client") or ("", None)
        if not await self._guesses.wait(address, is_right):
            return problem(
                429,
                "too_many_guesses",
                "too many wrong tokens came from this address, and others wait for their answer; "
                "ask again in a few seconds, with the right one",
                {"Retry-After": str(self._guesses.retry_s)},
            )
        return None if is_right else _unauthorized()

    def _is_own_host(self, host: str, scope: Scope) -> bool:
        found = _HOST.fullmatch(host)
        if found is None:
            return False
        name = _canonical(found[1].removesuffix("."))
        if name in self._hosts:
            return True
        # Bound to all addresses, it is reached by the one that the connection came in by.
        address, _ = scope.get("server") or ("", None)
        return self._is_bound_to_all and name == _canonical(str(address))

    def _needs_token(self, path: str) -> bool:
        return bool(self._token) and not _is_public(path)


def allowed_names(options: ServeOptions) -> tuple[frozenset[str], frozenset[str]]:
    """Give the hosts that a server answers to, and the origins of other pages that may ask it.

    InvalidArgument for what is no host or no origin.
    """
    bound = () if options.host in _ANY else (options.host,)
    hosts = (*_LOCAL, *bound, *options.allow_hosts)
    return (
        frozenset(_checked_host(host) for host in hosts),
        frozenset(_checked_origin(origin) for origin in options.allow_origins),
    )


def _unauthorized() -> Response:
    return problem(
        401,
        "unauthorized",
        "this server needs its token: send the header 'Authorization: Bearer TOKEN'",
        {"WWW-Authenticate": "Bearer"},
    )


def _preflight() -> Response:
    """Answer a browser that asks whether it may ask."""
    headers = {
        "Access-Control-Allow-Methods": _METHODS,
        "Access-Control-Allow-Headers": (
            "Authorization, Content-Type, Range, If-Range, Gossamer-Nonce"
        ),
        "Access-Control-Max-Age": "600",
    }
    return Response(status_code=204, headers=headers)


def _is_public(path: str) -> bool:
    return path in _PUBLIC or path.startswith(_PUBLIC_BELOW)


def _is_by_other_page(path: str, headers: Headers) -> bool:
    """Whether a page elsewhere caused a request, as by an image. It may lead to the page here."""
    if headers.get("sec-fetch-site", "").lower() not in _OTHER_SITES:
        return False
    return not (_is_public(path) and headers.get("sec-fetch-mode", "").lower() == "navigate")


def _is_same_origin(origin: str, host: str) -> bool:
    """Whether a page came from this server, by whichever scheme a proxy speaks."""
    try:
        parts = urlsplit(origin.lower())
        port = parts.port
    except ValueError:
        return False
    if parts.scheme not in _PORTS or not parts.hostname or parts.path or parts.query:
        return False
    default = _PORTS[parts.scheme]
    found = _HOST.fullmatch(host)
    assert found is not None, "the host is checked before the origin"
    asked = (_canonical(parts.hostname), str(port or default))
    return asked == (_canonical(found[1]), found[2] or default)


def _canonical(host: str) -> str:
    """Give a name in small letters, and an address in the shortest of its spellings."""
    name = host.lower()
    if ":" not in name:
        return name
    try:
        return f"[{ipaddress.ip_address(name.strip('[]'))}]"
    except ValueError:
        return name  # no address, and nothing that is allowed


def _checked_host(host: str) -> str:
    name = _canonical(host)
    found = _HOST.fullmatch(name)
    if found is None or found[2]:
        raise InvalidArgument(f"a host to allow is a name or an address without port; got {host!r}")
    return name


def _checked_origin(origin: str) -> str:
    """Give an origin as browsers send it: in small letters, without the scheme's own port."""
    scheme, _, host = origin.lower().partition("://")
    found = _HOST.fullmatch(host)
    if scheme not in _PORTS or found is None:
        raise InvalidArgument(
            f"an origin is scheme, host and port of a page, such as https://a.example; "
            f"got {origin!r}"
        )
    port = "" if found[2] in (None, _PORTS[scheme]) else f":{found[2]}"
    return f"{scheme}://{_canonical(found[1])}{port}"
