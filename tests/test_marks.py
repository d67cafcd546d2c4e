"""What is shown of a text: without its marks, with its code known, the same in all places."""

import json
import sys
from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner

from gossamer.cli import cli
from gossamer.index import Index
from gossamer.records import Hit

FILES = {
    "rent.md": "# Rent\n\nCall **pay_rent** as `pay_rent(*flat)`:\n\n```sh\n# pay the rent\n```\n",
    "rent.html": "<h2>Rent</h2><p>Give **rent to __pay__.</p><pre># pay(rent)</pre>",
    "rent.py": "def pay(rent):\n    return '**rent**'\n",
    "rent.txt": "To *pay* `the` rent.\n",
}


class Screen(StringIO):
    """Stands for a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("marks")
    (folder / "notes").mkdir()
    for name, text in FILES.items():
        (folder / "notes" / name).write_text(text, encoding="utf-8")
    Index.create(folder / "index", model="pocket").add_paths([folder / "notes"])
    return folder


def found(folder: Path, name: str, *, full: bool = False) -> Hit:
    results = Index.open(folder / "index").search("pay rent", full=full)
    return next(hit for hit in results if Path(hit.path).name == name)


def code(hit: Hit) -> list[str]:
    return [hit.snippet[start:end] for start, end in hit.code]


def test_markdown_is_shown_without_marks_and_its_code_is_known(folder):
    hit = found(folder, "rent.md")

    assert hit.snippet == "Rent\nCall pay_rent as pay_rent(*flat):\n# pay the rent"
    assert code(hit) == ["pay_rent(*flat)", "# pay the rent"]
    assert hit.text == FILES["rent.md"].strip()
    whole = found(folder, "rent.md", full=True)
    assert whole.snippet == "Rent\n\nCall pay_rent as pay_rent(*flat):\n\n# pay the rent\n"
    assert code(whole) == code(hit)


def test_html_loses_the_marks_of_its_reader_only(folder):
    hit = found(folder, "rent.html")

    assert hit.snippet == "Rent\nGive **rent to __pay__.\n# pay(rent)"
    assert code(hit) == ["# pay(rent)"]


def test_source_code_is_code_and_plain_text_is_not(folder):
    source, text = found(folder, "rent.py"), found(folder, "rent.txt")

    assert source.snippet == FILES["rent.py"].strip()
    assert code(source) == [source.snippet]
    assert (text.snippet, text.code) == (FILES["rent.txt"].strip(), ())


def test_a_terminal_shows_code_in_its_style_and_words_within_as_they_are(folder, monkeypatch):
    screen = Screen()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    place = ["--index", str(folder / "index")]

    cli(["search", *place, "pay rent"], standalone_mode=False)

    assert "\x1b[36m# \x1b[0m\x1b[1;31mpay\x1b[0m\x1b[36m the \x1b[0m" in screen.getvalue()


def test_programs_read_what_is_code(folder):
    place = ["--index", str(folder / "index")]

    said = CliRunner().invoke(cli, ["search", *place, "pay rent", "--json"])

    hits = {Path(hit["path"]).name: hit for hit in json.loads(said.stdout)["hits"]}
    assert hits["rent.html"]["code"] == [list(span) for span in found(folder, "rent.html").code]
