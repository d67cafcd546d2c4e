"""A server over a small index, asked without a network."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from gossamer.index import Index
from gossamer.server import routes_web
from gossamer.server.app import create_app
from gossamer.server.options import ServeOptions

LEASE = "# Lease\n\nThe lease is due for renewal on the third of March.\n"
GARDEN = "Tomatoes want sun and much water.\n"
PAGE = Path(__file__).resolve().parent.parent / "web" / "page"


def make_index(folder: Path, **options: object) -> Index:
    """Make an index in `folder`/index of two files in `folder`/files."""
    files = folder / "files"
    files.mkdir()
    (files / "lease.md").write_text(LEASE, encoding="utf-8")
    (files / "garden.txt").write_text(GARDEN, encoding="utf-8")
    index = Index.create(folder / "index", **options)  # type: ignore[arg-type]
    index.add_paths([files])
    return index


def use_page(patch: pytest.MonkeyPatch) -> None:
    """Let servers give the page as it stands in the repository: all of it but its script."""
    patch.setattr(routes_web, "page_folder", lambda: PAGE)


@contextmanager
def serve(folder: Path, **options: object) -> Iterator[TestClient]:
    """Serve the index of `folder`; by default as on this machine, without a token."""
    app = create_app(folder / "index", ServeOptions(**options))  # type: ignore[arg-type]
    with TestClient(app, base_url="http://localhost:8321") as client:
        yield client


def problem(answer: Any, status: int, reason: str) -> str:
    """The message of a refusal, which says why."""
    assert (answer.status_code, answer.json()["error"]) == (status, reason)
    assert set(answer.json()) == {"error", "message"}
    message: str = answer.json()["message"]
    assert len(message) > 10
    return message


def lines_of(answer: Any) -> list[dict[str, Any]]:
    """The records of an answer that came as lines."""
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    return [json.loads(line) for line in answer.text.splitlines()]
