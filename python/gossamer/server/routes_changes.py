"""Routes that change the index: texts, paths, removals, files."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi import Path as InPath
from fastapi.responses import Response

from gossamer.errors import InvalidArgument
from gossamer.files import absolute
from gossamer.server import models
from gossamer.server.answers import json_answer
from gossamer.server.changes import Change
from gossamer.server.context import TOKEN, ChangingRoute, Served, check_count
from gossamer.server.documents import BINARY, LINES, answers
from gossamer.server.progress import NDJSON, stream
from gossamer.server.service import Service
from gossamer.sync.uploads import UPLOADED, check_name, why_left_out
from gossamer.update.given import as_given_text
from gossamer.update.report import UpdateReport, Watcher

__all__ = ["router"]

router = APIRouter(prefix="/v1", tags=["changes"], route_class=ChangingRoute, dependencies=[TOKEN])

Streamed = Annotated[
    bool, Query(alias="stream", description="Answer with a line of JSON for every step.")
]


def _streamed(model: str) -> dict[int | str, dict[str, Any]]:
    reference = {"schema": {"$ref": f"#/components/schemas/{model}"}}
    return {
        200: {
            "description": "Done; or lines that say how far it is, with `report` or `error` last.",
            "content": {"application/json": reference, NDJSON: {"schema": LINES}},
        }
    }


_REPORTED = answers(400, 409, 413, 422, others=_streamed("Report"))


@router.post(
    "/texts",
    summary="Put texts in",
    response_model=models.Report,
    responses=_REPORTED,
)
async def add_texts(
    service: Served, given: models.NewTexts, streamed: Streamed = False
) -> Response:
    """Put texts in under ids of their own; one whose id is there already takes its place."""
    check_count(service, given.texts)
    texts = [as_given_text(text.model_dump()) for text in given.texts]
    if len({text.id for text in texts}) < len(texts):
        raise InvalidArgument("two texts have the same id; send each id once, with what it is now")
    return await _answer(service, service.changes.submit_to(service.texts, texts), streamed)


@router.post(
    "/paths",
    summary="Bring files up to date",
    response_model=models.Report,
    responses=_REPORTED,
)
async def add_paths(service: Served, given: models.Paths, streamed: Streamed = False) -> Response:
    """Bring the index's folders that hold these paths up to date; all of them for null.

    Only what was added where the server runs is ever looked at, with the options it was added
    with: a path outside is 403.
    """
    roots: list[Path] | None = None
    if given.paths is not None:
        check_count(service, given.paths)
        paths = given.paths
        roots = await service.reads.run(lambda: service.roots_of(paths))
    wait_s = service.options.lock_wait_s

    def add(watch: Watcher) -> UpdateReport:
        return service.index.add_paths(roots, wait_s=wait_s, progress=watch)

    return await _answer(service, service.changes.submit(add), streamed)


@router.post(
    "/remove",
    summary="Take texts, files and folders out",
    response_model=models.Report,
    responses=_REPORTED,
)
async def remove(service: Served, given: models.Names, streamed: Streamed = False) -> Response:
    """Take out texts by id, files by path, and everything below folders; others are passed over.

    Files of the server's own stay on its disk, except those that were put here.
    """
    check_count(service, given.names)

    def take_out(_: Watcher) -> UpdateReport:
        # The id of a text may read like the path of a folder, which is not meant then.
        catalogue = service.index.snapshot.catalogue
        paths = [name for name in given.names if catalogue.find_text(name) is None]
        report = service.index.remove(given.names, wait_s=service.options.lock_wait_s)
        for name in paths:
            service.uploads.remove_all(absolute(name))
        return report

    return await _answer(service, service.changes.submit(take_out), streamed)


@router.put(
    "/files/{name:path}",
    summary="Put a file in",
    response_model=models.PutFile,
    responses=answers(400, 409, 413, 422, others=_streamed("PutFile")),
    openapi_extra={
        "requestBody": {
            "required": False,  # a file may be empty
            "content": {"application/octet-stream": {"schema": BINARY}},
        }
    },
)
async def put_file(
    service: Served,
    request: Request,
    name: Annotated[str, InPath(description="Such as report.pdf or notes/2024.md.")],
    streamed: Streamed = False,
) -> Response:
    """Store a file, in place of any of that name, and index it.

    One that is refused, also because others change the index, leaves what was there as it was.
    """
    check_name(name)
    uploads = service.uploads
    aside = await uploads.receive(request.stream())

    def add(watch: Watcher) -> UpdateReport:
        return service.index.add_paths(
            [uploads.folder],
            options=UPLOADED,
            reset_options=True,
            wait_s=service.options.lock_wait_s,
            progress=watch,
            prepare=lambda: uploads.put(aside, name),
        )

    def put(watch: Watcher) -> dict[str, object]:
        report = add(watch)
        path = uploads.path_of(name)
        catalogue = service.index.snapshot.catalogue
        row = catalogue.find_path(path)
        note = why_left_out(None if row is None else catalogue.source(row))
        return {"path": str(path), "note": note, "report": asdict(report)}

    change = service.changes.submit_with(aside, put)
    if streamed:
        return stream(change, lambda done: done)
    done = await service.changes.wait(change)
    return json_answer(done)


async def _answer(service: Service, change: Change[UpdateReport], is_streamed: bool) -> Response:
    if is_streamed:
        return stream(change, lambda report: {"report": asdict(report)})
    report = await service.changes.wait(change)
    return json_answer(asdict(report))
