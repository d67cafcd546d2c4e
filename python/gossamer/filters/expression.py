"""The language of filters: an expression read and compiled."""

from __future__ import annotations

import re
from typing import NoReturn

from gossamer.errors import InvalidArgument
from gossamer.filters.comparisons import (
    SYMBOLS,
    Field,
    Filter,
    Operand,
    Test,
    all_of,
    comparison,
    getter,
)
from gossamer.records import Value

__all__ = ["parse_expression"]

_MAX_LENGTH = 10_000
_MAX_DEPTH = 50
_TOKEN = re.compile(
    r"""\s*(?:
      (?P<date>\d{4}-\d\d(?:-\d\d(?:T[\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?)?)(?![\w.:-])
    | (?P<number>[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)(?![\w.])
    | (?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
    | (?P<symbol>==|!=|<=|>=|<|>|\(|\)|\[|\]|,)
    | (?P<name>[^\W\d][\w.-]*|`[^`]+`)
    | (?P<end>\Z)
    )""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPED = re.compile(r"""\\([\\"'])""")
_CONSTANTS: dict[str, Value | None] = {"true": True, "false": False, "none": None, "null": None}
_WORDS = frozenset(("and", "or", "not", "in", *_CONSTANTS))
_HINTS = {
    "=": "write == to compare",
    "&": "write and",
    "|": "write or",
    "!": "write not",
    '"': "the text is not closed",
    "'": "the text is not closed",
}


def parse_expression(text: str) -> Filter:
    """Compile an expression; InvalidArgument points at what cannot be read."""
    if len(text) > _MAX_LENGTH:
        raise InvalidArgument(
            f"a filter may have {_MAX_LENGTH} characters, this one has {len(text)}"
        )
    return _Parser(text).filter()


class _Parser:
    """Reads an expression from left to right, one token ahead."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._names: set[str] = set()
        self._depth = 0
        self._kind, self._word = "", ""
        self._start = self._end = 0
        self._advance(0)

    def filter(self) -> Filter:
        test = self._either()
        if self._kind != "end":
            self._fail("expected and, or, or the end")
        return Filter(frozenset(self._names), test)

    def _either(self) -> Test:
        tests = [self._both()]
        while self._take("or"):
            tests.append(self._both())
        return tests[0] if len(tests) == 1 else lambda fields: any(test(fields) for test in tests)

    def _both(self) -> Test:
        tests = [self._negation()]
        while self._take("and"):
            tests.append(self._negation())
        return all_of(tests)

    def _negation(self) -> Test:
        is_negated = False
        while self._take("not"):
            is_negated = not is_negated
        test = self._group() if self._word == "(" else self._chain()
        return (lambda fields: not test(fields)) if is_negated else test

    def _group(self) -> Test:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            self._fail(f"expected at most {_MAX_DEPTH} parentheses within each other")
        self._expect("(")
        test = self._either()
        self._expect(")")
        self._depth -= 1
        return test

    def _chain(self) -> Test:
        """Read a comparison, or several in a row as in 2020 <= year < 2024."""
        start = self._start
        left = self._value()
        tests: list[Test] = []
        while symbol := self._comparison_symbol():
            right = self._value(is_list_allowed=symbol in ("in", "not in"))
            tests.append(comparison(symbol, left, right))
            left = right
        if tests:
            return all_of(tests)
        if not isinstance(left, Field | bool):
            self._start = start
            self._fail("expected a comparison such as year >= 2020")
        get = getter(left)
        return lambda fields: bool(get(fields))

    def _comparison_symbol(self) -> str | None:
        if self._word in SYMBOLS:
            return self._taken()
        if self._word == "not":
            self._taken()
            self._expect("in")
            return "not in"
        return None

    def _value(self, is_list_allowed: bool = False) -> Operand:
        kind, word = self._kind, self._word
        if kind == "name" and (word not in _WORDS or word in _CONSTANTS):
            self._taken()
            if word in _CONSTANTS:
                return _CONSTANTS[word]
            self._names.add(word.strip("`"))
            return Field(word.strip("`"))
        if is_list_allowed:
            if word == "[":
                return self._list()
            self._fail('expected a list such as ["a", "b"], or a field')
        if kind not in ("date", "number", "text"):
            self._fail("expected a field, a text in quotes, a number or a date")
        return self._constant()

    def _list(self) -> tuple[Value | None, ...]:
        self._expect("[")
        values: list[Value | None] = []
        while self._word != "]":
            values.append(self._constant())
            if self._word != "]":
                self._expect(",")
        self._expect("]")
        return tuple(values)

    def _constant(self) -> Value | None:
        kind, word = self._kind, self._word
        if kind == "text":
            self._taken()
            return _ESCAPED.sub(r"\1", word[1:-1])
        if kind == "date":
            return self._taken()
        if kind == "number":
            if len(word) > 30:
                self._fail("expected a number of at most 30 digits")
            self._taken()
            return int(word) if word.lstrip("+-").isdecimal() else float(word)
        if kind == "name" and word in _CONSTANTS:
            return _CONSTANTS[self._taken()]
        self._fail("expected a text in quotes, a number or a date")

    def _take(self, word: str) -> bool:
        is_there = self._word == word
        if is_there:
            self._taken()
        return is_there

    def _expect(self, word: str) -> None:
        if not self._take(word):
            self._fail(f"expected {word}")

    def _taken(self) -> str:
        word = self._word
        self._advance(self._end)
        return word

    def _advance(self, position: int) -> None:
        found = _TOKEN.match(self._text, position)
        if found is None:
            rest = self._text[position:]
            self._start = position + len(rest) - len(rest.lstrip())
            self._fail(_HINTS.get(self._text[self._start], "this is not part of the language"))
        self._kind = str(found.lastgroup)
        self._start, self._end = found.span(self._kind)
        self._word = found[self._kind]
        if self._kind == "name" and self._word.lower() in _WORDS:
            self._word = self._word.lower()

    def _fail(self, expected: str) -> NoReturn:
        begin = max(0, self._start - 60)
        line = self._text[begin : self._start + 20].replace("\n", " ").replace("\t", " ")
        raise InvalidArgument(
            f"cannot read the filter at character {self._start + 1}: {expected}\n"
            f"  {line}\n  {' ' * (self._start - begin)}^"
        )
