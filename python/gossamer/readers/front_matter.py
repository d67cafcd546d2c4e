"""Front matter: the simple keys of the YAML or TOML that a Markdown file may begin with."""

from __future__ import annotations

import re
import tomllib

from gossamer.records import Value

__all__ = ["split_front_matter"]

_YAML = re.compile(
    r"---[ \t]*\r?\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE
)
_TOML = re.compile(r"\+\+\+[ \t]*\r?\n(.*?)^\+\+\+[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_KEY = re.compile(r"([A-Za-z_][\w-]{0,63}):(?:[ \t]+(.*))?$")
_ITEM = re.compile(r"[ \t]*- +(.*)$")
_NUMBER = re.compile(r"[-+]?\d{1,15}(?:\.\d{1,15})?$")
_MAX_KEYS = 64
_MAX_CHARS = 1000


def split_front_matter(text: str) -> tuple[dict[str, Value], str]:
    """Give the scalar keys of the front matter, lists joined by commas, and the text after it.

    Where there is none, or it is not closed, gives no keys and the text as it came. Anything
    nested is passed over.
    """
    if found := _YAML.match(text):
        return _from_yaml(found[1]), text[found.end() :]
    if found := _TOML.match(text):
        return _from_toml(found[1]), text[found.end() :]
    return {}, text


def _from_yaml(source: str) -> dict[str, Value]:
    # A few lines of YAML, not a parser: what people write in front matter is `key: value`.
    metadata: dict[str, Value] = {}
    items: dict[str, list[str]] = {}
    key = ""
    for line in source.splitlines():
        if found := _KEY.match(line):
            key, value = found[1], (found[2] or "").strip()
            if value and value[0] not in "{|>&*!#" and len(metadata) < _MAX_KEYS:
                metadata[key] = _yaml_value(value)
        elif key and key not in metadata and (item := _ITEM.match(line)):
            items.setdefault(key, []).append(_unquoted(item[1]))
    for key, values in list(items.items())[:_MAX_KEYS]:
        metadata[key] = ", ".join(values)[:_MAX_CHARS]
    return metadata


def _yaml_value(value: str) -> Value:
    if value.startswith("[") and value.endswith("]"):
        return ", ".join(filter(None, map(_unquoted, value[1:-1].split(","))))[:_MAX_CHARS]
    if value.lower() in ("true", "false"):
        return value.lower() == "true"
    if _NUMBER.match(value):
        return float(value) if "." in value else int(value)
    return _unquoted(value)[:_MAX_CHARS]


def _unquoted(value: str) -> str:
    value = value.strip()
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value.split(" #", 1)[0].rstrip()


def _from_toml(source: str) -> dict[str, Value]:
    try:
        table = tomllib.loads(source)
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}
    metadata: dict[str, Value] = {}
    for key, value in list(table.items())[:_MAX_KEYS]:
        if isinstance(value, bool | float | int):
            metadata[key] = value
        elif isinstance(value, list):
            metadata[key] = ", ".join(str(item) for item in value)[:_MAX_CHARS]
        elif not isinstance(value, dict):
            # Dates and times too: their words are ISO 8601.
            metadata[key] = str(value)[:_MAX_CHARS]
    return metadata
