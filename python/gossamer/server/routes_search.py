"""Routes that answer: search, similar, chunks and their context, status."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from fastapi.responses import Response

from gossamer.errors import InvalidArgument, UnknownId, Unreachable
from gossamer.index import Index
from gossamer.query.results import Results, ResultsRecord, record_chunk, record_results
from gossamer.records import Hit
from gossamer.server import models
from gossamer.server.answers import json_answer
from gossamer.server.context import (
    TOKEN,
    Route,
    Served,
    check_may_change,
    check_question,
    offer_of,
)
from gossamer.server.documents import answers
from gossamer.server.service import Service
from gossamer.status import record_status
from gossamer.store.folder import read_manifest

__all__ = ["router"]

_MOST_MARGIN = 100_000
_MOST = models.MOST_LISTED
_TITLES = 8

router = APIRouter(prefix="/v1", tags=["search"], route_class=Route, dependencies=[TOKEN])

OriginPart = Annotated[
    str, Query(max_length=100, description="As /v1/sync says it; another one is refused.")
]
Id = Annotated[int, Path(description="The id of a chunk, as hits have it.")]


@router.post(
    "/search",
    summary="Find the places that answer a question",
    response_model=ResultsRecord,
    responses=answers(400, 403, 413, 422),
)
async def search(service: Served, asked: models.Search) -> Response:
    """Find the chunks that answer a question best, by meaning and by words, with their places."""
    return await _search(service, asked)


@router.get(
    "/search",
    summary="Find the places that answer a question, by its address alone",
    response_model=ResultsRecord,
    responses=answers(400, 413, 422),
)
async def search_by_address(
    service: Served,
    q: Annotated[str, Query(min_length=1, description="The question.")],
    k: Annotated[int, Query(ge=1)] = 5,
    mode: models.ModeName = "hybrid",
    rerank: models.RerankName = "auto",
    recall: Annotated[float | None, Query(gt=0, le=1, allow_inf_nan=False)] = None,
    where: Annotated[
        models.Expression | None, Query(description="An expression over metadata.")
    ] = None,
    path: Annotated[list[models.Glob], Query(max_length=_MOST, description="Globs.")] = [],  # noqa: B006
    type: Annotated[list[models.Kind], Query(max_length=_MOST, description="Kinds.")] = [],  # noqa: B006
    after: Annotated[models.Date | None, Query(description="A date: 2024-05-31, 7d.")] = None,
    before: models.Date | None = None,
    plain: bool = False,
    full: bool = False,
    distinct: bool = True,
    per_file: Annotated[int, Query(ge=0)] = 2,
    min_score: Annotated[float | None, Query(ge=0, le=1, allow_inf_nan=False)] = None,
    explain: bool = True,
) -> Response:
    """Find the chunks that answer a question best: the same as POST, for a browser or curl."""
    asked = models.Search.model_construct(
        question=q,
        k=k,
        mode=mode,
        rerank=rerank,
        recall=recall,
        where=where,
        paths=path,
        types=type,
        after=after,
        before=before,
        plain=plain,
        full=full,
        distinct=distinct,
        per_file=per_file,
        min_score=min_score,
        explain=explain,
    )
    return await _search(service, asked)


@router.post(
    "/similar",
    summary="Find what is like a chunk or a place",
    response_model=ResultsRecord,
    responses=answers(400, 404, 413, 422),
)
async def similar(service: Served, asked: models.Similar) -> Response:
    """Find chunks like the one with this id, or the one at PATH:LINE, without itself."""
    _check_hits(service, asked.k)

    def find() -> Results:
        return service.index.similar(
            asked.place,
            asked.k,
            recall=asked.recall,
            where=asked.where,
            paths=asked.paths,
            types=asked.types,
            full=asked.full,
        )

    return await _find(service, find, str(asked.place), explain=asked.explain)


@router.get(
    "/chunks/{id}",
    summary="Give a chunk by its id",
    response_model=models.Chunk,
    responses=answers(404, 422),
)
async def chunk(service: Served, id: Id) -> Response:
    """Give a chunk; 404 if it is gone or its text has changed."""
    hit = await service.reads.run(lambda: service.index.get(id))
    return json_answer(record_chunk(hit))


@router.get(
    "/chunks/{id}/context",
    summary="Give a chunk and the text around it",
    response_model=models.ChunkInContext,
    responses=answers(404, 409, 422),
)
async def context(
    service: Served,
    id: Id,
    margin: Annotated[
        int, Query(ge=0, le=_MOST_MARGIN, description="Bytes of text before and after it.")
    ] = 600,
    index: OriginPart = "",
    epoch: OriginPart = "",
) -> Response:
    """Give a chunk with the text before and after it."""

    def read() -> tuple[str, Hit, str]:
        if index or epoch:
            offer_of(service, index, epoch)
        return service.index.context(id, margin)

    before, hit, after = await service.reads.run(read)
    return json_answer({**record_chunk(hit), "before": before, "after": after})


@router.get(
    "/status",
    summary="Say what is indexed, what it takes, whether it is fresh",
    response_model=models.Status,
    responses=answers(422),
)
async def status(service: Served) -> Response:
    """Say what the index holds; every indexed file is looked at, to see whether it changed."""

    def look() -> dict[str, object]:
        return record_status(service.index.status(), read_manifest(service.index.folder))

    return json_answer(await service.reads.run(look))


@router.get(
    "/titles",
    summary="Name some documents by their titles",
    response_model=models.Titles,
    responses=answers(422),
)
async def titles(service: Served) -> Response:
    """Give titles from all over the index, for whoever wonders what could be asked of it."""
    return json_answer({"titles": await service.reads.run(lambda: _titles(service.index))})


def _titles(index: Index) -> list[str]:
    """Give the titles of documents at even distances; a document without text has none."""
    catalogue = index.snapshot.catalogue
    count = catalogue.document_count
    found: dict[str, None] = {}
    for row in range(0, count, max(1, count // _TITLES))[:_TITLES]:
        try:
            found.update((index.get(id).title, None) for id in catalogue.chunks_in(row)[:1])
        except UnknownId:
            continue  # its file has changed
        except Unreachable:
            break  # the texts are kept by a server that is away
    return [title for title in found if title]


async def _search(service: Service, asked: models.Search) -> Response:
    _check_hits(service, asked.k)
    check_question(service, asked.question)
    if asked.update != "never":
        check_may_change(service)

    def find() -> Results:
        options = asked.model_dump(exclude={"question", "k", "explain"})
        return service.index.search(asked.question, asked.k, reranker=service.reranker, **options)

    return await _find(service, find, asked.question, explain=asked.explain)


async def _find(
    service: Service,
    find: Callable[[], Results],
    asked: str,
    *,
    explain: bool,
) -> Response:
    def work() -> tuple[Results, dict[str, Any]]:
        results = find()
        return results, asdict(record_results(asked, results))

    results, record = await service.searches.run(work)
    service.metrics.searches.labels(results.explanation.mode).inc()
    if not explain:
        record["explanation"] = {}
    return json_answer(record)


def _check_hits(service: Service, k: int) -> None:
    most = service.options.most_hits
    if k > most:
        raise InvalidArgument(f"k may be {most} at most on this server, got {k}")
