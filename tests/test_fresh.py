"""Files that changed since they were indexed: found, with their new lines, by the next question."""

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest
from click.testing import CliRunner, Result
from faults import failing_at, needs_fork, run_killed_at
from tiny_embedder import TinyEmbedder

from gossamer.cli import cli
from gossamer.errors import InvalidArgument
from gossamer.index import Index
from gossamer.readers import Limits
from gossamer.store import begin
from gossamer.update import answer, compare, fresh, prepare
from gossamer.update import run as update_run

LONG_AGO = 10**9
FERRY = "The harbour is closed.\n\nThe ferry leaves at nine.\n"


def write(path: Path, text: str, time: int = LONG_AGO) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    os.utime(path, (time, time))
    return path


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    write(tmp_path / "notes/ferry.txt", FERRY)
    write(tmp_path / "notes/museum.txt", "The museum opens at ten on Sundays.\n")
    write(tmp_path / "notes/bread.txt", "Flour, water, salt and yeast.\n")
    return tmp_path / "notes"


@pytest.fixture
def index(embedder: TinyEmbedder, notes: Path, tmp_path: Path, monkeypatch) -> Index:
    # Files are looked at for each question, however slow that may be here.
    monkeypatch.setattr(compare, "_LOOKING", float("inf"))
    made = Index.create(tmp_path / "index")
    made.add_paths([notes])
    return made


def edit(notes: Path, name: str = "ferry.txt") -> str:
    """Change a file; give its path."""
    text = "Closed.\n\nMind the step.\n\nThe ferry leaves from the zeppelin mast.\n"
    return write(notes / name, text, LONG_AGO + 60).as_posix()


def names(paths: tuple[str, ...]) -> list[str]:
    return [Path(path).name for path in paths]


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "lexical"])
@pytest.mark.parametrize("update", ["auto", "always"])
def test_an_edited_file_is_found_with_its_new_line(index, notes, mode, update):
    path = edit(notes)

    found = index.search("zeppelin mast", k=2, mode=mode, update=update)

    assert found[0].location == f"{path}:5"
    assert "zeppelin" in found[0].snippet
    assert (found.stale, found.gone, found.notes) == ((), (), ())
    assert found.updated == ((path,) if update == "auto" else ())
    assert index.status().is_fresh
    assert index.check() == []


def test_a_file_that_only_grew_is_found_by_what_is_new(index, notes):
    path = write(notes / "bread.txt", "Flour, water, salt and yeast.\n\nCaraway.\n", LONG_AGO + 1)

    found = index.search("caraway", k=1, update="auto")

    assert found[0].location == f"{path.as_posix()}:3"


@pytest.mark.parametrize("update", ["auto", "never"])
@pytest.mark.parametrize(("old", "new"), [("9:15", "9:45"), ("harbour", "mole")])
def test_an_old_copy_does_not_hide_what_a_file_says_now(index, notes, update, old, new):
    text = "The ferry leaves the harbour at 9:15, every day but Sunday.\n" + "Mind the step.\n" * 9
    write(notes / "ferry.txt", text)
    write(notes / "ferry.backup.txt", text)
    index.add_paths()
    same = index.search("ferry leaves", k=2)
    write(notes / "ferry.txt", text.replace(old, new), LONG_AGO + 60)
    if update == "never":
        index.add_paths()
    found = index.search("ferry leaves", k=2, update=update)

    assert same[0].copies == 1
    assert sorted(Path(hit.path).name for hit in found) == ["ferry.backup.txt", "ferry.txt"]
    assert [hit.copies for hit in found] == [0, 0]
    assert any(new in hit.snippet for hit in found)


def test_a_file_that_looks_as_it_was_is_brought_up_to_date_behind_the_question(index, notes):
    path = write(notes / "ferry.txt", FERRY.replace("nine", "five"))

    found = index.search("ferry nine", k=1, update="auto")

    assert names(found.updated) == ["ferry.txt"]
    assert (found[0].path, found.stale) == (path.as_posix(), ())
    assert "five" in found[0].text


def test_a_file_of_another_time_and_the_same_text_is_no_news(index, notes):
    write(notes / "ferry.txt", FERRY, LONG_AGO + 60)

    found = index.search("ferry", k=1, update="auto")

    assert (found.updated, found.stale) == ((), ())
    assert index.status().is_fresh


def test_never_is_what_a_program_gets_and_leaves_the_index_as_it_is(index, notes):
    edit(notes)
    generation = index.status().generation

    found = index.search("ferry harbour", k=3)

    assert names(found.stale) == ["ferry.txt"]
    assert found.updated == ()
    assert index.status().generation == generation


def test_a_word_that_is_none_of_the_three_is_refused(index):
    with pytest.raises(InvalidArgument, match="never, auto, always"):
        index.search("ferry", update="yes")


def test_new_files_are_looked_for_by_always_alone(index, notes):
    write(notes / "new.txt", "The heron stands in the reeds.\n")

    assert "heron" not in index.search("heron", k=1, update="auto")[0].text
    assert "heron" in index.search("heron", k=1, update="always")[0].text


# What is gone


def test_a_deleted_file_is_gone_and_is_found_again_when_it_is_back(index, notes):
    text = (notes / "ferry.txt").read_text(encoding="utf-8")
    (notes / "ferry.txt").unlink()

    found = index.search("ferry", k=3, update="auto")

    assert names(found.gone) == ["ferry.txt"]
    assert (found.stale, found.updated) == ((), ())
    assert "ferry.txt" not in [Path(hit.path).name for hit in found]
    assert found.notes == (
        "1 file is gone since the last update; `gossamer add` takes it out of the index",
    )
    write(notes / "ferry.txt", text)
    assert "ferry" in index.search("ferry", k=1, update="auto")[0].text


@pytest.mark.parametrize("update", ["never", "auto"])
def test_a_root_that_is_gone_is_named_with_what_takes_it_out(index, notes, update):
    notes.rename(notes.with_name("moved"))

    found = index.search("ferry", k=3, update=update)

    assert (found.hits, found.stale) == ((), ())
    assert found.gone == (notes.as_posix(),)
    assert found.notes == (
        f"{notes} is gone: 3 files of it are still in the index; `gossamer remove {notes}` takes "
        "them out",
    )
    assert index.status().indexed == 3


def test_files_of_an_emptied_folder_stay_in_the_index(index, notes):
    for path in notes.iterdir():
        path.unlink()

    assert len(index.search("ferry", update="auto").gone) == 3
    assert index.status().indexed == 3


def test_a_folder_that_was_renamed_is_not_embedded_again(index, notes, embedder):
    before = list(embedder.embedded)
    notes.rename(notes.with_name("moved"))

    report = index.add_paths([notes.with_name("moved")])

    assert (report.added, report.chunks_reused, report.chunks_embedded) == (3, 3, 0)
    assert embedder.embedded == before
    assert index.search("ferry", k=1)[0].path == (notes.with_name("moved") / "ferry.txt").as_posix()
    assert index.check() == []


def test_a_copy_is_embedded_again_only_under_another_name(index, notes, embedder):
    before = len(embedder.embedded)
    shutil.copytree(notes, notes.with_name("copies"))
    (notes.with_name("copies") / "ferry.txt").rename(notes.with_name("copies") / "boat.txt")

    report = index.add_paths([notes.with_name("copies")])

    # Of a file without a title the name is embedded with the text.
    assert (report.chunks_reused, report.chunks_embedded) == (2, 1)
    assert embedder.embedded[before:] == [f"boat.txt\n{FERRY.strip()}"]


@pytest.mark.parametrize("options", [{}, {"keep": "all"}])
def test_what_a_file_said_before_it_changed_is_reused_as_long_as_it_is_there(
    embedder, notes, tmp_path, monkeypatch, options
):
    monkeypatch.setattr(update_run, "_CHUNKS_AT_ONCE", 1)  # each file is put in by itself
    index = Index.create(tmp_path / "index", **options)
    index.add_paths([notes])
    shutil.copy(notes / "ferry.txt", notes / "a.txt")
    shutil.copy(notes / "ferry.txt", notes / "z.txt")
    edit(notes)

    report = index.add_paths()

    assert (report.added, report.updated) == (2, 1)
    assert index.check() == []
    assert index.search("harbour closed nine", k=1)[0].text == FERRY.strip()


# What is left for `add`


def test_of_many_changed_files_the_newest_are_brought_up_to_date(index, notes):
    for number in range(25):
        write(notes / f"many{number:02}.txt", f"Note {number} of the old kind.\n")
    index.add_paths()
    for number in range(25):
        write(notes / f"many{number:02}.txt", f"Heron {number}.\n", LONG_AGO + number + 1)

    found = index.search("heron", k=30, update="auto")

    assert names(found.updated) == [f"many{number:02}.txt" for number in range(5, 25)]
    assert names(found.stale) == [f"many{number:02}.txt" for number in range(5)]
    assert len(index.search("heron", update="auto").updated) == 5
    assert index.status().is_fresh


def test_nobody_waits_for_another_process_that_changes_the_index(index, notes):
    edit(notes)
    with begin(index.folder, "add"):
        found = index.search("ferry", k=1, update="auto")

    assert (names(found.stale), found.updated) == (["ferry.txt"], ())
    assert "is changing" in found.notes[0]
    assert "1 changed file was not brought up to date" in found.notes[0]


def test_a_folder_that_cannot_be_written_to_is_searched_as_it_is(index, notes):
    edit(notes)
    with failing_at(1, errno.EROFS):
        found = index.search("ferry", k=1, update="auto")

    assert (names(found.stale), found.updated) == (["ferry.txt"], ())
    assert "read-only" in found.notes[0]


def test_files_that_another_index_names_are_not_read(index, notes, tmp_path):
    path = edit(notes)
    shutil.copytree(index.folder, tmp_path / "strange")
    strange = Index.open(tmp_path / "strange")
    assert not strange.is_trusted
    before = sorted(os.listdir(tmp_path / "strange"))

    found = strange.search("zeppelin", k=3, update="auto", mode="lexical")

    assert path not in [hit.path for hit in found]
    assert (found.stale, found.updated, found.gone) == ((), (), ())
    assert sorted(os.listdir(tmp_path / "strange")) == before


def test_a_file_that_became_a_link_out_of_the_folder_is_not_read(index, notes, tmp_path):
    write(tmp_path / "secret.txt", "The zeppelin is hidden in the barn.\n")
    (notes / "ferry.txt").unlink()
    (notes / "ferry.txt").symlink_to(tmp_path / "secret.txt")

    found = index.search("zeppelin barn", update="auto")

    assert "barn" not in " ".join(hit.text for hit in found)
    assert (names(found.stale), found.updated) == (["ferry.txt"], ())


def test_what_is_not_to_be_read_any_more_stays_as_it_is(index, notes):
    (notes / "ferry.txt").write_bytes(bytes(range(256)) * 4)

    found = index.search("ferry", k=3, update="auto")

    assert (names(found.stale), found.updated) == (["ferry.txt"], ())
    assert index.status().indexed == 3


def test_a_file_that_takes_long_to_read_is_not_waited_for(index, notes, monkeypatch):
    edit(notes)
    done = Event()
    read = prepare.read_data

    def read_slowly(path: Path, data: bytes, limits: Limits):
        done.wait()
        return read(path, data, limits)

    monkeypatch.setattr(prepare, "read_data", read_slowly)
    monkeypatch.setattr(answer, "MOST_S", 0.05)
    found = index.search("ferry", k=1, update="auto")
    done.set()

    assert (names(found.stale), found.updated) == (["ferry.txt"], ())
    assert index.check() == []


def test_a_large_file_and_one_that_takes_long_to_embed_are_left(index, notes, monkeypatch):
    edit(notes)
    long = write(
        notes / "bread.txt", "\n\n".join(f"Loaf {n}. " + "rye " * 200 for n in range(9)), 5
    )
    monkeypatch.setattr(fresh._Pace, "_measure", lambda *_: 1.0)

    first = index.search("ferry", k=1, update="auto")
    monkeypatch.setattr(fresh, "_MOST_BYTES", long.stat().st_size - 1)
    monkeypatch.setattr(fresh._Pace, "_measure", lambda *_: 0.0)
    second = index.search("ferry", k=1, update="auto")

    assert (names(first.updated), names(first.stale)) == (["ferry.txt"], ["bread.txt"])
    assert (names(second.updated), names(second.stale)) == ([], ["bread.txt"])


def test_an_index_of_which_each_change_writes_much_is_left_to_add(
    embedder, notes, tmp_path, monkeypatch
):
    index = Index.create(tmp_path / "index", keep="all")
    index.add_paths([notes])
    edit(notes)
    monkeypatch.setattr(answer, "_MOST_WHOLE_BYTES", 10)

    found = index.search("ferry", k=1, update="auto")

    assert (names(found.stale), found.updated) == (["ferry.txt"], ())
    assert "each change of this index" in found.notes[0]


@pytest.mark.parametrize("options", [{"keep": "all"}, {"lexical": "fts5"}, {"store_text": True}])
def test_an_index_of_any_kind_is_brought_up_to_date(embedder, notes, tmp_path, options):
    index = Index.create(tmp_path / "index", **options)
    index.add_paths([notes])
    path = edit(notes)

    found = index.search("zeppelin mast", k=1, update="auto")

    assert (found[0].location, found.updated) == (f"{path}:5", (path,))
    assert index.check() == []


# The present text of what is not up to date


@pytest.fixture
def blocked(index: Index, notes: Path) -> Iterator[Index]:
    """An index that another process changes for as long as the test takes, with a file edited."""
    edit(notes)
    with begin(index.folder, "add"):
        yield index


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "lexical"])
def test_what_cannot_be_brought_up_to_date_is_found_by_its_words(blocked, notes, mode):
    found = blocked.search("zeppelin mast", k=2, mode=mode, update="auto")

    path = (notes / "ferry.txt").as_posix()
    assert (found[0].location, found[0].id, found[0].is_indexed) == (f"{path}:5", 0, False)
    assert found[0].snippet[slice(*found[0].highlights[0])] == "zeppelin"
    assert [hit.number for hit in found] == list(range(1, len(found) + 1))
    assert found.notes[-1] == "1 changed file is not up to date: 1 searched by words alone"
    assert all(hit.is_indexed for hit in found[1:])


@pytest.mark.parametrize(
    ("question", "is_found"),
    [("+zeppelin mast", True), ("zeppelin -mast", False), ('"zeppelin mast"', True)],
)
def test_what_the_question_requires_holds_of_present_text_too(blocked, question, is_found):
    found = blocked.search(question, update="auto")

    assert any(not hit.is_indexed for hit in found) == is_found


def test_filters_hold_of_present_text_too(blocked, notes):
    for options, is_found in (
        ({"paths": ["ferry.*"]}, True),
        ({"paths": ["museum.*"]}, False),
        ({"types": ["text"]}, True),
        ({"types": ["pdf"]}, False),
    ):
        found = blocked.search("zeppelin mast", update="auto", **options)
        assert any(not hit.is_indexed for hit in found) == is_found


def test_what_holds_half_of_the_words_stands_last_and_less_is_no_hit(blocked):
    last = blocked.search("zeppelin sundays", k=2, update="auto")
    none = blocked.search("step on yeast, flour, salt and water on sundays", k=3, update="auto")

    assert [hit.is_indexed for hit in last] == [True, False]
    assert all(hit.is_indexed for hit in none)


def test_a_passage_that_is_still_as_it_was_is_one_hit(index, notes):
    write(notes / "museum.txt", "The museum opens at ten on Sundays.\n" + "\n" * 9, LONG_AGO + 1)
    with begin(index.folder, "add"):
        found = index.search("museum sundays", update="auto")

    assert [Path(hit.path).name for hit in found].count("museum.txt") == 1


def test_nothing_is_said_to_be_nowhere_while_files_are_not_up_to_date(index, notes):
    write(notes / "bread.txt", "Flour, water, salt and yeast.\n\nCaraway.\n", LONG_AGO + 1)

    with begin(index.folder, "add"):
        assert index.search("caraway").absent == ("caraway",)
        assert index.search("caraway", update="auto").absent == ()


def test_more_files_than_there_is_time_for_are_counted(index, notes, monkeypatch):
    for number in range(23):
        write(notes / f"many{number:02}.txt", f"Note {number}.\n")
    index.add_paths()
    for number in range(23):
        write(notes / f"many{number:02}.txt", f"Heron {number}.\n", LONG_AGO + number + 1)

    with begin(index.folder, "add"):
        found = index.search("heron", k=30, update="auto")

    assert sum(not hit.is_indexed for hit in found) == 20
    assert found.notes[-1] == (
        "23 changed files are not up to date: 20 searched by words alone, 3 not at all"
    )


def test_an_index_of_words_is_not_asked_of_present_text(embedder, notes, tmp_path):
    index = Index.create(tmp_path / "index", lexical="fts5")
    index.add_paths([notes])
    path = edit(notes)
    with begin(index.folder, "add"):
        found = index.search("zeppelin mast", k=1, update="auto")

    assert found[0].location == f"{path}:5"


# At the same time, and killed


def test_two_searches_at_once_leave_one_whole_index(index, notes):
    path = edit(notes)
    others = [Index.open(index.folder) for _ in range(4)]

    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(one.search, "zeppelin mast", 1, update="auto") for one in others]
        results = [one.result() for one in asked]

    assert any(found.updated == (path,) for found in results)
    for found in results:
        assert found.stale == () or "is changing" in " ".join(found.notes)
    assert index.search("zeppelin", k=1, update="auto")[0].location == f"{path}:5"
    assert index.check() == []


@needs_fork
def test_a_kill_at_any_point_leaves_the_index_as_it_was_or_up_to_date(index, notes, tmp_path):
    path = edit(notes)
    whole = tmp_path / "whole"
    shutil.copytree(index.folder, whole)
    kills = 0
    for point in range(1, 1000):
        shutil.rmtree(index.folder)
        shutil.copytree(whole, index.folder)

        def ask() -> None:
            assert Index.open(index.folder).search("zeppelin", k=1, update="auto").updated

        if not run_killed_at(point, ask):
            break
        kills += 1
        again = Index.open(index.folder)
        assert {finding.severity for finding in again.check()} <= {"note"}
        assert again.search("zeppelin", k=1, update="auto")[0].location == f"{path}:5"
    assert kills > 10


# On the command line


@pytest.fixture
def run(index: Index, notes: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    monkeypatch.chdir(notes.parent)

    def invoke(*arguments: str) -> Result:
        return CliRunner().invoke(cli, ["--index", str(index.folder), *arguments])

    return invoke


def test_the_command_brings_changed_files_up_to_date_and_says_so(run, notes):
    edit(notes)

    found = run("search", "zeppelin")

    assert found.stdout.startswith("1. notes/ferry.txt:5")
    assert "1 changed file was brought up to date (" in found.stderr
    assert run("search", "zeppelin").stderr == ""


def test_the_command_marks_what_is_not_in_the_index(run, index, notes):
    edit(notes)
    with begin(index.folder, "add"):
        found = run("search", "zeppelin", "mast")

    assert found.stdout.startswith("1. notes/ferry.txt:5")
    assert "not in the index yet" in found.stdout
    assert "1 searched by words alone" in found.stderr


def test_editors_are_sent_to_what_is_not_in_the_index(run, index, notes, monkeypatch):
    monkeypatch.setenv("VISUAL", "vi")
    path = edit(notes)
    with begin(index.folder, "add"):
        lines = run("search", "zeppelin", "mast", "-k", "1", "--format", "vimgrep")
        run("search", "zeppelin", "mast", "-k", "1")
        opened = run("open", "1", "--print")

    assert lines.exit_code == 0, lines.output
    assert lines.stdout == "notes/ferry.txt:5:1:The ferry leaves from the zeppelin mast.\n"
    assert opened.stdout == f"vi +5 {path}\n"


def test_what_was_not_in_the_index_and_is_in_none_now_is_named(run, index, notes):
    edit(notes)
    with begin(index.folder, "add"):
        run("search", "zeppelin", "mast", "-k", "1")
    index.remove([notes / "ferry.txt"])

    opened = run("open", "1")

    assert opened.exit_code == 3
    assert "ferry.txt is not in the index any more; search again" in opened.stderr


def test_the_status_says_of_a_root_that_is_gone_what_takes_it_out(run, notes):
    notes.rename(notes.parent / "moved")

    shown = run("status")

    assert "no: 3 files gone\n" in shown.stdout
    assert f"3 files of it are still in the index; `gossamer remove {notes}`" in shown.stderr
    assert "gossamer add" not in shown.output


def test_the_status_says_what_brings_files_up_to_date(run, notes):
    edit(notes)
    (notes / "bread.txt").unlink()

    shown = run("status")

    assert "no: 1 file changed, 1 file gone; run `gossamer add`" in shown.stdout
    assert shown.stderr == ""


def test_the_command_leaves_the_index_alone_if_it_is_told_to(run, notes):
    edit(notes)

    found = run("search", "ferry", "harbour", "--update", "never")

    assert "1 file changed since the last update; run `gossamer add`" in found.stderr
    assert "notes/ferry.txt" not in found.stdout


def test_the_command_adds_new_files_first_if_it_is_told_to(run, notes):
    write(notes / "new.txt", "The heron stands in the reeds.\n")

    found = run("search", "heron", "--update", "always")

    assert found.stdout.startswith("1. notes/new.txt:1")
    assert "1 added" in found.stderr
