"""Hits for editors and scripts: vimgrep lines, paths, JSON."""

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gossamer.cli import cli, output

FILES = {
    "lease.md": "# Lease\n\nThe flat was rented.\n\n  The lease is due in March.\n",
    "boat.html": "<p>menu</p>\n<div>\n<p>The kayak is kept in the boat house.</p></div>\n",
    "-dash.md": "Übrigens: the penguin lives on ice.\n",
    "said.jsonl": '{"text": "One fish."}\n\n{"text": "The marmot whistles."}\n',
    # One line, of which each chunk is a part.
    "long.txt": "All is filler here. " * 200 + "The mango is ripe. " + "More filler. " * 200,
    # Most of the words stand in the first line, too.
    "goat.md": "- goats, `cheese`\n- cows\n\n- Of **goats** `cheese` is made in *May*.\n",
    "log.ipynb": json.dumps(
        {
            "cells": [{"cell_type": "markdown", "metadata": {}, "source": ["An okapi ran."]}],
            "metadata": {},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
    ),
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("formats")
    notes = folder / "notes"
    notes.mkdir()
    for name, text in FILES.items():
        (notes / name).write_text(text, encoding="utf-8")
    (notes / "two\nlines.md").write_text("The axolotl has two lines.\n", encoding="utf-8")
    added = run(folder, "add", notes, "--model", "pocket")
    assert added.exit_code == 0, added.output
    return folder


def run(home: Path, *arguments: str | Path) -> Result:
    environment = {"GOSSAMER_HOME": str(home / "home"), "GOSSAMER_INDEX": None}
    return CliRunner().invoke(cli, [str(one) for one in arguments], env=environment)


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("lease due March", "lease.md:5:7:  The lease is due in March."),
        ("kayak boat house", "boat.html:3:1:The kayak is kept in the boat house."),
        ("penguin lives ice", "./-dash.md:1:16:Übrigens: the penguin lives on ice."),
        ("goats cheese made", "goat.md:4:8:- Of **goats** `cheese` is made in *May*."),
        ("okapi ran", "log.ipynb:1:1:cell 1: An okapi ran."),
        ("marmot whistles", "said.jsonl:3:1:The marmot whistles."),
    ],
)
def test_an_editor_gets_the_line_and_the_column_of_the_first_word(
    home: Path, monkeypatch: pytest.MonkeyPatch, question: str, line: str
) -> None:
    monkeypatch.chdir(home / "notes")

    found = run(home, "search", "-k", "1", "--format", "vimgrep", question)

    assert found.stdout == line + "\n"
    assert found.exit_code == 0


def test_a_column_counts_from_where_the_line_begins_though_the_chunk_begins_later(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home / "notes")

    found = run(home, "search", "-k", "1", "--format", "vimgrep", "mango ripe")

    path, line, column, text = found.stdout.rstrip("\n").split(":", 3)
    assert (path, line) == ("long.txt", "1")
    assert text[int(column) - 1 :].startswith("mango")
    assert FILES["long.txt"].startswith(text)


def test_each_file_is_listed_once_and_as_it_is_called(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home / "notes")

    lines = run(home, "search", "-l", "-k", "40", "filler mango").stdout
    nulls = run(home, "search", "-l0", "-k", "40", "--min-score", "0", "axolotl").stdout_bytes

    assert lines.splitlines()[0] == "long.txt"
    assert lines.count("long.txt") == 1
    assert set(nulls.rstrip(b"\0").split(b"\0")) == {
        *(os.fsencode(name) for name in FILES if name != "-dash.md"),
        b"./-dash.md",
        b"two\nlines.md",
    }


def test_a_name_moves_no_cursor(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home / "notes")
    monkeypatch.setattr(output, "_is_terminal", lambda _: True)

    assert run(home, "search", "-l", "-k", "1", "axolotl").stdout == "two\\nlines.md\n"


def test_nothing_found_prints_nothing_and_is_exit_code_1(home: Path) -> None:
    for form in ("vimgrep", "paths"):
        found = run(home, "search", "--format", form, "--mode", "lexical", "zzyzx")

        assert (found.stdout, found.exit_code) == ("", 1)


def test_weak_hits_are_for_those_who_ask_for_them(home: Path) -> None:
    for form in ("vimgrep", "paths"):
        search = ["search", "--format", form, "-k", "40", "axolotl"]
        usual, all_of_them = run(home, *search), run(home, *search, "--min-score", "0")

        assert len(usual.stdout.splitlines()) < len(all_of_them.stdout.splitlines())
        assert usual.exit_code == all_of_them.exit_code == 0


def test_where_all_is_weak_it_is_said_and_what_prints_it(home: Path) -> None:
    found = run(home, "search", "-l", "quarterly dividend forecast")

    assert (found.stdout, found.exit_code) == ("", 1)
    assert "nothing close was found; --min-score 0 prints weak hits too" in found.stderr


def test_what_is_similar_is_printed_in_any_format(home: Path) -> None:
    notes = home / "notes"
    for form in ("vimgrep", "paths"):
        found = run(home, "similar", f"{notes / 'lease.md'}:5", "--format", form)

        assert found.stdout.startswith(str(notes))
        assert found.exit_code == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["-l", "--json"], "choose one of the formats json and paths"),
        (["-0"], "-0 ends paths, so it needs -l"),
        (["-l", "--explain"], "--explain prints text"),
    ],
)
def test_what_does_not_go_together_is_refused(home: Path, options: list[str], said: str) -> None:
    found = run(home, "search", "lease", *options)

    assert found.exit_code == 2
    assert said in found.stderr


def test_the_format_json_is_the_option_json(home: Path) -> None:
    one, other = (
        json.loads(run(home, "search", "lease", *option).stdout)["hits"]
        for option in (["--json"], ["--format", "json"])
    )

    assert one == other
