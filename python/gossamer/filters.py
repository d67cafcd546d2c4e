"""Filters: which documents a search looks at, by what is known of them. The core has the language.

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

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from gossamer import _core
from gossamer.dates import resolve
from gossamer.errors import InvalidArgument
from gossamer.records import Value

__all__ = ["Filter", "combine", "parse", "path_matcher"]

_LISTS = (list, tuple, set, frozenset)


@dataclass(frozen=True, slots=True)
class Filter:
    """A test of documents, compiled once."""

    key: str  # equal for filters that let the same through
    core: _core.Filter
    names: frozenset[str]  # the fields it asks for

    def matches(self, fields: Mapping[str, Value | None]) -> bool:
        """Say whether a document with these fields is to be looked at."""
        asked = {name: fields[name] for name in self.names if name in fields}
        return self.core.matches(_encode(_to_json(asked)))


def parse(where: str | Mapping[str, object] | Filter) -> Filter:
    """Compile an expression, or a mapping such as {"lang": "en", "year": {">=": 2020}}.

    In a mapping every condition must hold; a list of values means any of them. A filter is given
    back as it is. Raises InvalidArgument for anything malformed, and says where.
    """
    return where if isinstance(where, Filter) else _read({"where": _where(where)})


def combine(
    where: str | Mapping[str, object] | None = None,
    paths: Sequence[str] = (),
    types: Sequence[str] = (),
    after: str | None = None,
    before: str | None = None,
) -> Filter | None:
    """Make one filter of everything a search was asked to hold to; None where that is nothing.

    `paths` are patterns as of `path_matcher`, `types` kinds of documents or extensions of their
    files. `after` is the first date that counts, written out or said as `dates.resolve` reads it,
    and `before` the first that does not: of mails and chats that have dates their own, of all else
    the time of the file.
    """
    given = {
        "where": None if where is None else _where(where),
        **_paths(paths),
        "types": list(types) or None,
        "after": None if after is None else resolve(after),
        "before": None if before is None else resolve(before),
    }
    asked = {name: value for name, value in given.items() if value is not None}
    return _read(asked) if asked else None


def path_matcher(patterns: Sequence[str]) -> Callable[[str], bool]:
    """Compile path patterns; the result says of an absolute path whether it is wanted.

    `*` and `?` stand for anything within a name, `**` for any folders. A pattern from the root,
    from `~` or from `./` is taken from there; any other matches at any depth, so that `*.md` and
    `notes/2024` need not say where the notes are. A pattern that matches a folder matches what is
    in it. `!` before a pattern leaves out what it matches.
    """
    found = _read(_paths(patterns))
    return lambda path: found.matches({"path": path})


def _read(given: Mapping[str, object]) -> Filter:
    key = _to_json(given)
    core = _core.Filter.read(_encode(key))
    names = (name.decode("utf-8", "surrogatepass") for name in core.names)
    return Filter(key, core, frozenset(names))


def _to_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _paths(patterns: Sequence[str]) -> dict[str, object]:
    if not patterns:
        return {}
    return {"paths": [_resolve(pattern) for pattern in patterns], "ignores_case": os.name == "nt"}


def _resolve(pattern: str) -> str:
    """Give a pattern as the core takes it: with "/" between names, and before what is absolute."""
    mark = "!" if pattern.startswith("!") else ""
    given = pattern.removeprefix("!").replace(os.sep, "/")
    if given.startswith("~"):
        given = os.path.expanduser(given)
    elif given.startswith(("./", "../")):
        given = os.path.abspath(given)
    is_absolute = os.path.isabs(given)
    given = given.replace(os.sep, "/")
    return mark + ("/" + given.lstrip("/") if is_absolute else given)


def _where(where: object) -> object:
    if isinstance(where, str):
        return where
    if not isinstance(where, Mapping):
        raise InvalidArgument(f"expected a filter expression or a mapping, not {where!r}")
    return {_name(name): _conditions(name, given) for name, given in where.items()}


def _name(name: object) -> str:
    if isinstance(name, str):
        return name
    raise InvalidArgument(f"expected the name of a field as a filter's key, not {name!r}")


def _conditions(name: str, given: object) -> object:
    if isinstance(given, Mapping):
        return {str(symbol): _values(name, value) for symbol, value in given.items()}
    return _values(name, given)


def _values(name: str, given: object) -> object:
    if isinstance(given, _LISTS):
        return [_value(name, value) for value in given]
    return _value(name, given)


def _value(name: str, given: object) -> Value | None:
    if isinstance(given, date):
        return given.isoformat()
    if given is None or isinstance(given, str | int | float):
        return given
    raise InvalidArgument(
        f"expected a text, number, date, bool or None for the field {name!r}, not {given!r}"
    )
