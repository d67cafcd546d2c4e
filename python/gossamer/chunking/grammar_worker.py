"""A process of its own that parses source code, run as a script by `grammar`.

Parsers of tree-sitter are native code that takes time and memory without bound on some texts. Here
both are limited, and what goes wrong ends this process and not the one that asked. It imports
nothing of the package, so that it starts quickly.

It reads (length of name, length of text, name, text) and answers (count, rows of four numbers); a
count of -1 says that there is no grammar of this name or no use in it.
"""

from __future__ import annotations

import re
import signal
import struct
import sys
from array import array
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language, Query

_MAX_MEMORY = 3 << 30
_CPU_SECONDS = 0.5
_CPU_SECONDS_PER_MEGABYTE = 4.0

# What is worth beginning a chunk at, in the words of all grammars together.
_DEFINITION = re.compile(
    r"(abstract_class|class|class_method|compact_constructor|constructor|contract|destructor|enum"
    r"|extension|file_scoped_namespace|function|generator_function|impl|interface|library"
    r"|local_function|macro|method|mod|module|namespace|object|protocol|record|struct|trait)"
    r"_(declaration|definition|item|statement)"
    r"|class|class_implementation|class_interface|companion_object|create_function|internal_module"
    r"|message|method|secondary_constructor|service|singleton_class|singleton_method"
    r"|type_declaration"
)
# These also name a type that is defined elsewhere.
_DEFINITION_WITH_BODY = re.compile(r"(class|enum|struct)_specifier")
# What belongs to the definition that it stands before.
_LEAD = re.compile(
    r"attribute_item|(block_|documentation_|line_|multiline_)?comment|decorator"
    r"|template_parameter_list"
)
# The root of most grammars is a module; in these it is a definition.
_EXTRA = {"haskell": ["function"], "ruby": ["module"]}
_NAMED_FUNCTION = (
    "(variable_declarator value: [(arrow_function) (function_expression)]) @definition"
)
_ALIASES = {"c_sharp": "csharp"}


def main() -> None:
    """Answer until the other side closes the pipe."""
    # Who is interrupted is the process that asks, and it says when this one ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _limit_memory()
    while header := sys.stdin.buffer.read(8):
        name_length, text_length = struct.unpack("<II", header)
        name = sys.stdin.buffer.read(name_length).decode("utf-8")
        text = sys.stdin.buffer.read(text_length)
        grammar = _grammar(_ALIASES.get(name, name))
        if grammar is None:
            sys.stdout.buffer.write(struct.pack("<i", -1))
        else:
            _limit_time(_CPU_SECONDS + _CPU_SECONDS_PER_MEGABYTE * len(text) / 1e6)
            rows = _captures(*grammar, text)
            _limit_time(0)
            sys.stdout.buffer.write(struct.pack("<i", len(rows) // 4) + rows.tobytes())
        sys.stdout.buffer.flush()


def _captures(language: Language, query: Query, text: bytes) -> array[int]:
    """Give (is definition, start, end, start of its body or 0) for each, in a flat array."""
    from tree_sitter import Parser, QueryCursor

    found = QueryCursor(query).captures(Parser(language).parse(text).root_node)
    rows = array("I")
    for node in found.get("lead", ()):
        rows.extend((0, node.start_byte, node.end_byte, 0))
    for node in found.get("definition", ()):
        body = node.child_by_field_name("body")
        rows.extend((1, node.start_byte, node.end_byte, body.start_byte if body else 0))
    return rows


@cache
def _grammar(name: str) -> tuple[Language, Query] | None:
    try:
        import semble_grammars  # type: ignore[import-untyped]
        from tree_sitter import Query
    except ImportError:
        return None
    try:
        language = semble_grammars.get_language(name)
    except Exception:  # whatever a package says of a grammar that it cannot give
        return None
    kinds = _kinds(language)
    definitions = [kind for kind in kinds if _DEFINITION.fullmatch(kind)] + _EXTRA.get(name, [])
    if not definitions:
        return None
    patterns = [f"({kind}) @definition" for kind in definitions]
    patterns += [
        f"({kind} body: (_)) @definition" for kind in kinds if _DEFINITION_WITH_BODY.fullmatch(kind)
    ]
    patterns += [f"({kind}) @lead" for kind in kinds if _LEAD.fullmatch(kind)]
    if {"variable_declarator", "arrow_function", "function_expression"} <= set(kinds):
        patterns.append(_NAMED_FUNCTION)
    return language, Query(language, "\n".join(patterns))


def _kinds(language: Language) -> list[str]:
    ids = [
        number
        for number in range(language.node_kind_count)
        if language.node_kind_is_named(number) and language.node_kind_is_visible(number)
    ]
    return sorted({language.node_kind_for_id(number) or "" for number in ids})


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:
        return
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    if hard == resource.RLIM_INFINITY or hard > _MAX_MEMORY:
        resource.setrlimit(resource.RLIMIT_AS, (_MAX_MEMORY, hard))


def _limit_time(seconds: float) -> None:
    # Time of the processor, so that a busy machine changes nothing; the signal ends the process.
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)


if __name__ == "__main__":
    main()
