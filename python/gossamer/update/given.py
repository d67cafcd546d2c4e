"""Texts that programs give, checked before anything is done with them."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

from gossamer.errors import InvalidArgument
from gossamer.records import Value
from gossamer.update.prepare import GivenText

__all__ = ["MARKUPS", "as_given_text", "in_batches"]

_FIELDS = {field.name for field in fields(GivenText)}
# Of an iterator so many are held at one time.
_MOST_TEXTS = 1 << 14
_MOST_CHARACTERS = 1 << 25
MARKUPS = ("plain", "markdown", "rst", "rows")


def as_given_text(text: GivenText | Mapping[str, object]) -> GivenText:
    """Check a text that was given; InvalidArgument says what is missing or wrong."""
    if isinstance(text, GivenText):
        values: dict[str, Any] = {name: getattr(text, name) for name in _FIELDS}
    elif isinstance(text, Mapping):
        values = dict(text)
    else:
        raise InvalidArgument(f"a text is a GivenText or a mapping, got {type(text).__name__}")
    unknown = values.keys() - _FIELDS
    if unknown:
        said = ", ".join(sorted(map(str, unknown)))
        raise InvalidArgument(f"a text has no {said}; put it into metadata")
    for name in ("id", "text"):
        if not isinstance(values.get(name), str) or not values[name]:
            raise InvalidArgument(f"a text needs {name!r}, a string that is not empty: {text!r}")
    _check_title_and_markup(values)
    _check_metadata(values["id"], values.get("metadata", {}))
    return text if isinstance(text, GivenText) else GivenText(**values)


def in_batches(
    texts: Iterable[GivenText | Mapping[str, object]],
) -> Iterator[Sequence[GivenText]]:
    """Give checked texts: all of a collection at once, those of an iterator as they come."""
    if isinstance(texts, Collection):
        yield [as_given_text(text) for text in texts]
        return
    batch: list[GivenText] = []
    size = 0
    for text in texts:
        batch.append(as_given_text(text))
        size += len(batch[-1].text)
        if len(batch) == _MOST_TEXTS or size > _MOST_CHARACTERS:
            yield batch
            batch, size = [], 0
    yield batch


def _check_title_and_markup(values: Mapping[str, object]) -> None:
    title, markup = values.get("title", ""), values.get("markup", "plain")
    if not isinstance(title, str):
        raise InvalidArgument(f"text {values['id']!r}: its title must be a string, got {title!r}")
    is_known = isinstance(markup, str) and (markup in MARKUPS or markup.startswith("code/"))
    if not is_known:
        raise InvalidArgument(
            f"text {values['id']!r}: its markup must be {', '.join(MARKUPS)} or code/LANGUAGE, "
            f"got {markup!r}"
        )


def _check_metadata(id: str, metadata: object) -> None:
    if not isinstance(metadata, Mapping):
        raise InvalidArgument(f"text {id!r}: metadata must be a mapping, got {metadata!r}")
    for key, value in metadata.items():
        is_good = isinstance(key, str) and isinstance(value, Value)
        if not is_good or (isinstance(value, float) and not math.isfinite(value)):
            raise InvalidArgument(
                f"text {id!r}: metadata is strings, finite numbers and booleans by name, got "
                f"{key!r}: {value!r}; leave out what is not known"
            )
