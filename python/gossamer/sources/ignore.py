"""Ignore files: the patterns of .gitignore, translated by pathspec and matched as git does."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from gossamer.sources.brackets import cut_brackets, put_back

__all__ = ["IgnoreRules", "parse_ignore_file"]

# No one writes longer ones, or more of them, by hand; a hostile file could.
_MAX_PATTERN_CHARS = 4096
_MAX_PATTERNS = 10_000

# In what pathspec makes of a pattern: a star up to the next one in the same name, and any number
# of folders up to the next such.
_ANY_FOLDERS_FIRST = "^(?:.+/)?"
_STAR_TO_STAR = re.compile(r"\[\^/\]\*((?:\\.|\[\^/\](?!\*)|[^/\\\[])+)(?=\[\^/\]\*)", re.DOTALL)
_FOLDERS_TO_FOLDERS = re.compile(
    r"(?:\(\?:/\.\+\)\?|(?P<first>^\^\(\?:\.\+/\)\?))(?P<names>.+?)(?=\(\?:/\.\+\)\?)", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class _Pattern:
    source: str  # the pattern without its `!` and its slashes at both ends
    is_negated: bool
    is_for_path: bool  # else it is for a name, in whatever folder
    expression: str  # matches exactly what the pattern means; folders end in a slash


@dataclass(frozen=True, slots=True)
class _Run:
    """Patterns that follow one another and say the same, so that their order does not matter."""

    is_negated: bool
    name: re.Pattern[str] | None
    path: re.Pattern[str] | None

    def matches(self, path: str, name: str) -> bool:
        if self.name is not None and self.name.match(name):
            return True
        return self.path is not None and self.path.match(path) is not None


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
        if is_folder:
            path, name = path + "/", name + "/"
        for run in self._runs:
            if run.matches(path, name):
                return not run.is_negated
        return None


def parse_ignore_file(data: bytes) -> IgnoreRules:
    """Read the bytes of an ignore file; what is no pattern is passed over, as git does."""
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    return IgnoreRules(line.removesuffix("\r") for line in text.split("\n"))


def _run(is_negated: bool, patterns: list[_Pattern]) -> _Run:
    def one_of(is_for_path: bool) -> re.Pattern[str] | None:
        some = [one.expression for one in patterns if one.is_for_path == is_for_path]
        # The end makes pathspec's expressions, which match what is in a folder as well, match
        # nothing but the entry itself.
        return re.compile(f"(?:{'|'.join(some)})\\Z", re.DOTALL) if some else None

    return _Run(is_negated, one_of(False), one_of(True))


def _parse(line: str) -> _Pattern | None:
    """Translate a line; None for a comment and for what git discards."""
    line = _without_trailing_spaces(line)
    if not line or line.startswith("#") or len(line) > _MAX_PATTERN_CHARS:
        return None
    is_negated = line.startswith("!")
    pattern = line[1:] if is_negated else line
    source = pattern.removesuffix("/")
    expression = _translate(pattern) if source else None
    if expression is None:
        return None
    return _Pattern(source.removeprefix("/"), is_negated, "/" in source, expression)


def _without_trailing_spaces(line: str) -> str:
    stripped = line.rstrip(" ")
    backslashes = len(stripped) - len(stripped.rstrip("\\"))
    # An escaped space is part of the name.
    return stripped + " " if backslashes % 2 and len(stripped) < len(line) else stripped


def _translate(pattern: str) -> str | None:
    """Make an expression for what a pattern names; None for a pattern that git discards."""
    # Loaded where there are patterns: a search has none.
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    if (parts := cut_brackets(pattern)) is None:
        return None
    rest, brackets = parts
    rest = re.sub(r"\*{3,}", "**", rest)
    # `a/**` is all that is in `a`, to git; `a` too, to pathspec.
    rest = re.sub(r"/\*\*(/?)\Z", r"/**/*\1", rest)
    # What begins like a comment or a negation here was escaped or comes after a `!`.
    rest = re.sub(r"\A[#!]", r"\\\g<0>", rest)
    try:
        expression, _ = GitIgnoreSpecPattern.pattern_to_regex(rest)
    except ValueError:
        return None
    if expression is None:
        return None
    expression = expression.replace("(?P<ps_d>/)", "/")
    if not expression.startswith("^"):
        # That of `*`, or of any folder, which begins anywhere.
        expression = f"^.*?{expression}"
    if "/" not in pattern.removesuffix("/"):
        # Compared with the name alone.
        expression = expression.replace(_ANY_FOLDERS_FIRST, "^", 1)
    return put_back(_without_retries(expression), brackets)


def _without_retries(expression: str) -> str:
    """Keep a hostile pattern from trying every way to share a path between its wildcards.

    Between two wildcards stands what has a fixed number of characters (or of names), so the
    first place where it matches is as good as any, and an atomic group need not look further.
    """
    expression = _STAR_TO_STAR.sub(r"(?>[^/]*?\1)", expression)
    return _FOLDERS_TO_FOLDERS.sub(_first_place, expression)


def _first_place(found: re.Match[str]) -> str:
    if found["first"]:
        return f"^(?>(?:.+?/)??{found['names']}(?=/))"
    return f"(?>(?:/.+?)??{found['names']}(?=/))"
