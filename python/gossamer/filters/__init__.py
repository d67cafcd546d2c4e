"""Filters: which documents a search looks at, by what is known of them.

An expression compares fields with values: `type == "pdf" and year >= 2020 and not draft`. Fields
are the document's metadata and path, type, title, modified, size, source and extension; a name
with other characters than letters stands in backquotes. Operators are `== != < <= > >=`, `in`,
`not in`, `and`, `or`, `not` and parentheses; values are texts in quotes, numbers, dates such as
2024-05, true, false, none and lists. What holds where values do not fit each other:

- A field that is not there equals only `none`: every other comparison with it is false, and `!=`
  and `not in` are true.
- Values of different kinds (text, number, true/false) are unequal and in no order.
- A date is compared as far as the shorter one goes: all of 2024 is `== "2024"`, `<= "2024"` and not
  `> "2024"`.
- `"word" in title` looks within a text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from gossamer.errors import InvalidArgument
from gossamer.filters.comparisons import (
    SYMBOLS,
    Field,
    Fields,
    Filter,
    Test,
    all_of,
    comparison,
    date_of,
)
from gossamer.filters.expression import parse_expression
from gossamer.filters.paths import path_matcher

__all__ = ["Filter", "combine", "parse", "path_matcher"]


def parse(where: str | Mapping[str, object]) -> Filter:
    """Compile an expression, or a mapping such as {"lang": "en", "year": {">=": 2020}}.

    In a mapping every condition must hold; a list of values means any of them. Raises
    InvalidArgument for anything malformed, and says where.
    """
    if isinstance(where, str):
        return parse_expression(where)
    tests = [
        _condition_test(name, symbol, value)
        for name, conditions in where.items()
        for symbol, value in _conditions(name, conditions)
    ]
    return Filter(frozenset(where), all_of(tests))


def combine(
    where: str | Mapping[str, object] | None = None,
    paths: Sequence[str] = (),
    types: Sequence[str] = (),
    after: str | None = None,
    before: str | None = None,
) -> Filter | None:
    """Make one filter of everything a search was asked to hold to; None where that is nothing.

    `types` are kinds of documents or extensions of their files. `after` is the first day (or
    month, year, minute) that counts, `before` the first that does not.
    """
    filters = [] if where is None else [parse(where)]
    if paths:
        is_wanted = path_matcher(paths)
        filters.append(
            Filter(frozenset(["path"]), lambda fields: is_wanted(str(fields.get("path") or "")))
        )
    if types:
        filters.append(_type_filter(types))
    for symbol, date in ((">=", after), ("<", before)):
        if date is not None:
            if date_of(date) is None:
                raise InvalidArgument(f"expected a date such as 2024-05-31 or 2024, not {date!r}")
            filters.append(
                Filter(frozenset(["modified"]), comparison(symbol, Field("modified"), date))
            )
    if not filters:
        return None
    names = frozenset(name for filter_ in filters for name in filter_.names)
    return Filter(names, all_of([filter_.matches for filter_ in filters]))


def _type_filter(types: Iterable[str]) -> Filter:
    kinds = {kind.lower().lstrip(".") for kind in types}

    def is_wanted(fields: Fields) -> bool:
        return any(
            str(fields.get(name) or "").lower().lstrip(".") in kinds
            for name in ("type", "extension")
        )

    return Filter(frozenset(["type", "extension"]), is_wanted)


def _conditions(name: object, given: object) -> Iterator[tuple[str, object]]:
    if not isinstance(name, str):
        raise InvalidArgument(f"a filter's keys are names of fields, not {name!r}")
    if isinstance(given, Mapping):
        yield from given.items()
    else:
        yield ("in" if isinstance(given, list | tuple | set | frozenset) else "=="), given


def _condition_test(name: str, symbol: object, given: object) -> Test:
    where = f"the condition on {name!r}"
    if symbol not in SYMBOLS:
        known = ", ".join(SYMBOLS)
        raise InvalidArgument(f"{where} has the operator {symbol!r}; expected one of {known}")
    is_list = isinstance(given, list | tuple | set | frozenset)
    if is_list != (symbol in ("in", "not in")):
        raise InvalidArgument(f"{where}: a list goes with in and not in, other values do not")
    values = tuple(given) if isinstance(given, list | tuple | set | frozenset) else (given,)
    for value in values:
        if not (value is None or isinstance(value, str | int | float)):
            raise InvalidArgument(f"{where} compares with {value!r}; expected a text or number")
    right = values if is_list else values[0]
    return comparison(str(symbol), Field(name), right)
