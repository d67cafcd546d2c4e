"""Routes for pages that search by themselves: the index as one file, its model, questions."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
from fastapi import APIRouter, Request
from fastapi.responses import Response

from gossamer.errors import UnknownId, WrongState
from gossamer.server import models
from gossamer.server.answers import json_answer
from gossamer.server.context import TOKEN, Route, Served, check_question, offer_of
from gossamer.server.documents import BINARY, answers
from gossamer.server.ranges import OpenFile, answer_with_file
from gossamer.server.single_files import open_tagged
from gossamer.single.model_file import model_file_of
from gossamer.sync.records import Building

__all__ = ["router"]

router = APIRouter(prefix="/v1", tags=["pages"], route_class=Route, dependencies=[TOKEN])

_RETRY_S = "1"
_FILE: dict[str, Any] = {"application/octet-stream": {"schema": BINARY}}
_PART: dict[int | str, dict[str, Any]] = {
    206: {"content": _FILE, "description": "The part that Range asks for."}
}


@router.get(
    "/sync/file",
    summary="Give the index as one file",
    response_class=Response,
    responses=answers(
        409,
        416,
        422,
        ok=_FILE,
        others={
            202: {"model": models.Making, "description": "It is being made; ask again."},
            **_PART,
        },
    ),
)
async def single_file(service: Served, request: Request) -> Response:
    """Give the newest version as `gossamer export` writes it, whole or by ranges.

    Its ETag is another one once the index has changed: a page that sent If-Range or compares it
    then begins anew. Until the new version is made, If-Range gets parts of the one before.
    """
    begun = request.headers.get("if-range", "")
    found = await service.edges.run(lambda: service.single_files.get(begun))
    if isinstance(found, Building):
        return json_answer(asdict(found), 202, {"Retry-After": _RETRY_S})
    return answer_with_file(found, request.headers)


@router.head("/sync/file", include_in_schema=False)
async def size_of_single_file(service: Served) -> Response:
    """Say how large the file is, where a page may not see it in the answer to a range."""
    found = await service.edges.run(service.single_files.get)
    if isinstance(found, Building):
        return Response(status_code=202, headers={"Retry-After": _RETRY_S})
    found.file.close()
    about = {"ETag": found.tag, "Accept-Ranges": "bytes", "Content-Length": str(found.size)}
    return Response(headers=about, media_type="application/octet-stream")


@router.post(
    "/sync/question",
    summary="Give the vector of a question",
    response_class=Response,
    responses=answers(400, 409, 413, 422, ok=_FILE),
)
async def question(service: Served, asked: models.Question) -> Response:
    """Embed a question, for pages without the model: its vector as 16-bit floats."""
    check_question(service, asked.question)

    def embed() -> bytes:
        if asked.epoch:
            offer_of(service, asked.index, asked.epoch)
        snapshot, model = service.index.now()
        if asked.index not in ("", snapshot.manifest.uuid):
            raise WrongState("there is another index here now than the one that is searched")
        vector = model.embedder.embed_question(asked.question)
        return np.ascontiguousarray(vector, "<f2").tobytes()

    return Response(await service.searches.run(embed), media_type="application/octet-stream")


@router.get(
    "/model",
    summary="Give the model of the index",
    response_class=Response,
    responses=answers(404, 416, 422, ok=_FILE, others=_PART),
)
async def model(service: Served, request: Request) -> Response:
    """Give the file of the index's model, whole or by ranges; 404 if it is none for pages."""

    def look() -> OpenFile:
        stamp = service.index.snapshot.manifest.model
        path = model_file_of(stamp)
        if path is None:
            raise UnknownId(
                f"the model of this index, {stamp.name}, is no file that a page can load; "
                "/v1/sync/question embeds questions"
            )
        return open_tagged(path)

    return answer_with_file(await service.edges.run(look), request.headers)
