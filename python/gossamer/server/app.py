"""The application: an index behind routes, with everything that guards it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI
from starlette.middleware import Middleware

import gossamer
from gossamer.server import (
    routes_changes,
    routes_pages,
    routes_search,
    routes_single,
    routes_sync,
    routes_web,
)
from gossamer.server.errors import CatchAll, add_handlers
from gossamer.server.limits import BodyLimit
from gossamer.server.metrics import Watch
from gossamer.server.options import ServeOptions, check_bind
from gossamer.server.security import Guard, allowed_names
from gossamer.server.service import Service
from gossamer.server.signing import Sign

__all__ = ["create_app"]

_ABOUT = (
    "Semantic search over your own files with a tiny index. Errors are JSON with `error` (the "
    "reason, for programs) and `message` (for people); a method that a route does not take is 405. "
    "Where the server has a token, send it as `Authorization: Bearer TOKEN`."
)


def create_app(index_folder: Path, options: ServeOptions | None = None) -> FastAPI:
    """Give the application that serves an index; NoIndex if there is none in the folder.

    Untrusted if the index was neither made nor accepted on this machine.
    InvalidArgument for options that would let strangers in. It ends what it began when the
    server that runs it shuts it down, or by `app.state.service.close()`.
    """
    options = options or ServeOptions()
    check_bind(options)
    allowed_names(options)
    service = Service(index_folder, options)
    # The first is the outermost.
    middleware = [
        Middleware(Watch, metrics=service.metrics),
        Middleware(Guard, options=options),
        Middleware(Sign, options=options),
        Middleware(CatchAll),
        Middleware(BodyLimit, options=options),
    ]
    app = FastAPI(
        title="Gossamer",
        version=gossamer.__version__,
        description=_ABOUT,
        # The usual pages load their scripts from elsewhere.
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_lifespan,
        middleware=middleware,
    )
    app.state.service = service
    add_handlers(app)
    every = (
        *(routes_web, routes_pages, routes_search),
        *(routes_changes, routes_sync, routes_single),
    )
    for routes in every:
        app.include_router(routes.router)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    service: Service = app.state.service
    service.reads.submit(service.warm_up)
    try:
        yield
    finally:
        await asyncio.to_thread(service.close)
