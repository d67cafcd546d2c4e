"""The page, as `make web` built it: at / this server answers it, at /web/ it searches by itself."""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from gossamer.errors import UnknownId
from gossamer.server.context import Served
from gossamer.server.documents import answers
from gossamer.single.site import page_file, page_folder

__all__ = ["router"]

_PART = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,60}"
_NAME = re.compile(rf"({_PART}/){{0,3}}{_PART}")
# Windows takes some types from its registry, where anything may stand.
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".gossamer": "application/octet-stream",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".wasm": "application/wasm",
    ".webmanifest": "application/manifest+json",
}
_CACHED = {"Cache-Control": "no-cache"}
# Beyond what the page at / may: compile the engine, run it in a worker, show what it made.
_HEADERS = {
    **_CACHED,
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; "
        "style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; manifest-src 'self'; "
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
}

# Which index the page opens, the server that has more of it, and whether that takes changes.
_INDEX = b'"gossamer-index" content="index.gossamer"'
_SERVER = b'"gossamer-server" content=""'
_READ_ONLY = b'"gossamer-read-only" content=""'
# Seen from /web/, the file of this server's index.
_BY_ITSELF = {
    _INDEX: b'"gossamer-index" content="../v1/sync/file"',
    _SERVER: b'"gossamer-server" content=".."',
}
# A server and no index: the server answers.
_BY_SERVER = {
    _INDEX: b'"gossamer-index" content=""',
    _SERVER: b'"gossamer-server" content="."',
}
# What stands beside the page: seen from /, it is below /web/.
_BESIDE = re.compile(rb'="(?=[a-z-]+\.(?:css|js|svg)")')

router = APIRouter(tags=["server"])


@router.get(
    "/",
    summary="The page",
    response_class=Response,
    responses=answers(404, ok={"text/html": {"schema": {"type": "string"}}}, is_public=True),
)
def page(service: Served, request: Request) -> Response:
    """Give the page to search with; it asks for the token itself."""
    fixed = {_READ_ONLY: _READ_ONLY[:-1] + b'yes"'} if service.options.read_only else {}
    data = _filled(_found("index.html"), {**_BY_SERVER, **fixed})
    return _answer(request, _BESIDE.sub(b'="web/', data), "index.html", _CACHED)


@router.get("/web", include_in_schema=False)
async def to_page() -> Response:
    """Lead to the page that searches by itself: what it names stands beside it."""
    return RedirectResponse("/web/", 308)


@router.head("/web/{name:path}", include_in_schema=False)
@router.get("/web/{name:path}", include_in_schema=False)
def web_file(name: str, request: Request) -> Response:
    """Give a file of the page, or say that a browser has the newest."""
    path = _found(name or "index.html")
    is_page = path.name == "index.html"
    data = _filled(path, _BY_ITSELF) if is_page else path.read_bytes()
    return _answer(request, data, path.name, _HEADERS)


def _found(name: str) -> Path:
    """Give where a file of the page is; UnknownId if there is none."""
    folder = page_folder()
    if folder is None:
        raise UnknownId("the page is not built here: `make web` builds it, and wheels have it")
    path = page_file(folder, name)
    if not _NAME.fullmatch(name) or not path.is_file():
        raise UnknownId(f"the page has no file {name!r}")
    return path


def _filled(path: Path, metas: Mapping[bytes, bytes]) -> bytes:
    data = path.read_bytes()
    for static, served in metas.items():
        data = data.replace(static, served)
    return data


def _answer(request: Request, data: bytes, name: str, headers: Mapping[str, str]) -> Response:
    tag = f'"{blake2b(data, digest_size=16).hexdigest()}"'
    headers = {**headers, "ETag": tag}
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    kind = _TYPES.get(Path(name).suffix) or mimetypes.guess_type(name)[0]
    return Response(data, headers=headers, media_type=kind or "application/octet-stream")
