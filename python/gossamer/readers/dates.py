"""Dates of all kinds as ISO 8601, so that they compare as strings in the order of time.

Moments are of UTC and end in Z; where no zone is known the time is left as it was written.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

__all__ = ["iso_of_mail", "iso_of_text", "iso_of_timestamp"]

_MAX_CHARS = 100


def iso_of_timestamp(seconds: object) -> str:
    """Give seconds since 1970 as 2024-05-01T12:00:00Z; "" for what is no such number."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float | str):
        return ""
    try:
        number = float(seconds)
        return _iso(datetime.fromtimestamp(number, UTC)) if math.isfinite(number) else ""
    except (ValueError, OverflowError, OSError):
        return ""


def iso_of_text(text: object) -> str:
    """Give an ISO date in one spelling; one without a zone is taken as it is, "" for no date."""
    if not isinstance(text, str) or len(text) > _MAX_CHARS:
        return ""
    try:
        when = datetime.fromisoformat(text)
        return when.date().isoformat() if len(text) <= len("2024-05-01") else _iso(when)
    except (ValueError, OverflowError):
        return ""


def iso_of_mail(text: object) -> str:
    """Give the date of a mail's header, in UTC without its mark; "" for no date."""
    if not isinstance(text, str) or len(text) > _MAX_CHARS:
        return ""
    try:
        return _iso(parsedate_to_datetime(text)).removesuffix("Z")
    except (ValueError, OverflowError, TypeError, IndexError):
        return ""


def _iso(when: datetime) -> str:
    if when.tzinfo is None:
        return when.isoformat(timespec="seconds")
    return when.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="seconds") + "Z"
