"""Errors as answers: a fitting status, the reason and the message, and never a stack trace."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gossamer import errors
from gossamer.server.answers import problem

__all__ = ["Busy", "CatchAll", "Forbidden", "ReadOnly", "add_handlers", "describe", "reason_of"]

_LOG = logging.getLogger("gossamer.server")
_RETRY_S = "2"
_CLIENT_LEFT = 499  # as servers call it in their numbers; nobody is there to read it
_SHOWN_FAULTS = 5
_MOST_SHOWN = 200

# The first that fits. What is not the client's fault is a 5xx.
_STATUS: Sequence[tuple[type[Exception], int]] = (
    (errors.UnknownId, 404),
    (errors.TooLarge, 413),
    (errors.Locked, 409),
    (errors.WrongState, 409),
    (errors.InvalidArgument, 400),
    (errors.Empty, 400),
    (errors.DuplicateId, 400),
    (errors.NotFinite, 400),
    (errors.WrongDimension, 400),
    (errors.Cancelled, 503),
    (errors.Unreachable, 503),
    (errors.Unwritable, 503),
    (errors.MissingModel, 503),
    (errors.NoIndex, 503),
    (errors.Untrusted, 503),
)


class Forbidden(errors.GossamerError):
    """The server does not do this for anybody."""


class ReadOnly(errors.GossamerError):
    """The server takes no changes."""


class Busy(errors.GossamerError):
    """More waits already than the server takes."""


def add_handlers(app: FastAPI) -> None:
    """Let everything that a route raises on purpose be answered."""

    async def on_error(_: Request, error: Exception) -> Response:
        return _answer(error)

    async def on_http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        if error.status_code == 405 and (methods := _methods_of(request)):
            error.headers = {"Allow": ", ".join(methods)}
        return _http_answer(error)

    async def on_shape(_: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        faults = error.errors()
        if any(fault.get("type") == "too_long" for fault in faults):
            return problem(413, "too_large", _describe_faults(faults))
        return problem(422, "invalid_request", _describe_faults(faults))

    app.add_exception_handler(errors.GossamerError, on_error)
    app.add_exception_handler(HTTPException, on_http)
    app.add_exception_handler(RequestValidationError, on_shape)


def describe(error: BaseException) -> tuple[int, str, str]:
    """Give the status, the reason and the message of an error; what is unknown is logged."""
    if isinstance(error, Forbidden | ReadOnly):
        return 403, reason_of(error), str(error)
    if isinstance(error, Busy):
        return 503, "busy", str(error)
    for kind, status in _STATUS:
        if isinstance(error, kind):
            return status, reason_of(error), str(error)
    _LOG.error("a request failed", exc_info=error)
    if isinstance(error, errors.GossamerError):
        return 500, reason_of(error), str(error)
    return 500, "internal", "this is a fault of the server, and its log says more"


def reason_of(error: BaseException) -> str:
    """Give the name of an error in snake case, such as invalid_argument."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", type(error).__name__).lower()


class CatchAll:
    """Answers what no handler expected, where nothing was sent yet."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on; see ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        has_begun = False

        async def watched(message: Message) -> None:
            nonlocal has_begun
            has_begun = has_begun or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, watched)
            return
        except ClientDisconnect:
            answer = problem(_CLIENT_LEFT, "client_left", "the client left before it was answered")
        except asyncio.CancelledError:
            # The server ends, and waits no longer. Whoever cancelled this knows that it did.
            answer = _answer(errors.Cancelled("the server is shutting down; ask again later"))
            if has_begun:
                return  # the rest of an answer that was begun never comes
        except Exception as error:
            answer = _answer(error)
            if has_begun:
                raise  # half an answer: closing the connection is all that can be said
        if not has_begun:
            await answer(scope, receive, send)


def _answer(error: Exception) -> Response:
    status, reason, message = describe(error)
    retry = {"Retry-After": _RETRY_S} if status == 503 or reason == "locked" else None
    return problem(status, reason, message, retry)


def _http_answer(error: HTTPException) -> Response:
    """Answer what the framework raises: no such route, no such method, a body that is no JSON."""
    reason, said = _FRAMEWORK.get(error.status_code, ("bad_request", ""))
    return problem(error.status_code, reason, said or str(error.detail), error.headers)


_FRAMEWORK = {
    404: ("not_found", "there is no such route; /openapi.json lists all of them"),
    405: ("method_not_allowed", "this route does not take this method; /openapi.json lists all"),
    408: ("too_slow", ""),
    413: ("too_large", ""),
}


def _methods_of(request: Request) -> list[str]:
    """Give all methods of a path; the framework names those of the first route alone."""
    path = getattr(request.scope.get("route"), "path_format", "")
    return sorted(method.upper() for method in request.app.openapi()["paths"].get(path, ()))


def _describe_faults(faults: Sequence[Any]) -> str:
    """Say what is wrong with a request, place by place."""
    said = "; ".join(_fault(one) for one in faults[:_SHOWN_FAULTS])
    more = len(faults) - _SHOWN_FAULTS
    return f"{said}; and {more} more" if more > 0 else said


def _fault(fault: dict[str, Any]) -> str:
    place = ".".join(str(part) for part in fault.get("loc", ()))
    return f"{place[:_MOST_SHOWN]}: {str(fault.get('msg', 'is wrong'))[:_MOST_SHOWN]}"
