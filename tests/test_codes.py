"""Codebooks from Python: training, codes, estimates and scans against numpy."""

import numpy as np
import pytest

from gossamer._core import assign_nearest_two, kmeans
from gossamer.vectors.codes import Codebook, train_codebook


def clustered(count: int, dim: int, seed: int = 3) -> np.ndarray:
    """Unit vectors around 40 centers, with axes of falling variance, as text vectors have."""
    rng = np.random.default_rng(seed)
    scales = 1 / np.sqrt(1 + np.arange(dim))
    centers = np.random.default_rng(0).normal(size=(40, dim)) * scales
    rows = centers[rng.integers(0, 40, count)] + 0.5 * rng.normal(size=(count, dim)) * scales
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


BASE = clustered(4000, 48)
QUERIES = clustered(50, 48, seed=4)


@pytest.fixture(scope="module")
def codebook() -> Codebook:
    return train_codebook(BASE, code_bytes=16)


def exact_distances(metric: str, query: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return ((rows - query) ** 2).sum(axis=1) if metric == "l2" else -(rows @ query)


@pytest.mark.parametrize(
    ("metric", "coarse"), [("ip", 0), ("cosine", 0), ("l2", 0), ("ip", 16), ("cosine", 16)]
)
def test_the_nearest_three_are_among_the_thirty_best_estimates(metric, coarse):
    codebook = train_codebook(BASE, code_bytes=16, metric=metric, coarse=coarse)

    best, _ = codebook.scan(QUERIES, codebook.encode(BASE), 30)

    truth = [np.argsort(exact_distances(metric, query, BASE))[:3] for query in QUERIES]
    found = np.mean(
        [np.isin(nearest, nodes).mean() for nearest, nodes in zip(truth, best, strict=True)]
    )
    assert found >= 0.95


@pytest.mark.parametrize("metric", ["ip", "cosine", "l2"])
def test_estimates_follow_exact_distances_as_closely_as_their_error_says(metric):
    codebook = train_codebook(BASE, code_bytes=16, metric=metric)
    codes = codebook.encode(BASE)

    ratios = []
    for query in QUERIES:
        estimates, error = codebook.estimate(query, codes)
        ratios.append((exact_distances(metric, query, BASE) - estimates).std() / error)

    assert 0.5 < np.mean(ratios) < 2


def test_a_scan_equals_sorting_all_estimates(codebook):
    codes = codebook.encode(BASE)

    nodes, distances = codebook.scan(QUERIES, codes, 100)

    for query, row, values in zip(QUERIES, nodes, distances, strict=True):
        estimates, _ = codebook.estimate(query, codes)
        assert np.array_equal(row, np.argsort(estimates, kind="stable")[:100])
        assert np.array_equal(values, estimates[row])


def test_a_scan_keeps_to_the_allowed_nodes(codebook):
    allowed = np.arange(len(BASE)) % 50 == 7

    nodes, _ = codebook.scan(QUERIES[:2], codebook.encode(BASE), 500, allowed)

    assert nodes.shape == (2, allowed.sum())
    assert (nodes % 50 == 7).all()


def test_decoded_codes_point_where_their_vectors_do(codebook):
    decoded = codebook.decode(codebook.encode(BASE))

    missed = ((BASE - decoded) ** 2).sum(axis=1).mean()
    assert missed < 0.25 * ((BASE - BASE.mean(axis=0)) ** 2).sum(axis=1).mean()


def test_a_codebook_read_back_is_the_same(codebook):
    again = Codebook.from_bytes(codebook.to_bytes())

    assert again.fingerprint == codebook.fingerprint
    assert (again.dim, again.code_bytes, again.metric) == (48, 16, "ip")
    assert np.array_equal(again.encode(BASE), codebook.encode(BASE))


def test_training_twice_with_a_seed_gives_the_same_codebook_on_any_number_of_threads():
    one = train_codebook(BASE, code_bytes=8, seed=5, threads=1)
    two = train_codebook(BASE, code_bytes=8, seed=5, threads=2)

    assert one.fingerprint == two.fingerprint


@pytest.mark.parametrize("count", [1, 2, 10, 300])
@pytest.mark.parametrize("metric", ["ip", "l2"])
def test_few_vectors_are_enough_for_a_codebook(count, metric):
    codebook = train_codebook(BASE[:count], code_bytes=8, metric=metric)

    estimates, error = codebook.estimate(QUERIES[0], codebook.encode(BASE[:count]))

    assert np.isfinite(estimates).all()
    assert np.isfinite(error)


def test_a_dimension_that_does_not_divide_and_equal_vectors_can_be_coded():
    rows = np.ones((500, 37), dtype=np.float32)

    codebook = train_codebook(rows, code_bytes=11)

    assert np.allclose(codebook.decode(codebook.encode(rows)), 1, atol=0.01)


def test_a_large_scale_does_not_overflow():
    codebook = train_codebook(BASE * 1e6, code_bytes=16)

    decoded = codebook.decode(codebook.encode(BASE * 1e6)) / 1e6

    assert ((BASE - decoded) ** 2).sum(axis=1).mean() < 0.2


def test_progress_counts_up_to_its_total():
    seen = []

    train_codebook(
        BASE[:500], code_bytes=8, progress=lambda done, total: seen.append((done, total))
    )

    assert [done for done, _ in seen] == list(range(1, len(seen) + 1))
    assert seen[-1][0] == seen[-1][1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"metric": "dot"}, "metric"),
        ({"code_bytes": 65}, "code_bytes"),
        ({"code_bytes": 1}, "code_bytes"),
        ({"code_bytes": 60}, "code_bytes"),
        ({"metric": "l2", "coarse": 4}, "coarse"),
    ],
)
def test_arguments_that_cannot_work_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        train_codebook(BASE, **arguments)


def test_vectors_that_are_empty_or_not_finite_are_refused():
    with pytest.raises(ValueError, match="at least one row"):
        train_codebook(BASE[:0])
    with pytest.raises(ValueError, match="finite"):
        train_codebook(np.full((10, 48), np.nan, dtype=np.float32))


def test_the_two_nearest_centroids_are_those_numpy_finds():
    centroids = kmeans(BASE, 20, iterations=5)

    found = assign_nearest_two(BASE, centroids)

    distances = ((BASE[:, None] - centroids[None]) ** 2).sum(axis=2)
    assert np.array_equal(found, np.argsort(distances, axis=1)[:, :2])
