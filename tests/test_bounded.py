"""Builds within a memory budget: the vectors stream by, and the index is as good."""

import numpy as np
import pytest
from conftest import DIM, Library, clustered, nearest_ids, recall

from gossamer import Effort, VectorIndex
from gossamer.errors import (
    DuplicateId,
    Empty,
    InvalidArgument,
    NotFinite,
    TooLarge,
    WrongDimension,
    WrongState,
)

ROWS = clustered(2000, seed=1)
QUERIES = clustered(100, seed=3)
TRUTH = nearest_ids(QUERIES, ROWS, 5)


def stream(size: int = 300):
    """Give the vectors in matrices, anew each time."""
    return lambda: (ROWS[start : start + size] for start in range(0, len(ROWS), size))


def build(source=None, **options) -> VectorIndex:
    """Build from the stream, without calibration unless it is asked for."""
    return VectorIndex.build(source or stream(), **({"calibrate": False} | options))


def found_by(index: VectorIndex, strategy: str, effort: Effort):
    return index.search(QUERIES, 5, strategy=strategy, effort=effort, vectors_of=Library(ROWS))


def curve_of(index: VectorIndex) -> tuple[list[int], list[float]]:
    """Give what recall costs: vectors asked for, and the recall they give."""
    results = [found_by(index, "best-first", Effort(beam=beam)) for beam in (10, 20, 40, 80)]
    costs = [result.stats.vectors_asked for result in results]
    return costs, [recall(result.ids, TRUTH) for result in results]


@pytest.mark.parametrize("graph", ["full", "hub"])
@pytest.mark.parametrize("budget", ["500KB", "1MB", "1GB"])
def test_a_streamed_graph_finds_as_much_for_the_same_cost(budget, graph, codebook):
    streamed = build(graph=graph, memory_budget=budget, codebook=codebook, threads=1)
    whole = VectorIndex.build(ROWS, graph=graph, codebook=codebook, threads=1, calibrate=False)

    costs, recalls = curve_of(streamed)

    expected = np.interp(costs, *curve_of(whole))
    assert (np.array(recalls) >= expected - 0.05).all()


def test_streamed_codes_are_those_of_a_whole_build(codebook):
    streamed = build(memory_budget="1MB", codebook=codebook)
    whole = VectorIndex.build(ROWS, codebook=codebook, calibrate=False)

    got, expected = (found_by(i, "scan", Effort(rerank=20)) for i in (streamed, whole))

    assert np.array_equal(got.ids, expected.ids)
    assert np.array_equal(got.distances, expected.distances)


def test_a_codebook_is_trained_on_a_sample_of_the_stream():
    streamed = build(memory_budget="300KB", code_bytes=12)
    whole = VectorIndex.build(ROWS, code_bytes=12, calibrate=False)

    got, expected = (found_by(i, "scan", Effort(rerank=15)) for i in (streamed, whole))

    assert recall(got.ids, TRUTH) >= recall(expected.ids, TRUTH) - 0.03


def test_a_function_alone_streams_within_a_budget_by_itself(codebook):
    index = build(codebook=codebook)

    assert len(index) == 2000


@pytest.mark.parametrize("size", [1, 7, 2000])
def test_how_the_stream_is_cut_changes_nothing(size, codebook, tmp_path):
    for name, cut in (("usual", 300), ("other", size)):
        build(stream(cut), graph="hub", memory_budget="300KB", codebook=codebook, threads=1).save(
            tmp_path / name
        )

    assert (tmp_path / "usual").read_bytes() == (tmp_path / "other").read_bytes()


def test_shards_may_be_asked_for_by_id(codebook):
    ids = np.arange(2000) * 3 + 1
    asked = Library(ROWS)

    index = build(
        ids=ids,
        graph="hub",
        memory_budget="300KB",
        codebook=codebook,
        vectors_of=lambda wanted: asked((wanted - 1) // 3),
    )

    assert sorted(set(asked.asked)) == list(range(2000))
    found = index.search(
        QUERIES, 5, strategy="exact", vectors_of=lambda wanted: ROWS[(wanted - 1) // 3]
    )
    assert np.array_equal(found.ids, ids[TRUTH])


def test_a_streamed_index_can_be_saved_and_updated(codebook, tmp_path):
    index = build(graph="hub", memory_budget="300KB", codebook=codebook)
    index.save(tmp_path / "index")
    index = VectorIndex.open(tmp_path / "index", verify=True)
    library = Library(ROWS)

    index.delete(np.arange(100))
    index.add(ROWS[:50], np.arange(9000, 9050), vectors_of=library)

    library.add(np.arange(9000, 9050), ROWS[:50])
    found = index.search(ROWS[:50], 1, effort=100, strategy="walk", vectors_of=library)
    assert found.ids[:, 0].tolist() == list(range(9000, 9050))


def test_progress_names_what_is_being_done(codebook):
    calls = []

    build(
        graph="hub",
        memory_budget="300KB",
        codebook=codebook,
        progress=lambda *call: calls.append(call),
    )

    phases = list(dict.fromkeys(phase for phase, _, _ in calls))
    assert phases == ["sampling", "encoding", "graph"]
    assert calls[-1][1] == calls[-1][2]


class Changing:
    """A stream that is another one when it is read for the nth time."""

    def __init__(self, nth: int, then: np.ndarray) -> None:
        self.passes = 0
        self.nth = nth
        self.then = then

    def __call__(self):
        self.passes += 1
        rows = self.then if self.passes >= self.nth else ROWS
        return (rows[start : start + 300] for start in range(0, len(rows), 300))


@pytest.mark.parametrize("nth", [2, 3])
@pytest.mark.parametrize(
    "then", [ROWS[:-1], ROWS[:0], np.concatenate([ROWS, ROWS[:1]]), ROWS[::-1]],
    ids=["shorter", "empty", "longer", "in another order"],
)  # fmt: skip
def test_a_stream_that_changes_is_refused(nth, then, codebook):
    with pytest.raises(WrongState, match="must give the same ones each time"):
        build(Changing(nth, then), graph="hub", memory_budget="300KB", codebook=codebook)


@pytest.mark.parametrize("then", [ROWS[:-1], ROWS[::-1]], ids=["shorter", "in another order"])
def test_a_stream_that_changes_before_calibration_is_refused(then, codebook):
    with pytest.raises(WrongState, match="must give the same ones each time"):
        build(Changing(3, then), calibrate=True, codebook=codebook)


@pytest.mark.parametrize("asked", [0.8, 0.95])
@pytest.mark.parametrize("graph", [None, "hub"])
def test_a_streamed_index_reaches_the_recall_asked_for(graph, asked, codebook):
    index = build(graph=graph, memory_budget="300KB", codebook=codebook, calibrate=True)

    found = index.search(QUERIES, 10, recall=asked, strategy="scan", vectors_of=Library(ROWS))

    assert recall(found.ids, nearest_ids(QUERIES, ROWS, 10)) >= asked - 0.04
    assert found.stats.effort.margin != Effort().margin


def test_a_generator_is_refused_because_it_can_be_read_only_once(codebook):
    generator = stream()()

    with pytest.raises(InvalidArgument, match="a generator can be read only once"):
        VectorIndex.build(generator, codebook=codebook)
    with pytest.raises(InvalidArgument, match="takes a function that gives the vectors"):
        VectorIndex.build(generator, codebook=codebook, memory_budget="1MB")
    with pytest.raises(WrongState, match="must give the same ones each time"):
        VectorIndex.build(lambda: generator, codebook=codebook, memory_budget="1MB")


@pytest.mark.parametrize("budget", ["1KB", 20_000, 0])
def test_a_budget_too_small_for_a_shard_is_refused(budget, codebook):
    with pytest.raises(TooLarge, match=r"needs a memory budget of .* bytes at least"):
        build(graph="hub", memory_budget=budget, codebook=codebook)


@pytest.mark.parametrize(
    "options",
    [{"keep": "all"}, {"keep": "hot:1MB"}, {"graph": "slim"}],
)
def test_a_bounded_build_says_what_it_cannot_make(options):
    with pytest.raises(InvalidArgument, match="a bounded build keeps no vectors and makes no"):
        build(memory_budget="1MB", **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"code_bytes": 0}, "a bounded build keeps no vectors, so it needs codes"),
        ({"scalar": "f16"}, "scalar is for kept vectors, and a bounded build keeps none"),
        ({"refine_order": True}, "a bounded build does not refine the order of nodes"),
        ({"refine_order": False}, "a bounded build does not refine the order of nodes"),
        ({"threads": -1}, "threads must be between 0 and .*, not -1"),
        ({"seed": -1}, "seed must be between 0 and .*, not -1"),
        ({"memory_budget": -1}, "a number of bytes must be between 0 and .*, not -1"),
        ({"memory_budget": 1e9}, "a number of bytes such as 50MB, not 1000000000.0"),
    ],
)
def test_what_a_bounded_build_would_ignore_is_refused(options, message):
    with pytest.raises(InvalidArgument, match=message):
        build(**options)


def test_code_bytes_and_codebook_must_agree(codebook):
    with pytest.raises(InvalidArgument, match="take 12 bytes, but code_bytes is 16"):
        build(codebook=codebook, code_bytes=16)


def test_a_budget_may_be_any_integer(codebook, tmp_path):
    for name, budget in (("text", "300KB"), ("number", np.int64(300_000))):
        build(graph="hub", memory_budget=budget, codebook=codebook, threads=1).save(tmp_path / name)

    assert (tmp_path / "text").read_bytes() == (tmp_path / "number").read_bytes()


def test_the_options_of_a_streamed_index_are_those_asked_for(codebook):
    given = {"hub_degree": 40, "low_degree": 9, "hub_share": 0.05, "hub_effort": 77}

    index = build(graph="hub", memory_budget="300KB", codebook=codebook, seed=5, **given)

    stored = index._core.options
    hub = stored.hub
    assert (hub.max_degree, hub.low_degree, hub.hub_share, hub.effort) == (40, 9, 0.05, 77)
    assert stored.build.seed == 5


def test_the_vectors_of_a_stream_are_checked(codebook):
    spoilt = ROWS.copy()
    spoilt[1500, 2] = np.inf

    with pytest.raises(NotFinite, match="vector 1500 has inf at position 2"):
        VectorIndex.build(lambda: np.array_split(spoilt, 7), codebook=codebook)
    with pytest.raises(WrongDimension, match=f"of 3 dimensions, not {DIM}"):
        VectorIndex.build(lambda: [ROWS, np.ones((2, 3))], codebook=codebook)
    with pytest.raises(Empty, match="the stream gave no vectors"):
        VectorIndex.build(lambda: [], codebook=codebook)
    with pytest.raises(InvalidArgument, match="vectors must be numbers"):
        VectorIndex.build(lambda: [["a"]], codebook=codebook)


def test_the_ids_of_a_stream_are_checked(codebook):
    with pytest.raises(InvalidArgument, match="3 ids came for 2000 vectors"):
        build(ids=[1, 2, 3], codebook=codebook)
    with pytest.raises(DuplicateId, match="id 1 is given to two vectors"):
        build(ids=np.ones(2000, int), codebook=codebook)
