"""What a route needs of the request: the service behind it, and whether it may change anything."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sized
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Depends, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer

from gossamer.errors import InvalidArgument, TooLarge, WrongState
from gossamer.server.errors import ReadOnly
from gossamer.server.service import Service

if TYPE_CHECKING:
    from gossamer.sync.offer import Offer

__all__ = [
    "TOKEN",
    "ChangingRoute",
    "Route",
    "Served",
    "check_count",
    "check_may_change",
    "check_question",
    "offer_of",
]

# Says in the schema that a token is sent, and how. Whether it is right is checked before any route.
TOKEN = Depends(
    HTTPBearer(scheme_name="token", description="Where the server has one.", auto_error=False)
)


def _service_of(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


Served = Annotated[Service, Depends(_service_of)]


class Route(APIRoute):
    """A route that refuses arguments in its address that it does not know, as in bodies."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Give what answers; see FastAPI."""
        answer = super().get_route_handler()
        known = {parameter.alias for parameter in self.dependant.query_params}

        async def answer_if_known(request: Request) -> Response:
            unknown = [name for name in request.query_params if name not in known]
            if unknown:
                said = f"there is no such argument here; there is {', '.join(sorted(known))}"
                raise RequestValidationError(
                    [{"loc": ("query", unknown[0]), "msg": said if known else "there is none here"}]
                )
            return await answer(request)

        return answer_if_known


class ChangingRoute(Route):
    """A route that changes the index: refused, before anything is read, where that is read-only."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Give what answers; see FastAPI."""
        answer = super().get_route_handler()

        async def answer_unless_read_only(request: Request) -> Response:
            check_may_change(_service_of(request))
            return await answer(request)

        return answer_unless_read_only


def check_may_change(service: Service) -> None:
    """Refuse what would change the index of a server that is read-only."""
    if service.options.read_only:
        raise ReadOnly("this server is read-only; changes are made where its index is")


def check_count(service: Service, items: Sized) -> None:
    """Refuse more items in a request than the server takes."""
    most = service.options.most_items
    if len(items) > most:
        raise TooLarge(f"a request may hold {most:,} items here, not {len(items):,}; send several")


def check_question(service: Service, question: str) -> None:
    """Refuse a longer question than the server takes."""
    most = service.options.most_question
    if len(question) > most:
        raise InvalidArgument(
            f"a question may have {most:,} characters here, not {len(question):,}"
        )


def offer_of(service: Service, index: str, epoch: str) -> Offer:
    """Give what edges follow; WrongState if one means another index, or a history that is gone.

    Chunks have other ids there. "" means whatever there is.
    """
    offer = service.offering.get()
    if index or epoch:
        info = offer.info()
        if index not in ("", info["index"]) or epoch not in ("", info["epoch"]):
            raise WrongState(
                "there is another index here now than the one that is followed, or it was put "
                "back to an older state; `gossamer pull` says which"
            )
    return offer
