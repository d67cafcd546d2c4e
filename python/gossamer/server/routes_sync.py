"""Routes for edges: what there is to follow, packages, vectors and texts, pushes and conflicts."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict
from typing import Annotated, Any, Literal

import numpy as np
from fastapi import APIRouter, Query, Request
from fastapi import Path as InPath
from fastapi.responses import Response

from gossamer.errors import InvalidArgument, UnknownId
from gossamer.files import PLAIN_NAME
from gossamer.server import models
from gossamer.server.answers import json_answer
from gossamer.server.context import TOKEN, ChangingRoute, Route, Served, check_count, offer_of
from gossamer.server.documents import BINARY, answers
from gossamer.server.errors import Busy
from gossamer.server.ranges import OpenFile, answer_with_file
from gossamer.sync.records import (
    PROTOCOL,
    Base,
    Building,
    Conflict,
    Mode,
    Plan,
    PushItem,
    PushResult,
)
from gossamer.sync.uploads import check_name
from gossamer.update.report import Watcher

__all__ = ["router"]

router = APIRouter(prefix="/v1", tags=["sync"], route_class=Route, dependencies=[TOKEN])
changing = APIRouter(tags=["sync"], route_class=ChangingRoute)

_RETRY_S = "1"
_TRIES = 3
_MOST_NUMBER = (1 << 63) - 1
_FILE: dict[str, Any] = {"application/octet-stream": {"schema": BINARY}}

ModeText = Annotated[
    str, Query(max_length=100, description="codes, hot:BYTES, slim, slim:int8, slim:f16:8.")
]
Texts = Annotated[
    Literal["kept", "away"], Query(description="Whether the edge keeps texts, or asks for them.")
]
Version = Annotated[int, Query(ge=0, le=_MOST_NUMBER)]


@router.get(
    "/sync",
    summary="Say which index this is",
    response_model=models.Info,
    responses=answers(409, 422),
)
async def info(service: Served) -> Response:
    """Say which index this is, its version, and how it can be followed."""
    return json_answer(await service.edges.run(lambda: service.offering.get().info()))


@router.get(
    "/sync/plan",
    summary="Estimate what an edge would take",
    response_model=Plan,
    responses=answers(400, 409, 413, 422),
)
async def plan(
    service: Served,
    mode: ModeText = "codes",
    texts: Texts = "kept",
    budget: Annotated[int | None, Query(ge=0, le=_MOST_NUMBER)] = None,
) -> Response:
    """Estimate what an edge of this kind takes, or choose the best that fits a budget of bytes."""
    chosen = Mode.parse(mode)

    def estimate() -> Plan:
        return service.offering.get().plan(chosen, texts=texts, budget=budget)

    return json_answer(asdict(await service.edges.run(estimate)))


@router.get(
    "/sync/package",
    summary="Give what leads from one version to the newest",
    response_class=Response,
    responses=answers(
        400,
        409,
        416,
        422,
        ok=_FILE,
        others={
            202: {"model": models.Making, "description": "It is being made; ask again."},
            204: {"description": "This version is the newest."},
            206: {"content": _FILE, "description": "The part that Range asks for."},
        },
    ),
)
async def package(
    service: Served,
    request: Request,
    mode: ModeText = "codes",
    texts: Texts = "kept",
    epoch: Annotated[str, Query(max_length=100)] = "",
    version: Version | None = None,
    state: Annotated[str, Query(max_length=100)] = "",
    protocol: int = PROTOCOL,
) -> Response:
    """Give one file that leads from the state of an edge to the newest; a snapshot without one.

    The file ends with a code over all of it, which is its ETag; Range and If-Range go on with a
    download that broke off.
    """
    if protocol != PROTOCOL:
        raise InvalidArgument(
            f"this server speaks protocol {PROTOCOL}, not {protocol}; upgrade the older side"
        )
    chosen, base = Mode.parse(mode), _base(epoch, version, state)

    def make() -> OpenFile | Building | None:
        for _ in range(_TRIES):
            found = service.offering.get().package(chosen, texts=texts, base=base)
            if found is None or isinstance(found, Building):
                return found
            # It may be deleted between being found and being opened.
            with suppress(FileNotFoundError):
                return OpenFile.open(found)
        raise Busy("packages are deleted faster than they are given; ask again in a moment")

    found = await service.edges.run(make)
    if found is None:
        return Response(status_code=204)
    if isinstance(found, Building):
        return json_answer(asdict(found), 202, {"Retry-After": _RETRY_S})
    return answer_with_file(found, request.headers)


@router.post(
    "/sync/vectors",
    summary="Give vectors of chunks",
    response_class=Response,
    responses=answers(400, 409, 413, 422, ok=_FILE),
)
async def vectors(service: Served, asked: models.VectorIds) -> Response:
    """Give a byte for each id, 1 if its vector follows, then the vectors as 16-bit floats."""
    is_here, rows = await service.edges.run(
        lambda: offer_of(service, asked.index, asked.epoch).vectors(asked.ids)
    )
    data = np.asarray(is_here, np.uint8).tobytes() + np.ascontiguousarray(rows, "<f2").tobytes()
    return Response(data, media_type="application/octet-stream")


@router.post(
    "/sync/chunks",
    summary="Give texts of chunks",
    response_model=models.Chunks,
    responses=answers(400, 409, 413, 422),
)
async def chunks(service: Served, asked: models.ChunkIds) -> Response:
    """Give what chunks say, for edges that keep no texts; null for those that cannot be had."""
    check_count(service, asked.ids)
    found = await service.edges.run(
        lambda: offer_of(service, asked.index, asked.epoch).chunks(asked.ids)
    )
    return json_answer({"chunks": [one and asdict(one) for one in found]})


@changing.post(
    "/sync/push",
    summary="Take changes that an edge made",
    response_model=models.Pushed,
    responses=answers(400, 409, 413, 422),
)
async def push(service: Served, given: models.Pushes) -> Response:
    """Put the texts in that an edge changed. The last to arrive wins, and conflicts are kept."""
    check_count(service, given.items)
    items = [
        PushItem(
            one.op,
            one.id,
            one.base,
            None if one.text is None else one.text.model_dump(),
            is_file=one.is_file,
        )
        for one in given.items
    ]

    pushed = await service.changes.wait(service.changes.submit_to(service.pushes, items))
    return json_answer(asdict(pushed))


@changing.put(
    "/sync/files/{name:path}",
    summary="Take a file that an edge put",
    response_model=PushResult,
    responses=answers(400, 409, 413, 422),
    openapi_extra={"requestBody": {"required": False, "content": _FILE}},
)
async def push_file(
    service: Served,
    request: Request,
    name: Annotated[str, InPath(description="Such as report.pdf or notes/2024.md.")],
    op: Annotated[str, Query(pattern=PLAIN_NAME)],
    base: Annotated[str, Query(max_length=200)] = "",
) -> Response:
    """Store and index a file that an edge has."""
    check_name(name)
    # Aside, since only one at a time should be in memory.
    aside = await service.uploads.receive(request.stream())

    def push_it(_: Watcher) -> PushResult:
        item = PushItem(op, name, base, file=aside.read_bytes())
        (result,) = service.offering.get().push([item])
        return result

    result = await service.changes.wait(service.changes.submit_with(aside, push_it))
    return json_answer(asdict(result))


@router.get(
    "/conflicts",
    summary="List changes that took the place of others",
    response_model=models.Conflicts,
    responses=answers(409, 422),
)
async def conflicts(
    service: Served, after: Annotated[int, Query(ge=0, le=_MOST_NUMBER)] = 0
) -> Response:
    """List conflicts with a number above `after`; the text that was replaced is asked for apart."""

    def look() -> list[Conflict]:
        offering = service.offering
        return offering.get().conflicts(after) if offering.has_history else []

    found = await service.edges.run(look)
    return json_answer({"conflicts": [asdict(one) for one in found]})


@router.get(
    "/conflicts/{number}",
    summary="Give a conflict with the text that was replaced",
    response_model=Conflict,
    responses=answers(404, 409, 422),
)
async def conflict(
    service: Served, number: Annotated[int, InPath(ge=0, le=_MOST_NUMBER)]
) -> Response:
    """Give a conflict, with the text that was replaced."""

    def look() -> Conflict:
        if not service.offering.has_history:
            raise UnknownId(f"there is no conflict {number}")
        return service.offering.get().conflict(number)

    return json_answer(asdict(await service.edges.run(look)))


def _base(epoch: str, version: int | None, state: str) -> Base | None:
    if version is None and not epoch and not state:
        return None
    if version is None or not epoch or not state:
        raise InvalidArgument("a base is epoch, version and state together; or none of them")
    return Base(epoch, version, state)


router.include_router(changing)
