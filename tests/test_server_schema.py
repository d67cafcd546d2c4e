"""The server against its own OpenAPI schema, by a tool that did not write it: schemathesis.

Whatever is asked, the answer is documented, has the documented type and shape, and is no fault
of the server.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import (
    content_type_conformance,
    not_a_server_error,
    response_schema_conformance,
    status_code_conformance,
)
from served import make_index
from starlette.types import ASGIApp, Receive, Scope, Send
from tiny_embedder import use_tiny

from gossamer.server.app import create_app
from gossamer.server.options import ServeOptions

EXAMPLES = 12
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
OPERATIONS = [
    "GET /",
    "GET /docs",
    "GET /health",
    "GET /metrics",
    "GET /v1/chunks/{id}",
    "GET /v1/chunks/{id}/context",
    "GET /v1/conflicts",
    "GET /v1/conflicts/{number}",
    "GET /v1/model",
    "GET /v1/search",
    "GET /v1/status",
    "GET /v1/sync",
    "GET /v1/sync/file",
    "GET /v1/sync/package",
    "GET /v1/sync/plan",
    "GET /v1/titles",
    "POST /v1/paths",
    "POST /v1/remove",
    "POST /v1/search",
    "POST /v1/similar",
    "POST /v1/sync/chunks",
    "POST /v1/sync/push",
    "POST /v1/sync/question",
    "POST /v1/sync/vectors",
    "POST /v1/texts",
    "PUT /v1/files/{name}",
    "PUT /v1/sync/files/{name}",
]
HOST = {"Host": "localhost"}


@pytest.fixture(scope="module")
def operations(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    folder: Path = tmp_path_factory.mktemp("served")
    with pytest.MonkeyPatch.context() as patch:
        use_tiny(patch, with_codes=True)
        make_index(folder).add_texts([{"id": "note", "text": "Otters sleep in kelp."}])
        app = create_app(folder / "index", ServeOptions())
        schema = schemathesis.openapi.from_asgi("/openapi.json", _lasting(app), headers=HOST)
        found = [result.ok() for result in schema.get_all_operations()]
        yield {operation.label: operation for operation in found}
        app.state.service.close()


def test_every_operation_of_the_schema_is_asked(operations: dict[str, Any]) -> None:
    assert sorted(operations) == OPERATIONS


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
@pytest.mark.parametrize("label", OPERATIONS)
def test_no_answer_is_undocumented_or_a_fault(
    operations: dict[str, Any], label: str, mode: GenerationMode
) -> None:
    @given(case=operations[label].as_strategy(generation_mode=mode))
    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def ask(case: Any) -> None:
        case.call_and_validate(headers=HOST, checks=CHECKS)

    try:
        ask()
    except Unsatisfiable:
        pytest.skip("nothing can be wrong with a request of this operation")


def _lasting(app: ASGIApp) -> ASGIApp:
    """Give an application that is not begun and ended with every request."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan":
            await app(scope, receive, send)
            return
        for step in ("startup", "shutdown"):
            assert (await receive())["type"] == f"lifespan.{step}"
            await send({"type": f"lifespan.{step}.complete"})

    return answer
