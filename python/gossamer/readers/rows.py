"""Tables and records: CSV as it is, the rows of JSON Lines as text, JSON that people write."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

from gossamer.errors import Unreadable
from gossamer.readers.limits import Limits
from gossamer.records import Document, Value
from gossamer.text.encoding import decode, to_utf8

__all__ = ["read"]

_HEAD_BYTES = 1 << 16
_DELIMITERS = ",\t;|"
# Read first in a record, in this order, and without their names.
_MAIN_KEYS = ("title", "name", "text", "body", "content", "description", "message")
_MAX_COLUMNS_CHARS = 1000


def read(path: Path, data: bytes, limits: Limits) -> list[Document]:
    """Read CSV and its kin, JSON Lines, or JSON: chats and what is small enough to be read."""
    extension = path.suffix.lower()
    if extension in (".json", ".geojson"):
        return _read_json(path, data, limits)
    if extension in (".jsonl", ".ndjson", ".jsonlines"):
        return [_read_json_lines(path, data, limits)]
    return [_read_table(path, data)]


def _read_table(path: Path, data: bytes) -> Document:
    text = decode(data)
    header = text.text[:_HEAD_BYTES].decode("utf-8", "ignore").removeprefix("\ufeff")
    columns = _columns(header.lstrip().split("\n", 1)[0])
    metadata: dict[str, Value] = {"columns": columns} if columns else {}
    return Document(
        text.text,
        "csv",
        "rows",
        title=path.name,
        is_verbatim=text.is_verbatim,
        metadata=metadata,
    )


def _columns(header: str) -> str:
    """Give the names in the first line, joined by commas; "" where they are numbers or none."""
    delimiter = max(_DELIMITERS, key=header.count)
    names = [name.strip().strip('"').strip() for name in header.split(delimiter)]
    if len(names) < 2 or any(not name or name[0].isdigit() for name in names):
        return ""
    return ", ".join(names)[:_MAX_COLUMNS_CHARS]


def _read_json(path: Path, data: bytes, limits: Limits) -> list[Document]:
    from gossamer.readers import chats

    is_small = len(data) <= limits.max_json_bytes
    if chats.recognise(data) is not None:
        try:
            return chats.read(path, data, limits)
        except Unreadable:
            # It may only look like a chat; if not, why it could not be read is worth telling.
            if not is_small:
                raise
    if not is_small:
        raise Unreadable(
            f"JSON data of {len(data) / 1e6:,.1f} MB, which is no chat export that is known"
        )
    from gossamer.readers import code

    return code.read(path, data, limits)


def _read_json_lines(path: Path, data: bytes, limits: Limits) -> Document:
    """Give a record for each row, parted by blank lines; a line that is no JSON stays as it is."""
    # Files in memory, not lists: millions of short rows would take ten times their length.
    out = io.BytesIO()
    places: list[tuple[int, int]] = []
    for row, line in enumerate(io.BytesIO(decode(data).text), start=1):
        if part := _record(line.removeprefix(b"\xef\xbb\xbf")).strip():
            places.append((out.tell(), row))
            out.write(part + b"\n\n")
        if out.tell() > limits.max_text_bytes:
            raise Unreadable(f"more than {limits.max_text_bytes / 1e6:,.0f} MB of text")
    text = out.getvalue()
    return Document(text, "jsonl", title=path.name, unit="row", places=tuple(places))


def _record(line: bytes) -> bytes:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return line
    return to_utf8("\n".join(_strings(value)))


def _strings(record: object) -> Iterator[str]:
    """Give the strings in a JSON value as `key: value`, those that carry the text first."""
    waiting: list[tuple[str, object]] = [("", record)]
    while waiting:
        key, value = waiting.pop()
        if isinstance(value, dict):
            first = [name for name in _MAIN_KEYS if isinstance(value.get(name), str)]
            rest = [(name, inner) for name, inner in value.items() if name not in first]
            waiting += reversed([*(("", value[name]) for name in first), *rest])
        elif isinstance(value, list):
            waiting += ((key, inner) for inner in reversed(value))
        elif isinstance(value, str) and value.strip():
            yield f"{key}: {value}" if key else value
