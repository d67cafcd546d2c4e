"""`VectorIndex` as its users see it: build, search, filters, sessions, statistics."""

import numpy as np
import pytest
from conftest import DIM, Library, clustered, exact_distances, nearest_ids

import gossamer
from gossamer import VectorIndex

METRICS = ["ip", "cosine", "l2"]
# What rounding to the type that vectors are kept in may change: relative to a length of one.
ROUNDING = {"f32": 1e-6, "f16": 2e-3, "i8": 3e-2}


@pytest.mark.parametrize("scalar", ["f32", "f16", "i8"])
@pytest.mark.parametrize("metric", METRICS)
def test_distances_are_those_of_numpy(metric, scalar, vectors, queries):
    index = VectorIndex.build(
        vectors, metric=metric, keep="all", code_bytes=0, scalar=scalar, calibrate=False
    )

    found = index.search(queries, 600, strategy="exact")

    expected = np.take_along_axis(exact_distances(queries, vectors, metric), found.ids, axis=1)
    assert found.distances == pytest.approx(expected, abs=4 * ROUNDING[scalar])
    assert (np.diff(found.distances, axis=1) >= 0).all()


@pytest.mark.parametrize("metric", METRICS)
def test_distances_of_supplied_vectors_are_those_of_numpy(metric, vectors, queries):
    index = VectorIndex.build(vectors, metric=metric, code_bytes=12, calibrate=False)

    found = index.search(queries, 20, strategy="exact", vectors_of=Library(vectors))

    expected = exact_distances(queries, vectors, metric)
    assert np.array_equal(found.ids, nearest_ids(queries, vectors, 20, metric))
    assert found.distances == pytest.approx(
        np.take_along_axis(expected, found.ids, axis=1), abs=1e-5
    )


@pytest.mark.parametrize("metric", METRICS)
def test_long_and_short_vectors_are_told_apart_unless_only_direction_counts(metric):
    rows = clustered(300, seed=5) * np.linspace(0.1, 30, 300, dtype=np.float32)[:, None]
    queries = clustered(10, seed=6) * 7
    index = VectorIndex.build(rows, metric=metric, keep="all", graph="full", scalar="f32")

    found = index.search(queries, 5, recall=1.0, strategy="exact")

    assert np.array_equal(found.ids, nearest_ids(queries, rows, 5, metric))


def test_the_zero_vector_can_be_indexed_and_searched_for(vectors):
    rows = np.concatenate([vectors, np.zeros((1, DIM), np.float32)])
    index = VectorIndex.build(rows, metric="cosine", keep="all", graph="full", calibrate=False)

    found = index.search(np.zeros(DIM), 3, strategy="exact")

    assert found.distances == pytest.approx([1, 1, 1])


def test_half_precision_gives_way_where_numbers_are_too_large(vectors, queries):
    index = VectorIndex.build(
        vectors * 1e6, metric="l2", keep="all", code_bytes=0, scalar="f16", calibrate=False
    )

    found = index.search(queries * 1e6, 5, strategy="exact")

    assert np.array_equal(found.ids, nearest_ids(queries, vectors, 5, "l2"))


def test_one_query_gives_a_row_and_several_a_matrix(build, queries):
    index = build(keep="all")

    one = index.search(queries[0], 7)
    many = index.search(queries, 7)

    assert one.ids.shape == one.distances.shape == (7,)
    assert many.ids.shape == many.distances.shape == (40, 7)
    assert one.ids.dtype == np.int64
    assert one.distances.dtype == np.float32


@pytest.mark.parametrize(("keep", "graph"), [("none", None), ("none", "hub"), ("all", "full")])
def test_a_batch_finds_what_single_queries_find(keep, graph, build, queries, library):
    index = build(keep=keep, graph=graph)

    together = index.search(queries, 5, effort=40, vectors_of=library)
    alone = [index.search(query, 5, effort=40, vectors_of=library) for query in queries]

    assert np.array_equal(together.ids, [result.ids for result in alone])
    assert np.array_equal(together.distances, [result.distances for result in alone])


def test_more_queries_than_are_searched_at_once_come_back_in_order(build, library):
    index = build(keep="none")
    queries = clustered(700, seed=9)

    found = index.search(queries, 3, effort=30, vectors_of=library)

    assert found.ids.shape == (700, 3)
    assert found.stats.queries == 700
    last = index.search(queries[650:], 3, effort=30, vectors_of=library)
    assert np.array_equal(found.ids[650:], last.ids)


@pytest.mark.parametrize(("keep", "graph"), [("none", None), ("none", "hub"), ("all", "full")])
def test_threads_do_not_change_what_is_found(keep, graph, build, queries, library):
    index = build(keep=keep, graph=graph)

    one, three = (
        index.search(queries, 5, effort=40, vectors_of=library, threads=threads)
        for threads in (1, 3)
    )

    assert np.array_equal(one.ids, three.ids)
    assert np.array_equal(one.distances, three.distances)


def test_a_batch_asks_for_a_vector_that_many_queries_want_once(build, queries, library):
    index = build(keep="none")

    found = index.search(np.repeat(queries[:1], 8, axis=0), 3, effort=20, vectors_of=library)

    assert found.stats.vectors_asked == 8 * 20
    assert found.stats.vectors_fetched == len(library.asked) == 20


@pytest.mark.parametrize("allowed", [1, 3, 30, 599])
@pytest.mark.parametrize("strategy", ["auto", "scan", "walk", "two-level", "best-first", "lazy"])
def test_a_filter_gives_all_matches_up_to_k(strategy, allowed, build, queries, library):
    index = build(keep="none", graph="full")
    ids = np.random.default_rng(allowed).permutation(600)[:allowed]

    found = index.search(queries, 10, allow=ids, strategy=strategy, vectors_of=library)

    assert found.ids.shape == (40, min(10, allowed))
    assert np.isin(found.ids, ids).all()


@pytest.mark.parametrize(("keep", "graph"), [("none", None), ("all", None), ("all", "slim")])
def test_a_mask_allows_what_its_list_of_ids_allows(keep, graph, build, vectors, queries, library):
    index = build(keep=keep, graph=graph)
    mask = np.arange(600) % 7 == 3

    by_mask = index.search(queries, 5, allow=mask, effort=600, vectors_of=library)
    by_ids = index.search(queries, 5, allow=np.flatnonzero(mask), effort=600, vectors_of=library)

    truth = np.flatnonzero(mask)[nearest_ids(queries, vectors[mask], 5)]
    assert np.array_equal(by_mask.ids, truth)
    assert np.array_equal(by_ids.ids, truth)


def test_a_mask_shorter_than_the_ids_allows_none_of_the_rest(build, queries, library):
    index = build()

    found = index.search(queries, 10, allow=np.ones(4, bool), vectors_of=library)

    assert np.array_equal(np.sort(found.ids, axis=1), np.tile(np.arange(4), (40, 1)))


@pytest.mark.parametrize("allow", [[], np.zeros(600, bool)])
def test_a_filter_that_allows_nothing_finds_nothing(allow, build, queries, library):
    found = build().search(queries, 10, allow=allow, vectors_of=library)

    assert found.ids.shape == (40, 0)


def test_a_k_beyond_the_index_finds_everything(build, queries, library):
    for k in (600, 601, 10**15):
        found = build().search(queries[0], k, vectors_of=library)

        assert np.array_equal(np.sort(found.ids), np.arange(600))


def test_ids_are_what_the_caller_says_they_are(vectors, codebook, queries):
    ids = np.random.default_rng(8).permutation(600).astype(np.int64) * 10**12 + 5
    place = {id: row for row, id in enumerate(ids.tolist())}
    index = VectorIndex.build(vectors, ids=ids, codebook=codebook, graph="hub", calibrate=False)

    found = index.search(
        queries,
        5,
        strategy="exact",
        vectors_of=lambda wanted: vectors[[place[id] for id in wanted.tolist()]],
    )

    assert np.array_equal(found.ids, ids[nearest_ids(queries, vectors, 5)])
    assert np.array_equal(np.sort(index.ids), np.sort(ids))
    assert int(ids[0]) in index
    assert 3 not in index


def test_membership_is_false_for_what_cannot_be_an_id(build):
    index = build()

    assert 599 in index
    assert np.int64(599) in index
    for id in (-1, 600, 2**70, 1.5, "0", None):
        assert id not in index


def test_kept_vectors_can_be_had_back(build, vectors):
    index = build(keep="all", graph="slim", scalar="f32")

    assert np.array_equal(index.vectors([5, 0, 599]), vectors[[5, 0, 599]])


@pytest.mark.parametrize("dtype", [np.float16, np.float64, np.int8, np.int32, np.uint16])
def test_vectors_of_any_numbers_are_taken(dtype, queries):
    rows = (np.abs(clustered(100, seed=4)) * 100).astype(dtype)
    index = VectorIndex.build(rows, keep="all", scalar="f32", code_bytes=0, calibrate=False)

    found = index.search(queries, 4, strategy="exact")

    assert np.array_equal(found.ids, nearest_ids(queries, rows.astype(np.float32), 4))


def test_lists_and_strided_arrays_are_taken(vectors, queries):
    whole = VectorIndex.build(vectors[::2, ::-1], code_bytes=12, keep="all", calibrate=False)
    listed = VectorIndex.build(
        vectors[::2, ::-1].tolist(), code_bytes=12, keep="all", calibrate=False
    )

    query = queries[0, ::-1]
    assert np.array_equal(whole.search(query).ids, listed.search(query.tolist()).ids)


def test_short_vectors_get_short_codes_by_themselves():
    index = VectorIndex.build(clustered(200, seed=4, dim=6), calibrate=False)

    assert index.stats().code_bytes == 7


@pytest.mark.parametrize("count", [1, 2, 3, 17])
@pytest.mark.parametrize(
    ("keep", "graph"),
    [("none", None), ("none", "hub"), ("hot:1KB", "full"), ("all", "slim"), ("all", "full")],
)
def test_tiny_indexes_find_everything(keep, graph, count, codebook):
    rows = clustered(count, seed=7)
    index = VectorIndex.build(rows, keep=keep, graph=graph, codebook=codebook)

    found = index.search(rows, 5, recall=0.99, vectors_of=Library(rows))

    assert np.array_equal(found.ids[:, 0], np.arange(count))
    assert found.ids.shape == (count, min(5, count))


def test_equal_vectors_are_all_found():
    rows = np.repeat(clustered(1, seed=7), 90, axis=0)
    index = VectorIndex.build(rows, keep="all", graph="full", calibrate=False)

    found = index.search(rows[0], 90, strategy="best-first", effort=90)

    assert np.array_equal(np.sort(found.ids), np.arange(90))


def test_one_dimension_is_enough():
    rows = np.arange(50, dtype=np.float32)[:, None]
    index = VectorIndex.build(rows, metric="l2", keep="all", graph="full", calibrate=False)

    assert index.search([17.2], 3).ids.tolist() == [17, 18, 16]


@pytest.mark.parametrize("strategy", ["scan", "walk", "two-level", "best-first", "lazy", "exact"])
def test_a_session_by_hand_is_a_search(strategy, build, vectors, queries, library):
    index = build(keep="none", graph="hub")
    searched = index.search(queries, 5, effort=40, strategy=strategy, vectors_of=library)

    session = index.session(queries, 5, effort=40, strategy=strategy)
    while (wanted := session.wanted()).size:
        session.supply(vectors[wanted])
    result = session.nearest()

    assert np.array_equal(result.ids, searched.ids)
    assert np.array_equal(result.distances, searched.distances)
    assert result.stats.vectors_asked == searched.stats.vectors_asked
    assert result.stats.rounds == searched.stats.rounds


def test_a_session_gives_the_best_so_far_before_it_is_over(build, vectors, queries):
    session = build(keep="none").session(queries[0], 5, effort=gossamer.Effort(margin=9))
    before = session.nearest()
    session.supply(vectors[session.wanted()])
    after = session.nearest()

    assert len(before.ids) == 0
    assert len(after.ids) == 5


def test_a_session_that_wants_nothing_is_over_at_once(build, queries):
    session = build(keep="all", graph="full").session(queries, 5)

    assert session.wanted().size == 0
    assert session.nearest().ids.shape == (40, 5)


def test_searches_side_by_side_do_not_disturb_each_other(build, vectors, queries, library):
    index = build(keep="none", graph="hub")
    alone = [index.search(query, 5, effort=30, strategy="lazy", vectors_of=library).ids
             for query in queries[:10]]  # fmt: skip

    sessions = [index.session(query, 5, effort=30, strategy="lazy") for query in queries[:10]]
    while any(session.wanted().size for session in sessions):
        for session in sessions:
            session.supply(vectors[session.wanted()])

    assert np.array_equal([session.nearest().ids for session in sessions], alone)


def test_statistics_say_what_the_index_holds(build):
    stats = build(keep="all", graph="slim", keep_source=True).stats()

    assert (stats.count, stats.deleted, stats.kept, stats.dim) == (600, 0, 600, DIM)
    assert (stats.metric, stats.keep, stats.graph) == ("ip", "all", "slim")
    assert stats.code_bytes == 12
    assert stats.codes_bytes == 600 * 12
    assert stats.vectors_bytes == 600 * DIM * 2
    assert 0 < stats.graph_bytes < stats.source_graph_bytes
    assert not stats.rebuild_hint


def test_a_pruned_graph_has_fewer_links(build):
    full, hub, slim = (build(keep="all", graph=graph).stats() for graph in ("full", "hub", "slim"))

    assert hub.mean_degree < 0.7 * full.mean_degree
    assert slim.mean_degree < 0.7 * full.mean_degree


@pytest.mark.parametrize("graph", [None, "full", "hub", "slim"])
@pytest.mark.parametrize("keep", ["none", "hot:4KB", "all"])
def test_the_same_seed_and_one_thread_give_the_same_bytes(keep, graph, build, tmp_path):
    for name in ("first", "second"):
        build(keep=keep, graph=graph, seed=5).save(tmp_path / name)

    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()


def test_progress_is_reported_and_ends_at_its_total(vectors):
    calls = []

    VectorIndex.build(
        vectors, code_bytes=12, graph="hub", progress=lambda *call: calls.append(call)
    )

    assert {"training"} <= {phase for phase, _, _ in calls}
    assert all(0 <= done <= total or total == 0 for _, done, total in calls)
    assert [call for call in calls if call[0] == "training"][-1][1:] == (12, 12)


def test_a_progress_callback_that_raises_stops_the_build(vectors):
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        VectorIndex.build(vectors, code_bytes=12, graph="full", progress=stop)


def test_slim_parameters_are_proposed_for_a_budget():
    small, small_size = gossamer.propose_slim(100_000, "1MB")
    large, large_size = gossamer.propose_slim(100_000, "4MB")

    assert small.low_degree0 < large.low_degree0
    assert isinstance(small, gossamer.SlimOptions)
    assert small_size is not large_size


def test_slim_options_reach_the_graph(build):
    thin = gossamer.SlimOptions(hub_degree0=8, low_degree0=3, hub_degree=4, low_degree=2)

    by_default, thinned, by_in_degree = (
        build(keep="all", graph="slim", slim=slim).stats()
        for slim in (gossamer.SlimOptions(), thin, gossamer.SlimOptions(by_in_degree=True))
    )

    assert thinned.mean_degree < by_default.mean_degree
    assert by_in_degree.mean_degree != by_default.mean_degree


def test_graph_options_reach_the_graph(build):
    narrow = build(keep="all", graph="full", max_degree=4, build_effort=20)
    tall = build(keep="all", graph="full", level_probability=0.5)
    thin = build(keep="all", graph="hub", hub_degree=10, low_degree=3, hub_share=0.05)
    short_sighted = build(keep="all", graph="hub", hub_effort=3)

    assert narrow.stats().mean_degree <= 8
    assert tall.stats().levels >= 6
    by_default = build(keep="all", graph="hub").stats().mean_degree
    assert thin.stats().mean_degree < by_default
    assert short_sighted.stats().mean_degree < by_default


def test_records_are_frozen(build, queries):
    result = build(keep="all").search(queries[0])

    with pytest.raises(AttributeError):
        result.stats.rounds = 3
