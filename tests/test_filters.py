from __future__ import annotations

import os
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import InvalidArgument
from gossamer.filters import Filter, combine, parse, path_matcher

FIELDS = {
    "path": "/home/me/notes/2024/lease.md",
    "type": "markdown",
    "extension": ".md",
    "title": "The lease",
    "modified": "2024-05-17T09:30:00Z",
    "size": 1200,
    "lang": "en",
    "year": 2024,
    "price": 9.5,
    "draft": False,
    "signed": True,
    "empty": "",
    "nothing": None,
    "two words": "yes",
}


def holds(where) -> bool:
    return parse(where).matches(FIELDS)


@pytest.mark.parametrize(
    "where",
    [
        'lang == "en"',
        "lang == 'en'",
        'lang != "de"',
        "year == 2024",
        "year == 2024.0",
        "year >= 2024 and year <= 2024",
        "year > -5",
        "price < 1e1",
        "price > .5",
        "2020 <= year < 2025",
        "2023 < year",
        'lang in ["de", "en"]',
        'lang in ["de", "en",]',
        'lang not in ["de"]',
        "lang not in []",
        'not lang in ["de"]',
        'lang == "de" or year == 2024',
        'lang == "de" and year == 1 or year == 2024',
        'lang == "en" and (year == 1 or year == 2024)',
        "not (year == 1 or year == 2)",
        "not not signed",
        "signed and not draft",
        "signed == true and draft == false",
        "LANG == 'x' OR signed AND NOT draft".replace("LANG", "lang"),
        '"lease" in title',
        '"will" not in title',
        "`two words` == 'yes'",
        "lang < title or title < lang",
        'title != "it\'s \\"quoted\\" \\\\"',
        "true",
    ],
)
def test_an_expression_that_holds(where):
    assert holds(where)


@pytest.mark.parametrize(
    "where",
    [
        'lang == "EN"',
        "year < 2024",
        "2020 <= year < 2024",
        'lang in ["de"]',
        "lang in []",
        'lang == "de" and year == 2024 or year == 1',
        '(lang == "en" or year == 1) and year == 2',
        "draft",
        "empty",
        "not signed",
        "false",
    ],
)
def test_an_expression_that_does_not_hold(where):
    assert not holds(where)


@pytest.mark.parametrize("field", ["missing", "nothing"])
@pytest.mark.parametrize(
    "rest", ['== "a"', "== 0", "== false", "< 1", "<= 1", "> 1", ">= 1", 'in ["a", 0]', ""]
)
def test_a_field_that_is_not_there_holds_no_comparison(field, rest):
    assert not holds(f"{field} {rest}")


@pytest.mark.parametrize("rest", ['!= "a"', "!= 0", 'not in ["a", 0]', "== none", "in [none]"])
def test_a_field_that_is_not_there_is_unlike_everything_but_none(rest):
    assert holds(f"missing {rest}")
    assert holds("lang != none and not lang == null")


@pytest.mark.parametrize(
    "where",
    [
        'year == "2024"',
        "lang == 1",
        "lang > 1",
        "lang < 1",
        "signed == 1",
        "year > true",
        "1 > 'a'",
    ],
)
def test_values_of_different_kinds_are_unequal_and_in_no_order(where):
    assert not holds(where)


@pytest.mark.parametrize(
    "where",
    [
        'modified == "2024"',
        'modified == "2024-05"',
        'modified <= "2024-05"',
        'modified >= "2024-05-17"',
        'modified < "2024-05-18"',
        'modified > "2023"',
        '"2024" <= modified',
        "2024-05-01 <= modified < 2024-06-01",
        "modified > 2024-05-17T09:29:59",
        "modified >= 2024",
        "modified < 2025",
        'modified in ["2023", "2024"]',
        'modified == "2024-05-17T11:30:00+02:00"',
        'modified == "2024-05-17 09:30:00"',
    ],
)
def test_a_date_is_compared_as_far_as_the_value_goes(where):
    assert holds(where)


@pytest.mark.parametrize(
    "where",
    ['modified > "2024"', 'modified < "2024-05"', 'modified != "2024"', "modified > 2024-05-17"],
)
def test_a_date_is_not_outside_the_time_it_is_in(where):
    assert not holds(where)


def test_a_text_that_only_begins_like_a_date_is_a_text():
    assert not parse('title == "2024"').matches({"title": "2024-05-17 minutes"})


@pytest.mark.parametrize(
    ("where", "place", "expected"),
    [
        ("", 1, "expected a field"),
        ("lang ==", 8, "expected a field"),
        ('lang = "en"', 6, "write =="),
        ('lang == "en', 9, "not closed"),
        ("lang == en)", 11, "expected and, or, or the end"),
        ("(lang == 'en'", 14, "expected )"),
        ("lang == 'en' && draft", 14, "write and"),
        ("lang 'en'", 6, "expected and, or, or the end"),
        ("lang in 'en'", 9, "expected a list"),
        ("lang in ['en'", 14, "expected ,"),
        ("lang in [['en']]", 10, "expected a text in quotes"),
        ("lang == ['en']", 9, "expected a field"),
        ("lang not 'en'", 10, "expected in"),
        ("'en'", 1, "expected a comparison"),
        ("and", 1, "expected a field"),
        ("lang == 'en' and", 17, "expected a field"),
        ("__import__('os')", 11, "expected and, or, or the end"),
        ("year == 2024x", 9, "not part of the language"),
        ("year == " + "9" * 31, 9, "at most 30 digits"),
        ("(" * 60 + "draft" + ")" * 60, 51, "at most 50 parentheses"),
    ],
)
def test_a_malformed_expression_is_refused_with_its_place(where, place, expected):
    with pytest.raises(InvalidArgument) as caught:
        parse(where)

    assert f"at character {place}: " in str(caught.value)
    assert expected in str(caught.value)


def test_the_place_of_a_mistake_is_pointed_at():
    with pytest.raises(InvalidArgument) as caught:
        parse("lang == 'en' or year = 3")

    _, line, mark = str(caught.value).split("\n")
    assert line[mark.index("^")] == "="


def test_names_of_files_that_are_no_text_are_compared_and_shown():
    assert parse("'b\udcff' in path").matches({"path": "/a/b\udcff.md"})
    with pytest.raises(InvalidArgument, match="at character 6: this is not part") as caught:
        parse("path \udcff")
    assert "  path \udcff\n" in str(caught.value)


def test_an_expression_without_end_is_refused():
    with pytest.raises(InvalidArgument, match="10000 characters"):
        parse("draft or " * 2000 + "draft")


@given(st.text(alphabet="ab12 .-=!<>()[],'\"`\\\nandornotin", max_size=40))
def test_any_text_is_a_filter_or_is_refused(text):
    try:
        found = parse(text)
    except InvalidArgument:
        return
    assert found.matches(FIELDS) in (True, False)


VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)


@given(VALUES, VALUES, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]))
def test_no_two_values_make_a_comparison_fail(left, right, symbol):
    assert parse({"field": {symbol: right}}).matches({"field": left}) in (True, False)


@given(VALUES, VALUES)
def test_unequal_is_the_opposite_of_equal(left, right):
    fields = {"field": left}

    equal = parse({"field": {"==": right}}).matches(fields)

    assert parse({"field": {"!=": right}}).matches(fields) is not equal


def test_a_filter_names_the_fields_it_asks_for():
    assert parse("lang == 'en' or not (year > size)").names == {"lang", "year", "size"}


@pytest.mark.parametrize(
    "where",
    [
        {},
        {"lang": "en"},
        {"lang": "en", "year": {">=": 2020, "<": 2025}},
        {"lang": ["de", "en"]},
        {"lang": {"not in": ("de",)}},
        {"missing": None},
        {"draft": False},
        {"modified": {">": date(2024, 5, 16)}},
    ],
)
def test_a_mapping_holds_where_every_condition_does(where):
    assert holds(where)


@pytest.mark.parametrize("where", [{"lang": "de"}, {"lang": "en", "year": 1}, {"lang": []}])
def test_a_mapping_does_not_hold_where_a_condition_does_not(where):
    assert not holds(where)


@pytest.mark.parametrize(
    "where",
    [
        {"lang": {"~": "en"}},
        {"lang": {"in": "en"}},
        {"lang": {"==": ["en"]}},
        {"lang": {"==": {}}},
        {"lang": [["en"]]},
        {"lang": object()},
        {3: "en"},
        [("lang", "en")],
        None,
    ],
)
def test_a_malformed_mapping_is_refused(where):
    with pytest.raises(InvalidArgument, match="expected"):
        parse(where)


@pytest.mark.parametrize(
    "pattern",
    [
        "*.md",
        "lease.md",
        "l?ase.*",
        "notes",
        "notes/",
        "notes/2024",
        "notes/**",
        "notes/**/lease.md",
        "**/*.md",
        "2024/*.md",
        "me/**/2024/**",
        "/home/me",
        "/home/*/notes",
        "/**/lease.md",
        "/home/me/notes/2024/lease.md",
        "[kl]ease.md",
    ],
)
def test_a_pattern_that_matches_the_path(pattern):
    assert path_matcher([pattern])("/home/me/notes/2024/lease.md")


@pytest.mark.parametrize(
    "pattern",
    [
        "*.txt",
        "note",
        "ease.md",
        "/notes",
        "notes/*.md",
        "/home/me/*.md",
        "me/2024",
        "lease",
        "*/x",
    ],
)
def test_a_pattern_that_does_not_match_the_path(pattern):
    assert not path_matcher([pattern])("/home/me/notes/2024/lease.md")


def test_an_excluding_pattern_leaves_out_what_the_others_match():
    is_wanted = path_matcher(["*.md", "!drafts"])

    assert is_wanted("/notes/a.md")
    assert not is_wanted("/notes/drafts/a.md")
    assert path_matcher(["!drafts"])("/notes/a.md")


def test_a_pattern_from_home_or_from_here_is_taken_from_there(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    path = os.fspath(Path.cwd() / "notes" / "a.md")

    assert path_matcher(["./notes"])(path)
    assert not path_matcher(["./a.md"])(path)
    assert path_matcher(["~/notes/*"])(os.path.expanduser("~/notes/a.md"))


def test_a_pattern_of_many_stars_is_not_slow():
    names = "/".join(["a" * 60] * 60)

    assert not path_matcher(["**/*a*a*a*a*a*b/" * 20 + "x"])("/" + names)


def test_brackets_that_nothing_closes_stand_for_themselves():
    for pattern, name in (("a[b", "a[b"), ("[ab][*", "b[c"), ("[]x[", "[]x["), ("[[]?[", "[a[")):
        assert path_matcher([pattern])(f"/notes/{name}")
        assert not path_matcher([pattern])("/notes/ab")


@pytest.mark.parametrize("pattern", ["[" * 500_000, "[" + "b-a" * 150_000 + "]", "[!" * 250_000])
def test_brackets_without_end_are_not_slow(pattern):
    assert not path_matcher([pattern])("/notes/" + "a" * 200)


@pytest.mark.parametrize("pattern", ["", "/", " ", "!"])
def test_an_empty_pattern_is_refused(pattern):
    with pytest.raises(InvalidArgument, match="pattern"):
        path_matcher([pattern])


def test_nothing_asked_for_is_no_filter():
    assert combine() is None


def test_everything_asked_for_must_hold():
    both = combine('lang == "en"', ["notes"], ["markdown"], "2024-05", "2024-06")

    assert both is not None
    assert both.matches(FIELDS)
    for change in ({"lang": "de"}, {"path": "/x"}, {"type": "pdf", "extension": ".pdf"}):
        assert not both.matches({**FIELDS, **change})
    assert both.names == {
        *("lang", "path", "type", "extension", "date", "last_date", "modified"),
    }


@pytest.mark.parametrize("kind", ["markdown", "md", ".md", "MD"])
def test_a_type_is_a_kind_or_an_extension(kind):
    found = combine(types=["pdf", kind])

    assert found is not None
    assert found.matches(FIELDS)


def test_after_is_the_first_day_that_counts_and_before_the_first_that_does_not():
    after, before = combine(after="2024-05-17"), combine(before="2024-05-17")

    assert after is not None
    assert before is not None
    assert after.matches(FIELDS)
    assert not before.matches(FIELDS)
    assert before.matches({"modified": "2024-05-16T23:59:59"})


def test_mails_and_chats_count_by_their_own_dates():
    chat = {"type": "chat", "date": "2019-03-01T10:00:00", "modified": "2024-05-17T09:30:00"}
    long = {**chat, "last_date": "2019-04-01T10:00:00"}
    after, before = combine(after="2019-03-15"), combine(before="2019-03-15")

    assert after is not None
    assert before is not None
    assert [one.matches(chat) for one in (after, before)] == [False, True]
    assert [one.matches(long) for one in (after, before)] == [True, True]
    assert after.matches({**chat, "type": "markdown"})


def test_words_are_dates_as_of_now():
    found = combine(after="2 days")

    assert found is not None
    assert found.matches({"modified": datetime.now(UTC).isoformat()})
    assert not found.matches({"modified": (datetime.now(UTC) - timedelta(days=4)).isoformat()})


def test_a_date_that_is_none_is_refused():
    with pytest.raises(InvalidArgument, match="expected a date"):
        combine(after="someday")


def test_a_compiled_filter_is_taken_as_it_is():
    found = parse("draft")

    assert isinstance(found, Filter)
    assert parse(found) is found
