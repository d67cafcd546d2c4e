"""WhatsApp chats exported as text: plain text that stays as it is, told from other text here."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from itertools import islice
from pathlib import Path

from gossamer.readers.limits import Limits
from gossamer.readers.pieces import one_line
from gossamer.records import Document, Value
from gossamer.text.encoding import decode

__all__ = ["is_whatsapp", "read_whatsapp"]

_MIN_MESSAGES = 2
_MAX_NAMES = 20
_HEAD_BYTES = 1 << 16
# "[12/31/23, 10:00:00 PM] Ann: ..." from an iPhone, "31.12.23, 22:00 - Ann: ..." from Android.
# Dates are in the order of the phone's country; some put a word before the time.
_NOON = r"(?:[\s\u202f\xa0]{0,2}[AaPp]\.?\s?[Mm]\.?)?"
_DATE = r"\d{1,4}[./-]\s?\d{1,2}[./-]\s?\d{1,4},?\s(?:\w{1,3}\s)?"
_DAY = re.compile(r"(\d{1,4})([./-])\s?(\d{1,2})[./-]\s?(\d{1,4})")
# Logs begin with a date too: only between brackets are seconds and 2024-05-01 those of a chat.
_BEGIN = (
    rf"^[\ufeff\u200e\u200f]{{0,3}}(?:\[{_DATE}\d{{1,2}}[:.]\d\d(?:[:.]\d\d)?{_NOON}\]"
    rf"|(?!\d{{4}}-){_DATE}\d{{1,2}}[:.]\d\d{_NOON}\s[-–])\s"
)
_LINE = re.compile(_BEGIN + r"[\u200e~\s]{0,3}(?P<name>[^:\n]{1,80}?):\s", re.MULTILINE)
_FIRST_LINE = re.compile(_BEGIN)
_ANY_LINE = re.compile(_BEGIN, re.MULTILINE)
_ORDERS = ("ymd", "dmy", "mdy")
_FILE_NAME = re.compile(r"WhatsApp Chat (?:with|-) (.+)", re.IGNORECASE)


def is_whatsapp(head: bytes) -> bool:
    """Say whether a file begins as such a chat does."""
    text = head.decode("utf-8", "replace").lstrip()
    if _FIRST_LINE.match(text) is None:
        return False
    return len(list(islice(_LINE.finditer(text), _MIN_MESSAGES))) == _MIN_MESSAGES


def read_whatsapp(path: Path, data: bytes, limits: Limits) -> list[Document]:  # noqa: ARG001
    """Read a chat as the text it is, its places its lines."""
    decoded = decode(data)
    head = decoded.text[:_HEAD_BYTES].decode("utf-8", "replace")
    names = dict.fromkeys(one_line(found["name"]) for found in _LINE.finditer(head))
    metadata: dict[str, Value] = {
        "program": "whatsapp",
        "participants": ", ".join(list(names)[:_MAX_NAMES]),
        **_dates(decoded.text.decode("utf-8", "replace")),
    }
    return [
        Document(
            text=decoded.text,
            kind="chat",
            title=_title(path),
            is_verbatim=decoded.is_verbatim,
            metadata=metadata,
        )
    ]


def _dates(text: str) -> dict[str, Value]:
    """Give the days of the first and the last message; nothing where their order is not told."""
    found = (_DAY.search(begin[0]) for begin in _ANY_LINE.finditer(text))
    numbers = [(int(day[1]), int(day[3]), int(day[4]), day[2]) for day in found if day]
    possible = [days for order in _ORDERS if (days := _days(numbers, order))]
    if len(possible) > 1:  # messages stand in the order of time
        possible = [days for days in possible if days == sorted(days)]
    told = {(days[0], max(days)) for days in possible}
    if len(told) != 1:
        return {}
    first, last = told.pop()
    return {"date": first.isoformat(), "last_date": last.isoformat()}


def _days(numbers: Sequence[tuple[int, int, int, str]], order: str) -> list[date]:
    """Read all dates in an order of year, month and day; nothing where one is none in it."""
    days: list[date] = []
    for *parts, sign in numbers:
        named = dict(zip(order, parts, strict=True))
        # A year that comes first is written in full; behind a point nobody puts the day.
        is_odd = named["y"] < 100 if order == "ymd" else order == "mdy" and sign == "."
        if is_odd:
            return []
        year = named["y"] + (2000 if named["y"] < 100 else 0)
        try:
            days.append(date(year, named["m"], named["d"]))
        except ValueError:
            return []
    return days


def _title(path: Path) -> str:
    """Name the chat after its file; an iPhone calls every file the same, and names the folder."""
    stem = path.parent.name if path.stem.lower() == "_chat" else path.stem
    matched = _FILE_NAME.match(stem)
    return one_line(f"WhatsApp: {matched.group(1) if matched else stem}")
