"""The page that searches by itself, as `make web` built it: files that anyone may have."""

from __future__ import annotations

import mimetypes
import re
from hashlib import blake2b

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from gossamer.errors import UnknownId
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
# Beyond what the other page may: compile the engine, run it in a worker, show what it made.
_HEADERS = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; "
        "style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; manifest-src 'self'; "
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
}

# The page opens the index beside it; here that is the server's, seen from /web/.
_METAS = {
    b'"gossamer-index" content="index.gossamer"': b'"gossamer-index" content="../v1/sync/file"',
    b'"gossamer-server" content=""': b'"gossamer-server" content=".."',
}

router = APIRouter(tags=["server"], include_in_schema=False)


@router.get("/web")
async def to_page() -> Response:
    """Lead to the page: what it names stands beside it."""
    return RedirectResponse("/web/", 308)


@router.head("/web/{name:path}")
@router.get("/web/{name:path}")
def web_file(name: str, request: Request) -> Response:
    """Give a file of the page, or say that a browser has the newest."""
    folder = page_folder()
    if folder is None:
        raise UnknownId(
            "the page that searches in the browser is not built here; `make web` builds it"
        )
    path = page_file(folder, name or "index.html")
    if not (name == "" or _NAME.fullmatch(name)) or not path.is_file():
        raise UnknownId(f"the page has no file {name!r}")
    data = path.read_bytes()
    if path.name == "index.html":
        for static, served in _METAS.items():
            data = data.replace(static, served)
    tag = f'"{blake2b(data, digest_size=16).hexdigest()}"'
    headers = {**_HEADERS, "ETag": tag}
    if tag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    kind = _TYPES.get(path.suffix) or mimetypes.guess_type(path.name)[0]
    return Response(data, headers=headers, media_type=kind or "application/octet-stream")
