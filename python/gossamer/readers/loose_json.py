"""JSON that others wrote: parsed within bounds, and asked for values that may be of any type."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from gossamer.errors import Unreadable

__all__ = ["JsonObject", "as_list", "as_object", "as_text", "elements", "parse"]

JsonObject = Mapping[str, object]


def parse(data: bytes) -> Any:
    """Parse JSON; `Unreadable` for what is broken or nested too deeply."""
    try:
        return json.loads(_as_str(data))
    except ValueError as error:
        raise Unreadable(f"damaged: not JSON ({error})") from error
    except RecursionError:
        raise Unreadable("damaged: JSON nested too deeply") from None


def elements(data: bytes) -> Iterator[object]:
    """Give the elements of a JSON array one by one, so that a large one is never held parsed.

    What is no array is given as the only element.
    """
    text = _as_str(data)
    decoder = json.JSONDecoder()
    position = _next(text, 0)
    if text[position : position + 1] != "[":
        yield parse(data)
        return
    position = _next(text, position + 1)
    while text[position : position + 1] != "]":
        try:
            element, position = decoder.raw_decode(text, position)
        except ValueError as error:
            raise Unreadable(f"damaged: not JSON ({error})") from error
        except RecursionError:
            raise Unreadable("damaged: JSON nested too deeply") from None
        yield element
        position = _next(text, position)
        if text[position : position + 1] == ",":
            position = _next(text, position + 1)
        elif text[position : position + 1] != "]":
            raise Unreadable("damaged: the JSON is cut off or its commas are missing")


def as_object(value: object) -> JsonObject:
    """Give an object as it is, anything else as an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[object]:
    """Give a list as it is, anything else as an empty one."""
    return value if isinstance(value, list) else []


def as_text(value: object) -> str:
    """Give a string as it is, anything else as an empty one."""
    return value if isinstance(value, str) else ""


def _as_str(data: bytes) -> str:
    return data.decode("utf-8-sig", "replace")


def _next(text: str, position: int) -> int:
    """Give where the next character that is no space stands, or the end."""
    while position < len(text) and text[position] in " \t\r\n":
        position += 1
    return position
