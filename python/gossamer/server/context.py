"""What a route needs of the request: the service behind it, and whether it may change anything."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sized
from typing import Annotated, Any

from fastapi import Depends, Request, Response
from fastapi.routing import APIRoute

from gossamer.errors import TooLarge
from gossamer.server.errors import ReadOnly
from gossamer.server.service import Service

__all__ = ["ChangingRoute", "Served", "check_count"]


def _service_of(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


Served = Annotated[Service, Depends(_service_of)]


class ChangingRoute(APIRoute):
    """A route that changes the index: refused, before anything is read, where that is read-only."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Give what answers; see FastAPI."""
        answer = super().get_route_handler()

        async def answer_unless_read_only(request: Request) -> Response:
            if _service_of(request).options.read_only:
                raise ReadOnly("this server is read-only; changes are made where its index is")
            return await answer(request)

        return answer_unless_read_only


def check_count(service: Service, items: Sized) -> None:
    """Refuse more items in a request than the server takes."""
    most = service.options.most_items
    if len(items) > most:
        raise TooLarge(f"a request may hold {most:,} items here, not {len(items):,}; send several")
