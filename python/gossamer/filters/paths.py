"""Patterns of paths."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Callable, Sequence

from gossamer.errors import InvalidArgument

__all__ = ["path_matcher"]

_IGNORES_CASE = os.name == "nt"
_Pattern = tuple[str | re.Pattern[str], ...]
_ANY_FOLDERS = "**"


def path_matcher(patterns: Sequence[str]) -> Callable[[str], bool]:
    """Compile path patterns; the result says of an absolute path whether it is wanted.

    `*` and `?` stand for anything within a name, `**` for any folders. A pattern from the root,
    from `~` or from `./` is taken from there; any other matches at any depth, so that `*.md` and
    `notes/2024` need not say where the notes are. A pattern that matches a folder matches what is
    in it. `!` before a pattern leaves out what it matches.
    """
    wanted = [_components(pattern) for pattern in patterns if not pattern.startswith("!")]
    unwanted = [_components(pattern[1:]) for pattern in patterns if pattern.startswith("!")]

    def is_wanted(path: str) -> bool:
        names = _names(path)
        return (not wanted or any(_match(names, pattern) for pattern in wanted)) and not any(
            _match(names, pattern) for pattern in unwanted
        )

    return is_wanted


def _components(pattern: str) -> _Pattern:
    given = pattern.replace("\\", "/") if os.sep == "\\" else pattern
    if not given.strip("/ "):
        raise InvalidArgument(
            f"expected a path or a pattern such as notes/**/*.md, not {pattern!r}"
        )
    if given.startswith("~"):
        given = os.path.expanduser(given)
    elif given.startswith(("./", "../")):
        given = os.path.abspath(given)
    names = _names(given)
    is_anchored = os.path.isabs(given)
    parts = [name if name == _ANY_FOLDERS else _name_pattern(name) for name in names]
    begin = [] if is_anchored else [_ANY_FOLDERS]
    # What is in a folder that matches is meant too.
    return (*begin, *parts, _ANY_FOLDERS)


def _name_pattern(name: str) -> str | re.Pattern[str]:
    is_plain = not any(mark in name for mark in "*?[")
    if is_plain:
        return name
    # Brackets that nothing closes stand for themselves. fnmatch looks for the end of each of them,
    # which takes seconds for a few thousand: it is given what is in no name in their place.
    closed, end, rest = name.rpartition("]")
    translated = fnmatch.translate(closed + end + rest.replace("[", "\0"))
    return re.compile(translated.replace("\0", r"\["))


def _names(path: str) -> list[str]:
    if os.sep == "\\":
        path = path.replace("\\", "/")
    return [name for name in (path.lower() if _IGNORES_CASE else path).split("/") if name]


def _match(names: list[str], pattern: _Pattern) -> bool:
    """Match names with a pattern; only the last `**` is ever tried again, so it is never slow."""
    at = part = 0
    retry_at = retry_part = -1
    while at < len(names):
        if part < len(pattern) and pattern[part] == _ANY_FOLDERS:
            part += 1
            retry_at, retry_part = at, part
        elif part < len(pattern) and _is_name(pattern[part], names[at]):
            at, part = at + 1, part + 1
        elif retry_part >= 0:
            retry_at += 1
            at, part = retry_at, retry_part
        else:
            return False
    return all(rest == _ANY_FOLDERS for rest in pattern[part:])


def _is_name(part: str | re.Pattern[str], name: str) -> bool:
    return part == name if isinstance(part, str) else part.match(name) is not None
