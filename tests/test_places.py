"""The benchmark of places can fail: what it reads of files, and what it takes for a right place."""

import base64
from pathlib import Path

import pytest

from benchmarks.places.files import KINDS
from benchmarks.places.held import Lines, Units, words_of
from benchmarks.places.questions import best_lines, questions
from benchmarks.places.texts import Texts

MADE = [name for name, kind in KINDS.items() if not kind.is_real]


@pytest.mark.parametrize("name", MADE)
def test_every_made_file_gives_questions_that_one_passage_answers(
    name: str, tmp_path: Path
) -> None:
    kind = KINDS[name]
    file, data = next(iter(kind.files(Texts(1)).items()))
    (tmp_path / file).write_bytes(data)

    held = kind.read(tmp_path / file)

    asked = questions(held, 5)
    passages = [set(words_of(passage)) for passage in held.passages()]
    assert len(asked) == 5
    for question in asked:
        assert any(set(words_of(question)) <= passage for passage in passages), question


def test_a_unit_holds_its_own_line_and_no_other_unit_does() -> None:
    pages = Units(
        {("", 1): "one two three four", ("", 2): "five six up-\nto-date", ("x", 1): "one"}
    )

    assert pages.holds("One, two three", "", 1, 1)
    assert pages.holds("five six up-to-date", "", 2, 2)
    assert not pages.holds("One, two three", "", 2, 2)
    assert not pages.holds("One, two three", "x", 1, 1)
    assert not pages.holds("one two three", "", 3, 3)
    assert not pages.holds("…", "", 1, 1)


def test_a_range_holds_a_line_that_goes_on_and_none_that_does_not() -> None:
    pages = Units({("", 1): "and then one two three", ("", 2): "four five six seven"})
    line = "then one two three four five six seven"

    assert pages.holds(line, "", 1, 2)
    assert not pages.holds(line, "", 1, 1)
    assert not pages.holds("then one two three", "", 1, 2)
    assert not pages.holds(line + " eight nine ten eleven", "", 1, 2)


def test_a_line_is_cited_where_it_begins() -> None:
    page = Lines([("one", 4), ("two", 5), ("three", 5)], "one two three")

    assert page.holds("One two three", "", 4, 4)
    assert page.holds("two three", "", 5, 5)
    assert not page.holds("one two", "", 5, 5)
    assert not page.holds("one two", "", 4, 5)


def test_the_best_line_has_nearly_all_that_was_asked() -> None:
    snippet = "alpha beta gamma delta\nalpha beta"

    assert best_lines(snippet, "alpha beta gamma delta") == ["alpha beta gamma delta"]
    assert best_lines(snippet, "beta omega psi chi") == []
    assert best_lines("… One two. Three four five six.", "three four five six") == [
        "Three four five six."
    ]


def test_mails_are_read_by_the_lines_of_their_file(tmp_path: Path) -> None:
    body = base64.encodebytes(("word " * 20 + "Größe").encode())
    head = b'Subject: s\nContent-Type: text/plain; charset="utf-8"\n'
    (tmp_path / "a.eml").write_bytes(head + b"Content-Transfer-Encoding: base64\n\n" + body)

    held = KINDS["eml"].read(tmp_path / "a.eml")

    assert held.holds("größe", "", 6, 6)
    assert not held.holds("größe", "", 5, 5)
