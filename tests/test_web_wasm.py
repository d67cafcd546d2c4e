"""The committed WebAssembly modules are those of the sources."""

import runpy
from pathlib import Path

import pytest

WASM = Path(__file__).parents[1] / "web" / "wasm"
BUILD = runpy.run_path(str(WASM / "build.py"))
MODULES = sorted(BUILD["MODULES"])


def test_the_modules_were_built_from_these_sources():
    assert BUILD["read_stamp"]() == BUILD["sources_hash"](), "run make wasm"


@pytest.mark.parametrize("name", MODULES)
def test_a_module_is_there(name):
    assert (WASM / "built" / f"{name}.wasm").read_bytes()[:4] == b"\0asm"
