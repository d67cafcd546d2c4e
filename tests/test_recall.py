"""Recall as the dial: what is asked for is found, on real text vectors and real questions."""

import numpy as np
import pytest
from conftest import Library, Sample, clustered, nearest_ids, recall

from gossamer import Effort, VectorIndex

# A hundred questions tell recall@10 to within about this.
TOLERANCE = 0.04


@pytest.fixture(scope="module")
def scanned(sample: Sample) -> VectorIndex:
    return VectorIndex.build(sample.chunks, codebook=sample.codebook)


@pytest.fixture(scope="module")
def kept(sample: Sample) -> VectorIndex:
    return VectorIndex.build(sample.chunks, keep="all", graph="slim")


@pytest.fixture(scope="module")
def walked() -> VectorIndex:
    rows = clustered(1000, seed=1)
    return VectorIndex.build(rows, graph="hub", code_bytes=12)


@pytest.mark.parametrize("asked", [0.80, 0.90, 0.95, 0.99])
@pytest.mark.parametrize("k", [3, 10])
def test_a_scan_reaches_the_recall_asked_for(k, asked, scanned, sample):
    found = scanned.search(sample.questions, k, recall=asked, vectors_of=Library(sample.chunks))

    assert recall(found.ids, sample.truth[:, :k]) >= asked - TOLERANCE


@pytest.mark.parametrize("asked", [0.80, 0.90, 0.95, 0.99])
def test_a_walk_over_kept_vectors_reaches_the_recall_asked_for(asked, kept, sample):
    found = kept.search(sample.questions, 10, recall=asked, strategy="best-first")

    assert recall(found.ids, sample.truth) >= asked - TOLERANCE


@pytest.mark.parametrize("asked", [0.80, 0.95])
@pytest.mark.parametrize("strategy", ["scan", "walk", "two-level", "best-first", "lazy"])
def test_every_strategy_reaches_the_recall_asked_for(strategy, asked, walked):
    rows = clustered(1000, seed=1)
    queries = clustered(200, seed=3)

    found = walked.search(queries, 10, recall=asked, strategy=strategy, vectors_of=Library(rows))

    assert recall(found.ids, nearest_ids(queries, rows, 10)) >= asked - TOLERANCE


def test_more_recall_costs_more_vectors(scanned, sample):
    asked = [
        scanned.search(
            sample.questions, 3, recall=wanted, vectors_of=Library(sample.chunks)
        ).stats.vectors_asked
        for wanted in (0.5, 0.9, 0.95, 0.98, 0.995)
    ]

    assert asked == sorted(asked)
    assert asked[0] < asked[2] < asked[4]


def test_a_moderate_recall_is_not_overpaid(scanned, sample):
    found = scanned.search(sample.questions, 3, recall=0.9, vectors_of=Library(sample.chunks))

    assert found.stats.vectors_asked / len(sample.questions) <= 24


def test_recall_of_one_is_the_most_that_calibration_tried(scanned, sample):
    most, nearly = (
        scanned.search(sample.questions, 3, recall=wanted, vectors_of=Library(sample.chunks))
        for wanted in (1.0, 0.99)
    )

    assert most.stats.effort.margin >= nearly.stats.effort.margin
    assert recall(most.ids, sample.truth[:, :3]) >= 0.98


def test_the_adaptive_stop_asks_for_fewer_vectors_than_a_fixed_number_at_equal_recall(
    scanned, sample
):
    truth = sample.truth[:, :3]
    adaptive = scanned.search(sample.questions, 3, recall=0.95, vectors_of=Library(sample.chunks))
    reached = recall(adaptive.ids, truth)

    # The smallest fixed number that finds as much.
    for rerank in range(3, 200):
        fixed = scanned.search(
            sample.questions, 3, effort=Effort(rerank=rerank), vectors_of=Library(sample.chunks)
        )
        if recall(fixed.ids, truth) >= reached:
            break

    assert recall(fixed.ids, truth) >= reached
    assert adaptive.stats.vectors_asked < 0.9 * fixed.stats.vectors_asked


def test_easy_queries_stop_earlier_than_hard_ones(scanned, sample):
    asked = [
        scanned.search(
            question, 3, recall=0.99, vectors_of=Library(sample.chunks)
        ).stats.vectors_asked
        for question in sample.questions
    ]

    assert max(asked) >= 2 * min(asked)


def test_effort_overrides_recall(scanned, sample):
    found = scanned.search(
        sample.questions, 3, recall=0.99, effort=7, vectors_of=Library(sample.chunks)
    )

    assert found.stats.vectors_asked == 7 * len(sample.questions)


def test_an_index_without_calibration_searches_with_ordinary_effort(build, queries, library):
    found = build().search(queries, 3, recall=0.5, vectors_of=library)

    assert (found.stats.effort.margin, found.stats.effort.beam) == (Effort().margin, Effort().beam)


def test_given_queries_calibrate_for_themselves():
    rows = clustered(1000, seed=1)
    easy = rows[:300] + 1e-4
    hard = np.random.default_rng(2).normal(size=(300, rows.shape[1])).astype(np.float32)

    costs = [
        VectorIndex.build(rows, code_bytes=8, calibration_queries=given)
        .search(hard, 10, recall=0.95, vectors_of=Library(rows))
        .stats.vectors_asked
        for given in (easy, hard)
    ]

    assert costs[0] < costs[1]


def test_calibration_survives_saving(scanned, sample, tmp_path):
    scanned.save(tmp_path / "index")
    opened = VectorIndex.open(tmp_path / "index")

    expected, found = (
        index.search(sample.questions[:5], 3, recall=0.93, vectors_of=Library(sample.chunks)).stats
        for index in (scanned, opened)
    )

    assert found.effort == expected.effort
    assert found.effort.margin != Effort().margin


def test_recalibration_learns_what_recall_costs_now(build, queries):
    index = build(keep="all", graph="full")
    before = index.search(queries, 10, recall=0.6, strategy="best-first")
    index.recalibrate(threads=1)
    after = index.search(queries, 10, recall=0.6, strategy="best-first")

    assert before.stats.effort.beam == Effort().beam
    assert after.stats.effort.beam < before.stats.effort.beam
