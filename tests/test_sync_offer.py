"""What a server offers: the difference, all of it and nothing else."""

import os
import random
import shutil
import signal
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from copies import copy_index
from faults import needs_fork, run_killed_at
from served import serve
from sync_reader import Edge, texts_of, words
from tiny_embedder import TinyEmbedder, use_tiny

from gossamer.errors import Cancelled, InvalidArgument, Locked, TooLarge, WrongState
from gossamer.index import Index
from gossamer.models import packs
from gossamer.store import begin, check_of
from gossamer.sync.cache import PackageCache
from gossamer.sync.history import History
from gossamer.sync.offer import Offer
from gossamer.sync.package import Package
from gossamer.sync.records import Base, Mode
from gossamer.sync.served import identity_of
from gossamer.vectors.vector_index import VectorIndex

CODES = Mode("codes")
SLIM = "slim:f16:8"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "index"


@pytest.fixture
def index(embedder: TinyEmbedder, folder: Path) -> Index:
    index = Index.create(folder)
    index.add_texts(texts_of(*((f"note{n}", words(n)) for n in range(20))))
    return index


@pytest.fixture
def edge(tmp_path: Path) -> Edge:
    return Edge(tmp_path)


def test_an_edge_without_a_base_gets_everything(offer: Offer, index: Index, edge: Edge) -> None:
    assert edge.pull(offer) == "snapshot"

    catalogue = index.snapshot.catalogue
    assert edge.catalogue.digest() == catalogue.digest()
    assert sorted(edge.stored.values()) == sorted(words(n).encode() for n in range(20))
    assert edge.head.version == index.snapshot.manifest.generation


def test_an_edge_that_is_current_gets_nothing(offer: Offer, edge: Edge) -> None:
    edge.pull(offer)

    assert edge.pull(offer) == "current"


def test_a_delta_brings_what_changed_and_nothing_else(
    offer: Offer, folder: Path, edge: Edge
) -> None:
    edge.pull(offer)
    other = Index.open(folder)
    other.add_texts(texts_of(("note3", words(103)), ("new", words(104))))
    other.remove(["note5"])

    assert edge.pull(offer) == "delta"

    assert edge.head.base.version < edge.head.version
    assert set(edge.sizes) == {"catalogue", "removed", "rows", "texts"}
    rows = edge.catalogue.find_text("note5"), edge.catalogue.find_text("new")
    assert rows[0] is None
    assert rows[1] is not None
    assert words(103).encode() in edge.stored.values()


def test_a_delta_is_small(index: Index, offer: Offer, edge: Edge) -> None:
    index.add_texts(texts_of(*((f"many{n}", words(n, 200)) for n in range(300))))
    edge.pull(offer)
    whole = sum(edge.sizes.values())
    index.add_texts(texts_of(("note3", words(103))))

    edge.pull(offer)

    assert sum(edge.sizes.values()) < whole / 100


def test_fifty_random_batches_by_another_process_come_as_deltas(
    index: Index, folder: Path, offers: Callable[..., Offer], tmp_path: Path
) -> None:
    chosen = random.Random(7)
    offer = offers(index)
    often, seldom, away = (Edge(tmp_path), Edge(tmp_path), Edge(tmp_path, texts="away"))
    writer = Index.open(folder)
    kinds = []
    for batch in range(50):
        ids = [f"note{chosen.randrange(40)}" for _ in range(chosen.randrange(1, 6))]
        if chosen.random() < 0.3:
            writer.remove(ids)
        else:
            writer.add_texts(texts_of(*((id, words(chosen.randrange(10**6))) for id in set(ids))))
        if batch % 10 == 9:  # a server that is started again
            offer.close()
            offer = offers(Index.open(folder))
        kinds.append(often.pull(offer))
        if batch % 7 == 0:
            seldom.pull(offer)
            away.pull(offer)

    for edge in (often, seldom, away):
        edge.pull(offer)
        catalogue = writer.snapshot.catalogue
        assert edge.catalogue.digest() == catalogue.digest()
        engine = writer.snapshot.vectors
        held = np.frombuffer(b"".join(edge.rows[id] for id in catalogue.chunk_ids.tolist()), "u1")
        assert (held == engine.codes_of(catalogue.chunk_ids).ravel()).all()
    assert kinds[0] == "snapshot"
    assert set(kinds[1:]) <= {"delta", "current"}
    assert often.head.state == seldom.head.state == away.head.state
    assert away.stored == {}


def test_a_version_in_which_nothing_changed_is_an_empty_delta(
    index: Index, offer: Offer, edge: Edge
) -> None:
    edge.pull(offer)
    index.compact()

    assert edge.pull(offer) == "delta"

    assert set(edge.sizes) == {"catalogue", "texts"}


def test_a_file_of_another_time_is_touched_and_not_sent(
    index: Index, offer: Offer, edge: Edge, tmp_path: Path
) -> None:
    (tmp_path / "files").mkdir()
    path = tmp_path / "files/a.txt"
    path.write_text(words(1), encoding="utf-8")
    os.utime(path, (10**9, 10**9))
    index.add_paths([tmp_path / "files"])
    edge.pull(offer)
    os.utime(path, (10**9 + 60, 10**9 + 60))
    index.add_paths()

    edge.pull(offer)

    assert set(edge.sizes) == {"catalogue", "touched", "texts"}


def test_a_file_that_is_not_what_was_indexed_is_never_sent(
    index: Index, offers: Callable[..., Offer], edge: Edge, tmp_path: Path
) -> None:
    (tmp_path / "files").mkdir()
    for name in "abc":
        (tmp_path / f"files/{name}.txt").write_text(words(ord(name)), encoding="utf-8")
    index.add_paths([tmp_path / "files"])
    (tmp_path / "files/a.txt").write_text(words(999), encoding="utf-8")
    (tmp_path / "files/b.txt").unlink()
    (tmp_path / "files/b.txt").mkdir()

    edge.pull(offers(index))

    stored = set(edge.stored.values())
    assert words(ord("c")).encode() in stored
    assert words(999).encode() not in stored
    assert len(edge.stored) == 21  # of 23 documents


def test_what_was_absent_comes_when_it_is_indexed_again(
    index: Index, offer: Offer, edge: Edge, tmp_path: Path
) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "files/a.txt").write_text(words(50), encoding="utf-8")
    index.add_paths([tmp_path / "files"])
    (tmp_path / "files/a.txt").write_text(words(51), encoding="utf-8")
    edge.pull(offer)
    index.add_paths()

    assert edge.pull(offer) == "delta"

    assert words(51).encode() in edge.stored.values()


@pytest.mark.parametrize(
    "change",
    [{"epoch": "another"}, {"state": "00" * 16}, {"version": 1}],
    ids=["epoch", "state", "version"],
)
def test_a_base_that_is_not_known_gets_a_snapshot(
    index: Index, offer: Offer, edge: Edge, change: dict[str, object]
) -> None:
    edge.pull(offer)
    base = {"epoch": edge.base.epoch, "version": edge.base.version, "state": edge.base.state}
    index.add_texts(texts_of(("more", words(1))))

    path = offer.package(CODES, texts="kept", base=Base(**(base | change)))

    with Package.open(path, "") as package:
        assert package.head.kind == "snapshot"


def test_an_edge_ahead_of_the_server_is_told_so(offer: Offer, edge: Edge) -> None:
    edge.pull(offer)
    ahead = Base(edge.base.epoch, edge.base.version + 1, edge.base.state)

    with pytest.raises(WrongState, match="older state"):
        offer.package(CODES, texts="kept", base=ahead)


def put_back(folder: Path, copy: Path) -> None:
    for path in folder.iterdir():
        if path.is_file():
            path.unlink()
    for path in copy.iterdir():
        if path.is_file():
            shutil.copy(path, folder)


@pytest.mark.parametrize("mode", ["codes", SLIM])
@pytest.mark.parametrize("keep", ["none", "all"])
@pytest.mark.parametrize("is_running", [True, False], ids=["running", "stopped"])
@pytest.mark.parametrize("commits", [1, 2], ids=["older", "overtaken"])
def test_an_index_put_back_from_a_copy_begins_a_new_epoch(
    embedder: TinyEmbedder,
    folder: Path,
    offers: Callable[..., Offer],
    tmp_path: Path,
    mode: str,
    keep: str,
    is_running: bool,
    commits: int,
) -> None:
    index = Index.create(folder, keep=keep)
    index.add_texts(texts_of(*((f"note{n}", words(n)) for n in range(20))))
    copy_index(folder, tmp_path / "copy")
    edge = Edge(tmp_path, mode=mode)
    offer = offers(index)
    index.add_texts(texts_of(("a", words(100))))
    edge.pull(offer)
    if not is_running:
        offer.close()
    put_back(folder, tmp_path / "copy")
    again = Index.open(folder)
    for n in range(commits):
        again.add_texts(texts_of((f"b{n}", words(200 + n))))

    assert edge.pull(offer if is_running else offers(again)) == "snapshot"

    catalogue = edge.catalogue
    assert catalogue.digest() == again.snapshot.catalogue.digest()
    assert catalogue.find(False, "a") is None
    for n in range(commits):
        (id,) = catalogue.chunks_of(catalogue.find(False, f"b{n}")).tolist()
        vector = TinyEmbedder().embed([words(200 + n)])[0]
        if mode == SLIM:
            assert np.allclose(VectorIndex.open(edge.engine).vectors([id])[0], vector, atol=1e-2)
        else:
            pack = again.snapshot.pack or packs.shipped_pack("")
            assert edge.rows[id] == pack.codebook.encode(vector[None].astype("f2")).tobytes()


def test_ids_that_will_be_given_again_begin_an_epoch(
    index: Index, folder: Path, offers: Callable[..., Offer], tmp_path: Path, edge: Edge
) -> None:
    copy_index(folder, tmp_path / "copy")
    index.add_texts(texts_of(("a", words(100))))
    offer = offers(index)
    edge.pull(offer)
    put_back(folder, tmp_path / "copy")
    again = Index.open(folder)
    again.remove(["note1"])
    again.remove(["note2"])

    assert edge.pull(offer) == "snapshot"


def test_beyond_its_budget_the_oldest_history_goes(
    index: Index, offers: Callable[..., Offer], tmp_path: Path
) -> None:
    offer = offers(index, history_bytes=600)
    old, young = Edge(tmp_path), Edge(tmp_path)
    old.pull(offer)
    for n in range(8):
        index.remove([f"note{n}"])
        young.pull(offer)
    index.remove(["note9"])

    assert young.pull(offer) == "delta"
    assert old.pull(offer) == "snapshot"
    assert old.head.state == young.head.state


@pytest.mark.parametrize("ending", ["", "-wal"])
def test_a_damaged_history_is_set_aside_and_edges_get_a_snapshot(
    index: Index, folder: Path, offers: Callable[..., Offer], edge: Edge, ending: str
) -> None:
    offer = offers(index)
    edge.pull(offer)
    epoch = edge.head.epoch
    offer.close()
    path = folder / f"sync/history.sqlite{ending}"
    path.write_bytes(b"this is no database at all" * 400)
    (folder / "sync/history.sqlite").write_bytes(b"nor is this" * 1000)
    index.add_texts(texts_of(("a", words(1))))

    assert edge.pull(offers(index)) == "snapshot"

    assert edge.head.epoch != epoch
    assert (folder / "sync/history-damaged-1.sqlite").exists()


def test_the_database_of_another_program_is_set_aside(
    index: Index, folder: Path, offers: Callable[..., Offer], edge: Edge
) -> None:
    (folder / "sync").mkdir()
    other = sqlite3.connect(folder / "sync/history.sqlite")
    other.execute("CREATE TABLE meta (name, value)")
    other.close()

    assert edge.pull(offers(index)) == "snapshot"

    assert (folder / "sync/history-damaged-1.sqlite").exists()


def test_an_edge_of_another_epoch_that_holds_the_same_is_current(
    index: Index, folder: Path, offers: Callable[..., Offer], edge: Edge
) -> None:
    offer = offers(index)
    edge.pull(offer)
    offer.close()
    shutil.rmtree(folder / "sync")

    assert edge.pull(offers(index)) == "current"


def test_the_same_request_gives_the_same_file(index: Index, offer: Offer, edge: Edge) -> None:
    first = offer.package(CODES, texts="kept", base=None)
    content = first.read_bytes()
    second = offer.package(CODES, texts="kept", base=None)
    first.unlink()
    third = offer.package(CODES, texts="kept", base=None)

    assert first == second == third
    assert third.read_bytes() == content


def test_old_packages_go(index: Index, folder: Path, offer: Offer, monkeypatch) -> None:
    monkeypatch.setattr("gossamer.sync.cache._IN_USE_S", -1.0)
    for n in range(12):
        index.add_texts(texts_of(("a", words(n))))
        last = offer.package(CODES, texts="kept", base=None)

    left = sorted((folder / "sync/packages").iterdir())
    assert len(left) == 8
    assert last in left


def test_what_many_ask_for_at_once_is_made_once(
    index: Index, offer: Offer, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    from gossamer.sync import offer as module

    write = module.write_package
    monkeypatch.setattr(module, "write_package", lambda *args: (made.append(1), write(*args))[1])
    found: list[object] = []
    threads = [
        threading.Thread(target=lambda: found.append(offer.package(CODES, texts="kept", base=None)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(made) == 1
    assert len(set(found)) == 1
    assert len(found) == 8


def test_a_package_is_never_deleted_before_it_is_given_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gossamer.sync.cache._MOST_FILES", 0)
    packages = PackageCache(tmp_path)
    trims: list[threading.Thread] = []

    def trim_meanwhile(real: Callable[..., None], *args: object) -> None:
        """Let another request end just now; it may have to wait."""
        real(*args)
        trims.append(threading.Thread(target=packages._trim))
        trims[-1].start()
        trims[-1].join(0.2)

    def make(path: Path) -> list[int]:
        path.write_bytes(b"x" * 40)
        return []

    for name in ("replace", "utime"):
        monkeypatch.setattr(os, name, partial(trim_meanwhile, getattr(os, name)))
    made = packages.get("a request", make, lambda _: False)
    found_new = made.exists()
    packages._used.clear()  # as if it was long ago
    again = packages.get("a request", make, lambda _: False)

    for trim in trims:
        trim.join()
    assert found_new
    assert again == made
    assert again.exists()


@pytest.mark.parametrize("is_restarted", [False, True])
def test_a_text_that_can_be_read_again_is_in_the_next_package(
    index: Index, offers: Callable[..., Offer], tmp_path: Path, is_restarted: bool
) -> None:
    path = tmp_path / "a.txt"
    path.write_text(words(50), encoding="utf-8")
    index.add_paths([path])
    path.rename(tmp_path / "moved")
    offer = offers(index)
    without, with_it = Edge(tmp_path), Edge(tmp_path)
    first = offer.package(CODES, texts="kept", base=None)
    assert offer.package(CODES, texts="kept", base=None) == first
    without.pull(offer)
    (tmp_path / "moved").rename(path)
    if is_restarted:
        offer.close()
        offer = offers(Index.open(index.folder))

    with_it.pull(offer)

    assert len(without.stored) == 20
    assert len(with_it.stored) == 21
    assert with_it.head.state == without.head.state
    assert first.exists() != is_restarted  # someone may be about to read it


def test_differences_of_slim_indexes_do_not_push_other_edges_out_of_the_history(
    index: Index, offers: Callable[..., Offer], tmp_path: Path, edge: Edge
) -> None:
    offer = offers(index, history_bytes=4000)
    (tmp_path / "slim").mkdir()
    slim, late = Edge(tmp_path / "slim", mode=SLIM), Edge(tmp_path / "slim", mode=SLIM)
    edge.pull(offer)
    slim.pull(offer)
    late.pull(offer)
    for n in range(12):
        index.add_texts(texts_of(*((f"more{n}-{m}", words(100 * n + m)) for m in range(8))))
        assert slim.pull(offer) == "delta"

    assert edge.pull(offer) == "delta"
    assert late.pull(offer) == "snapshot"


def test_a_second_server_does_not_offer_the_same_index(
    index: Index, folder: Path, offers: Callable[..., Offer]
) -> None:
    first = offers(index)
    epoch = first.info()["epoch"]

    with pytest.raises(Locked, match="another server"):
        offers(Index.open(folder))

    first.close()
    assert offers(Index.open(folder)).info()["epoch"] == epoch


def test_a_second_server_of_an_index_can_be_searched(index: Index, tmp_path: Path) -> None:
    with serve(tmp_path) as one, serve(tmp_path) as other:
        assert one.get("/v1/sync").status_code == 200

        refused = other.get("/v1/sync")
        assert (refused.status_code, refused.json()["error"]) == (409, "locked")
        assert other.get("/v1/search", params={"q": "word7"}).json()["hits"]


@pytest.mark.parametrize("mode", ["codes", SLIM])
def test_a_history_deleted_while_it_is_used_begins_anew(
    index: Index, folder: Path, offer: Offer, tmp_path: Path, mode: str
) -> None:
    edge = Edge(tmp_path, mode=mode)
    edge.pull(offer)
    shutil.rmtree(folder / "sync")
    index.add_texts(texts_of(("a", words(1))))

    assert edge.pull(offer) == "snapshot"
    index.add_texts(texts_of(("b", words(2))))
    assert edge.pull(offer) == "delta"
    assert edge.catalogue.digest() == index.snapshot.catalogue.digest()


def test_a_server_that_is_closing_says_so(offer: Offer) -> None:
    offer.close()

    with pytest.raises(Cancelled, match="closing"):
        offer.package(CODES, texts="kept", base=None)


def test_what_differs_is_found_whatever_is_remembered(
    index: Index, folder: Path, offers: Callable[..., Offer]
) -> None:
    chosen = random.Random(5)
    offer = offers(index)
    for step in range(12):
        ids = [f"note{chosen.randrange(30)}" for _ in range(3)]
        before = offer.info()["version"]
        old = set(index.snapshot.catalogue.paths)
        if step % 3 == 2:
            index.remove(ids)
            expected = old & set(ids)
        else:
            index.add_texts(texts_of(*((id, words(1000 + step)) for id in dict.fromkeys(ids))))
            expected = set(ids)
        if step % 2:
            offer.close()
            offer = offers(Index.open(folder))
        offer.info()
        changed = offer._history.changed_since(before)
        assert {path for _, path in changed.bodies} == expected


def test_packages_are_right_while_others_commit(
    index: Index, folder: Path, offer: Offer, tmp_path: Path
) -> None:
    edges = [Edge(tmp_path, texts=texts) for texts in ("kept", "away", "kept")]
    failures: list[BaseException] = []

    def follow(edge: Edge) -> None:
        try:
            for _ in range(8):
                edge.pull(offer)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=follow, args=(edge,)) for edge in edges]
    for thread in threads:
        thread.start()
    writer = Index.open(folder)
    for n in range(12):
        writer.add_texts(texts_of((f"note{n}", words(500 + n))))
    for thread in threads:
        thread.join()
    for edge in edges:
        edge.pull(offer)

    assert failures == []
    assert len({edge.head.state for edge in edges}) == 1


def test_packages_are_signed_with_the_token(
    index: Index, offers: Callable[..., Offer], tmp_path: Path
) -> None:
    edge = Edge(tmp_path, token="secret")

    edge.pull(offers(index, token="secret"))

    assert edge.head.is_signed


def test_an_empty_index_can_be_followed(
    embedder: TinyEmbedder, tmp_path: Path, offers: Callable[..., Offer], edge: Edge
) -> None:
    index = Index.create(tmp_path / "empty")
    offer = offers(index)
    assert edge.pull(offer) == "snapshot"
    index.add_texts(texts_of(("a", words(1))))
    assert edge.pull(offer) == "delta"
    index.remove(["a"])
    assert edge.pull(offer) == "delta"

    assert edge.catalogue.chunk_count == 0


def test_an_index_that_keeps_vectors_sends_codes_where_the_model_ships_a_codebook(
    embedder: TinyEmbedder, tmp_path: Path, offers: Callable[..., Offer], edge: Edge
) -> None:
    index = Index.create(tmp_path / "all", keep="all")
    index.add_texts(texts_of(*((f"n{n}", words(n)) for n in range(5))))
    offer = offers(index)
    edge.pull(offer)
    index.add_texts(texts_of(("n2", words(77))))

    assert edge.pull(offer) == "delta"

    assert edge.head.settings["rows_kind"] == "codes"
    assert {len(row) for row in edge.rows.values()} == {8}


def test_without_any_codebook_rows_are_vectors(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, offers: Callable[..., Offer], edge: Edge
) -> None:
    use_tiny(monkeypatch)
    index = Index.create(tmp_path / "index")
    index.add_texts(texts_of(("a", words(1))))

    edge.pull(offers(index))

    (row,) = edge.rows.values()
    vector = TinyEmbedder().embed([words(1)])[0]
    assert edge.head.settings["rows_kind"] == "vectors"
    assert np.allclose(np.frombuffer(row, "<f2"), vector, atol=1e-3)


def test_a_codebook_that_the_index_trained_comes_with_a_snapshot_and_a_new_epoch(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, offers: Callable[..., Offer], edge: Edge
) -> None:
    use_tiny(monkeypatch)
    monkeypatch.setattr("gossamer.update.growing._LEAST_TO_TRAIN", 300)
    index = Index.create(tmp_path / "index", code_bytes=8)
    index.add_texts(texts_of(*((f"n{n}", words(n)) for n in range(40))))
    offer = offers(index)
    edge.pull(offer)
    epoch = edge.head.epoch
    index.add_texts(texts_of(*((f"m{n}", words(n)) for n in range(300))))

    assert edge.pull(offer) == "snapshot"
    assert edge.head.epoch != epoch
    assert edge.head.settings["rows_kind"] == "codes"
    assert "codebook" in edge.sizes
    index.add_texts(texts_of(("n1", words(7))))
    assert edge.pull(offer) == "delta"
    assert "codebook" not in edge.sizes


def test_hot_edges_get_vectors_that_are_at_hand_within_their_budget(
    embedder: TinyEmbedder, tmp_path: Path, offers: Callable[..., Offer]
) -> None:
    index = Index.create(tmp_path / "all", keep="all")
    index.add_texts(texts_of(*((f"n{n}", words(n)) for n in range(50))))
    edge = Edge(tmp_path, mode="hot:1KB")
    offer = offers(index)
    edge.pull(offer)
    held = dict(edge.hot)
    index.add_texts(texts_of(("new", words(99))))
    edge.pull(offer)

    assert 0 < len(held) <= 1000 // 64
    assert edge.catalogue.chunks_of(edge.catalogue.find_text("new"))[0] in edge.hot


def test_vectors_and_chunks_are_given_by_id(index: Index, offer: Offer) -> None:
    ids = index.snapshot.catalogue.chunk_ids[:3].tolist()

    mask, rows = offer.vectors([ids[0], 10**9, ids[2], -4])
    chunks = offer.chunks([ids[0], 10**9])

    assert mask.tolist() == [True, False, True, False]
    assert rows.dtype == np.float16
    assert np.allclose(rows[0], TinyEmbedder().embed([chunks[0].embedded])[0], atol=1e-3)
    assert chunks[1] is None
    catalogue = index.snapshot.catalogue
    assert check_of(chunks[0].embedded) == catalogue.checks(ids[:1])[0]
    assert (chunks[0].first, chunks[0].last) == (1, 1)


def test_an_offer_says_what_it_is(index: Index, offer: Offer) -> None:
    info = offer.info()

    assert info["protocol"] == 1
    assert info["chunks"] == 20
    assert info["version"] == index.snapshot.manifest.generation


def test_texts_are_kept_or_away(offer: Offer) -> None:
    with pytest.raises(InvalidArgument, match="kept"):
        offer.package(CODES, texts="some", base=None)


@pytest.fixture
def changed(index: Index, folder: Path, offers: Callable[..., Offer], edge: Edge) -> Index:
    """An index that has changed since the edge pulled, and whose server is not running."""
    offer = offers(index)
    edge.pull(offer)
    offer.close()
    index.add_texts(texts_of(("note1", words(901)), ("x", words(902))))
    index.remove(["note2"])
    return index


@needs_fork
def test_a_server_killed_at_any_call_goes_on(
    changed: Index, folder: Path, offers: Callable[..., Offer], edge: Edge
) -> None:
    def serve() -> None:
        Offer(Index.open(folder)).package(CODES, texts="kept", base=edge.base)

    killed = [run_killed_at(n, serve) for n in range(1, 40)]

    assert killed[0]
    assert not killed[-1]
    assert edge.pull(offers(Index.open(folder))) == "delta"
    assert edge.catalogue.digest() == changed.snapshot.catalogue.digest()


@needs_fork
def test_a_server_killed_within_a_transaction_goes_on(
    changed: Index, folder: Path, offers: Callable[..., Offer], edge: Edge, tmp_path: Path
) -> None:
    expected = changed.snapshot.catalogue.digest()
    killed = []
    for steps in (*range(20, 600, 60), 10**9):
        copy = copy_index(folder, tmp_path / f"copy{steps}")
        killed.append(_advance_killed_after(steps, copy))
        follower = replace(edge)

        assert follower.pull(offers(Index.open(copy))) == "delta"
        assert follower.catalogue.digest() == expected
    assert True in killed
    assert not killed[-1]


def _advance_killed_after(steps: int, folder: Path) -> bool:
    """Record the state of an index in a child process, killed after so many steps of SQLite."""
    child = os.fork()
    if child == 0:
        try:
            snapshot = Index.open(folder).snapshot
            history = History(folder, 10**6)
            history.database._connection.set_progress_handler(
                lambda: os.kill(os.getpid(), signal.SIGKILL), steps
            )
            history.advance(snapshot, identity_of(snapshot))
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0


def test_a_plan_says_what_an_edge_takes(index: Index, offer: Offer) -> None:
    codes = offer.plan(CODES, texts="kept", budget=None)
    slim = offer.plan(Mode.parse(SLIM), texts="away", budget=None)

    assert codes.estimate["vectors"] < slim.estimate["vectors"]
    assert codes.estimate["graph"] == slim.estimate["texts"] == 0
    assert slim.estimate["graph"] > 0
    for plan in (codes, slim):
        parts = {name: size for name, size in plan.estimate.items() if name != "total"}
        assert plan.estimate["total"] == sum(parts.values())


def test_a_budget_makes_vectors_smaller_then_the_graph_then_leaves_texts_away(
    index: Index, offer: Offer
) -> None:
    index.add_texts(texts_of(*((f"more{n}", words(n, 100)) for n in range(300))))
    mode = Mode.parse(SLIM)

    def total(text: str, texts: str) -> int:
        return offer.plan(Mode.parse(text), texts=texts, budget=None).estimate["total"]

    def chosen(budget: int) -> tuple[str, str]:
        plan = offer.plan(mode, texts="kept", budget=budget)
        assert plan.estimate["total"] <= budget
        return plan.mode, plan.texts

    assert chosen(total(SLIM, "kept")) == (SLIM, "kept")
    assert chosen(total("slim:int8:8", "kept")) == ("slim:int8:8", "kept")
    assert chosen(total(SLIM, "away")) == (SLIM, "away")
    assert chosen(total("slim:int8:2", "away")) == ("slim:int8:2", "away")
    with pytest.raises(TooLarge, match="slim:int8:2"):
        chosen(total("slim:int8:2", "away") - 1)
    with pytest.raises(TooLarge, match="choose the mode codes"):
        chosen(total("codes", "away"))


def test_an_index_that_follows_another_offers_nothing(index: Index, folder: Path) -> None:
    manifest = index.snapshot.manifest
    with begin(folder) as writer:
        writer.commit(
            writer.changes(),
            save_vectors=None,
            model=manifest.model,
            settings=manifest.settings,
            roots=(),
            origin={"url": "http://a"},
        )

    with pytest.raises(WrongState, match="http://a"):
        Offer(index)


def test_a_hot_cache_of_the_server_is_shared_with_hot_edges_and_learns_from_what_they_ask(
    embedder: TinyEmbedder, tmp_path: Path, offers: Callable[..., Offer]
) -> None:
    index = Index.create(tmp_path / "hot", keep="hot:2KB")
    index.add_texts(texts_of(*((f"n{n}", words(n)) for n in range(50))))
    offer = offers(index)
    edge = Edge(tmp_path, mode="hot:1MB")
    edge.pull(offer)
    ids = edge.catalogue.chunk_ids
    missing = [id for id in ids.tolist() if id not in edge.hot][:3]

    embedder.embedded.clear()
    offer.vectors(missing)
    offer.vectors(missing)

    assert 0 < len(edge.hot) < 50
    assert len(embedder.embedded) == 3
