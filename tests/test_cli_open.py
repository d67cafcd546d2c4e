"""`gossamer open`: hits in the user's editor or viewer, at their places."""

import json
import os
import shutil
import stat
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gossamer.cli import cli, programs
from gossamer.cli.programs import choose_program
from gossamer.errors import InvalidArgument
from gossamer.index import Index

PATH = os.path.abspath("/notes/a b.md")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an index of notes/, and no editor."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GOSSAMER_HOME", str(tmp_path / "home"))
    for name in ("GOSSAMER_INDEX", "VISUAL", "EDITOR", "GOSSAMER_VIEWER"):
        monkeypatch.delenv(name, raising=False)
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "lease.md").write_text("# Lease\n\nThe flat.\n\nIt is due in March.\n", "utf-8")
    (notes / "-x; touch hacked.md").write_text("The penguin lives on ice.\n", "utf-8")
    added = run("add", "notes", "--model", "pocket")
    assert added.exit_code == 0, added.output
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


@pytest.fixture
def editor(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An editor that is called vim and writes down what it was given."""
    given = home / "given.json"
    path = home / "bin" / "vim"
    path.parent.mkdir()
    path.write_text(
        f"#!{sys.executable}\nimport json, sys\n"
        f"json.dump(sys.argv[1:], open({str(given)!r}, 'w'))\n"
    )
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("VISUAL", f"'{path}' -n")
    return given


def test_a_hit_of_the_last_search_opens_at_its_line(home: Path, editor: Path) -> None:
    run("search", "when is it due")

    opened = run("open", "1")

    assert opened.exit_code == 0, opened.output
    assert json.loads(editor.read_text()) == ["-n", "+5", str(home / "notes" / "lease.md")]


def test_a_row_of_json_lines_opens_at_its_line(home: Path, editor: Path) -> None:
    rows = home / "notes" / "rows.jsonl"
    rows.write_text('{"text": "One fish."}\n\n{"text": "The marmot whistles."}\n', "utf-8")
    run("add")
    run("search", "marmot whistles")

    assert run("open", "1").exit_code == 0
    assert json.loads(editor.read_text()) == ["-n", "+3", str(rows)]


def test_no_name_is_an_option_or_a_command(home: Path, editor: Path) -> None:
    run("search", "penguin ice", "-k", "1")

    assert run("open", "1").exit_code == 0

    assert json.loads(editor.read_text())[-1] == str(home / "notes" / "-x; touch hacked.md")
    assert not list(home.rglob("hacked.md"))


def test_similar_is_remembered_too_and_lists_without_numbers_are_not(home: Path) -> None:
    run("similar", "notes/lease.md:5", "-k", "1")
    run("search", "when is it due", "-l")

    assert "penguin" not in run("open", "1", "--print").stdout
    assert "hacked" in run("open", "1", "--print").stdout


def test_a_chunk_opens_by_its_id(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hit = json.loads(run("search", "penguin ice", "--json").stdout)["hits"][0]
    monkeypatch.setenv("EDITOR", "code --wait")

    shown = run("open", "--id", str(hit["id"]), "--print").stdout

    assert shown == f"code --wait -g '{hit['path']}:1'\n"


def test_before_any_search_or_with_a_damaged_memory_one_is_to_be_made(home: Path) -> None:
    def said() -> str:
        opened = run("open", "1")
        assert opened.exit_code == 3
        return opened.stderr

    assert "run `gossamer search` first" in said()
    memory = home / "home" / "cache" / "last_search.json"
    run("search", "lease")
    assert stat.S_IMODE(memory.stat().st_mode) == 0o600
    for text in ("", "{}", "[1]", '[{"index": 1}]', "[" * 100_000, '[{"id": 1, "x": 2}]'):
        memory.write_text(text)
        assert "run `gossamer search` first" in said()


def test_the_last_search_has_so_many_hits(home: Path) -> None:
    run("search", "lease")

    assert "the last search has hits 1 to 2, not 3" in run("open", "3").stderr


def test_a_file_that_is_gone_is_named(home: Path, editor: Path) -> None:
    run("search", "when is it due", "-k", "1")
    (home / "notes" / "lease.md").unlink()

    opened = run("open", "1")

    assert opened.exit_code == 3
    assert "lease.md is gone" in opened.stderr
    assert not editor.exists()


def test_nothing_is_opened_for_an_index_that_is_not_trusted(home: Path, editor: Path) -> None:
    run("search", "when is it due", "-k", "1")
    folder = home / "home" / "indexes" / "default"
    shutil.rmtree(home / "home" / "config" / "trusted")

    opened = run("open", "1")
    by_id = run("--index", str(folder), "open", "--id", "1")

    assert (opened.exit_code, by_id.exit_code) == (6, 6)
    assert "is not trusted" in opened.stderr
    assert not editor.exists()


def test_a_file_outside_of_the_folders_that_were_added_is_not_opened(
    home: Path, editor: Path
) -> None:
    run("search", "when is it due", "-k", "1")
    memory = home / "home" / "cache" / "last_search.json"
    (place,) = json.loads(memory.read_text())
    memory.write_text(json.dumps([{**place, "path": "/etc/passwd"}]))

    opened = run("open", "1")

    assert "It is due in March." in opened.stdout
    assert not editor.exists()


def test_a_text_that_a_program_gave_is_printed(home: Path, editor: Path) -> None:
    index = Index.open(home / "home" / "indexes" / "default")
    index.add_texts([{"id": "memo", "text": "The okapi sleeps."}])
    run("search", "okapi sleeps", "-k", "1")

    assert "The okapi sleeps." in run("open", "1").stdout
    assert not editor.exists()


def test_an_editor_that_is_not_there_is_named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDITOR", "/nowhere/ed")
    run("search", "lease")

    opened = run("open", "1")

    assert opened.exit_code == 2
    assert "cannot run /nowhere/ed" in opened.stderr


@pytest.mark.parametrize(
    ("editor", "arguments"),
    [
        ("nvim", ["nvim", "+7", PATH]),
        ("emacsclient -nw", ["emacsclient", "-nw", "+7", PATH]),
        ("/opt/bin/code", ["/opt/bin/code", "-g", f"{PATH}:7"]),
        ("hx", ["hx", f"{PATH}:7"]),
        ("pycharm", ["pycharm", "--line", "7", PATH]),
        ("kate", ["kate", "-l", "7", PATH]),
        ("somebodys-own", ["somebodys-own", PATH]),
    ],
)
def test_editors_are_told_the_line_in_their_own_way(
    monkeypatch: pytest.MonkeyPatch, editor: str, arguments: list[str]
) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", editor)

    assert choose_program(PATH, "markdown", 7, 1).arguments == arguments
    assert choose_program(PATH, "notebook", None, 1).arguments[-1] == PATH


def test_a_pdf_opens_at_its_page(monkeypatch: pytest.MonkeyPatch) -> None:
    def arguments() -> list[str]:
        return list(choose_program("/a{page}.pdf", "pdf", None, 12).arguments)

    monkeypatch.setenv("GOSSAMER_VIEWER", "okular --unique -p {page} {path}")
    assert arguments() == ["okular", "--unique", "-p", "12", "/a{page}.pdf"]
    monkeypatch.setenv("GOSSAMER_VIEWER", "qpdfview")
    assert arguments() == ["qpdfview", "/a{page}.pdf"]
    monkeypatch.delenv("GOSSAMER_VIEWER")
    monkeypatch.setattr(programs.shutil, "which", lambda name: name == "zathura")
    assert arguments() == ["zathura", "-P", "12", "/a{page}.pdf"]


@pytest.mark.skipif(os.name == "nt", reason="false and true are programs elsewhere")
def test_a_viewer_that_fails_at_once_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOSSAMER_VIEWER", "false {path}")
    with pytest.raises(InvalidArgument, match="failed with exit code 1"):
        programs.start(choose_program("/a.pdf", "pdf", None, 1))
    monkeypatch.setenv("GOSSAMER_VIEWER", "true {path}")
    programs.start(choose_program("/a.pdf", "pdf", None, 1))


def test_web_pages_open_in_the_browser_where_no_editor_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(programs.sys, "platform", "linux")
    monkeypatch.setenv("VISUAL", "vi")
    assert choose_program("/a.html", "html", 3, 1).arguments == ["vi", "+3", "/a.html"]
    assert choose_program("/a.docx", "docx", None, 1).arguments == ["xdg-open", "/a.docx"]
    monkeypatch.delenv("VISUAL")
    monkeypatch.delenv("EDITOR", raising=False)
    assert choose_program("/a.html", "html", 3, 1).arguments == ["xdg-open", "/a.html"]


def test_what_a_desktop_might_run_is_never_given_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    monkeypatch.setattr(programs.shutil, "which", lambda _: None)
    monkeypatch.setattr(programs.sys, "platform", "linux")

    with pytest.raises(InvalidArgument, match="set EDITOR"):
        choose_program("/run.desktop", "text", 1, 1)
    monkeypatch.setattr(programs.sys, "platform", "darwin")
    assert choose_program("/run.command", "text", 1, 1).arguments == ["open", "-t", "/run.command"]


@pytest.mark.parametrize("name", ["/report.desktop", "/report.sh", "/report", "/report.pdf.exe"])
@pytest.mark.parametrize("kind", ["pdf", "html", "docx"])
def test_a_desktop_opens_only_what_is_named_as_its_content_is(
    monkeypatch: pytest.MonkeyPatch, name: str, kind: str
) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    monkeypatch.delenv("GOSSAMER_VIEWER", raising=False)
    monkeypatch.setattr(programs.sys, "platform", "linux")
    monkeypatch.setattr(programs.shutil, "which", lambda name: name == "nano")

    assert choose_program(name, kind, None, 1).arguments == ["nano", name]
    assert choose_program(f"{name}.{kind}".upper(), kind, None, 1).arguments[0] == "xdg-open"


def test_a_quote_that_is_not_closed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", "vim '")

    with pytest.raises(InvalidArgument, match="VISUAL has a quote that is not closed"):
        choose_program(PATH, "text", 1, 1)
