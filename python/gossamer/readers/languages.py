"""Which programming language a file is written in, by its name or its first line."""

from __future__ import annotations

import json
import re
from pathlib import Path, PurePath

__all__ = ["LANGUAGES", "full_name_language", "language_of", "shebang_language"]

# Extensions, whole names and interpreters by language, which pages read too. Only languages that
# have a grammar, so that their code can be divided at its functions.
_TABLE = json.loads(Path(__file__).with_name("languages.json").read_text(encoding="utf-8"))
LANGUAGES: tuple[str, ...] = (*_TABLE["extensions"], "gitignore")
_LANGUAGE_OF_EXTENSION: dict[str, str] = {
    "." + extension: language
    for language, extensions in _TABLE["extensions"].items()
    for extension in extensions.split()
}
_LANGUAGE_OF_NAME: dict[str, str] = _TABLE["names"]
_LANGUAGE_OF_INTERPRETER: dict[str, str] = _TABLE["interpreters"]
# The program, after an optional `env` with its options and settings.
_SHEBANG = re.compile(rb"#!\s*(?:\S*/)?(?:env\s+(?:-\S+\s+|\w+=\S*\s+)*)?(?:\S*/)?([A-Za-z]+)")


def language_of(path: PurePath) -> str | None:
    """Name the language that the file's name stands for; None where it stands for none."""
    return full_name_language(path) or _LANGUAGE_OF_EXTENSION.get(path.suffix.lower())


def full_name_language(path: PurePath) -> str | None:
    """Name the language that is always in files of this name, whatever its extension says."""
    return _LANGUAGE_OF_NAME.get(path.name.lower())


def shebang_language(head: bytes) -> str | None:
    """Name the language of a script by its `#!` line; None where it has none that is known."""
    if not head.startswith(b"#!"):
        return None
    found = _SHEBANG.match(head[:256].split(b"\n", 1)[0])
    return _LANGUAGE_OF_INTERPRETER.get(found[1].decode("ascii")) if found else None
