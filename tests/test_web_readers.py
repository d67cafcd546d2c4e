"""What a page makes of the name of a file, it makes as Python does."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from gossamer.readers import formats, languages
from gossamer.readers.limits import Limits

WEB = Path(__file__).parents[1] / "web"
_NAMES = tuple(
    name
    for pattern in (
        *languages._LANGUAGE_OF_NAME,
        *formats._SECRET_NAMES,
        *formats._PUBLIC_NAMES,
        *formats._LOCK_FILES,
        *(f"x{extension}" for extension in languages._LANGUAGE_OF_EXTENSION),
        *(f"x{extension}" for extension in formats._KIND_OF_EXTENSION),
        *(f"x{extension}" for extension in formats._BINARY_EXTENSIONS),
        *("x", "x.unknown", ".hidden", "x.min.js", "npm-", "shrinkwrap.json"),
    )
    for name in (pattern.replace("*", ""), pattern.replace("*", "z"), pattern.upper())
    if name
)
_HEADS = tuple(f"#!/usr/bin/env {name}\n" for name in languages._LANGUAGE_OF_INTERPRETER)


def test_names_and_first_lines_mean_the_same_to_a_page_and_to_python():
    if not (shutil.which("node") and (WEB / "node_modules" / "tsx").is_dir()):
        pytest.skip("the browser's package is tested with node and its modules (npm ci in web/)")
    given = {"names": _NAMES, "heads": _HEADS}

    command = ["node", "--import", "tsx", "tests/reader_kinds.ts"]
    made = subprocess.run(
        command,
        cwd=WEB,
        check=True,
        timeout=60,
        input=json.dumps(given),
        capture_output=True,
        text=True,
    )

    kinds = [formats.kind_of(Path(name), b"text") for name in _NAMES]
    skipped = [_cause(formats.reason_to_skip(Path(name), Limits())) for name in _NAMES]
    begun = [formats.kind_of(Path("x"), head.encode()) for head in _HEADS]
    found = json.loads(made.stdout)
    assert found["kinds"] == kinds
    assert [_cause(reason) for reason in found["skipped"]] == skipped
    assert found["begun"] == begun


def _cause(reason: str | None) -> str:
    """Why a file is left out; what to do about it is another thing in a page."""
    return (reason or "").split(" (")[0]
