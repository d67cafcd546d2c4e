"""Filters: which documents a search looks at, by what is known of them.

An expression compares fields with values: `type == "pdf" and year >= 2020 and not draft`. Fields
are the document's metadata and path, type, modified, size, source and extension; a name with
other characters than letters stands in backquotes. Operators are `== != < <= > >=`, `in`,
`not in`, `and`, `or`, `not` and parentheses; values are texts in quotes, numbers, dates such as
2024-05, true, false, none and lists. What holds where values do not fit each other:

- A field that is not there equals only `none`: every other comparison with it is false, and `!=`
  and `not in` are true.
- Values of different kinds (text, number, true/false) are unequal and in no order.
- A date is compared as far as the shorter one goes: all of 2024 is `== "2024"`, `<= "2024"` and not
  `> "2024"`.
- `"word" in path` looks within a text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date

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
from gossamer.records import Value

__all__ = ["Filter", "combine", "parse", "path_matcher"]

_LISTS = (list, tuple, set, frozenset)


def parse(where: str | Mapping[str, object] | Filter) -> Filter:
    """Compile an expression, or a mapping such as {"lang": "en", "year": {">=": 2020}}.

    In a mapping every condition must hold; a list of values means any of them. A filter is given
    back as it is. Raises InvalidArgument for anything malformed, and says where.
    """
    if isinstance(where, Filter):
        return where
    if isinstance(where, str):
        return parse_expression(where)
    if not isinstance(where, Mapping):
        raise InvalidArgument(f"expected a filter expression or a mapping, not {where!r}")
    tests = [
        _condition_test(name, symbol, value)
        for name, conditions in where.items()
        for symbol, value in _conditions(name, conditions)
    ]
    return Filter(frozenset(where), all_of(tests))


def combine(
    where: str | Mapping[str, object] | Filter | None = None,
    paths: Sequence[str] = (),
    types: Sequence[str] = (),
    after: str | None = None,
    before: str | None = None,
) -> Filter | None:
    """Make one filter of everything a search was asked to hold to; None where that is nothing.

    `types` are kinds of documents or extensions of their files. `after` is the first day (or
    month, year, minute) that counts, `before` the first that does not.
    """
    paths, types = tuple(paths), tuple(types)
    filters = [] if where is None else [parse(where)]
    if paths:
        is_wanted = path_matcher(paths)
        filters.append(
            Filter(frozenset(["path"]), lambda fields: is_wanted(str(fields.get("path") or "")))
        )
    if types:
        filters.append(_type_filter(types))
    for symbol, day in ((">=", after), ("<", before)):
        if day is not None:
            if date_of(day) is None:
                raise InvalidArgument(f"expected a date such as 2024-05-31 or 2024, not {day!r}")
            filters.append(parse({"modified": {symbol: day}}))
    if not filters:
        return None
    names = frozenset(name for filter_ in filters for name in filter_.names)
    key = repr((_key_of(where), paths, types, after, before))
    is_known = not isinstance(where, Filter) or where.key is not None
    return Filter(
        names, all_of([filter_.matches for filter_ in filters]), key if is_known else None
    )


def _key_of(where: str | Mapping[str, object] | Filter | None) -> object:
    if isinstance(where, Filter):
        return where.key
    if not isinstance(where, Mapping):
        return where
    return {name: dict(c) if isinstance(c, Mapping) else c for name, c in where.items()}


def _type_filter(types: Iterable[str]) -> Filter:
    kinds = {kind.lower().lstrip(".") for kind in types}

    def is_wanted(fields: Fields) -> bool:
        return any(
            str(fields.get(name) or "").lower().lstrip(".") in kinds
            for name in ("type", "extension")
        )

    return Filter(frozenset(["type", "extension"]), is_wanted)


def _conditions(name: object, given: object) -> Iterator[tuple[object, object]]:
    if not isinstance(name, str):
        raise InvalidArgument(f"expected the name of a field as a filter's key, not {name!r}")
    if isinstance(given, Mapping):
        yield from given.items()
    else:
        yield ("in" if isinstance(given, _LISTS) else "=="), given


def _condition_test(name: str, symbol: object, given: object) -> Test:
    if symbol not in SYMBOLS:
        known = ", ".join(SYMBOLS)
        raise InvalidArgument(f"expected one of {known} for the field {name!r}, not {symbol!r}")
    if isinstance(given, _LISTS) != (symbol in ("in", "not in")):
        raise InvalidArgument(
            f"expected a list with in or not in, and one value with any other operator, for the "
            f"field {name!r}, not {symbol} {given!r}"
        )
    if isinstance(given, _LISTS):
        return comparison(str(symbol), Field(name), tuple(_value(name, value) for value in given))
    return comparison(str(symbol), Field(name), _value(name, given))


def _value(name: str, given: object) -> Value | None:
    if isinstance(given, date):
        return given.isoformat()
    if given is None or isinstance(given, str | int | float):
        return given
    raise InvalidArgument(
        f"expected a text, number, date, bool or None for the field {name!r}, not {given!r}"
    )
