"""Ignore files: the patterns of .gitignore, matched as git matches them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

__all__ = ["IgnoreRules", "parse_ignore_file"]

_MAX_PATTERN_CHARS = 4096
_MAX_PATTERNS = 10_000
_POSIX_CLASSES = {
    "alnum": "0-9A-Za-z", "alpha": "A-Za-z", "blank": " \\t", "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9", "graph": "!-~", "lower": "a-z", "print": " -~", "punct": "!-/:-@\\[-`{-~",
    "space": " \\t-\\r", "upper": "A-Z", "xdigit": "0-9A-Fa-f",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Pattern:
    source: str  # the pattern without its `!` and its slashes at both ends
    is_negated: bool
    is_for_folders: bool
    is_anchored: bool  # to the folder of the ignore file; else it names an entry anywhere below


@dataclass(frozen=True, slots=True)
class _Run:
    """Patterns that follow one another and say the same, so that their order does not matter."""

    is_negated: bool
    names: frozenset[str]
    folder_names: frozenset[str]
    name: re.Pattern[str] | None
    folder_name: re.Pattern[str] | None
    path: re.Pattern[str] | None
    folder_path: re.Pattern[str] | None


class IgnoreRules:
    """The patterns of one ignore file; the last one that matches decides."""

    def __init__(self, lines: Iterable[str]) -> None:
        parsed = [pattern for line in lines if (pattern := _parse(line)) is not None]
        parsed = parsed[:_MAX_PATTERNS]
        self._runs = [
            _run(is_negated, list(patterns))
            for is_negated, patterns in groupby(parsed, lambda pattern: pattern.is_negated)
        ]
        self._runs.reverse()
        self._literal = frozenset(
            pattern.source.rpartition("/")[2] for pattern in parsed if pattern.is_negated
        )

    def __bool__(self) -> bool:
        """Whether there is any pattern at all."""
        return bool(self._runs)

    def names_literally(self, name: str) -> bool:
        """Whether a negated pattern ends in exactly this name, with no wildcard in it."""
        return name in self._literal

    def is_ignored(self, path: str, name: str, is_folder: bool) -> bool | None:
        """Say whether an entry is ignored (True) or taken back in (False); None: neither.

        `path` is relative to the ignore file's folder, with slashes; `name` is its last part.
        A pattern that matches a folder says nothing of what is in it.
        """
        for run in self._runs:
            if _matches(run, path, name, is_folder):
                return not run.is_negated
        return None


def parse_ignore_file(data: bytes) -> IgnoreRules:
    """Read the bytes of an ignore file; what is no pattern is passed over, as git does."""
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    return IgnoreRules(line.removesuffix("\r") for line in text.split("\n"))


def _matches(run: _Run, path: str, name: str, is_folder: bool) -> bool:
    if name in run.names or (run.name is not None and run.name.fullmatch(name)):
        return True
    if run.path is not None and run.path.fullmatch(path):
        return True
    if not is_folder:
        return False
    if name in run.folder_names or (run.folder_name and run.folder_name.fullmatch(name)):
        return True
    return run.folder_path is not None and run.folder_path.fullmatch(path) is not None


def _parse(line: str) -> _Pattern | None:
    line = _without_trailing_spaces(line)
    if not line or line.startswith("#") or len(line) > _MAX_PATTERN_CHARS:
        return None
    is_negated = line.startswith("!")
    source = line[1:] if is_negated else line
    is_for_folders = source.endswith("/")
    source = source.removesuffix("/")
    is_anchored = "/" in source
    source = source.removeprefix("/")
    if not source or _has_no_end(source):
        return None
    return _Pattern(source, is_negated, is_for_folders, is_anchored)


def _without_trailing_spaces(line: str) -> str:
    stripped = line.rstrip(" ")
    backslashes = len(stripped) - len(stripped.rstrip("\\"))
    # An escaped space is part of the name.
    return stripped + " " if backslashes % 2 and len(stripped) < len(line) else stripped


def _has_no_end(source: str) -> bool:
    return (len(source) - len(source.rstrip("\\"))) % 2 == 1


def _run(is_negated: bool, patterns: list[_Pattern]) -> _Run:
    def of(is_for_folders: bool, is_anchored: bool) -> list[str]:
        return [
            pattern.source
            for pattern in patterns
            if pattern.is_for_folders == is_for_folders and pattern.is_anchored == is_anchored
        ]

    any_names, any_wild = _split_literals(of(False, False))
    folder_names, folder_wild = _split_literals(of(True, False))
    return _Run(
        is_negated,
        any_names,
        folder_names,
        _alternatives(_segment(source) for source in any_wild),
        _alternatives(_segment(source) for source in folder_wild),
        _alternatives(_path(source) for source in of(False, True)),
        _alternatives(_path(source) for source in of(True, True)),
    )


def _split_literals(sources: list[str]) -> tuple[frozenset[str], list[str]]:
    is_wild = re.compile(r"[*?\[\\]").search
    return (
        frozenset(source for source in sources if not is_wild(source)),
        [source for source in sources if is_wild(source)],
    )


def _alternatives(expressions: Iterable[str | None]) -> re.Pattern[str] | None:
    known = [expression for expression in expressions if expression is not None]
    return re.compile("|".join(known), re.DOTALL) if known else None


def _path(source: str) -> str | None:
    """Translate a pattern with slashes; None for one that git discards.

    Between two `**` stands a fixed number of names, so the first place where they match is as
    good as any: an atomic group keeps the work linear, whatever the pattern.
    """
    runs: list[list[str]] = [[]]
    segments = source.split("/")
    for segment in segments:
        if len(segment) > 1 and not segment.strip("*"):
            runs.append([])
        elif (expression := _segment(segment)) is None:
            return None
        else:
            runs[-1].append(expression)
    first, *later = runs
    if not later:
        return "/".join(first)
    expression = "".join(part + "/" for part in first)
    for run in later[:-1]:
        if run:
            expression += f"(?>(?:[^/]*+/)*?{'/'.join(run)}/)"
    if later[-1]:
        return f"{expression}(?:[^/]*+/)*{'/'.join(later[-1])}"
    return expression + ".+"


def _segment(source: str) -> str | None:
    """Translate a pattern for one name; None for one that git discards."""
    pieces: list[str] = [""]  # between the stars
    at = 0
    while at < len(source):
        char = source[at]
        if char == "*":
            if pieces[-1] or len(pieces) == 1:
                pieces.append("")
            at += 1
        elif char == "[":
            expression, at = _bracket(source, at)
            if expression is None:
                return None
            pieces[-1] += expression
        elif char == "?":
            pieces[-1] += "[^/]"
            at += 1
        else:
            at += 1 if char == "\\" else 0
            pieces[-1] += re.escape(source[at : at + 1])
            at += 1
    if len(pieces) == 1:
        return pieces[0]
    first, *middle, last = pieces
    # The first place where a piece matches is as good as any: nothing is ever tried again.
    return first + "".join(f"(?>[^/]*?{piece})" for piece in middle) + f"[^/]*{last}(?=/|\\Z)"


def _bracket(source: str, at: int) -> tuple[str | None, int]:
    """Translate the `[...]` that begins at `at`; None where it is not closed."""
    end = at + 1
    is_negated = source[end : end + 1] in ("!", "^") and end < len(source)
    end += is_negated
    members: list[str] = []
    is_first = True
    while end < len(source) and (is_first or source[end] != "]"):
        is_first = False
        if source.startswith("[:", end) and (close := source.find(":]", end)) > 0:
            known = _POSIX_CLASSES.get(source[end + 2 : close])
            if known is None:
                return None, end
            members.append(known)
            end = close + 2
            continue
        low, end = _member(source, end)
        if source[end : end + 1] == "-" and source[end + 1 : end + 2] not in ("]", ""):
            high, end = _member(source, end + 1)
            if low <= high:
                members.append(f"{re.escape(low)}-{re.escape(high)}")
        # Of a range the wrong way round, git still takes its first end.
        members.append(re.escape(low))
    if end >= len(source):
        return None, end
    # No bracket matches the slash between names.
    return f"(?!/)[{'^' if is_negated else ''}{''.join(members)}]", end + 1


def _member(source: str, at: int) -> tuple[str, int]:
    if source[at] == "\\" and at + 1 < len(source):
        at += 1
    return source[at], at + 1
