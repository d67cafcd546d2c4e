"""Pushes: done once, the last to arrive wins, and what it replaced can still be read."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import combinations, pairwise
from pathlib import Path
from uuid import uuid4

import pytest
from faults import needs_fork, run_killed_at
from hypothesis import given
from hypothesis import strategies as st
from sync_reader import Edge
from tiny_embedder import TinyEmbedder

from gossamer.errors import InvalidArgument, UnknownId
from gossamer.index import Index
from gossamer.sync.offer import Offer
from gossamer.sync.push_order import batches_of
from gossamer.sync.records import PushItem, PushResult
from gossamer.sync.state import base_hash
from gossamer.sync.uploads import Uploads


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "index"


@pytest.fixture
def index(embedder: TinyEmbedder, folder: Path) -> Index:
    index = Index.create(folder)
    index.add_texts([{"id": "a", "text": "the first text of a"}, {"id": "b", "text": "that of b"}])
    return index


@pytest.fixture
def offer(index: Index) -> Iterator[Offer]:
    offer = Offer(index)
    yield offer
    offer.close()


def put(id: str, text: str, base: str = "", **more: object) -> PushItem:
    return PushItem(uuid4().hex, id, base, {"text": text, **more})


def put_file(name: str, content: bytes, base: str = "") -> PushItem:
    return PushItem(uuid4().hex, name, base, file=content)


def take_out(id: str, base: str = "", is_file: bool = False) -> PushItem:
    return PushItem(uuid4().hex, id, base, is_file=is_file)


def hash_of(index: Index, id: str) -> str:
    """What an edge that is current names as its base."""
    catalogue = index.snapshot.catalogue
    row = catalogue.find_text(id)
    if row is None:
        row = catalogue.find_path((index.folder / "uploads" / id).absolute())
    return base_hash(None if row is None else catalogue.source(row).content_hash)


def text_of(index: Index, id: str) -> str | None:
    catalogue = index.snapshot.catalogue
    row = catalogue.find_text(id)
    return None if row is None else index.get(int(catalogue.chunks_of(row)[0])).text


def uploaded(index: Index) -> set[str]:
    catalogue = index.snapshot.catalogue
    roots = (index.folder / "uploads").absolute().as_posix() + "/"
    return {path.removeprefix(roots) for path in catalogue.paths if path.startswith(roots)}


def push(offer: Offer, *items: PushItem) -> list[PushResult]:
    results = offer.push(items)
    assert [result.op for result in results] == [item.op for item in items]
    return results


def test_a_new_text_is_stored_and_comes_back_as_a_delta(
    index: Index, offer: Offer, tmp_path: Path
) -> None:
    edge = Edge(tmp_path)
    edge.pull(offer)

    (result,) = push(offer, put("c", "a text from afar", title="Afar", metadata={"year": 2026}))

    assert (result.outcome, result.note, result.conflict) == ("stored", "", 0)
    assert edge.pull(offer) == "delta"
    assert any(text.startswith(b"a text from afar") for text in edge.stored.values())
    assert edge.conflicts == []


def test_a_change_of_what_the_edge_saw_is_no_conflict(index: Index, offer: Offer) -> None:
    (result,) = push(offer, put("a", "the second text of a", hash_of(index, "a")))

    assert (result.outcome, result.conflict) == ("stored", 0)
    assert text_of(index, "a") == "the second text of a"
    assert offer.conflicts() == []


def test_the_last_to_arrive_wins_and_the_other_text_is_kept(
    index: Index, offer: Offer, tmp_path: Path
) -> None:
    edge = Edge(tmp_path)
    edge.pull(offer)
    base = hash_of(index, "a")
    push(offer, put("a", "what the first edge says", base))

    (result,) = push(offer, put("a", "what the second edge says", base))

    assert text_of(index, "a") == "what the second edge says"
    assert result.outcome == "stored"
    assert '"a" was changed by someone else in version' in result.note
    assert f"conflict {result.conflict}" in result.note
    (conflict,) = offer.conflicts()
    assert (conflict.number, conflict.id, conflict.lost) == (result.conflict, "a", "")
    assert offer.conflict(conflict.number).lost == "what the first edge says"
    edge.pull(offer)
    assert edge.conflicts == [conflict]


def test_two_edges_that_make_the_same_id_conflict(index: Index, offer: Offer) -> None:
    push(offer, put("new", "one"))

    (result,) = push(offer, put("new", "two"))

    assert "put there by someone else" in result.note
    assert offer.conflict(result.conflict).lost == "one"


def test_a_change_of_what_was_removed_puts_it_back_and_says_so(index: Index, offer: Offer) -> None:
    base = hash_of(index, "a")
    index.remove(["a"])

    (result,) = push(offer, put("a", "still needed", base))

    assert text_of(index, "a") == "still needed"
    assert "was removed by someone else" in result.note
    assert offer.conflict(result.conflict).lost == ""


def test_a_removal_of_what_was_changed_keeps_the_text(index: Index, offer: Offer) -> None:
    base = hash_of(index, "a")
    index.add_texts([{"id": "a", "text": "much better now", "title": "Better"}])

    (result,) = push(offer, take_out("a", base))

    assert result.outcome == "removed"
    assert text_of(index, "a") is None
    assert offer.conflict(result.conflict).lost == "much better now"


def test_a_removal_of_what_the_edge_saw_is_clean(index: Index, offer: Offer) -> None:
    (result,) = push(offer, take_out("a", hash_of(index, "a")))

    assert (result.outcome, result.conflict) == ("removed", 0)
    assert text_of(index, "a") is None


def test_what_is_so_already_is_left_as_it_is(index: Index, offer: Offer) -> None:
    version = offer.info()["version"]

    results = push(offer, put("a", "the first text of a", "another base"), take_out("gone"))

    assert [result.outcome for result in results] == ["unchanged", "unchanged"]
    assert offer.info()["version"] == version
    assert offer.conflicts() == []


def test_pushing_twice_does_it_once(index: Index, offer: Offer) -> None:
    item = put("a", "mine", "another base")
    first = push(offer, item)
    index.add_texts([{"id": "a", "text": "later, and better"}])

    assert push(offer, item) == first

    assert text_of(index, "a") == "later, and better"
    assert len(offer.conflicts()) == 1


def test_a_push_is_remembered_when_the_server_starts_again(index: Index, folder: Path) -> None:
    item = put("a", "mine", "another base")
    offer = Offer(index)
    first = push(offer, item)
    offer.close()

    again = Offer(Index.open(folder))

    assert push(again, item) == first
    again.close()


def test_changes_of_one_id_are_made_in_their_order(index: Index, offer: Offer) -> None:
    results = push(
        offer,
        put("x", "one"),
        put("y", "other"),
        put("x", "two"),
        take_out("y", "another"),
        put("x", "two"),
    )

    assert [result.outcome for result in results] == [
        *("stored", "stored", "stored", "removed", "unchanged")
    ]
    assert text_of(index, "x") == "two"
    assert text_of(index, "y") is None
    assert [offer.conflict(one.number).lost for one in offer.conflicts()] == ["one", "other"]


def test_texts_of_one_push_are_one_version(index: Index, offer: Offer) -> None:
    version = offer.info()["version"]

    push(offer, *(put(f"n{n}", f"text number {n}") for n in range(20)))

    assert offer.info()["version"] == version + 1


@pytest.mark.parametrize(
    "item",
    [
        PushItem("op", "x", "", {"text": ""}),
        PushItem("op", "x", "", {"text": 5}),
        PushItem("op", "x", "", {"text": "t", "id": "y"}),
        PushItem("op", "x", "", {"text": "t", "metadata": {"a": []}}),
        PushItem("op", "x", "", {"text": "t"}, b"both"),
        PushItem("op", "", "", {"text": "t"}),
        PushItem("op", "\udc80", "", {"text": "t"}),
        PushItem("", "x", "", {"text": "t"}),
        PushItem("op", "../x.txt", "", file=b"t"),
        PushItem("op", "x", "", {"text": "t"}, is_file=True),
        PushItem("\ud800", "x", "", {"text": "t"}),
    ],
    ids=str,
)
def test_what_cannot_be_stored_is_refused_and_the_rest_is_done(
    index: Index, offer: Offer, item: PushItem
) -> None:
    results = push(offer, item, put("fine", "this one is stored"))

    assert results[0].outcome == "refused"
    assert results[0].note
    assert results[1].outcome == "stored"


def test_a_file_is_put_below_uploads_and_indexed(index: Index, offer: Offer) -> None:
    (result,) = push(offer, put_file("reports/may.md", b"# May\n\nrain and more rain"))

    assert (result.outcome, result.note) == ("stored", "")
    assert (index.folder / "uploads/reports/may.md").read_bytes().startswith(b"# May")
    assert index.search("rain", 1).hits[0].source.endswith("uploads/reports/may.md")
    assert index.snapshot.manifest.roots == ((index.folder / "uploads").absolute().as_posix(),)


def test_files_conflict_as_texts_do(index: Index, offer: Offer) -> None:
    push(offer, put_file("a.txt", b"one"))
    base = hash_of(index, "a.txt")
    (clean,) = push(offer, put_file("a.txt", b"two", base))
    (late,) = push(offer, put_file("a.txt", b"three", base))
    (removed,) = push(offer, take_out("a.txt", base, is_file=True))

    assert clean.conflict == 0
    assert offer.conflict(late.conflict).lost == "two"
    assert offer.conflict(removed.conflict).lost == "three"
    assert not (index.folder / "uploads/a.txt").exists()
    assert uploaded(index) == set()


def test_a_file_that_is_no_text_is_kept_as_it_was(index: Index, offer: Offer) -> None:
    push(offer, put_file("a.bin.txt", b"\xff\xfe\x00\x01 one"))

    (result,) = push(offer, put_file("a.bin.txt", b"two"))

    assert "no text" in result.note
    assert offer.conflict(result.conflict).lost == ""
    assert offer.lost_bytes(result.conflict) == b"\xff\xfe\x00\x01 one"


def test_a_file_that_cannot_be_indexed_is_kept_and_the_note_says_why(
    index: Index, offer: Offer
) -> None:
    (result,) = push(offer, put_file("a.pdf", b"%PDF-1.4 not really"))

    assert result.outcome == "stored"
    assert "not indexed" in result.note


def test_the_same_file_again_is_unchanged(index: Index, offer: Offer) -> None:
    push(offer, put_file("a.txt", b"one"))

    (result,) = push(offer, put_file("a.txt", b"one", "another"))

    assert result.outcome == "unchanged"


def test_files_of_the_server_are_not_removed_by_a_push(
    index: Index, offer: Offer, tmp_path: Path
) -> None:
    path = tmp_path / "own.txt"
    path.write_text("the owner's own words", encoding="utf-8")
    index.add_paths([path])

    (result,) = push(offer, take_out(path.as_posix(), is_file=True))

    assert result.outcome == "refused"
    assert index.snapshot.catalogue.find_path(path) is not None


@pytest.mark.parametrize(
    "name",
    [
        *("", "/etc/passwd", "../up", "a/../b", "a//b", "./a", ".hidden", "a/.git/config"),
        *("a\0b", "a\\b", "c:\\x", "con", "NUL.txt", "a\nb", "a ", " a", "a.", "x" * 300),
        *("a/" * 600 + "b", "MANIFEST.gossamer", "manifest.GOSSAMER", "\udc80", "a?b"),
        *("/".join("abcdefghijklmnopq"), "com0.txt", "com¹.txt", "a\u200b.md", "a\x80b", "\xa0a"),
    ],
)
def test_a_name_that_leads_elsewhere_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidArgument, match=r"reports/may\.pdf"):
        Uploads(tmp_path).path_of(name)


def test_a_file_where_a_folder_is_needed_is_refused(index: Index, offer: Offer) -> None:
    push(offer, put_file("a", b"a file"))

    results = push(offer, put_file("a/b.txt", b"below it"), put("c", "stored all the same"))

    assert [result.outcome for result in results] == ["refused", "stored"]


def test_there_is_no_conflict_of_an_unknown_number(offer: Offer) -> None:
    with pytest.raises(UnknownId):
        offer.conflict(3)
    with pytest.raises(UnknownId):
        offer.lost_bytes(3)


def test_pushes_from_many_threads_lose_nothing(index: Index, offer: Offer) -> None:
    def run(number: int) -> None:
        push(offer, put("shared", f"from {number}"), put(f"own{number}", f"text {number}"))

    threads = [threading.Thread(target=run, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    lost = {offer.conflict(one.number).lost for one in offer.conflicts()}
    assert lost | {text_of(index, "shared")} == {f"from {n}" for n in range(6)}
    assert all(text_of(index, f"own{n}") == f"text {n}" for n in range(6))


@needs_fork
def test_a_server_killed_during_a_push_neither_loses_a_text_nor_does_it_twice(
    index: Index, folder: Path
) -> None:
    n, is_killed, done = -2, True, []
    while is_killed:
        n += 3
        done.append(n)
        index.add_texts([{"id": f"a{n}", "text": f"the first text of a{n}"}])
        items = [
            put(f"a{n}", "mine", "another base"),
            put_file(f"f{n}.txt", b"a file"),
            put(f"n{n}", "new"),
        ]
        is_killed = run_killed_at(n, partial(_serve, folder, *items))
        offer = Offer(Index.open(folder))
        results = push(offer, *items)

        assert [result.outcome for result in results] == ["stored"] * 3
        assert [result.conflict > 0 for result in results] == [True, False, False]
        assert offer.conflict(results[0].conflict).lost == f"the first text of a{n}"
        assert [one.id for one in offer.conflicts()] == [f"a{m}" for m in done]
        assert push(offer, *items) == results
        offer.close()

    assert n > 10
    assert {text_of(index, f"a{m}") for m in done} == {"mine"}
    assert uploaded(index) == {f"f{m}.txt" for m in done}


@needs_fork
def test_after_a_kill_and_another_change_every_text_is_still_somewhere(
    index: Index, folder: Path
) -> None:
    def push_as(n: int) -> PushItem:
        return replace(put(f"a{n}", f"mine {n}", "another base"), op=f"op-{n}")

    n, needed = 1, set()
    while run_killed_at(n, partial(_serve, folder, push_as(n))):
        # Where it was there already, who changes it knows what is replaced.
        needed |= {f"theirs {n}", f"mine {n}"} - {text_of(index, f"a{n}")}
        index.add_texts([{"id": f"a{n}", "text": f"theirs {n}"}])
        _serve(folder, push_as(n))
        n += 2

    offer = Offer(Index.open(folder))
    held = {offer.conflict(one.number).lost for one in offer.conflicts()}
    held |= {text_of(index, f"a{number}") for number in range(n)}
    assert n > 10
    assert needed <= held
    offer.close()


def _serve(folder: Path, *items: PushItem) -> None:
    offer = Offer(Index.open(folder))
    offer.push(items)
    offer.close()


@pytest.mark.parametrize("text", ["# Hello", "see Hello", "Hello"])
def test_a_title_at_the_end_of_a_text_is_part_of_it(offer: Offer, text: str) -> None:
    push(offer, put("t", text, title="Hello"))

    (result,) = push(offer, put("t", "other words"))

    assert offer.conflict(result.conflict).lost == text


@pytest.mark.parametrize("markup", ["plain", "markdown", "rst", "rows", "code/python"])
def test_a_text_that_lost_comes_back_with_all_that_was_said_of_it(
    index: Index, offer: Offer, markup: str
) -> None:
    given = {
        "id": "t",
        "text": "one line\n\nand another",
        "title": "A title of its own",
        "markup": markup,
        "metadata": {"who": "anna", "year": 2024},
    }
    index.add_texts([given])
    before = hash_of(index, "t")

    (result,) = push(offer, put("t", "one line\n\nand another", metadata={"who": "bert"}))

    conflict = offer.conflict(result.conflict)
    assert conflict.lost_text == given
    index.add_texts([conflict.lost_text])
    assert hash_of(index, "t") == before
    assert offer.conflicts()[0].lost_text == {}


def test_a_markup_that_nobody_knows_is_left_out(index: Index, offer: Offer) -> None:
    index.add_texts([{"id": "t", "text": "words", "markup": "code/klingon"}])

    (result,) = push(offer, put("t", "other words"))

    found = offer.conflict(result.conflict).lost_text
    assert found == {"id": "t", "text": "words", "title": "", "metadata": {}}


def test_a_file_that_lost_is_no_text(offer: Offer) -> None:
    push(offer, put_file("a.txt", b"one"))

    (result,) = push(offer, put_file("a.txt", b"two"))

    assert offer.conflict(result.conflict).lost_text == {}


def test_the_removal_of_a_text_that_is_gone_leaves_the_file_of_that_name(
    index: Index, offer: Offer
) -> None:
    push(offer, put_file("a.md", b"a file of words"))

    (text,) = push(offer, take_out("a.md", "another base"))
    assert text.outcome == "unchanged"
    assert uploaded(index) == {"a.md"}

    (file,) = push(offer, take_out("a.md", hash_of(index, "a.md"), is_file=True))
    assert (file.outcome, file.conflict) == ("removed", 0)
    assert uploaded(index) == set()


def test_a_text_and_a_file_of_one_name_are_removed_each_on_its_own(
    index: Index, offer: Offer
) -> None:
    push(offer, put_file("b.md", b"a file of words"), put("b.md", "a text of words"))

    push(offer, take_out("b.md", is_file=True))

    assert text_of(index, "b.md") == "a text of words"
    assert uploaded(index) == set()


def test_a_file_is_removed_by_its_path_as_well(index: Index, offer: Offer) -> None:
    push(offer, put_file("notes/b.md", b"a file of words"))
    path = (index.folder / "uploads/notes/b.md").absolute().as_posix()

    (result,) = push(offer, take_out(path, hash_of(index, "notes/b.md"), is_file=True))

    assert (result.outcome, uploaded(index)) == ("removed", set())


def test_an_op_that_was_another_change_is_refused(index: Index, offer: Offer) -> None:
    first = put("q", "one")
    push(offer, first)

    others = [
        replace(first, id="q2"),
        replace(first, text={"text": "two"}),
        replace(first, text=None),
        replace(first, text=None, file=b"one"),
    ]
    for other in others:
        (result,) = push(offer, other)
        assert (result.outcome, "op" in result.note) == ("refused", True)
    assert [result.outcome for result in offer.push([first, others[1]])] == ["stored", "refused"]
    assert text_of(index, "q") == "one"
    assert text_of(index, "q2") is None


def test_a_push_that_failed_leaves_no_conflict(
    index: Index, offer: Offer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "no space")

    with monkeypatch.context() as patch:
        patch.setattr("gossamer.sync.push.add_texts", fail)
        patch.setattr("gossamer.sync.uploads.write_file", fail)
        with pytest.raises(OSError, match="no space"):
            push(offer, put("a", "mine", "another base"))
    index.add_texts([{"id": "other", "text": "someone else's"}])

    assert offer.conflicts() == []


def test_names_that_some_systems_take_for_one_are_one(index: Index, offer: Offer) -> None:
    results = push(
        offer,
        put_file("Notes/\u00e9.md", b"composed"),
        put_file("Notes/e\u0301.md", b"decomposed"),
        put_file("Notes/\u00c9.md", b"a capital"),
        put_file("notes/b.md", b"another folder"),
    )

    assert [result.outcome for result in results] == ["stored", "stored", "refused", "refused"]
    assert results[1].conflict > 0
    assert uploaded(index) == {"Notes/\u00e9.md"}


_NAMES = st.text("ab/", min_size=1, max_size=5)


@given(items=st.lists(st.tuples(st.integers(0, 20), st.booleans(), _NAMES), max_size=12))
def test_no_two_changes_of_a_batch_are_about_the_same(items: list[tuple[int, bool, str]]) -> None:
    pushed = [PushItem(f"op{op}", name, is_file=is_file) for op, is_file, name in items]

    batches = list(batches_of(pushed))

    def is_about_same(one: PushItem, other: PushItem) -> bool:
        first, second = sorted((one.id, other.id), key=len)
        is_below = one.is_file and second.startswith(f"{first}/")
        is_same = one.is_file == other.is_file and (first == second or is_below)
        return is_same or one.op == other.op

    assert [item for batch in batches for item in batch] == pushed
    for batch in batches:
        assert not any(is_about_same(one, other) for one, other in combinations(batch, 2))
    for batch, (first, *_) in pairwise(batches):
        assert any(is_about_same(one, first) for one in batch)
