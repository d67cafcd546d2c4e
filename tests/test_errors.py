"""What is wrong with a call is said where the value enters: what was expected, and what came."""

import numpy as np
import pytest
from conftest import DIM, clustered

import gossamer
from gossamer import Effort, GossamerError, VectorIndex, errors
from gossamer.errors import (
    CodebookMismatch,
    DuplicateId,
    Empty,
    InvalidArgument,
    NotFinite,
    UnknownId,
    WrongDimension,
    WrongState,
)


def test_every_error_is_a_gossamer_error_and_the_builtin_that_fits():
    classes = [getattr(errors, name) for name in errors.__all__]

    assert all(issubclass(error, GossamerError) for error in classes)
    assert all(error.__doc__ for error in classes)
    assert issubclass(InvalidArgument, ValueError)
    assert issubclass(UnknownId, LookupError)
    assert issubclass(WrongState, RuntimeError)


@pytest.mark.parametrize("keep", ["none", "all"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_number_that_is_not_finite_is_named_by_its_row(value, keep, vectors):
    spoilt = vectors.copy()
    spoilt[417, 3] = value

    with pytest.raises(NotFinite, match=r"vector 417 has -?(nan|inf) at position 3"):
        VectorIndex.build(spoilt, keep=keep, code_bytes=12)


def test_a_number_too_large_for_32_bits_is_named_by_its_row(vectors):
    large = vectors.astype(np.float64)
    large[9, 0] = 1e300

    with pytest.raises(NotFinite, match="vector 9 has inf"):
        VectorIndex.build(large, keep="all", code_bytes=0)


@pytest.mark.parametrize("dim", [1, DIM - 1, DIM + 1])
def test_vectors_of_another_dimension_are_refused(dim, build):
    index = build(keep="all", graph="full")
    others = np.ones((3, dim), np.float32)

    for call in (index.search, index.session, index.add, index.recalibrate):
        with pytest.raises(WrongDimension, match=rf"{DIM} dimensions, got {dim}"):
            call(others)
    with pytest.raises(WrongDimension, match=rf"{DIM} dimensions, got {dim}"):
        VectorIndex.build(clustered(50, 1), calibration_queries=others, code_bytes=12)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([["a", "b"]], "vectors must be numbers, not <U1"),
        (np.ones((3, 4), complex), "vectors must be numbers, not complex128"),
        (np.ones((3, 4), bool), "vectors must be numbers, not bool"),
        (None, "vectors must be numbers, not object"),
        (np.ones(4), r"two dimensions.*1 came, of shape \(4,\)"),
        (np.ones((2, 3, 4)), "two dimensions.*3 came"),
        (3.0, "two dimensions.*0 came"),
    ],
)
def test_what_is_not_a_matrix_of_numbers_is_refused(given, message):
    with pytest.raises(InvalidArgument, match=message):
        VectorIndex.build(given)


def test_queries_are_checked_like_vectors(build):
    index = build(keep="all")

    with pytest.raises(InvalidArgument, match="queries must be numbers, not <U5"):
        index.search("whale")
    with pytest.raises(InvalidArgument, match="queries must be numbers, not complex64"):
        index.search(np.ones(DIM, np.complex64))
    with pytest.raises(NotFinite, match="vector 1 has nan at position 0"):
        index.search(np.array([np.zeros(DIM), np.full(DIM, np.nan)]))


@pytest.mark.parametrize("keep", ["none", "all"])
def test_nothing_cannot_be_indexed(keep):
    with pytest.raises(Empty, match="no vectors"):
        VectorIndex.build(np.zeros((0, DIM)), keep=keep)


def test_vectors_need_a_dimension():
    with pytest.raises(GossamerError):
        VectorIndex.build(np.zeros((5, 0)), keep="all", code_bytes=0)


def test_no_queries_give_no_rows(build, queries):
    assert len(build(keep="all").search(queries[:0]).ids) == 0


@pytest.mark.parametrize(
    ("ids", "error", "message"),
    [
        (np.zeros(600, int), DuplicateId, "id 0 is given to two vectors"),
        (np.arange(599), InvalidArgument, "one id for each vector"),
        (np.arange(600) - 1, InvalidArgument, r"between 0 and 2\^63 - 1"),
        (np.arange(600, dtype=np.uint64) + np.uint64(2**63), InvalidArgument, r"2\^63 - 1"),
        (np.arange(600.0), InvalidArgument, "whole numbers, not float64"),
        ([str(i) for i in range(600)], InvalidArgument, "whole numbers, not <U3"),
        (np.ones(600, bool), InvalidArgument, "whole numbers, not bool"),
        (np.arange(600)[:, None], InvalidArgument, r"of shape \(600, 1\)"),
    ],
)
def test_ids_that_cannot_be_are_refused(ids, error, message, build):
    with pytest.raises(error, match=message):
        build(ids=ids)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "dot"}, "metric must be one of 'ip', 'cosine', 'l2', not 'dot'"),
        ({"keep": "some"}, "keep must be one of 'none', 'hot', 'all', not 'some'"),
        ({"keep": None}, "keep must be one of"),
        ({"keep": "hot"}, "'hot:50MB', not 'hot'"),
        ({"keep": "all:5MB"}, "'hot:50MB', not 'all:5MB'"),
        ({"keep": "hot:much"}, "a number of bytes such as 50MB, not 'much'"),
        ({"keep": "hot:5XB"}, "a number of bytes such as 50MB, not '5XB'"),
        ({"graph": "tree"}, "graph must be one of 'none', 'full', 'hub', 'slim', not 'tree'"),
        ({"scalar": "f64"}, "scalar must be one of 'f32', 'f16', 'i8', not 'f64'"),
        ({"fast": True, "best": 1}, "unknown options: best, fast"),
        ({"max_degree": -1, "graph": "full"}, "max_degree must be between 0 and .*, not -1"),
        ({"max_degree": 1, "graph": "full"}, "max_degree must be between 2 and 127"),
        ({"max_degree": 2.5, "graph": "full"}, "max_degree must be a whole number, not 2.5"),
        ({"build_effort": 0, "graph": "full"}, "effort must be at least 1"),
        ({"level_probability": 1.0, "graph": "full"}, r"level_probability must be in \[0, 1\)"),
        ({"hub_share": 1.5, "graph": "hub"}, r"hub_share must be in \[0, 1\]"),
        ({"hub_share": "many", "graph": "hub"}, "hub_share must be a number, not 'many'"),
        ({"hub_effort": 0, "graph": "hub"}, "hub_effort must be between 1 and .*, not 0"),
        ({"hub_effort": 1.5, "graph": "hub"}, "hub_effort must be a whole number, not 1.5"),
        ({"slim": 3, "graph": "slim"}, "slim must be a gossamer.SlimOptions, not 3"),
        ({"keep_source": True, "graph": "slim"}, "keep_source is for graph='slim' with keep='all'"),
        ({"keep_source": True, "keep": "all"}, "keep_source is for graph='slim' with keep='all'"),
        ({"threads": -1}, "threads must be between 0 and .*, not -1"),
        ({"seed": -1}, "seed must be between 0 and"),
        ({"code_bytes": 0, "codebook": None}, "without codes all vectors must be kept"),
        ({"code_bytes": 1, "codebook": None}, "code_bytes must be between 2 and 25 here, not 1"),
        ({"code_bytes": 65, "codebook": None}, "code_bytes must be between 2 and 25 here, not 65"),
        ({"code_bytes": -1, "codebook": None}, "code_bytes must be between 0 and .*, not -1"),
        ({"code_bytes": 16}, "the codebook take 12 bytes, but code_bytes is 16"),
        ({"code_bytes": 0, "keep": "all"}, "the codebook take 12 bytes, but code_bytes is 0"),
        ({"calibration_queries": np.ones((2, DIM))}, "came with calibrate=False"),
        ({"vectors_of": lambda ids: ids}, "vectors_of is for bounded builds"),
        ({"memory_budget": "1GB"}, "a function that gives the vectors"),
    ],
)
def test_options_that_cannot_be_are_refused(options, message, build):
    with pytest.raises(InvalidArgument, match=message):
        build(**options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, "k must be between 1 and"),
        ({"k": -3}, "k must be between 1 and .*, not -3"),
        ({"k": 2.5}, "k must be a whole number, not 2.5"),
        ({"k": 2**80}, "k must be between 1 and"),
        ({"recall": 0}, "recall must be above 0 and at most 1"),
        ({"recall": 1.01}, "recall must be above 0 and at most 1"),
        ({"recall": float("nan")}, "recall must be above 0 and at most 1"),
        ({"effort": 0}, "effort must be between 1 and"),
        ({"effort": 2**40}, "effort must be between 1 and"),
        ({"effort": 2**30}, "effort is beyond"),
        ({"effort": "much"}, "effort must be a whole number, not 'much'"),
        ({"effort": Effort(rerank=-1)}, "effort.rerank must be between 0 and"),
        ({"effort": Effort(beam=-1)}, "effort.beam must be between 0 and"),
        ({"effort": Effort(batch=-1)}, "effort.batch must be between 0 and"),
        ({"effort": Effort(ratio=-0.1)}, "effort.ratio must be between 0 and 1, not -0.1"),
        ({"effort": Effort(ratio=1.5)}, "effort.ratio must be between 0 and 1, not 1.5"),
        ({"effort": Effort(ratio=float("nan"))}, "effort.ratio must be a finite number"),
        ({"effort": Effort(margin=float("inf"))}, "effort.margin must be a finite number"),
        ({"effort": Effort(margin="wide")}, "effort.margin must be a number, not 'wide'"),
        ({"strategy": "guess"}, "strategy must be one of 'auto', 'scan', 'walk', 'two-level'"),
        ({"threads": -1}, "threads must be between 0 and"),
        ({"allow": [1.5]}, "allow must be a row of whole numbers, not float64"),
        ({"allow": [-1]}, r"allow must lie between 0 and 2\^63 - 1"),
        ({"allow": np.ones((2, 2), bool)}, r"a row of booleans, not of shape \(2, 2\)"),
    ],
)
def test_searches_that_cannot_be_are_refused(options, message, build, queries):
    with pytest.raises(InvalidArgument, match=message):
        build(keep="all").search(queries, **options)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_calibration_queries_must_be_finite(value, vectors, queries, build):
    spoilt = queries.copy()
    spoilt[17, 2] = value

    with pytest.raises(NotFinite, match=r"calibration query 17 has (nan|inf) at position 2"):
        build(calibrate=True, calibration_queries=spoilt)
    with pytest.raises(NotFinite, match=r"calibration query 17 has (nan|inf) at position 2"):
        build(keep="all").recalibrate(spoilt)
    with pytest.raises(NotFinite, match=r"calibration query 17 has (nan|inf) at position 2"):
        VectorIndex.build(lambda: [vectors], calibration_queries=spoilt)


@pytest.mark.parametrize("given", [-1, 1.5, 2**31])
def test_threads_that_cannot_be_are_refused_by_updates(given, build):
    index = build(keep="all")

    with pytest.raises(InvalidArgument, match="threads must be"):
        index.compact(threads=given)
    with pytest.raises(InvalidArgument, match="threads must be"):
        index.recalibrate(threads=given)


@pytest.mark.parametrize("given", [-1, 1.5, 2**63])
def test_a_seed_that_cannot_be_is_refused_by_recalibration(given, build):
    with pytest.raises(InvalidArgument, match="seed must be"):
        build(keep="all").recalibrate(seed=given)


def test_an_unknown_id_is_named(build, queries):
    index = build(keep="all")

    with pytest.raises(UnknownId, match="no vector with id 600"):
        index.delete([3, 600])
    with pytest.raises(UnknownId, match="no vector with id 999"):
        index.vectors([999])
    with pytest.raises(UnknownId, match="no vector with id 700"):
        index.search(queries, allow=[5, 700])


def test_a_vector_that_is_not_kept_cannot_be_had(build):
    with pytest.raises(UnknownId, match="the vector of id 5 is not kept"):
        build(keep="none").vectors([5])


@pytest.mark.parametrize("strategy", ["walk", "two-level", "best-first", "lazy"])
def test_a_strategy_that_needs_a_graph_is_refused_without_one(strategy, build, queries):
    with pytest.raises(InvalidArgument, match=f"'{strategy}' needs a graph"):
        build(keep="all").search(queries, strategy=strategy)


@pytest.mark.parametrize("strategy", ["scan", "walk", "two-level"])
def test_a_strategy_that_needs_codes_is_refused_without_them(strategy, vectors, queries):
    index = VectorIndex.build(vectors, keep="all", graph="full", calibrate=False)

    with pytest.raises(InvalidArgument, match=f"'{strategy}' needs codes"):
        index.search(queries, strategy=strategy)


@pytest.mark.parametrize("keep", ["none", "hot:1KB"])
def test_a_search_that_needs_vectors_says_so(keep, build, queries):
    with pytest.raises(WrongState, match="give vectors_of=, a function from ids to vectors"):
        build(keep=keep).search(queries)


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        (lambda rows: rows[:-1], InvalidArgument, r"one for each wanted id.*came"),
        (lambda rows: rows[:, :-1], InvalidArgument, r"expected 30 vectors of 24 numbers"),
        (lambda rows: rows.T, InvalidArgument, r"of shape \(24, 30\) came"),
        (lambda rows: rows.ravel(), InvalidArgument, "two dimensions"),
        (lambda rows: rows.astype(str), InvalidArgument, "vectors_of gives must be numbers"),
        (lambda rows: None, InvalidArgument, "vectors_of gives must be numbers, not object"),  # noqa: ARG005
        (lambda rows: rows * np.nan, NotFinite, "vector 0 has nan"),
    ],
)
@pytest.mark.parametrize("keep", ["none", "hot:0B"])
def test_what_vectors_of_gives_is_checked(keep, given, error, message, build, vectors, queries):
    index = build(keep=keep)

    with pytest.raises(error, match=message):
        index.search(queries[0], 5, effort=30, vectors_of=lambda ids: given(vectors[ids]))
    with pytest.raises(error, match=message):
        index.session(queries[0], 5, effort=30).supply(given(vectors[:30]))


def test_what_vectors_of_raises_comes_through(build, queries):
    def fail(ids: np.ndarray) -> np.ndarray:
        raise ConnectionError(f"no answer for {len(ids)} ids")

    with pytest.raises(ConnectionError, match="no answer for 20 ids"):
        build().search(queries[0], 5, effort=20, vectors_of=fail)
    with pytest.raises(ConnectionError):
        build(graph="hub").add(clustered(3, seed=5), vectors_of=fail)


def test_an_index_is_as_before_after_vectors_of_failed(build, queries, library):
    index = build(keep="hot:6KB")

    with pytest.raises(ZeroDivisionError):
        index.search(queries, 5, vectors_of=lambda ids: 1 / 0)  # noqa: ARG005

    assert index.search(queries, 5, vectors_of=library).ids.shape == (40, 5)


@pytest.mark.parametrize("change", ["add", "delete", "compact"])
def test_a_session_notices_that_the_index_changed(change, build, vectors, queries):
    index = build(keep="none")
    index.delete([0])
    session = index.session(queries[0], 5)
    wanted = session.wanted()

    if change == "add":
        index.add(vectors[:1])
    elif change == "delete":
        index.delete([7])
    else:
        index.compact()

    with pytest.raises(WrongState, match="changed while this search was under way; start"):
        session.supply(vectors[wanted])
    with pytest.raises(WrongState, match="changed while this search was under way; start"):
        session.nearest()


def test_supplying_what_was_not_wanted_is_refused(build, vectors, queries):
    session = build(keep="all").session(queries[0], 5)

    with pytest.raises(InvalidArgument, match="expected 0 vectors"):
        session.supply(vectors[:1])


def test_a_codebook_for_other_vectors_is_refused(vectors, codebook):
    with pytest.raises(CodebookMismatch, match="it has 24 dimensions, the index 16"):
        VectorIndex.build(vectors[:, :16], codebook=codebook)
    with pytest.raises(CodebookMismatch, match="another dimension or metric"):
        VectorIndex.build(vectors, codebook=codebook, metric="l2")


def test_recalibration_needs_the_vectors(build):
    with pytest.raises(WrongState, match="needs all vectors to be kept"):
        build(keep="none").recalibrate()


def test_a_budget_too_small_for_any_graph_is_refused():
    with pytest.raises(errors.TooLarge, match="but the budget is 10"):
        gossamer.propose_slim(1000, 10)
    with pytest.raises(InvalidArgument, match="a number of bytes"):
        gossamer.propose_slim(1000, "lots")


@pytest.mark.parametrize("budget", [-1, np.int64(-5), 2**63, "99999999999TB"])
def test_a_number_of_bytes_that_cannot_be_is_refused(budget):
    with pytest.raises(InvalidArgument, match=r"a number of bytes must be between 0 and .*, not"):
        gossamer.propose_slim(1000, budget)


@pytest.mark.parametrize("budget", [1e6, None, "-5MB", "5 apples"])
def test_what_is_not_a_number_of_bytes_is_refused(budget):
    with pytest.raises(InvalidArgument, match="expected a number of bytes such as 50MB, not"):
        gossamer.propose_slim(1000, budget)


@pytest.mark.parametrize("budget", [np.int32(100_000), np.uint64(100_000), "100KB", "100000"])
def test_a_number_of_bytes_may_be_of_any_integer_type(budget):
    assert gossamer.propose_slim(1000, budget)[0] == gossamer.propose_slim(1000, 100_000)[0]


def test_training_refuses_what_building_refuses(vectors):
    spoilt = vectors.copy()
    spoilt[3, 2] = np.nan

    with pytest.raises(NotFinite, match="vector 3 has nan"):
        gossamer.train_codebook(spoilt, 8)
    with pytest.raises(InvalidArgument, match="metric must be"):
        gossamer.train_codebook(vectors, 8, metric="dot")
    with pytest.raises(Empty, match="at least one row"):
        gossamer.train_codebook(vectors[:0], 8)


@pytest.mark.parametrize("damage", [lambda b: b[:-1], lambda b: b + b"\0", lambda b: b"\0" + b,
                                    lambda b: b[:90] + bytes([b[90] ^ 1]) + b[91:]])  # fmt: skip
def test_a_damaged_codebook_is_refused(damage, codebook):
    with pytest.raises(GossamerError, match="codebook: "):
        gossamer.Codebook.from_bytes(damage(codebook.to_bytes()))


@pytest.mark.parametrize(
    ("graph", "option"),
    [
        (None, {"max_degree": 8}),
        ("full", {"hub_share": 0.1}),
        ("slim", {"low_degree": 4}),
        ("hub", {"slim": gossamer.SlimOptions()}),
    ],
)
def test_an_option_of_another_graph_is_refused(graph, option):
    vectors = np.random.default_rng(3).standard_normal((50, 8), dtype=np.float32)

    with pytest.raises(InvalidArgument, match="has no effect with graph"):
        gossamer.VectorIndex.build(vectors, graph=graph, keep="all", **option)
