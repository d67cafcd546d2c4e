"""Updates of real folders: disks that go away, files that change meanwhile, odd names and dates."""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from tiny_embedder import TinyEmbedder, use_tiny

from gossamer import readers
from gossamer.cli.add import walk_options_from
from gossamer.errors import InvalidArgument, NoIndex, UnknownId
from gossamer.index import Index
from gossamer.readers import Limits
from gossamer.sources.folder import WalkOptions
from gossamer.store.journal import JOURNAL
from gossamer.store.stale import note_stale, read_stale
from gossamer.update import apply, prepare
from gossamer.update.ahead import work_ahead
from gossamer.update.prepare import GivenText, version_of_reading

LONG_AGO = 10**9


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    write(folder / "bread.txt", "The banana bread needs an hour in the oven.")
    write(folder / "home/flat.txt", "The lease is due on the first of March.")
    return folder


@pytest.fixture
def index(embedder: TinyEmbedder, notes: Path, tmp_path: Path) -> Index:
    made = Index.create(tmp_path / "index")
    made.add_paths([notes])
    return made


def write(path: Path, text: str) -> Path:
    """Write a file of long ago, so that it is never read again only because it is so new."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    os.utime(path, (LONG_AGO, LONG_AGO))
    return path


def sources(index: Index) -> set[str]:
    return {Path(hit.source).name for hit in index.search("the", 100)}


@contextmanager
def refusing(name: str, refused: Path) -> Iterator[None]:
    """Let a function of `os` refuse a path, as no mode of a file does for a superuser."""
    real = getattr(os, name)

    def refuse(path, *rest):
        if os.fspath(path) == str(refused):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, *rest)

    with pytest.MonkeyPatch.context() as context:
        context.setattr(os, name, refuse)
        yield


# --- Files that change or fail while they are read.


def test_a_file_that_grows_between_walk_and_reading_is_indexed_as_it_was_read(
    index, notes, monkeypatch
):
    grown = write(notes / "grows.txt", "whales")
    load = readers.load_bytes

    def load_later(path, limits):
        if path == grown:
            write(grown, "whales and dolphins")
        return load(path, limits)

    monkeypatch.setattr(prepare, "load_bytes", load_later)
    index.add_paths()
    monkeypatch.undo()
    use_tiny(monkeypatch, with_codes=True)

    assert index.search("dolphins", 1)[0].source == str(grown)
    assert index.status().is_fresh
    assert index.add_paths().unchanged == 3


def test_a_file_that_failed_is_tried_again(index, notes):
    write(notes / "secret.txt", "whales")
    with refusing("open", notes / "secret.txt"):
        first = index.add_paths()
        generation = index.status().generation
        again = index.add_paths()

    assert first.failed == 1
    assert "no permission" in first.problems[0][1]
    assert again.is_nothing
    assert index.status().generation == generation
    assert index.add_paths().updated == 1
    assert "secret.txt" in sources(index)


def test_an_indexed_file_that_cannot_be_read_now_stays(index, notes):
    write(notes / "bread.txt", "Rye bread.")
    with refusing("open", notes / "bread.txt"):
        report = index.add_paths()

    assert report.problems[0][0] == str(notes / "bread.txt")
    assert "is kept" in report.problems[0][1]
    assert index.status().indexed == 2
    assert index.add_paths().updated == 1
    assert index.search("rye", 1)[0].text == "Rye bread."


def test_other_limits_read_a_file_again_that_they_left_out(index, notes):
    write(notes / "long.txt", "whales " * 1000)

    assert index.add_paths(limits=Limits(max_file_bytes=1000)).failed == 1
    index.add_paths()
    assert index.status().indexed == 3
    assert index.add_paths(limits=Limits(max_file_bytes=1000)).lost == 1


def test_a_file_that_other_limits_skipped_on_purpose_is_looked_at_again(index, notes):
    write(notes / "app.min.js", "let whales = 1;")

    assert index.add_paths().skipped == 1
    index.add_paths(limits=Limits(include_generated=True))
    assert index.status().indexed == 3


def test_versions_of_readings_differ_by_their_limits():
    versions = {version_of_reading(Limits(max_documents=number)) for number in range(1, 50)}

    assert len(versions) == 49
    assert version_of_reading(Limits()) not in versions


@pytest.mark.parametrize("seconds", [2**34, 32536771199, -(2**31)])
def test_a_file_of_any_date_is_indexed(index, notes, seconds):
    path = write(notes / "odd.txt", "whales")
    try:
        os.utime(path, (seconds, seconds))
    except (OSError, OverflowError):
        pytest.skip("this disk has no such dates")

    assert index.add_paths().added == 1
    assert index.add_paths().is_nothing
    assert index.status().is_fresh
    assert index.check() == []


def test_a_file_that_cannot_be_cut_is_named_and_the_rest_is_indexed(index, notes, monkeypatch):
    write(notes / "a.txt", "whales")
    write(notes / "b.txt", "dolphins")
    cut = prepare.chunk_document

    def fail(document, *rest):
        if b"whales" in document.text:
            raise ZeroDivisionError("no whales")
        return cut(document, *rest)

    monkeypatch.setattr(prepare, "chunk_document", fail)
    report = index.add_paths()
    given = index.add_texts([{"id": "w", "text": "whales"}, {"id": "d", "text": "dolphins"}])

    assert (report.failed, report.added) == (1, 1)
    assert report.problems == [(str(notes / "a.txt"), "cannot be cut into chunks: no whales")]
    assert (given.failed, given.added) == (1, 1)


def test_a_document_that_cannot_be_kept_is_named_and_the_rest_is_indexed(index, notes, monkeypatch):
    bad = write(notes / "a.txt", "whales")
    read = prepare.read_data

    def read_badly(path, *rest):
        documents = read(path, *rest)
        wrong = {"metadata": {"author": None}} if path == bad else {}
        return [replace(document, **wrong) for document in documents]

    monkeypatch.setattr(prepare, "read_data", read_badly)
    write(notes / "b.txt", "dolphins")
    report = index.add_paths()

    assert (report.failed, report.added) == (1, 1)
    assert "author=None" in report.problems[0][1]
    assert index.check() == []


def test_an_interrupt_while_a_file_is_cut_stops_the_update(index, notes, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    write(notes / "a.txt", "whales")
    monkeypatch.setattr(prepare, "chunk_document", stop)

    with pytest.raises(KeyboardInterrupt):
        index.add_paths()


def test_a_file_that_lost_its_text_is_no_unchanged_index(index, notes):
    (notes / "bread.txt").write_bytes(b"\x00\x01\x02\x03" * 100)

    report = index.add_paths()

    assert report.lost == 1
    assert not report.is_nothing


# --- Disks and folders that are not there.


def test_what_is_below_a_folder_that_cannot_be_listed_stays(index, notes):
    with refusing("scandir", notes / "home"):
        report = index.add_paths()

    assert [path for path, _ in report.problems] == [(notes / "home").as_posix()]
    assert "gossamer remove" in report.problems[0][1]
    assert "flat.txt" in sources(index)
    assert index.add_paths().problems == []
    assert index.status().skipped == 0


@pytest.mark.parametrize("is_named", [True, False])
def test_an_empty_root_keeps_what_was_indexed(index, notes, is_named):
    shutil.rmtree(notes)
    notes.mkdir()

    report = index.add_paths([notes] if is_named else None)

    assert report.is_nothing
    assert "the folder is empty" in report.problems[0][1]
    assert index.status().indexed == 2
    assert index.remove([notes]).removed == 2


def test_a_missing_root_keeps_what_it_held_and_the_rest_is_updated(index, notes, tmp_path):
    write(tmp_path / "other/whales.txt", "the whales")
    index.add_paths([tmp_path / "other"])
    notes.rename(tmp_path / "unmounted")
    write(tmp_path / "other/dolphins.txt", "the dolphins")

    report = index.add_paths()

    assert report.added == 1
    assert report.removed == 0
    assert [path for path, _ in report.problems] == [notes.as_posix()]
    with pytest.raises(InvalidArgument, match="nothing was changed"):
        index.add_paths([notes])


@pytest.mark.parametrize("call", ["add_paths", "add_texts", "remove", "compact"])
def test_an_index_that_has_gone_is_not_made_again(index, notes, call):
    shutil.rmtree(index.folder)
    arguments = {"add_paths": [[notes]], "add_texts": [[]], "remove": [["x"]], "compact": []}

    with pytest.raises(NoIndex):
        getattr(index, call)(*arguments[call])

    assert not index.folder.exists()


def test_an_index_made_anew_under_an_open_one_takes_its_own_model(index, notes, monkeypatch):
    shutil.rmtree(index.folder)
    other = TinyEmbedder()
    other.fingerprint = "8282" * 8
    use_tiny(monkeypatch, embedder=other)
    Index.create(index.folder)

    assert index.add_paths([notes]).added == 2
    assert other.embedded
    assert index.check() == []


# --- Roots and their options.


def test_removing_a_folder_forgets_every_root_at_or_below_it(index, notes, tmp_path):
    single = write(tmp_path / "single/one.txt", "the whale")
    index.add_paths([notes / "home", single])

    index.remove([tmp_path])

    assert index.status().roots == ()
    assert index.status().indexed == 0


def test_a_name_is_a_text_if_there_is_one_and_else_a_path_and_a_path_is_never_a_text(
    index, notes, monkeypatch
):
    monkeypatch.chdir(notes)
    index.add_texts([{"id": "bread.txt", "text": "a text"}, {"id": "x", "text": "another"}])

    assert index.remove([Path("x")]).removed == 0
    assert index.remove(["x"]).removed == 1
    shutil.rmtree(notes / "home")
    assert index.remove([str(notes / "home")]).removed == 1
    assert index.remove(["bread.txt"]).removed == 1
    assert index.search("banana bread", k=1)[0].source == (notes / "bread.txt").as_posix()
    assert index.remove(["bread.txt"]).removed == 1
    with pytest.raises(InvalidArgument, match="not empty"):
        index.remove([""])


def test_later_options_are_added_to_earlier_ones(index, notes):
    for name in ("a.log", "b.csv", ".hidden.txt"):
        write(notes / name, f"the whales of {name}")
    index.add_paths([notes], options=WalkOptions(exclude=["*.log"]))
    index.add_paths([notes], options=WalkOptions(exclude=["*.csv"], include_hidden=True))

    assert sources(index) == {"bread.txt", "flat.txt", ".hidden.txt"}
    index.add_paths([notes], reset_options=True)
    assert sources(index) == {"bread.txt", "flat.txt", "a.log", "b.csv"}


def test_options_for_all_roots_are_added_to_those_of_each(index, notes, tmp_path):
    other = tmp_path / "other"
    for folder in (notes, other):
        write(folder / "a.log", "the whales")
        write(folder / "b.csv", "the whales")
    index.add_paths([other], options=WalkOptions(exclude=["*.log"]))
    index.add_paths(options=WalkOptions(exclude=["*.csv"]))

    found = {hit.source for hit in index.search("whales", 100, mode="lexical")}
    assert found == {str(notes / "a.log")}


def test_options_on_the_command_line_need_the_folders_they_are_for():
    usual = {"exclude": (), "include": (), "hidden": False, "reset_options": False}

    assert walk_options_from(dict(usual), False) == {"options": None, "reset_options": False}
    for chosen in ({"exclude": ("*.log",)}, {"hidden": True}, {"reset_options": True}):
        assert walk_options_from(usual | chosen, True)
        with pytest.raises(InvalidArgument, match="name the folders too"):
            walk_options_from(usual | chosen, False)


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_file_that_two_roots_lead_to_is_indexed_once_by_its_own_path(embedder, tmp_path):
    real = write(tmp_path / "z/real.txt", "the whales")
    (tmp_path / "a").mkdir()
    (tmp_path / "a/link.txt").symlink_to(real)
    index = Index.create(tmp_path / "index")

    index.add_paths([tmp_path / "a", tmp_path / "z"])

    assert sources(index) == {"real.txt"}


# --- Notes and journals of others.


def test_a_note_of_a_stale_file_stays_until_its_root_is_looked_at(index, notes, tmp_path):
    write(tmp_path / "other/whales.txt", "the whales")
    note_stale(index.folder, [(notes / "bread.txt").as_posix(), "/nowhere/gone.txt"])

    index.add_paths([tmp_path / "other"])
    assert read_stale(index.folder) == {(notes / "bread.txt").as_posix()}
    index.add_paths()
    assert read_stale(index.folder) == set()


def interrupt(index: Index, path: Path) -> None:
    """Add a path, and stop before the commit with everything in the journal."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as context:
        context.setattr(apply.Applier, "remove", stop)
        with pytest.raises(KeyboardInterrupt):
            index.add_paths([path])


def test_an_add_of_something_else_keeps_what_an_interrupted_one_embedded(index, embedder, tmp_path):
    whales = write(tmp_path / "whales/a.txt", "the whales").parent
    other = write(tmp_path / "other/b.txt", "the dolphins").parent
    interrupt(index, whales)

    index.add_paths([other])
    report = index.add_paths([whales])

    assert (report.chunks_resumed, report.chunks_embedded) == (1, 0)
    assert not (index.folder / JOURNAL).exists()


def test_a_journal_that_nothing_needs_goes_with_a_look_at_all_roots(index, embedder, tmp_path):
    interrupt(index, write(tmp_path / "whales/a.txt", "the whales").parent)
    assert (index.folder / JOURNAL).exists()

    assert index.add_paths().is_nothing
    assert not (index.folder / JOURNAL).exists()


def test_a_journal_of_weeks_ago_goes_with_the_next_commit(index, embedder, tmp_path):
    interrupt(index, write(tmp_path / "whales/a.txt", "the whales").parent)
    os.utime(index.folder / JOURNAL, (LONG_AGO, LONG_AGO))

    index.add_paths([write(tmp_path / "other/b.txt", "the dolphins")])

    assert not (index.folder / JOURNAL).exists()


# --- Texts, settings and questions that make no sense.


def test_a_title_with_half_a_character_can_be_found(index):
    index.add_texts([{"id": "odd", "text": "about the whales", "title": "a \ud800 title"}])

    (hit,) = index.search("whales", 1)
    assert hit.title == "a ? title"
    assert index.check() == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"title": 3},
        {"title": None},
        {"markup": "word"},
        {"markup": 1},
        {"metadata": [1]},
        {"metadata": {"a": None}},
        {"metadata": {"a": float("nan")}},
        {"metadata": {"a": [1]}},
        {"metadata": {1: "a"}},
    ],
    ids=str,
)
@pytest.mark.parametrize("make", [dict, GivenText])
def test_a_text_with_wrong_fields_is_refused(index, wrong, make):
    with pytest.raises(InvalidArgument, match=r"text 'a'"):
        index.add_texts([make(id="a", text="whales", **wrong)])


def test_a_text_that_is_no_text_is_refused(index):
    with pytest.raises(InvalidArgument, match="mapping"):
        index.add_texts(["whales"])


def test_a_text_that_is_given_again_changes_nothing(index, embedder):
    texts = [{"id": "a", "text": "whales", "metadata": {"year": 2020}}]
    index.add_texts(texts)
    generation = index.status().generation

    report = index.add_texts(texts)

    assert (report.unchanged, report.is_nothing) == (1, True)
    assert index.status().generation == generation
    assert index.add_texts([{**texts[0], "metadata": {"year": 2021}}]).updated == 1


@pytest.mark.parametrize("id", [0, -1, 2**63, 2**70])
def test_an_id_that_no_chunk_can_have_is_unknown(index, id):
    for call in (index.get, index.context, index.similar):
        with pytest.raises(UnknownId):
            call(id)


@pytest.mark.parametrize("code_bytes", [-1, 0, 1, 34, 100])
def test_codes_of_a_length_that_the_engine_has_not_are_refused(embedder, tmp_path, code_bytes):
    with pytest.raises(InvalidArgument, match="code_bytes must be 2 to 33"):
        Index.create(tmp_path / "index", code_bytes=code_bytes)


@pytest.mark.parametrize("question", ["", "  ", "?!", "--"])
def test_a_question_without_a_word_is_refused(index, question):
    with pytest.raises(InvalidArgument, match="needs a word"):
        index.search(question)


@pytest.mark.parametrize("question", ["7", "鯨", "é"])
def test_a_question_of_one_sign_is_a_question(index, question):
    assert len(index.search(question)) == 2


def test_an_index_is_not_made_among_other_files(index, notes):
    with pytest.raises(InvalidArgument, match=r"not empty \(it holds bread.txt\)"):
        Index.create(notes)
    with pytest.raises(InvalidArgument, match="is a file"):
        Index.create(notes / "bread.txt")

    assert sorted(os.listdir(notes)) == ["bread.txt", "home"]


# --- Large sources.


def test_checks_are_not_trusted_in_a_file_of_very_many_chunks(index, notes, monkeypatch):
    text = "".join(f"\n\n# Part {number}\n\n" + "whales " * 300 for number in range(4))
    write(notes / "long.md", text)
    index.add_paths()
    monkeypatch.setattr(apply, "_MOST_TOLD_APART", 2)
    write(notes / "long.md", text + "and dolphins")

    assert index.add_paths().chunks_reused == 0


def test_a_large_source_is_embedded_in_slices_to_the_same_index(
    embedder, notes, tmp_path, monkeypatch
):
    text = "".join(f"# Part {n}\n\nwhale{n} and {'krill ' * 200}\n\n" for n in range(20))
    path = write(notes / "long.md", text)
    whole = Index.create(tmp_path / "whole", lexical="fts5")
    whole.add_paths([path])
    monkeypatch.setattr(apply, "_CHUNKS_AT_ONCE", 3)
    sliced = Index.create(tmp_path / "sliced", lexical="fts5")
    sliced.add_paths([path])

    for mode in ("semantic", "lexical"):
        found = sliced.search("whale7", 99, mode=mode)
        expected = whole.search("whale7", 99, mode=mode)
        assert [(hit.id, hit.text) for hit in found] == [(hit.id, hit.text) for hit in expected]
    assert sliced.check() == []


def test_work_is_done_ahead_only_while_it_weighs_little():
    made: list[int] = []

    def work(item: int) -> int:
        made.append(item)
        return item

    results = work_ahead(range(20), work, lambda _: 10, most=30)
    waiting = [len(made) - item for item in results]

    assert made == list(range(20))
    # Those that fit, the one in hand and the one that waits for room.
    assert max(waiting) <= 5


def test_an_item_that_weighs_more_than_all_may_still_comes_through():
    assert list(work_ahead([100, 1, 100], lambda item: item, lambda item: item, most=10)) == [
        100,
        1,
        100,
    ]


def test_what_work_ahead_raises_is_raised_in_its_turn():
    def work(item: int) -> int:
        return 1 // (2 - item)

    results = work_ahead(range(5), work, lambda _: 1, most=100)

    assert [next(results), next(results)] == [0, 1]
    with pytest.raises(ZeroDivisionError):
        next(results)


def test_a_root_below_another_one_that_is_away_keeps_what_it_holds(index, notes):
    stick = notes / "stick"
    write(stick / "whales.txt", "Whales sing in the sea.")
    index.add_paths([stick])
    stick.rename(notes.parent / "unplugged")

    report = index.add_paths([notes])

    assert report.removed == 0
    assert [path for path, _ in report.problems] == [str(stick)]
    (notes.parent / "unplugged").rename(stick)
    assert index.search("whales sing", k=1)[0].source == (stick / "whales.txt").as_posix()


def test_names_that_begin_with_a_tilde_are_names(index):
    index.add_texts([{"id": "~draft", "text": "Whales sing in the sea."}])

    assert index.similar("~draft:1", k=1)
    assert index.remove(["~draft"]).removed == 1
