"""Adding, deleting and compacting: afterwards an index is as good as one built afresh."""

import numpy as np
import pytest
from conftest import Library, clustered, nearest_ids, recall

from gossamer import Effort, VectorIndex
from gossamer.errors import DuplicateId, InvalidArgument, NotFinite, UnknownId

KINDS = [
    {"keep": "none", "graph": None},
    {"keep": "none", "graph": "full"},
    {"keep": "none", "graph": "hub"},
    {"keep": "none", "graph": "slim"},
    {"keep": "hot:6KB", "graph": None},
    {"keep": "hot:6KB", "graph": "hub"},
    {"keep": "all", "graph": None},
    {"keep": "all", "graph": "full"},
    {"keep": "all", "graph": "hub"},
    {"keep": "all", "graph": "slim"},
    {"keep": "all", "graph": "slim", "keep_source": True},
]
# Adding asks for vectors, so it goes by batches.
ASKING = [kind for kind in KINDS if kind["graph"] and kind["keep"] != "all"]
EFFORT = Effort(rerank=60, beam=60, ratio=0.5)


def name_of(kind: dict) -> str:
    return "-".join(str(value) for value in kind.values())


def strategy_of(kind: dict) -> str:
    if kind["graph"] is None:
        return "scan"
    return "best-first" if kind["keep"] == "all" else "walk"


class Twin:
    """An index under change, and what it should hold."""

    def __init__(self, kind: dict, codebook, count: int = 500) -> None:
        self.kind = kind
        self.options = {"codebook": codebook, "calibrate": False, "threads": 1, **kind}
        rows = clustered(count, seed=11)
        self.library = Library(rows)
        self.index = VectorIndex.build(rows, **self.options)

    def add(self, ids: np.ndarray, seed: int) -> None:
        rows = clustered(len(ids), seed=seed)
        self.index.add(rows, ids, vectors_of=self.library)
        self.library.add(ids, rows)

    def delete(self, ids: np.ndarray) -> None:
        self.index.delete(ids)
        self.library.remove(ids)

    def fresh(self) -> VectorIndex:
        return VectorIndex.build(self.rows(), ids=self.ids(), **self.options)

    def ids(self) -> np.ndarray:
        return np.array(list(self.library.vectors))

    def rows(self) -> np.ndarray:
        return np.stack(list(self.library.vectors.values()))

    def recall(self, index: VectorIndex, queries: np.ndarray) -> float:
        found = index.search(
            queries, 5, strategy=strategy_of(self.kind), effort=EFFORT, vectors_of=self.library
        )
        assert np.isin(found.ids, self.ids()).all()
        return recall(found.ids, self.ids()[nearest_ids(queries, self.rows(), 5)])


@pytest.fixture(params=KINDS, ids=name_of)
def twin(request, codebook) -> Twin:
    return Twin(request.param, codebook)


QUERIES = clustered(200, seed=3)


def check_as_good_as_fresh(twin: Twin) -> None:
    assert len(twin.index) == len(twin.library.vectors)
    assert twin.recall(twin.index, QUERIES) >= twin.recall(twin.fresh(), QUERIES) - 0.01


def test_added_vectors_are_found_as_in_a_fresh_build(twin):
    twin.add(np.arange(500, 800), seed=21)

    check_as_good_as_fresh(twin)


def test_deleted_vectors_leave_the_rest_findable(twin):
    twin.delete(np.arange(0, 500, 3))

    check_as_good_as_fresh(twin)


def test_compaction_leaves_the_rest_findable(twin):
    twin.delete(np.arange(0, 500, 3))
    twin.index.compact()

    assert twin.index.stats().deleted == 0
    check_as_good_as_fresh(twin)


def test_a_long_life_leaves_an_index_as_good_as_new(twin):
    for round_, seed in enumerate((31, 32, 33)):
        twin.delete(twin.ids()[round_::4])
        twin.add(np.arange(1000 * (round_ + 1), 1000 * (round_ + 1) + 120), seed=seed)
    twin.index.compact()
    twin.add(np.arange(50_000, 50_100), seed=34)

    check_as_good_as_fresh(twin)


def test_an_opened_index_takes_updates(twin, tmp_path):
    twin.index.save(tmp_path / "index")
    twin.index = VectorIndex.open(tmp_path / "index")

    twin.delete(np.arange(0, 500, 4))
    twin.add(np.arange(600, 700), seed=41)
    twin.index.save(tmp_path / "index")
    twin.index = VectorIndex.open(tmp_path / "index", verify=True)

    check_as_good_as_fresh(twin)


def test_without_vectors_of_links_are_made_by_codes(codebook):
    twin = Twin({"keep": "none", "graph": "full"}, codebook)
    rows = clustered(100, seed=22)

    twin.index.add(rows, np.arange(500, 600))
    twin.library.add(np.arange(500, 600), rows)

    assert twin.recall(twin.index, QUERIES) >= twin.recall(twin.fresh(), QUERIES) - 0.02


def test_codes_alone_need_no_vectors_to_add(codebook):
    twin = Twin({"keep": "none", "graph": None}, codebook)

    twin.add(np.arange(500, 600), seed=22)

    assert twin.library.asked == []


def test_a_deleted_id_can_be_given_to_another_vector(twin):
    twin.delete(np.arange(10))
    twin.add(np.arange(10), seed=51)

    found = twin.index.search(twin.rows()[-10:], 1, strategy="exact", vectors_of=twin.library)
    assert found.ids[:, 0].tolist() == list(range(10))
    assert len(twin.index) == 500


def test_places_of_deleted_vectors_are_used_again(codebook):
    twin = Twin({"keep": "all", "graph": "full"}, codebook)
    bytes_before = twin.index.stats().vectors_bytes

    for seed in range(61, 64):
        twin.delete(twin.ids()[:100])
        twin.add(np.arange(seed * 1000, seed * 1000 + 100), seed=seed)

    assert twin.index.stats().vectors_bytes == bytes_before


@pytest.mark.parametrize("strategy", ["scan", "walk", "two-level", "best-first", "lazy", "exact"])
def test_a_deleted_vector_is_never_returned(strategy, codebook):
    twin = Twin({"keep": "all", "graph": "full"}, codebook)
    gone = nearest_ids(QUERIES, twin.rows(), 1)[:, 0]
    twin.index.delete(np.unique(gone))

    found = twin.index.search(QUERIES, 5, strategy=strategy, effort=EFFORT)

    assert not np.isin(found.ids, gone).any()


@pytest.mark.parametrize("keep", ["none", "hot:6KB"])
@pytest.mark.parametrize("strategy", ["scan", "walk", "two-level", "best-first", "lazy", "exact"])
def test_a_deleted_vector_is_never_asked_for(strategy, keep, codebook):
    twin = Twin({"keep": keep, "graph": "full"}, codebook)
    # The host does not have it any more.
    twin.delete(np.arange(0, 500, 4))

    found = twin.index.search(QUERIES, 5, strategy=strategy, effort=EFFORT, vectors_of=twin.library)

    assert (found.ids % 4 != 0).all()


def test_a_hot_vector_whose_id_went_to_another_is_forgotten(codebook):
    twin = Twin({"keep": "hot:48KB", "graph": None}, codebook)
    twin.index.search(QUERIES, 5, strategy="exact", vectors_of=twin.library)
    twin.delete(np.arange(100))
    twin.add(np.arange(100), seed=71)

    found = twin.index.search(twin.rows()[-100:], 1, strategy="exact", vectors_of=twin.library)

    assert found.ids[:, 0].tolist() == list(range(100))


def test_much_deletion_hints_at_a_rebuild_and_compaction_answers_it(build):
    index = build(keep="all", graph="full")

    index.delete(np.arange(60))
    few = index.stats()
    index.delete(np.arange(60, 200))
    many = index.stats()
    index.compact()
    after = index.stats()

    assert (few.rebuild_hint, many.rebuild_hint, after.rebuild_hint) == (False, True, False)
    assert (few.deleted, many.deleted, after.deleted) == (60, 200, 0)


@pytest.mark.parametrize("kind", KINDS, ids=name_of)
def test_compaction_makes_the_file_smaller(kind, build, tmp_path):
    index = build(**kind)
    index.delete(np.arange(300))

    before = index.save(tmp_path / "index", with_codebook=False)
    index.compact()
    after = index.save(tmp_path / "index", with_codebook=False)

    assert after < 0.8 * before


def test_everything_can_be_deleted_and_the_index_filled_again(twin, tmp_path):
    twin.delete(np.arange(500))
    assert twin.index.search(QUERIES, 5, vectors_of=twin.library).ids.shape == (200, 0)
    twin.index.compact()
    assert twin.index.search(QUERIES, 5, vectors_of=twin.library).ids.shape == (200, 0)
    twin.index.save(tmp_path / "empty")
    twin.index = VectorIndex.open(tmp_path / "empty", verify=True)

    twin.add(np.arange(300), seed=81)

    found = twin.index.search(QUERIES, 5, strategy="exact", vectors_of=twin.library)
    assert np.array_equal(found.ids[:, 0], nearest_ids(QUERIES, twin.rows(), 1)[:, 0])


def test_ids_go_on_after_the_largest(build, more_vectors):
    index = build(keep="all")

    first = index.add(more_vectors[:3])
    index.add(more_vectors[3:4], [9_000])
    second = index.add(more_vectors[4:6])

    assert first.tolist() == [600, 601, 602]
    assert second.tolist() == [9_001, 9_002]


@pytest.mark.parametrize("kind", KINDS, ids=name_of)
def test_ids_after_the_largest_possible_one_are_refused(kind, build, more_vectors):
    index = build(**kind)
    index.add(more_vectors[:1], [2**63 - 3])

    with pytest.raises(InvalidArgument, match=r"do not suffice for 3 more: ids end at 2\^63 - 1"):
        index.add(more_vectors[:3])
    ids = index.add(more_vectors[1:3])
    with pytest.raises(InvalidArgument, match=r"do not suffice for 1 more: ids end at 2\^63 - 1"):
        index.add(more_vectors[3:4])

    assert ids.tolist() == [2**63 - 2, 2**63 - 1]
    assert index.add(more_vectors[:0]).size == 0
    assert len(index) == 603


def test_adding_and_deleting_nothing_changes_nothing(build, more_vectors):
    index = build(keep="all", graph="full")

    assert index.add(more_vectors[:0]).size == 0
    index.delete([])
    index.compact()

    assert len(index) == 600


@pytest.mark.parametrize("kind", KINDS, ids=name_of)
def test_what_is_refused_is_refused_whole(kind, build, more_vectors, library):
    index = build(**kind)
    spoilt = more_vectors.copy()
    spoilt[150, 3] = np.nan
    ids = np.arange(600, 800)
    twice = ids.copy()
    twice[170] = 5

    with pytest.raises(NotFinite, match="vector 150"):
        index.add(spoilt, ids, vectors_of=library)
    with pytest.raises(DuplicateId, match="id 5 "):
        index.add(more_vectors, twice, vectors_of=library)
    with pytest.raises(DuplicateId, match="id 600 "):
        index.add(more_vectors[:2], [600, 600], vectors_of=library)
    with pytest.raises(UnknownId, match="id 700"):
        index.delete([3, 700])
    with pytest.raises(DuplicateId, match="id 3 "):
        index.delete([3, 3])

    assert np.array_equal(np.sort(index.ids), np.arange(600))


@pytest.mark.parametrize("kind", ASKING, ids=name_of)
def test_vectors_are_added_all_or_none_when_vectors_of_fails(kind, build, more_vectors, library):
    index = build(**kind)
    calls = []

    def fail_the_third_time(ids: np.ndarray) -> np.ndarray:
        calls.append(len(ids))
        if len(calls) == 3:
            raise ConnectionError("no answer")
        return library(ids)

    with pytest.raises(ConnectionError, match="no answer"):
        index.add(more_vectors, vectors_of=fail_the_third_time)

    assert len(calls) == 3
    assert np.array_equal(np.sort(index.ids), np.arange(600))
    assert index.add(more_vectors, vectors_of=library).tolist() == list(range(600, 800))


@pytest.mark.parametrize("kind", ASKING, ids=name_of)
def test_vectors_are_added_all_or_none_when_progress_fails(kind, build, more_vectors, library):
    index = build(**kind)

    def fail_later(phase: str, done: int, total: int) -> None:
        if done > 64:
            raise KeyboardInterrupt(f"{phase} {done} of {total}")

    with pytest.raises(KeyboardInterrupt, match="adding 128 of 200"):
        index.add(more_vectors, vectors_of=library, progress=fail_later)

    assert np.array_equal(np.sort(index.ids), np.arange(600))


def test_a_deleted_id_is_unknown(build):
    index = build(keep="all")
    index.delete([4])

    assert 4 not in index
    with pytest.raises(UnknownId, match="id 4"):
        index.delete([4])
    with pytest.raises(UnknownId, match="id 4"):
        index.vectors([4])


def test_progress_of_adding_is_reported(build, more_vectors, library):
    calls = []

    build(graph="hub").add(
        more_vectors, vectors_of=library, progress=lambda *call: calls.append(call)
    )

    assert calls[-1] == ("adding", 200, 200)


@pytest.mark.parametrize("graph", [None, "full", "slim"])
def test_an_add_that_is_interrupted_adds_nothing(graph):
    vectors = np.random.default_rng(5).standard_normal((900, 24), dtype=np.float32)
    index = VectorIndex.build(vectors[:300], keep="all", graph=graph, calibrate=False)
    before = index.search(vectors[0], 10, strategy="exact").ids

    def interrupt(phase: str, done: int, total: int) -> None:
        raise KeyboardInterrupt(f"{phase} {done} of {total}")

    with pytest.raises(KeyboardInterrupt):
        index.add(vectors[300:], progress=interrupt)

    assert len(index) == 300
    assert np.array_equal(index.search(vectors[0], 10, strategy="exact").ids, before)
    assert np.array_equal(index.add(vectors[300:400]), np.arange(300, 400))
