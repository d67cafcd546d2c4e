"""Dates as people say them."""

import time
from collections.abc import Iterator
from datetime import datetime

import pytest

from gossamer.dates import resolve
from gossamer.errors import InvalidArgument

NOW = datetime(2024, 3, 29, 15, 30)  # a Friday


@pytest.fixture
def zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    if not hasattr(time, "tzset"):
        pytest.skip("the zone cannot be set here")
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield monkeypatch
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(
    "written", ["2024", "2024-05", "2024-05-31", "2024-05-31T10:00", "2024-05-31T10:00:00+02:00"]
)
def test_what_is_written_out_stays_as_it_is(written: str) -> None:
    assert resolve(written, NOW) == written


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("today", "2024-03-29T00:00:00+00:00"),
        ("Yesterday", "2024-03-28T00:00:00+00:00"),
        ("7d", "2024-03-22T00:00:00+00:00"),
        ("12h", "2024-03-29T03:30:00+00:00"),
        ("90 minutes", "2024-03-29T14:00:00+00:00"),
        ("3 weeks", "2024-03-08T00:00:00+00:00"),
        ("3  weeks ago", "2024-03-08T00:00:00+00:00"),
        ("1 month", "2024-02-29T00:00:00+00:00"),  # there is no 30th
        ("13 months", "2023-02-28T00:00:00+00:00"),
        ("2y", "2022-03-29T00:00:00+00:00"),
        ("monday", "2024-03-25T00:00:00+00:00"),
        ("friday", "2024-03-29T00:00:00+00:00"),
        ("last friday", "2024-03-22T00:00:00+00:00"),
        ("last monday", "2024-03-25T00:00:00+00:00"),
        ("this week", "2024-03-25T00:00:00+00:00"),
        ("last week", "2024-03-18T00:00:00+00:00"),
        ("this month", "2024-03-01T00:00:00+00:00"),
        ("last month", "2024-02-01T00:00:00+00:00"),
        ("this year", "2024-01-01T00:00:00+00:00"),
        ("last year", "2023-01-01T00:00:00+00:00"),
    ],
)
def test_words_are_the_first_moment_that_they_mean(
    zone: pytest.MonkeyPatch, said: str, meant: str
) -> None:
    assert resolve(said, NOW) == meant


def test_last_month_of_january_is_in_the_year_before(zone: pytest.MonkeyPatch) -> None:
    assert resolve("last month", datetime(2024, 1, 31)) == "2023-12-01T00:00:00+00:00"


def test_a_day_begins_where_the_user_is(zone: pytest.MonkeyPatch) -> None:
    zone.setenv("TZ", "Europe/Berlin")
    time.tzset()

    assert resolve("today", NOW) == "2024-03-29T00:00:00+01:00"
    assert resolve("last month", datetime(2024, 5, 1)) == "2024-04-01T00:00:00+02:00"  # summer time


def test_hours_are_as_long_when_clocks_change(zone: pytest.MonkeyPatch) -> None:
    zone.setenv("TZ", "Europe/Berlin")
    time.tzset()

    assert resolve("12h", datetime(2024, 3, 31, 10)) == "2024-03-30T21:00:00+01:00"


@pytest.mark.parametrize(
    "said",
    [
        *("", "soon", "7", "7 m", "7 parsecs", "-3 days", "tomorrow", "next week", "last"),
        *("this today", "2024-13", "2024-02-30", "2024-5-1", "99999 years", "٧d", "last 3 weeks"),
        *("2024-05x", "x" * 99_999),
    ],
)
def test_anything_else_is_refused_with_examples(said: str) -> None:
    with pytest.raises(InvalidArgument, match="expected a date such as 2024-05-31 or 2024, or 7d"):
        resolve(said, NOW)
