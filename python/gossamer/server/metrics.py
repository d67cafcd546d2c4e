"""Numbers for Prometheus: requests, searches, embedding, and how the index grows."""

from __future__ import annotations

import logging
import time
from urllib.parse import quote

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gossamer.embed.shared import Round

__all__ = ["METRICS_TYPE", "Metrics", "Watch"]

METRICS_TYPE = CONTENT_TYPE_LATEST
_ACCESS = logging.getLogger("gossamer.server.access")
_METHODS = frozenset({"GET", "POST", "PUT", "HEAD", "OPTIONS", "DELETE", "PATCH"})
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_TEXTS = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class Metrics:
    """The numbers of one server."""

    def __init__(self) -> None:
        # Its own: several servers may run in one process, as in tests.
        self._registry = registry = CollectorRegistry()
        self.requests = Counter(
            "gossamer_http_requests",
            "Requests by route, method and status",
            ["route", "method", "status"],
            registry=registry,
        )
        self.seconds = Histogram(
            "gossamer_http_request_seconds",
            "Time to answer, to the last byte",
            ["route"],
            buckets=_SECONDS,
            registry=registry,
        )
        self.searches = Counter(
            "gossamer_searches", "Searches answered, by mode", ["mode"], registry=registry
        )
        self.chunks_embedded = Counter(
            "gossamer_chunks_embedded",
            "Chunks embedded, for searches and for updates",
            ["use"],
            registry=registry,
        )
        self.round_texts = Histogram(
            "gossamer_embedding_round_texts",
            "Different texts in each shared round of embedding",
            buckets=_TEXTS,
            registry=registry,
        )
        self.waiting = Gauge(
            "gossamer_waiting", "Work that runs or waits, by kind", ["kind"], registry=registry
        )
        self.index = Gauge(
            "gossamer_index", "Version, chunks and bytes of the index", ["what"], registry=registry
        )

    def note_round(self, done: Round) -> None:
        """Count what was embedded together."""
        self.round_texts.observe(done.texts + done.questions)
        self.chunks_embedded.labels("update" if done.is_update else "search").inc(done.texts)

    def text(self) -> bytes:
        """Give all of them in the text format of Prometheus."""
        return generate_latest(self._registry)


class Watch:
    """Counts every request, and notes it in the log `gossamer.server.access`."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on and watch; see ASGI."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = time.perf_counter(), 500

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, watched)
        finally:
            self._note(scope, status, time.perf_counter() - started)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        # By the route's pattern: paths are without number, and would be kept for ever.
        route = getattr(scope.get("route"), "path", "none")
        method = scope["method"] if scope["method"] in _METHODS else "other"
        self._metrics.requests.labels(route, method, str(status)).inc()
        self._metrics.seconds.labels(route).observe(seconds)
        # As it came: a path that was decoded may hold anything, such as another line.
        path = quote(scope["path"])
        _ACCESS.info(
            "%s %s %s %.0f ms",
            method,
            path,
            status,
            seconds * 1e3,
            extra={"method": method, "path": path, "status": status, "seconds": seconds},
        )
