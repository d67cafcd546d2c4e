"""Folders that are empty now: a disk that is not mounted must not empty the index."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tiny_embedder import TinyEmbedder

from gossamer.cli import cli
from gossamer.cli.output import Output
from gossamer.index import Index
from gossamer.store.journal import JOURNAL

KEPT = "the folder is empty; what is indexed of it is kept (`gossamer remove` takes it out)"
LONG_AGO = 10**9


def write(path: Path, text: str, time: int = LONG_AGO) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    os.utime(path, (time, time))
    return path


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    write(tmp_path / "notes/real.txt", "the whale is a mammal")
    write(tmp_path / "notes/disk/one.txt", "the first of the disk", LONG_AGO + 1)
    write(tmp_path / "notes/disk/deep/two.txt", "the second of the disk", LONG_AGO + 2)
    return tmp_path / "notes"


@pytest.fixture
def index(embedder: TinyEmbedder, notes: Path, tmp_path: Path) -> Index:
    made = Index.create(tmp_path / "index", store_text=True)
    made.add_paths([notes])
    return made


def empty(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.mkdir()


def test_what_is_indexed_of_an_emptied_folder_is_kept_with_its_text(index: Index, notes: Path):
    empty(notes / "disk")

    for paths in ([notes], None):
        report = index.add_paths(paths)

        assert report.is_nothing
        assert report.problems == [((notes / "disk").as_posix(), KEPT)]
        assert report.emptied == {(notes / "disk").as_posix(): 2}
    assert index.status().indexed == 3
    assert index.check() == []


def test_a_disk_that_is_mounted_again_is_brought_up_to_date(index: Index, notes: Path):
    (notes / "disk").rename(notes.parent / "away")
    (notes / "disk").mkdir()
    index.add_paths()
    (notes / "disk").rmdir()
    (notes.parent / "away").rename(notes / "disk")
    (notes / "disk/one.txt").unlink()

    report = index.add_paths()

    assert (report.removed, report.unchanged) == (1, 2)
    assert (report.problems, report.emptied) == ([], {})


def test_files_of_a_folder_that_is_gone_leave_the_index(index: Index, notes: Path):
    shutil.rmtree(notes / "disk")

    report = index.add_paths()

    assert report.removed == 2
    assert report.problems == []


def test_a_folder_that_holds_other_files_is_not_empty(index: Index, notes: Path):
    empty(notes / "disk")
    write(notes / "disk/.hidden", "not read, but there")

    assert index.add_paths().removed == 2


def test_removing_the_folder_takes_its_files_out(index: Index, notes: Path):
    empty(notes / "disk")
    index.add_paths()

    assert index.remove([notes / "disk"]).removed == 2
    report = index.add_paths()
    assert report.is_nothing
    assert report.problems == []


def test_a_file_that_was_moved_leaves_no_copy_in_the_folder_it_emptied(index: Index, notes: Path):
    (notes / "disk/deep/two.txt").rename(notes / "moved.txt")

    report = index.add_paths()

    assert (report.added, report.removed) == (1, 1)
    assert report.problems == []


def test_an_empty_folder_of_which_nothing_is_indexed_is_no_problem(index: Index, notes: Path):
    (notes / "new").mkdir()
    (index.folder / JOURNAL).write_bytes(b"left by another build")

    assert index.add_paths().problems == []
    assert not (index.folder / JOURNAL).exists()  # nothing is away that would need it


# On the command line.


@pytest.fixture
def run(index: Index) -> Callable[..., Result]:
    def invoke(*arguments: str) -> Result:
        return CliRunner().invoke(cli, ["--index", str(index.folder), *arguments])

    return invoke


def test_nobody_is_asked_where_there_is_no_terminal(
    run: Callable[..., Result], index: Index, notes: Path
):
    empty(notes / "disk")

    result = run("add")

    assert result.exit_code == 0
    assert "gossamer remove" in " ".join(result.stdout.split())
    assert "remove them from the index?" not in result.output
    assert index.status().indexed == 3


@pytest.mark.parametrize(("answer", "left"), [("y", 1), ("", 3)])
def test_in_a_terminal_a_person_is_asked_once(
    run: Callable[..., Result],
    index: Index,
    notes: Path,
    monkeypatch: pytest.MonkeyPatch,
    answer: str,
    left: int,
):
    asked: list[str] = []

    def ask(_: Output, question: str) -> bool:
        asked.append(question)
        return answer == "y"

    monkeypatch.setattr(Output, "ask", ask)
    empty(notes / "disk")

    result = run("add")

    assert result.exit_code == 0
    assert asked == ["2 files in emptied folders: remove them from the index?"]
    assert index.status().indexed == left
    run("add", "--json")
    assert len(asked) == 1


def test_a_watch_does_not_look_again_and_again_at_an_empty_folder(
    run: Callable[..., Result], index: Index, notes: Path, monkeypatch: pytest.MonkeyPatch
):
    updates: list[object] = []
    add_paths = Index.add_paths

    def count(self: Index, *arguments: object, **options: object) -> object:
        updates.append(arguments)
        return add_paths(self, *arguments, **options)  # type: ignore[arg-type]

    def changes(*_: object, **__: object) -> Iterator[set[object]]:
        yield set()
        yield set()

    monkeypatch.setattr(Index, "add_paths", count)
    monkeypatch.setattr("watchfiles.watch", changes)
    empty(notes / "disk")

    result = run("watch")

    assert result.exit_code == 0
    assert result.stderr.count("what is indexed of it is kept") == 1
    assert len(updates) == 1
