"""Comparisons of fields with values, compiled to functions."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache, partial
from typing import Any

from gossamer.records import Value

__all__ = [
    "SYMBOLS",
    "Constant",
    "Field",
    "Fields",
    "Filter",
    "Operand",
    "Test",
    "all_of",
    "comparison",
    "date_of",
    "getter",
]

Fields = Mapping[str, Value | None]
Test = Callable[[Fields], bool]


@dataclass(frozen=True, slots=True)
class Filter:
    """A test of documents, compiled once."""

    names: frozenset[str]  # the fields it asks for
    _test: Test
    key: str | None = None  # equal for filters that let the same through; None if not known

    def matches(self, fields: Fields) -> bool:
        """Say whether a document with these fields is to be looked at; never raises."""
        return self._test(fields)


@dataclass(frozen=True, slots=True)
class Field:
    """The field of a name, which a document may have."""

    name: str


Constant = Value | tuple[Value | None, ...] | None
Operand = Field | Constant

_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
SYMBOLS = (*_ORDERS, "!=", "in", "not in")
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_DATE = re.compile(
    r"\d{4}(?:-\d\d(?:-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?"
    r"(?P<zone>Z|[+-]\d\d:?\d\d)?)?)?)?",
    re.ASCII,
)


def comparison(symbol: str, left: Operand, right: Operand) -> Test:
    """Compile one comparison; what is compared with a list is `in` it or `not in` it."""
    if symbol in ("!=", "not in"):
        test = comparison({"!=": "==", "not in": "in"}[symbol], left, right)
        return lambda fields: not test(fields)
    if isinstance(right, Field) and not isinstance(left, Field) and symbol != "in":
        # The precision of a date is that of the value, which therefore stands on the right.
        left, right, symbol = right, left, _MIRRORED.get(symbol, symbol)
    holds = _is_in if symbol == "in" else partial(_is_ordered, symbol, _ORDERS[symbol])
    if isinstance(left, Field) and not isinstance(right, Field):
        name = left.name
        return lambda fields: holds(fields.get(name), right)
    get_left, get_right = getter(left), getter(right)
    return lambda fields: holds(get_left(fields), get_right(fields))


def getter(operand: Operand) -> Callable[[Fields], Any]:
    """Give what gets the value of an operand."""
    if isinstance(operand, Field):
        name = operand.name
        return lambda fields: fields.get(name)
    return lambda _: operand


def all_of(tests: Sequence[Test]) -> Test:
    """Join tests of which every one must hold."""
    if len(tests) == 1:
        return tests[0]
    return lambda fields: all(test(fields) for test in tests)


def _is_in(value: Value | None, group: Constant) -> bool:
    if isinstance(group, tuple):
        return any(_is_ordered("==", operator.eq, value, member) for member in group)
    return isinstance(value, str) and isinstance(group, str) and value in group


def _is_ordered(symbol: str, order: Callable[[Any, Any], bool], left: Any, right: Any) -> bool:
    if left is None or right is None:
        return symbol == "==" and left is right
    if isinstance(left, str):
        if isinstance(right, int) and 1000 <= right <= 9999:
            # The year of a date; any other text is of another kind than a number.
            right = str(right) if len(left) > 4 and date_of(left) else right
        if not isinstance(right, str):
            return False
        return order(*_to_one_precision(left, right))
    are_numbers = isinstance(left, int | float) and isinstance(right, int | float)
    return are_numbers and isinstance(left, bool) is isinstance(right, bool) and order(left, right)


def _to_one_precision(left: str, right: str) -> tuple[str, str]:
    """Shorten a date to what it is compared with; other texts stay as they are."""
    if not (left[:1].isdecimal() and right[:1].isdecimal()):
        return left, right
    date, other = date_of(left), date_of(right)
    if date is None or other is None:
        return left, right
    return date[: len(other)], other


@lru_cache(maxsize=1 << 14)
def date_of(text: str) -> str | None:
    """Write a date so that the order of texts is the order of time; None if it is none."""
    found = _DATE.fullmatch(text)
    if found is None or not found["zone"]:
        return found and text.replace(" ", "T")
    try:
        moment = datetime.fromisoformat(text).astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return None
    return moment.isoformat()
