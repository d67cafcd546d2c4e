"""Indexes that begin empty and grow: codes that move, vectors that cannot be had, model packs."""

from collections.abc import Callable
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from conftest import DIM, Floats, Ids, Library, Sample, clustered, nearest_ids, recall
from numpy.typing import NDArray

import gossamer
from gossamer.errors import (
    CodebookMismatch,
    Damaged,
    DuplicateId,
    GossamerError,
    InvalidArgument,
    MissingCodebook,
    NotFinite,
    NotGossamer,
    Truncated,
    UnknownId,
    WrongDimension,
    WrongState,
)
from gossamer.vectors.model_pack import Calibration, pack_codebook, unpack_codebook
from gossamer.vectors.session import Supplied

Build = Callable[..., gossamer.VectorIndex]

STRATEGIES = ["scan", "walk", "two-level", "best-first", "lazy", "exact"]


class Patchy(Library):
    """A library some of whose vectors cannot be had any more; their rows hold nonsense."""

    def __init__(self, vectors: Floats, lost: Ids) -> None:
        super().__init__(vectors)
        self.lost = set(lost.tolist())

    def __call__(self, ids: Ids) -> Supplied:  # type: ignore[override]
        missing = np.array([id in self.lost for id in ids.tolist()])
        vectors = super().__call__(ids)
        vectors[missing] = np.nan
        return Supplied(vectors, missing)


@pytest.fixture(scope="module")
def calibrated(vectors: Floats, queries: Floats, codebook: gossamer.Codebook) -> Calibration:
    index = gossamer.VectorIndex.build(
        vectors, keep="all", codebook=codebook, calibration_queries=queries, threads=1
    )
    assert index.calibration is not None
    return index.calibration


@pytest.fixture
def grown(codebook: gossamer.Codebook, vectors: Floats) -> gossamer.VectorIndex:
    index = gossamer.VectorIndex.create(codebook)
    index.add(vectors)
    return index


# Empty indexes


def test_an_empty_index_finds_nothing(codebook: gossamer.Codebook, queries: Floats) -> None:
    index = gossamer.VectorIndex.create(codebook)

    assert len(index) == 0
    assert index.search(queries[0], 5).ids.shape == (0,)
    assert index.search(queries, 5).ids.shape == (len(queries), 0)
    assert index.estimate(queries[0], 5)[0].size == 0
    assert index.stats().keep == "none"
    assert index.stats().graph is None


def test_an_empty_index_is_saved_and_opened(
    codebook: gossamer.Codebook, vectors: Floats, queries: Floats, tmp_path: Path
) -> None:
    path = tmp_path / "empty.gossamer"
    gossamer.VectorIndex.create(codebook).save(path, with_codebook=False)

    index = gossamer.VectorIndex.open(path, codebook=codebook, verify=True)

    assert len(index) == 0
    assert index.search(queries[0], 5).ids.size == 0
    index.add(vectors[:3], ids=[7, 8, 9])
    assert index.ids.tolist() == [7, 8, 9]


def test_an_empty_index_still_refuses_what_it_would_refuse_later(
    codebook: gossamer.Codebook, vectors: Floats, tmp_path: Path
) -> None:
    index = gossamer.VectorIndex.create(codebook)

    with pytest.raises(WrongDimension):
        index.add(vectors[:, :5])
    with pytest.raises(WrongDimension):
        index.search(vectors[0, :5])
    with pytest.raises(UnknownId):
        index.codes_of([0])
    index.save(tmp_path / "a.gossamer", with_codebook=False)
    with pytest.raises(MissingCodebook):
        gossamer.VectorIndex.open(tmp_path / "a.gossamer")
    other = gossamer.train_codebook(clustered(300, seed=9), 12)
    with pytest.raises(CodebookMismatch):
        gossamer.VectorIndex.open(tmp_path / "a.gossamer", codebook=other)


def test_growing_batch_by_batch_gives_the_index_that_a_build_gives(
    build: Build, codebook: gossamer.Codebook, vectors: Floats, queries: Floats, library: Library
) -> None:
    index = gossamer.VectorIndex.create(codebook)
    for start in range(0, len(vectors), 37):
        ids = np.arange(start, min(start + 37, len(vectors)))
        index.add(vectors[ids], ids=ids)

    built = build()

    assert np.array_equal(index.codes_of(index.ids), built.codes_of(index.ids))
    ours = index.search(queries, 10, vectors_of=library)
    theirs = built.search(queries, 10, vectors_of=library)
    assert np.array_equal(ours.ids, theirs.ids)
    assert np.array_equal(ours.distances, theirs.distances)


def test_an_index_that_lost_everything_is_empty_again(
    grown: gossamer.VectorIndex, queries: Floats, tmp_path: Path
) -> None:
    codebook = grown.codebook
    grown.delete(grown.ids)
    grown.compact()
    grown.save(tmp_path / "a.gossamer", with_codebook=False)

    index = gossamer.VectorIndex.open(tmp_path / "a.gossamer", codebook=codebook)

    assert index.search(queries[0], 5).ids.size == 0
    assert index.stats().codes_bytes == 0


# Codes that move


def test_codes_are_the_bytes_that_encoding_gives(
    grown: gossamer.VectorIndex, codebook: gossamer.Codebook, vectors: Floats
) -> None:
    codes = grown.codes_of([5, 3, 400])

    assert codes.dtype == np.uint8
    assert np.array_equal(codes, codebook.encode(vectors[[5, 3, 400]]))


def test_moved_codes_answer_like_added_vectors(
    grown: gossamer.VectorIndex, codebook: gossamer.Codebook, vectors: Floats, queries: Floats
) -> None:
    moved = gossamer.VectorIndex.create(codebook)
    moved.add_codes(grown.ids + 1000, grown.codes_of(grown.ids))

    found = moved.search(queries, 5, vectors_of=lambda ids: vectors[ids - 1000])

    expected = grown.search(queries, 5, vectors_of=lambda ids: vectors[ids])
    assert np.array_equal(found.ids - 1000, expected.ids)
    assert np.array_equal(found.distances, expected.distances)


def test_codes_move_to_new_ids_within_an_index(grown: gossamer.VectorIndex) -> None:
    before = grown.codes_of([10, 11, 12])
    grown.delete([10, 11, 12])
    grown.add_codes([900, 901, 902], before)

    assert np.array_equal(grown.codes_of([900, 901, 902]), before)
    assert 10 not in grown
    assert len(grown) == 600


def test_no_codes_of_no_ids(grown: gossamer.VectorIndex, codebook: gossamer.Codebook) -> None:
    assert grown.codes_of([]).shape == (0, codebook.code_bytes)

    grown.add_codes([], np.zeros((0, codebook.code_bytes), np.uint8))

    assert len(grown) == 600


def test_codes_survive_saving_and_deleting(
    grown: gossamer.VectorIndex, vectors: Floats, codebook: gossamer.Codebook, tmp_path: Path
) -> None:
    grown.delete(np.arange(0, 600, 3))
    grown.save(tmp_path / "a.gossamer")

    index = gossamer.VectorIndex.open(tmp_path / "a.gossamer")

    left = np.arange(600)[np.arange(600) % 3 != 0]
    assert np.array_equal(index.codes_of(left), codebook.encode(vectors[left]))


@pytest.mark.parametrize(
    ("ids", "error"),
    [([5], DuplicateId), ([700, 700], DuplicateId), ([-1], InvalidArgument)],
)
def test_ids_that_cannot_be_given_to_codes_are_refused(
    grown: gossamer.VectorIndex, ids: list[int], error: type[GossamerError]
) -> None:
    codes = grown.codes_of([0] * len(ids))

    with pytest.raises(error):
        grown.add_codes(ids, codes)
    assert len(grown) == 600


def test_codes_of_another_shape_or_type_are_refused(
    grown: gossamer.VectorIndex, codebook: gossamer.Codebook
) -> None:
    width = codebook.code_bytes

    for codes in (
        np.zeros((2, width), np.uint8),
        np.zeros((1, width + 1), np.uint8),
        np.zeros(width, np.uint8),
        np.zeros((1, width), np.float32),
        [[300] * width],
    ):
        with pytest.raises(InvalidArgument):
            grown.add_codes([700], codes)
    assert len(grown) == 600


def test_codes_of_deleted_and_unknown_ids_are_refused(grown: gossamer.VectorIndex) -> None:
    grown.delete([4])

    for id in (4, 600):
        with pytest.raises(UnknownId):
            grown.codes_of([1, id])


@pytest.mark.parametrize("options", [{"keep": "all"}, {"graph": "full"}])
def test_codes_alone_are_not_enough_for_vectors_that_are_kept_or_linked(
    build: Build, options: dict[str, str]
) -> None:
    index = build(**options)
    codes = index.codes_of([1])

    with pytest.raises(WrongState):
        index.add_codes([700], codes)


def test_an_index_without_codes_has_none_to_give(vectors: Floats) -> None:
    index = gossamer.VectorIndex.build(vectors, keep="all", code_bytes=0, calibrate=False)

    with pytest.raises(WrongState):
        index.codes_of([1])
    with pytest.raises(WrongState):
        index.estimate(vectors[0], 3)


# Estimates


def test_estimates_are_those_of_the_codebook(
    grown: gossamer.VectorIndex, codebook: gossamer.Codebook, queries: Floats
) -> None:
    ids, distances = grown.estimate(queries[0], 50)

    estimates, _ = codebook.estimate(queries[0], grown.codes_of(np.arange(600)))
    assert ids.tolist() == np.argsort(estimates, kind="stable")[:50].tolist()
    assert np.allclose(distances, np.sort(estimates)[:50], atol=1e-6)


def test_estimates_never_name_what_is_deleted_or_not_allowed(
    grown: gossamer.VectorIndex, queries: Floats
) -> None:
    gone = grown.estimate(queries[0], 5)[0]
    grown.delete(gone)
    allowed = np.arange(0, 600, 2)
    mask = np.zeros(600, np.bool_)
    mask[allowed] = True

    everything, _ = grown.estimate(queries[0], 1000)
    listed, _ = grown.estimate(queries[0], 1000, allow=np.setdiff1d(allowed, gone))
    masked, _ = grown.estimate(queries[0], 1000, allow=mask)

    assert sorted(everything.tolist()) == np.setdiff1d(np.arange(600), gone).tolist()
    assert sorted(listed.tolist()) == np.setdiff1d(allowed, gone).tolist()
    assert listed.tolist() == masked.tolist()


def test_estimates_refuse_wrong_queries(grown: gossamer.VectorIndex, queries: Floats) -> None:
    with pytest.raises(InvalidArgument):
        grown.estimate(queries, 5)
    with pytest.raises(InvalidArgument):
        grown.estimate(queries[0], 0)
    with pytest.raises(WrongDimension):
        grown.estimate(queries[0, :4], 5)
    with pytest.raises(NotFinite):
        grown.estimate(np.full(DIM, np.nan), 5)


@pytest.mark.parametrize("metric", ["cosine", "l2"])
def test_estimates_are_distances_of_the_metric(
    vectors: Floats, queries: Floats, metric: str
) -> None:
    index = gossamer.VectorIndex.create(gossamer.train_codebook(vectors, 20, metric=metric))
    index.add(vectors)

    ids, distances = index.estimate(queries[0], 10)
    exact = index.search(queries[0], 600, vectors_of=lambda wanted: vectors[wanted])

    by_id = dict(zip(exact.ids.tolist(), exact.distances.tolist(), strict=True))
    assert np.allclose(distances, [by_id[id] for id in ids.tolist()], atol=0.2)


# Space


def test_compaction_returns_the_space_of_what_was_deleted(
    codebook: gossamer.Codebook, vectors: Floats, tmp_path: Path
) -> None:
    index = gossamer.VectorIndex.create(codebook)
    index.add(np.tile(vectors, (5, 1)))
    index.delete(np.arange(300, 3000))
    index.compact()
    small = gossamer.VectorIndex.create(codebook)
    small.add(vectors[:300])

    sizes = [each.save(tmp_path / "a.gossamer", with_codebook=False) for each in (index, small)]

    assert sizes[0] == sizes[1]


def test_ids_that_grow_with_gaps_take_far_less_than_a_byte_each(
    codebook: gossamer.Codebook, tmp_path: Path
) -> None:
    index = gossamer.VectorIndex.create(codebook)
    codes = np.zeros((20_000, codebook.code_bytes), np.uint8)
    index.add_codes(np.arange(20_000), codes)
    random = np.random.default_rng(1)
    next_id = 20_000
    for first in random.choice(400, 100, replace=False) * 50:
        index.delete(np.arange(first, first + 20))
        index.add_codes(np.arange(next_id, next_id + 25), codes[:25])
        next_id += 25
    index.compact()

    size = index.save(tmp_path / "a.gossamer", with_codebook=False)

    ids_bytes = size - index.stats().codes_bytes - 1024
    assert ids_bytes < 0.1 * len(index)
    opened = gossamer.VectorIndex.open(tmp_path / "a.gossamer", codebook=codebook)
    assert opened.ids.tolist() == index.ids.tolist()


@pytest.mark.parametrize("first", [0, 1, 2**32 - 3, 2**62])
def test_ids_in_any_order_come_back(
    codebook: gossamer.Codebook, vectors: Floats, tmp_path: Path, first: int
) -> None:
    shuffled = first + np.random.default_rng(2).permutation(600)
    for ids in (shuffled, np.sort(shuffled), np.sort(shuffled)[::-1]):
        index = gossamer.VectorIndex.create(codebook)
        index.add(vectors, ids=ids)
        index.save(tmp_path / "a.gossamer", with_codebook=False)

        opened = gossamer.VectorIndex.open(tmp_path / "a.gossamer", codebook=codebook)

        assert opened.ids.tolist() == ids.tolist()


# Vectors that cannot be had


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("keep", ["none", "hot:10KB"])
def test_a_vector_that_cannot_be_had_is_never_a_hit(
    build: Build, vectors: Floats, queries: Floats, strategy: str, keep: str
) -> None:
    index = build(keep=keep, graph="full")
    kept = set() if keep == "none" else set(index.ids.tolist()) - _asked_for(index, vectors)
    lost = np.array([id for id in range(0, 600, 2) if id not in kept])

    found = index.search(
        queries, 10, strategy=strategy, recall=0.99, vectors_of=Patchy(vectors, lost)
    )

    left = np.setdiff1d(np.arange(600), lost)
    truth = left[nearest_ids(queries, vectors[left], 10)]
    assert found.ids.shape == (len(queries), 10)
    assert not np.isin(found.ids, lost).any()
    assert recall(found.ids, truth) > 0.85


def _asked_for(index: gossamer.VectorIndex, vectors: Floats) -> set[int]:
    library = Library(vectors)
    index.session(vectors[0], 600, strategy="exact").run(library)
    return set(library.asked)


@pytest.mark.parametrize("effort", [None, 20])
def test_all_hits_that_can_be_had_are_found_when_nearly_nothing_can(
    grown: gossamer.VectorIndex, vectors: Floats, queries: Floats, effort: int | None
) -> None:
    lost = np.setdiff1d(np.arange(600), [17, 404, 500])
    library = Patchy(vectors, lost)

    found = grown.search(queries[0], 10, effort=effort, vectors_of=library)

    assert sorted(found.ids.tolist()) == [17, 404, 500]
    assert found.stats.rounds < 30
    assert len(library.asked) == len(set(library.asked))


def test_what_is_missing_costs_few_others(
    grown: gossamer.VectorIndex, vectors: Floats, queries: Floats
) -> None:
    usual = grown.search(queries[0], 3, vectors_of=lambda ids: vectors[ids])
    patchy = Patchy(vectors, usual.ids[:2])

    found = grown.search(queries[0], 3, vectors_of=patchy)

    assert found.ids[0] == usual.ids[2]
    assert len(found.ids) == 3
    assert len(patchy.asked) <= 2 * usual.stats.vectors_asked + 10


def test_queries_that_miss_more_end_with_no_id(
    codebook: gossamer.Codebook, vectors: Floats
) -> None:
    index = gossamer.VectorIndex.create(codebook)
    index.add(vectors[:4])
    session = index.session(vectors[:2], 4)

    session.supply(vectors[:4], missing=[False, True, False, True])

    assert session.wanted().size == 0
    assert session.nearest().ids.shape == (2, 2)
    assert set(session.nearest().ids.ravel().tolist()) == {0, 2}


def test_a_missing_vector_may_be_anything_and_others_must_be_finite(
    grown: gossamer.VectorIndex, vectors: Floats, queries: Floats
) -> None:
    session = grown.session(queries[0], 3)
    wanted = session.wanted()
    supplied = vectors[wanted]
    supplied[0] = np.nan
    missing = np.zeros(len(wanted), np.bool_)

    with pytest.raises(NotFinite):
        session.supply(supplied)
    with pytest.raises(NotFinite):
        session.supply(supplied, missing=missing)
    missing[0] = True
    session.supply(supplied, missing=missing)
    assert wanted[0] not in session.nearest().ids


def test_masks_of_another_shape_are_refused(
    grown: gossamer.VectorIndex, vectors: Floats, queries: Floats
) -> None:
    session = grown.session(queries[0], 3)
    supplied = vectors[session.wanted()]

    for missing in ([True], np.zeros(len(supplied)), [[True] * len(supplied)]):
        with pytest.raises(InvalidArgument):
            session.supply(supplied, missing=missing)


def test_hot_vectors_never_come_from_rows_that_are_missing(
    build: Build, vectors: Floats, queries: Floats
) -> None:
    index = build(keep="hot:20KB")

    index.search(queries, 5, vectors_of=Patchy(vectors, np.arange(0, 600, 2)))
    found = index.search(queries, 5, vectors_of=lambda ids: vectors[ids])

    assert np.isfinite(found.distances).all()


# Calibrations


def test_a_calibration_measured_elsewhere_serves_an_index_that_grows(sample: Sample) -> None:
    measured = gossamer.VectorIndex.build(
        sample.chunks,
        keep="all",
        codebook=sample.codebook,
        calibration_queries=sample.questions,
        threads=1,
    )
    index = gossamer.VectorIndex.create(sample.codebook, calibration=measured.calibration)
    index.add(sample.chunks)

    found = index.search(
        sample.questions, 10, recall=0.95, vectors_of=lambda ids: sample.chunks[ids]
    )

    assert recall(found.ids, sample.truth) >= 0.94
    assert found.stats.effort == measured.search(sample.questions, 10, recall=0.95).stats.effort


def test_calibrations_come_back_from_their_bytes(calibrated: Calibration) -> None:
    again = Calibration.from_bytes(calibrated.to_bytes())

    assert again.to_bytes() == calibrated.to_bytes()


def test_an_index_without_a_calibration_can_be_given_one_later(
    grown: gossamer.VectorIndex, calibrated: Calibration, tmp_path: Path
) -> None:
    assert grown.calibration is None
    grown.calibration = calibrated
    grown.save(tmp_path / "with.gossamer")
    grown.save(tmp_path / "without.gossamer", with_calibration=False)

    opened = gossamer.VectorIndex.open(tmp_path / "with.gossamer")
    bare = gossamer.VectorIndex.open(tmp_path / "without.gossamer")

    assert opened.calibration is not None
    assert opened.calibration.to_bytes() == calibrated.to_bytes()
    assert bare.calibration is None
    bare.calibration = calibrated
    assert bare.calibration is not None


def test_margins_grow_with_the_number_of_vectors_that_may_be_returned(
    codebook: gossamer.Codebook, vectors: Floats, queries: Floats
) -> None:
    rows = [(0.5, 2.0, 10.0), (0.9, 4.0, 20.0)]
    calibration = gossamer._core.make_calibration([(1, rows), (10, rows)], 600, 0.5)
    index = gossamer.VectorIndex.create(codebook, calibration=calibration)
    index.add(vectors)

    def margin(**options: object) -> float:
        return index.session(queries[0], 5, recall=0.9, **options).stats().effort.margin

    assert margin() == pytest.approx(4.0)
    assert margin(allow=np.arange(60)) == pytest.approx(4.0 + 0.5 * np.log(0.1), abs=1e-5)
    again = Calibration.from_bytes(calibration.to_bytes())
    assert again.to_bytes() == calibration.to_bytes()


@pytest.mark.parametrize(
    "table",
    [(0, [(0.9, 1.0, 1.0)]), (3, [(1.5, 1.0, 1.0)]), (3, [(0.9, float("nan"), 1.0)])],
)
def test_tables_that_cannot_be_are_refused(
    table: tuple[int, list[tuple[float, float, float]]],
) -> None:
    with pytest.raises(Damaged):
        gossamer._core.make_calibration([table], 1, 0.0)


# Model packs


def test_a_codebook_and_its_calibration_travel_in_one_file(
    codebook: gossamer.Codebook, calibrated: Calibration
) -> None:
    again, calibration = unpack_codebook(pack_codebook(codebook, calibrated))

    assert again.fingerprint == codebook.fingerprint
    assert calibration is not None
    assert calibration.to_bytes() == calibrated.to_bytes()


def test_a_codebook_travels_alone(codebook: gossamer.Codebook) -> None:
    again, calibration = unpack_codebook(pack_codebook(codebook))

    assert again.to_bytes() == codebook.to_bytes()
    assert calibration is None


def test_a_pack_that_is_cut_short_or_changed_is_refused(
    codebook: gossamer.Codebook, calibrated: Calibration
) -> None:
    pack = pack_codebook(codebook, calibrated)
    random = np.random.default_rng(3)

    for size in [0, 7, 63, *random.integers(64, len(pack), 40).tolist()]:
        with pytest.raises((Truncated, NotGossamer)):
            unpack_codebook(pack[:size])
    for place in _meaningful(pack, random.integers(0, len(pack), 200)):
        changed = bytearray(pack)
        changed[place] ^= 0x40
        with pytest.raises(GossamerError):
            unpack_codebook(bytes(changed))


def _meaningful(pack: bytes, places: NDArray[np.int64]) -> list[int]:
    """Leave out zeros, which may be padding."""
    return [int(place) for place in places if pack[place] != 0]


def test_what_is_no_pack_is_refused(grown: gossamer.VectorIndex, tmp_path: Path) -> None:
    path = tmp_path / "a.gossamer"
    grown.save(path, with_codebook=False)

    with pytest.raises(NotGossamer):
        unpack_codebook(b"something else, long enough to have a header" * 4)
    with pytest.raises(Damaged, match="codebook"):
        unpack_codebook(path.read_bytes())


def test_the_codebook_that_ships_opens_and_is_calibrated() -> None:
    data = resources.files("gossamer.models").joinpath("data", "minilm.codebook").read_bytes()

    codebook, calibration = unpack_codebook(data)

    assert (codebook.dim, codebook.metric, codebook.code_bytes) == (384, "ip", 24)
    assert calibration is not None
    margins = [margin for _, margin, _ in dict(calibration.scan_tables())[3]]
    assert margins == sorted(margins)
