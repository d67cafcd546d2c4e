"""The `[...]` of ignore patterns: git reads them unlike `re`, to which pathspec hands them."""

from __future__ import annotations

import re

__all__ = ["cut_brackets", "put_back"]

# Stands for a bracket in a pattern and in the expression made of it; no one has it in a name.
_MARK = "\U0010fffd"
_POSIX_CLASSES = {
    "alnum": "0-9A-Za-z", "alpha": "A-Za-z", "blank": " \\t", "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9", "graph": "!-~", "lower": "a-z", "print": " -~", "punct": "!-/:-@\\[-`{-~",
    "space": " \\t-\\r", "upper": "A-Z", "xdigit": "0-9A-Fa-f",
}  # fmt: skip


def cut_brackets(pattern: str) -> tuple[str, list[str]] | None:
    """Put a mark in the place of each bracket; give the rest and an expression for each.

    None where a bracket is not closed or names no class: git discards such a pattern.
    """
    if _MARK in pattern:
        return None
    rest = ""
    expressions: list[str] = []
    at = 0
    while at < len(pattern):
        if pattern[at] == "[":
            expression, at = _bracket(pattern, at)
            if expression is None:
                return None
            expressions.append(expression)
            rest += _MARK
        else:
            length = 2 if pattern[at] == "\\" else 1
            rest += pattern[at : at + length]
            at += length
    return rest, expressions


def put_back(expression: str, brackets: list[str]) -> str:
    """Put an expression in the place of each mark, in their order."""
    first, *others = expression.split(_MARK)
    return first + "".join(bracket + other for bracket, other in zip(brackets, others, strict=True))


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
