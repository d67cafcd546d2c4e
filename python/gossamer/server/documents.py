"""What every route says of itself: the answers that can come, and how they look."""

from __future__ import annotations

from typing import Any

from gossamer.server.models import Problem, Progress

__all__ = ["BINARY", "LINES", "answers"]

Answers = dict[int | str, dict[str, Any]]

_MEANINGS = {
    400: "What was asked makes no sense; the message says why.",
    401: "The token is missing or wrong.",
    403: "Not allowed: the host, the page that asks, a path outside, or a read-only server.",
    404: "There is no such thing in the index.",
    408: "The request came too slowly, or not to its end.",
    409: "The index is in another state than this needs, or others change it for long.",
    413: "More than the server takes in one request.",
    416: "The file has no such part.",
    422: "The request has not the shape that it should have.",
    429: "Too many wrong tokens came from this address; Retry-After says when to come again.",
    500: "A fault of the server, or a damaged index.",
    503: "Too much waits, the server is shutting down, or its model or disk does not do its part.",
}
# Of every route: who may ask is checked first, and anything may fail.
_ALWAYS = (403, 500, 503)

BINARY = {"type": "string", "format": "binary"}

# A line of a stream. The framework describes whole answers only; the report is among those.
LINES = Progress.model_json_schema(ref_template="#/components/schemas/{model}")
LINES.pop("$defs")


def answers(
    *statuses: int,
    ok: dict[str, Any] | None = None,
    others: Answers | None = None,
    is_public: bool = False,
) -> Answers:
    """Give the answers of a route; `ok` are the types of a 200 that is not JSON.

    One that is public needs no token.
    """
    always = _ALWAYS if is_public else (401, 429, *_ALWAYS)
    if 413 in statuses:  # it has a body
        always = (408, *always)
    found: Answers = {
        status: {"model": Problem, "description": _MEANINGS[status]}
        for status in sorted({*always, *statuses})
    }
    if ok is not None:
        found[200] = {"description": "Done.", "content": ok}
    return found | (others or {})
