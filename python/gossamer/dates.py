"""Dates as people say them, 7d or last week, written out as filters read them."""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import UTC, date, datetime, time, timedelta

from gossamer.errors import InvalidArgument

__all__ = ["resolve"]

_WRITTEN = re.compile(r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2}).*)?)?", re.ASCII | re.DOTALL)
_AGO = re.compile(r"([0-9]{1,5}) ?([a-z]+)(?: ago)?", re.ASCII)
_UNITS = {
    "minutes": "min mins minute minutes",
    "hours": "h hour hours",
    "days": "d day days",
    "weeks": "w week weeks",
    "months": "mo month months",
    "years": "y year years",
}
_UNIT_OF = {word: unit for unit, words in _UNITS.items() for word in words.split()}
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


def resolve(when: str, now: datetime | None = None) -> str:
    """Write out what a date says: a day, month or year as it is given, words as of `now` here.

    Words for days and longer mean the beginning of the first day, in the time of this place, whose
    zone is named: chats often name none. InvalidArgument for anything else.
    """
    said = " ".join(when.lower().split())
    try:
        if written := _WRITTEN.fullmatch(when):
            date(*(int(part or 1) for part in written.groups()))  # ValueError if there is none
            return when
        if (found := _moment(said, now or datetime.now())) is not None:
            return found.astimezone().isoformat(timespec="seconds")
    except (ValueError, OverflowError, OSError):  # no such day, or none that a calendar has
        pass
    raise InvalidArgument(
        "expected a date such as 2024-05-31 or 2024, or 7d, 12h, 3 weeks, yesterday, monday, last "
        f"month, this year, not {when!r}"
    )


def _moment(said: str, now: datetime) -> datetime | None:
    """Give the local time that words mean; None if they mean none."""
    if ago := _AGO.fullmatch(said):
        number, unit = int(ago[1]), _UNIT_OF.get(ago[2], "")
        if unit in ("minutes", "hours"):
            return now.astimezone(UTC) - timedelta(**{unit: number})
        if unit in ("days", "weeks"):
            return _begin(now.date() - timedelta(**{unit: number}))
        if unit:
            return _begin(_months_before(now.date(), number * (12 if unit == "years" else 1)))
    day = _day(said, now.date())
    return None if day is None else _begin(day)


def _day(said: str, today: date) -> date | None:
    """Give the first day of what words mean."""
    which, _, period = said.rpartition(" ")
    is_last = which == "last"
    if said in ("today", "yesterday"):
        return today - timedelta(days=said == "yesterday")
    if period in _WEEKDAYS and which in ("", "last"):
        days = (today.weekday() - _WEEKDAYS.index(period)) % 7
        return today - timedelta(days=days or 7 * is_last)
    if which not in ("this", "last"):
        return None
    if period == "week":
        return today - timedelta(days=today.weekday() + 7 * is_last)
    if period == "month":
        return _months_before(today.replace(day=1), int(is_last))
    return date(today.year - is_last, 1, 1) if period == "year" else None


def _months_before(day: date, months: int) -> date:
    """Give the same day of an earlier month, or that month's last."""
    year, month = divmod(12 * day.year + day.month - 1 - months, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def _begin(day: date) -> datetime:
    return datetime.combine(day, time())
