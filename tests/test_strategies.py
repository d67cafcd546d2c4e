"""Every way of searching, over everything an index can be made of."""

import numpy as np
import pytest
from conftest import Library, nearest_ids, recall

from gossamer import Effort, VectorIndex

KEEPS = ["none", "hot:6KB", "all"]
GRAPHS = [None, "full", "hub", "slim"]
BY_CODES = ["scan", "walk", "two-level"]
BY_GRAPH = ["walk", "two-level", "best-first", "lazy"]
# The strategies that each kind of index can serve when it has codes.
SERVED = [("scan", None), ("exact", None), ("auto", None)]
SERVED += [(s, g) for g in GRAPHS[1:] for s in ["auto", "scan", "exact", *BY_GRAPH]]
# Enough to look at everything that a walk meets.
PLENTY = Effort(rerank=600, beam=600, ratio=1.0, batch=64)


@pytest.mark.parametrize("keep", KEEPS)
@pytest.mark.parametrize(("strategy", "graph"), SERVED)
def test_enough_effort_finds_what_exact_search_finds(
    strategy, graph, keep, build, vectors, queries, library
):
    index = build(keep=keep, graph=graph, scalar="f32")

    found = index.search(queries, 10, strategy=strategy, effort=PLENTY, vectors_of=library)

    assert np.array_equal(found.ids, nearest_ids(queries, vectors, 10))


@pytest.mark.parametrize("metric", ["cosine", "l2"])
@pytest.mark.parametrize("strategy", ["scan", *BY_GRAPH])
def test_enough_effort_finds_the_nearest_by_any_metric(strategy, metric, vectors, queries):
    scaled = vectors * np.linspace(0.8, 1.2, 600, dtype=np.float32)[:, None]
    index = VectorIndex.build(
        scaled, metric=metric, graph="full", code_bytes=12, calibrate=False, threads=1
    )

    found = index.search(queries, 10, strategy=strategy, effort=PLENTY, vectors_of=Library(scaled))

    assert np.array_equal(found.ids, nearest_ids(queries, scaled, 10, metric))


@pytest.mark.parametrize("graph", GRAPHS[1:])
@pytest.mark.parametrize("strategy", ["best-first", "lazy"])
def test_kept_vectors_need_no_codes(strategy, graph, vectors, queries):
    index = VectorIndex.build(vectors, keep="all", graph=graph, calibrate=False, threads=1)

    found = index.search(queries, 10, strategy=strategy, effort=100)

    assert index.codebook is None
    assert recall(found.ids, nearest_ids(queries, vectors, 10)) >= 0.95


@pytest.mark.parametrize("strategy", [*BY_CODES, "best-first", "lazy"])
def test_more_effort_looks_at_more_and_finds_more(strategy, build, vectors, queries, library):
    index = build(graph="full")
    truth = nearest_ids(queries, vectors, 10)

    little, much = (
        index.search(queries, 10, strategy=strategy, effort=effort, vectors_of=library)
        for effort in (Effort(rerank=10, beam=10, ratio=0.05), PLENTY)
    )

    assert little.stats.vectors_asked < much.stats.vectors_asked
    assert recall(little.ids, truth) < recall(much.ids, truth)


@pytest.mark.parametrize("strategy", ["scan", "walk"])
def test_a_number_as_effort_is_the_number_of_vectors_looked_at(strategy, build, queries, library):
    found = build(graph="full").search(queries, 3, strategy=strategy, effort=25, vectors_of=library)

    assert found.stats.vectors_asked == 25 * len(queries)
    assert found.stats.effort.rerank == found.stats.effort.beam == 25


def test_effort_below_k_still_finds_k(build, queries, library):
    for strategy in ("scan", *BY_GRAPH):
        found = build(graph="full").search(
            queries, 20, strategy=strategy, effort=1, vectors_of=library
        )

        assert found.ids.shape == (40, 20)


@pytest.mark.parametrize("strategy", ["auto", "scan", "exact", *BY_GRAPH])
def test_kept_vectors_are_never_asked_for(strategy, build, queries, library):
    index = build(keep="all", graph="full")

    found = index.search(queries, 10, strategy=strategy, vectors_of=library)

    assert library.asked == []
    assert found.stats.vectors_asked == found.stats.rounds == 0


@pytest.mark.parametrize("strategy", ["scan", "exact", *BY_GRAPH])
def test_hot_vectors_are_never_asked_for(strategy, build, queries, library):
    index = build(keep="hot:9600B", graph="full")
    hot = [id for id in range(600) if is_kept(index, id)]

    session = index.session(queries, 10, strategy=strategy, effort=60)
    session.run(library)

    assert len(hot) == 100
    assert not set(hot) & set(library.asked)


def is_kept(index: VectorIndex, id: int) -> bool:
    try:
        index.vectors([id])
    except LookupError:
        return False
    return True


@pytest.mark.parametrize("strategy", ["scan", "exact", *BY_GRAPH])
def test_a_vector_is_asked_for_once_in_a_search(strategy, build, queries, library):
    build(graph="full").search(queries[0], 10, strategy=strategy, effort=60, vectors_of=library)

    assert len(library.asked) == len(set(library.asked)) > 0


def test_hot_mode_asks_for_less_the_second_time(build, queries, library):
    index = build(keep="hot:15KB")

    first = index.search(queries, 5, effort=20, vectors_of=library)
    second = index.search(queries, 5, effort=20, vectors_of=library)

    assert second.stats.vectors_fetched < first.stats.vectors_fetched
    assert np.array_equal(first.ids, second.ids)


@pytest.mark.parametrize("budget", [0, 47, 48, 4_800, 20_000])
def test_hot_mode_stays_within_its_budget(budget, build, queries, library):
    index = build(keep=f"hot:{budget}B", graph="full")
    for strategy in ("scan", "best-first", "exact"):
        index.search(queries, 10, strategy=strategy, effort=50, vectors_of=library)

        assert index.stats().vectors_bytes <= budget

    assert index.stats().kept == min(budget // 48, 600)


def test_hot_vectors_survive_saving(build, queries, library, tmp_path):
    index = build(keep="hot:15KB")
    index.search(queries, 5, effort=20, vectors_of=library)
    index.save(tmp_path / "hot")
    again = VectorIndex.open(tmp_path / "hot")

    expected, found = (i.search(queries, 5, effort=20, vectors_of=library) for i in (index, again))

    assert found.stats.vectors_fetched == expected.stats.vectors_fetched
    assert np.array_equal(found.ids, expected.ids)


def test_best_first_asks_at_every_hop_and_lazy_saves_rounds(build, queries, library):
    index = build(graph="full")

    eager, lazy, batched = (
        index.search(queries[0], 5, strategy=strategy, effort=60, vectors_of=library).stats
        for strategy in ("best-first", "lazy", "two-level")
    )

    assert lazy.rounds < eager.rounds / 2
    assert batched.rounds < eager.rounds / 2


def test_two_level_asks_for_fewer_vectors_than_best_first(build, vectors, queries, library):
    index = build(graph="full")
    truth = nearest_ids(queries, vectors, 5)

    eager = index.search(queries, 5, strategy="best-first", effort=20, vectors_of=library)
    steered = index.search(
        queries, 5, strategy="two-level", effort=Effort(beam=20, ratio=0.2), vectors_of=library
    )

    assert steered.stats.vectors_asked < eager.stats.vectors_asked / 2
    assert recall(steered.ids, truth) >= recall(eager.ids, truth) - 0.05


def test_two_level_asks_for_about_a_batch_at_a_time(build, queries, library):
    sizes = []
    index = build(graph="full")

    index.search(
        queries[0],
        5,
        strategy="two-level",
        effort=Effort(beam=100, ratio=0.5, batch=32),
        vectors_of=lambda ids: (sizes.append(len(ids)), library(ids))[1],
    )

    assert 24 <= np.median(sizes) <= 64


def test_counters_count_what_each_strategy_does(build, queries, library):
    index = build(graph="full")

    scan, walk, eager, exact = (
        index.search(queries[0], 5, strategy=strategy, effort=30, vectors_of=library).stats
        for strategy in ("scan", "walk", "best-first", "exact")
    )

    assert (scan.strategy, scan.codes_touched, scan.hops) == ("scan", 600, 0)
    assert 0 < walk.codes_touched < 600
    assert walk.hops >= 30
    assert eager.codes_touched == 0
    assert eager.distances == eager.vectors_asked == eager.vectors_fetched
    assert exact.distances == 600


def test_auto_looks_at_everything_where_little_is_kept(build, queries, vectors):
    found = build(keep="all", graph="full", scalar="f32").search(queries, 5)

    assert found.stats.strategy == "exact"
    assert np.array_equal(found.ids, nearest_ids(queries, vectors, 5))


def test_auto_scans_where_nothing_is_kept(build, queries, library):
    assert build(graph="hub").search(queries, 5, vectors_of=library).stats.strategy == "scan"


def test_auto_walks_where_much_is_kept(sample):
    index = VectorIndex.build(sample.chunks, keep="all", graph="full", calibrate=False)

    everywhere = index.search(sample.questions, 5)
    in_few = index.search(sample.questions, 5, allow=np.arange(50))

    assert everywhere.stats.strategy == "best-first"
    assert in_few.stats.strategy == "exact"
