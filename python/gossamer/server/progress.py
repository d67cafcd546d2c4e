"""Long changes as a stream: a line of JSON now and then, and what became of it in the last."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import asdict
from typing import TypeVar

from starlette.responses import StreamingResponse

from gossamer.server.answers import json_bytes
from gossamer.server.changes import Change
from gossamer.server.errors import describe

__all__ = ["NDJSON", "stream"]

T = TypeVar("T")

NDJSON = "application/x-ndjson"
# A line at least so often, so that nobody in between takes the connection for dead.
_BEAT_S = 5.0


def stream(change: Change[T], answer_of: Callable[[T], dict[str, object]]) -> StreamingResponse:
    """Answer with how far a change is, line by line; the last is what it gave, or an error."""
    return StreamingResponse(_lines(change, answer_of), media_type=NDJSON)


async def _lines(
    change: Change[T], answer_of: Callable[[T], dict[str, object]]
) -> AsyncIterator[bytes]:
    try:
        yield _line(asdict(change.progress))
        while not change.result.done():
            await change.news(_BEAT_S)
            if not change.result.done():
                yield _line(asdict(change.progress))
    finally:
        if not change.result.done():
            change.leave()
    error = change.result.exception()
    if error is None:
        yield _line(answer_of(change.result.result()))
    else:
        _, reason, message = describe(error)
        yield _line({"error": reason, "message": message})


def _line(record: dict[str, object]) -> bytes:
    return json_bytes(record) + b"\n"
