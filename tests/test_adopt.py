"""An index that comes into another one: all of it, and nothing is embedded."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from gossamer.cli import cli
from gossamer.errors import InvalidArgument, ModelMismatch, Untrusted, WrongState
from gossamer.index import Index
from gossamer.store.trust import forget

QUESTIONS = ("a hot drink", "sailing to an island", "a cat on a mat", "number 7")


def texts(names: str, **more: str) -> list[dict[str, str]]:
    said = {
        "tea": "Tea is a hot drink from leaves.",
        "boat": "We sailed to the island by boat.",
        "cat": "A cat sleeps on the mat.",
        **more,
    }
    return [{"id": name, "text": said[name]} for name in names.split()]


def numbered(first: int, count: int) -> list[dict[str, str]]:
    return [
        {"id": f"n{n}", "text": f"This is number {n} of many."} for n in range(first, first + count)
    ]


def answers(index: Index, mode: str = "hybrid") -> list[list[tuple[str, str]]]:
    return [
        [(hit.source, hit.text) for hit in index.search(question, mode=mode, recall=1.0)]
        for question in QUESTIONS
    ]


def make(folder: Path, given: list[dict[str, str]], **options: object) -> Index:
    index = Index.create(folder, model="pocket", **options)  # type: ignore[arg-type]
    index.add_texts(given)
    return index


def forbid_embedding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "gossamer.update.growing.GrowingVectors.add", lambda *_: pytest.fail("embedded again")
    )


def test_two_indexes_become_one_without_embedding(tmp_path: Path, monkeypatch):
    one = make(tmp_path / "one", texts("tea boat"))
    make(tmp_path / "two", [*texts("cat"), *numbered(0, 30)])
    whole = make(tmp_path / "whole", [*texts("tea boat cat"), *numbered(0, 30)])
    forbid_embedding(monkeypatch)

    report = one.adopt(tmp_path / "two")

    assert (report.sources, report.chunks, report.replaced) == (31, 31, 0)
    for mode in ("semantic", "lexical", "hybrid"):
        assert answers(one, mode) == answers(whole, mode)
    assert one.check() == []
    assert one.status().chunks == whole.status().chunks
    assert answers(Index.open(tmp_path / "two"))  # which is as it was


def test_sources_of_the_same_name_are_replaced_and_ids_are_never_given_twice(tmp_path: Path):
    one = make(tmp_path / "one", texts("tea boat"))
    before = set(one.snapshot.catalogue.chunk_ids.tolist())
    two = make(tmp_path / "two", texts("tea", tea="Tea comes cold today."))
    two.add_texts(texts("cat"))
    two.remove(["cat"])

    report = one.adopt(tmp_path / "two")
    one.add_texts(texts("cat"))

    assert report.replaced == 1
    assert [hit.text for hit in one.search("tea", 1)] == ["Tea comes cold today."]
    ids = one.snapshot.catalogue.chunk_ids.tolist()
    assert len(set(ids)) == len(ids) == 3
    assert len(before & set(ids)) == 1
    assert one.check() == []


def test_ids_that_are_yet_to_come_stay(tmp_path: Path):
    one = make(tmp_path / "one", texts("tea"))
    two = make(tmp_path / "two", numbered(0, 20))
    two.remove([f"n{n}" for n in range(15)])
    theirs = two.snapshot.catalogue.chunk_ids

    one.adopt(tmp_path / "two")

    ours = one.snapshot.catalogue.chunk_ids
    assert np.isin(theirs, ours).all()


def test_files_are_followed_from_then_on(tmp_path: Path):
    files = tmp_path / "files"
    files.mkdir()
    (files / "tea.md").write_text("# Tea\n\nTea is a hot drink.\n", encoding="utf-8")
    one = make(tmp_path / "one", texts("boat"))
    two = Index.create(tmp_path / "two", model="pocket")
    two.add_paths([files])

    one.adopt(tmp_path / "two")
    (hit,) = one.search("hot drink", 1)
    (files / "tea.md").write_text("# Tea\n\nTea is served with milk.\n", encoding="utf-8")
    report = one.add_paths()

    assert Path(hit.source).name == "tea.md"
    assert report.updated == 1
    assert "milk" in one.search("tea", 1).hits[0].text


def test_an_empty_index_takes_another_and_is_the_same(tmp_path: Path):
    one = Index.create(tmp_path / "one", model="pocket")
    two = make(tmp_path / "two", texts("tea boat cat"))

    one.adopt(tmp_path / "two")
    one.adopt(make(tmp_path / "nothing", []).folder)

    assert answers(one) == answers(two)
    assert one.adopt(tmp_path / "two").replaced == 3


def test_words_of_an_index_that_keeps_them_are_found(tmp_path: Path):
    one = make(tmp_path / "one", texts("tea"), lexical="fts5")
    make(tmp_path / "two", texts("cat boat"))

    one.adopt(tmp_path / "two")

    assert [hit.source for hit in one.search("island", 1, mode="lexical")] == ["boat"]
    assert one.check() == []


def test_what_does_not_fit_is_refused_and_nothing_changes(tmp_path: Path):
    one = make(tmp_path / "one", texts("tea"))
    before = one.status().chunks
    make(tmp_path / "other", texts("cat"), chunk_tokens=64)
    make(tmp_path / "kept", texts("cat"), keep="all")

    with pytest.raises(ModelMismatch, match="tokens"):
        one.adopt(tmp_path / "other")
    with pytest.raises(InvalidArgument, match="all vectors"):
        one.adopt(tmp_path / "kept")
    with pytest.raises(InvalidArgument, match="already"):
        one.adopt(tmp_path / "one")
    stranger = make(tmp_path / "stranger", texts("cat"))
    forget(stranger.folder)
    with pytest.raises(Untrusted):
        one.adopt(tmp_path / "stranger")
    assert one.status().chunks == before
    assert one.adopt(tmp_path / "stranger", trust=True).chunks == 1


def test_an_index_of_the_first_version_says_what_to_do(tmp_path: Path):
    import shutil

    one = make(tmp_path / "one", texts("tea"))
    shutil.copytree(Path(__file__).parent / "data" / "folder-v1" / "codes", tmp_path / "old")

    with pytest.raises((WrongState, ModelMismatch)):
        one.adopt(tmp_path / "old", trust=True)


def test_the_command_says_what_came(tmp_path: Path):
    make(tmp_path / "one", texts("tea"))
    make(tmp_path / "two", texts("cat tea"))
    run = CliRunner().invoke

    told = run(cli, ["adopt", str(tmp_path / "two"), "--index", str(tmp_path / "one"), "--json"])

    assert told.exit_code == 0, told.output
    assert json.loads(told.output) == {"sources": 2, "documents": 2, "chunks": 2, "replaced": 1}
    again = run(cli, ["adopt", str(tmp_path / "two"), "--index", str(tmp_path / "one")])
    assert "2 chunks of 2 sources" in again.output
