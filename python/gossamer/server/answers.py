"""Answers: JSON of whatever text there is, and problems of one shape."""

from __future__ import annotations

import json
from collections.abc import Mapping

from starlette.responses import Response

__all__ = ["json_answer", "json_bytes", "problem"]


def json_answer(
    content: object, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Answer with JSON."""
    return Response(json_bytes(content), status, dict(headers or {}), "application/json")


def problem(
    status: int, reason: str, message: str, headers: Mapping[str, str] | None = None
) -> Response:
    """Answer that something was not done: the reason for programs, the message for people."""
    return json_answer({"error": reason, "message": message}, status, headers)


def json_bytes(content: object) -> bytes:
    """Write JSON; what is no character (a file's name may hold such bytes) becomes "?"."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")
