"""The routes as a page: plain HTML made from the OpenAPI schema, with nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

__all__ = ["write_docs"]

_HEAD = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><link rel="stylesheet" href="web/base.css"></head>
<body><main>
<h1>{title}</h1>
<p>{description}</p>
<p>For programs: <a href="openapi.json">openapi.json</a>.</p>
"""


def write_docs(schema: Mapping[str, Any]) -> str:
    """Write the page."""
    about = schema["info"]
    title = f"{about['title']} {about['version']}"
    head = _HEAD.format(title=escape(title), description=escape(about.get("description", "")))
    return head + "".join(_routes(schema["paths"])) + "</main></body></html>\n"


def _routes(paths: Mapping[str, Any]) -> Iterator[str]:
    for path, methods in paths.items():
        for method, route in methods.items():
            yield f"<h2><code>{method.upper()} {escape(path)}</code></h2>\n"
            yield f"<p>{escape(route.get('description') or route.get('summary', ''))}</p>\n<ul>\n"
            yield from _parameters(route)
            yield from _answers(route)
            yield "</ul>\n"


def _parameters(route: Mapping[str, Any]) -> Iterator[str]:
    for parameter in route.get("parameters", ()):
        need = "" if parameter.get("required") else ", may be left out"
        said = parameter.get("description", "")
        yield f"<li><code>{escape(parameter['name'])}</code>{need}. {escape(said)}</li>\n"
    if content := route.get("requestBody", {}).get("content"):
        yield f"<li>body: {escape(', '.join(_bodies(content)))}</li>\n"


def _bodies(content: Mapping[str, Any]) -> Iterator[str]:
    for kind, body in content.items():
        name = body.get("schema", {}).get("$ref", "").rpartition("/")[2]
        yield f"{name} as {kind}" if name else kind


def _answers(route: Mapping[str, Any]) -> Iterator[str]:
    said = (
        f"{status} ({', '.join(_bodies(answer.get('content', {}))) or 'empty'})"
        for status, answer in sorted(route.get("responses", {}).items())
    )
    yield f"<li>answers: {escape('; '.join(said))}</li>\n"
