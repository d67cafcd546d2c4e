"""Routes for people and their machines: the list of routes, health and metrics."""

from __future__ import annotations

import logging

from fastapi import APIRouter, Request
from fastapi.responses import Response

from gossamer.errors import GossamerError
from gossamer.server import models
from gossamer.server.answers import json_answer, problem
from gossamer.server.context import TOKEN, Served
from gossamer.server.docs_page import write_docs
from gossamer.server.documents import answers
from gossamer.server.metrics import METRICS_TYPE
from gossamer.server.seldom import Seldom
from gossamer.store.folder import read_manifest

__all__ = ["router"]

# Of its own, since everybody may ask for health as often as they like.
_LOG = logging.getLogger("gossamer.server.health")
_LOG.addFilter(Seldom())
_HTML = "text/html; charset=utf-8"
_TEXT = {"schema": {"type": "string"}}

router = APIRouter(tags=["server"])


@router.get(
    "/docs",
    summary="This list of routes, to read",
    response_class=Response,
    responses=answers(ok={"text/html": _TEXT}, is_public=True),
)
async def docs(request: Request) -> Response:
    """Give all routes as a page that needs nothing from elsewhere."""
    return Response(write_docs(request.app.openapi()), media_type=_HTML)


@router.get(
    "/health",
    summary="Say whether the server answers",
    response_model=models.Health,
    responses=answers(is_public=True),
)
async def health(service: Served) -> Response:
    """Say that the server answers and its index is there; needs no token.

    Where it is not there the answer is 503, and the server's log says why.
    """
    # One small file: it must not wait behind whatever else is asked.
    try:
        read_manifest(service.index.folder)
    except (GossamerError, OSError) as error:
        # Why is for the owner: it names folders of this machine.
        _LOG.warning("the index cannot be read: %s", error)
        return problem(503, "unavailable", "the index cannot be read now", {"Retry-After": "2"})
    return json_answer({"status": "ok"})


@router.head("/health", include_in_schema=False)
async def health_alone(service: Served) -> Response:
    """Say the same to load balancers, which do not read answers."""
    return await health(service)


@router.get(
    "/metrics",
    summary="Numbers for Prometheus",
    response_class=Response,
    dependencies=[TOKEN],
    responses=answers(ok={"text/plain": _TEXT}),
)
async def metrics(service: Served) -> Response:
    """Give requests, searches, embedding and the size of the index in the format of Prometheus."""

    def count() -> bytes:
        service.refresh_metrics()
        return service.metrics.text()

    return Response(await service.reads.run(count), media_type=METRICS_TYPE)
