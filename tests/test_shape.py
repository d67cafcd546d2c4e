"""The shape of the code: what may use what, and how long files and functions may get.

The same of TypeScript is web/tests/shape.test.ts.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "python" / "gossamer"
CORE = ROOT / "core"

# From the bottom up: each uses only itself and what stands before it, types and late imports
# included. The root of the package, which gives the public names, is no part of it.
LAYERS = (
    "errors",
    "properties",
    "records",
    "places",
    "files",
    "journals",
    "targets",
    "io_errors",
    "once",
    "progress",
    "web",
    "text",
    "dates",
    "filters",
    "lexical",
    "vectors",
    "models",
    "embed",
    "chunking",
    "sources",
    "readers",
    "store",
    "model",
    "rerankers",
    "query",
    "update",
    "sync",
    "single",
    "remote",
    "status",
    "index",
    "evaluate",
    "server",
    "integrations",
    "cli",
    "demo",
    "__main__",
)
CORE_LAYERS = (
    *("base", "text", "chunking", "marks", "links", "lexical", "distance", "codes", "graph"),
    *("vectors", "search", "storage", "index", "store", "filters", "query"),
)
MOST_FILE_LINES, MOST_FUNCTION_LINES = 400, 50
# What is too long already: it may get shorter, and goes from here when it has.
LONG_FILES = {
    "lexical/fts5.py",
    "store/catalogue.py",
    "store/hot.py",
    "store/writer.py",
    "sync/client.py",
    "sync/follow.py",
    "vectors/vector_index.py",
}
LONG_FUNCTIONS = {"cli/export_.py command", "evaluate/run.py evaluate", "store/writer.py commit"}


def modules() -> dict[str, Path]:
    """All modules of the package by their dotted names below it."""
    return {
        ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__"): path
        for path in PACKAGE.rglob("*.py")
        if path != PACKAGE / "__init__.py"
    }


def imports_of(path: Path) -> Iterator[str]:
    """What of the package a module imports, wherever it does, as names below it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from (
            name.removeprefix("gossamer.") for name in names if name.startswith("gossamer.")
        )


def uses() -> Iterator[tuple[str, str, str]]:
    """Each import from one part of the package into another: module, its part, the other part."""
    known = {name.partition(".")[0] for name in modules()}
    for name, path in modules().items():
        part = name.partition(".")[0]
        for used in imports_of(path):
            other = used.partition(".")[0]
            if other in known and other != part:
                yield name, part, other


def test_every_part_of_the_package_uses_only_what_stands_below_it():
    places = {part: place for place, part in enumerate(LAYERS)}

    wrong = [f"{name} uses {other}" for name, part, other in uses() if places[part] < places[other]]

    assert wrong == []


def test_every_part_of_the_package_stands_in_a_layer():
    assert {name.partition(".")[0] for name in modules()} == set(LAYERS)


def test_modules_do_not_import_each_other_in_a_circle():
    known = modules()
    graph: dict[str, set[str]] = {}
    for name, path in known.items():
        graph[name] = set()
        for used in imports_of(path):
            # The name of a module, or of something in one.
            target = used if used in known else used.rpartition(".")[0]
            if target in known and target != name:
                graph[name].add(target)

    assert circle_in(graph) == []


def circle_in(graph: Mapping[str, set[str]]) -> list[str]:
    """Some circle, as the names on it; none if there is none."""
    done: set[str] = set()

    def walk(name: str, path: list[str]) -> list[str]:
        if name in path:
            return path[path.index(name) :]
        if name in done:
            return []
        for used in sorted(graph[name]):
            if found := walk(used, [*path, name]):
                return found
        done.add(name)
        return []

    for name in sorted(graph):
        if found := walk(name, []):
            return found
    return []


@pytest.mark.parametrize(
    ("graph", "circle"),
    [
        ({"a": {"b"}, "b": {"c"}, "c": set()}, []),
        ({"a": {"b"}, "b": {"c"}, "c": {"b"}}, ["b", "c"]),
    ],
)
def test_circles_are_seen(graph, circle):
    assert circle_in(graph) == circle


def test_no_file_is_too_long_but_those_that_were():
    long = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if len(path.read_text(encoding="utf-8").splitlines()) > MOST_FILE_LINES
    }

    assert long == LONG_FILES


def test_no_function_is_too_long_but_those_that_were():
    long = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or 0) - node.lineno + 1
                if lines > MOST_FUNCTION_LINES:
                    long.add(f"{path.relative_to(PACKAGE).as_posix()} {node.name}")

    assert long == LONG_FUNCTIONS


def includes_of(path: Path) -> list[str]:
    return re.findall(r'^#include "([^"]+)"', path.read_text(encoding="utf-8"), re.MULTILINE)


def test_folders_of_the_core_include_only_what_stands_below_them():
    places = {folder: place for place, folder in enumerate(CORE_LAYERS)}

    wrong = [
        f"{folder}/{path.name} includes {used}"
        for folder in CORE_LAYERS
        for path in (CORE / folder).iterdir()
        if path.suffix in {".h", ".cpp", ".inc"}
        for used in includes_of(path)
        if places[used.partition("/")[0]] > places[folder]
    ]

    assert wrong == []


# What of the core hosts may know: its parts as wholes, not how they are made.
HOSTS = {"python/bindings": 49, "web/wasm": 27}


@pytest.mark.parametrize(("host", "most"), HOSTS.items())
def test_hosts_include_few_headers_of_the_core(host, most):
    files = [path for path in (ROOT / host).iterdir() if path.suffix in {".h", ".cpp"}]
    used = {
        name
        for path in files
        for name in includes_of(path)
        if name.partition("/")[0] in CORE_LAYERS and "/" in name
    }

    assert len(used) <= most, sorted(used)
