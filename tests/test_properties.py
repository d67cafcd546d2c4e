"""Any sequence of changes: the index holds what a dictionary would hold, and finds it."""

import tempfile
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from conftest import Library, clustered, exact_distances
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import gossamer
from gossamer import Effort, VectorIndex

POOL = clustered(400, seed=1, dim=8)
QUERIES = clustered(5, seed=2, dim=8)
SMALL_GRAPH = {"max_degree": 4, "build_effort": 20}
CODEBOOK = gossamer.train_codebook(POOL, 5)
IDS = st.integers(0, 80) | st.sampled_from([2**31, 2**32 + 1, 2**62])
KINDS = [
    {"keep": "none", "graph": None},
    {"keep": "none", "graph": "full"},
    {"keep": "none", "graph": "hub"},
    {"keep": "none", "graph": "slim"},
    {"keep": "hot:200B", "graph": None},
    {"keep": "hot:200B", "graph": "full"},
    {"keep": "all", "graph": None, "scalar": "f32"},
    {"keep": "all", "graph": "full", "scalar": "f32"},
    {"keep": "all", "graph": "hub", "scalar": "f32"},
    {"keep": "all", "graph": "slim", "scalar": "f32"},
    {"keep": "all", "graph": "slim", "keep_source": True, "scalar": "f32"},
]


class IndexMachine(RuleBasedStateMachine):
    """An index under change, next to a dictionary of what it should hold."""

    kind: ClassVar[dict] = {}

    @initialize(count=st.integers(1, 60), seed=st.integers(0, 3))
    def start(self, count: int, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.library = Library(POOL[:count])
        self.index = VectorIndex.build(
            POOL[:count],
            codebook=CODEBOOK,
            calibrate=False,
            threads=1,
            seed=seed,
            **(SMALL_GRAPH if self.kind.get("graph") else {}),
            **self.kind,
        )

    @property
    def model(self) -> dict[int, np.ndarray]:
        return self.library.vectors

    @rule(ids=st.sets(IDS, max_size=40))
    def add(self, ids: set[int]) -> None:
        fresh = np.array(sorted(ids - set(self.model)), np.int64)
        rows = POOL[self.random.integers(0, len(POOL), len(fresh))]
        self.index.add(rows, fresh, vectors_of=self.library)
        self.library.add(fresh, rows)

    @rule(count=st.integers(1, 5))
    def add_under_next_ids(self, count: int) -> None:
        if max(self.model, default=0) >= 2**62:
            return
        rows = POOL[self.random.integers(0, len(POOL), count)]
        ids = self.index.add(rows, vectors_of=self.library)
        self.library.add(ids, rows)

    @precondition(lambda self: self.model)
    @rule(share=st.floats(0, 1))
    def delete(self, share: float) -> None:
        held = np.array(list(self.model))
        gone = held[self.random.random(len(held)) < share]
        self.index.delete(gone)
        self.library.remove(gone)

    @rule()
    def compact(self) -> None:
        self.index.compact(threads=1)
        assert self.index.stats().deleted == 0

    @rule(with_source=st.booleans())
    def save_and_open(self, with_source: bool) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "index"
            self.index.save(path, with_source=with_source)
            self.index = VectorIndex.open(path, verify=True)

    @rule(k=st.integers(1, 90))
    def search_exactly(self, k: int) -> None:
        found = self.index.search(QUERIES, k, strategy="exact", vectors_of=self.library)

        assert found.ids.shape == (5, min(k, len(self.model)))
        if not self.model:
            return
        distances = exact_distances(QUERIES, np.stack(list(self.model.values())))
        # Half precision in hot mode; ids of equal distance may change places.
        assert found.distances == pytest.approx(
            np.sort(distances, axis=1)[:, : found.ids.shape[1]], abs=2e-3
        )
        place = {id: column for column, id in enumerate(self.model)}
        columns = np.vectorize(place.__getitem__, otypes=[int])(found.ids)
        assert np.take_along_axis(distances, columns, axis=1) == pytest.approx(
            found.distances, abs=2e-3
        )

    @rule(
        k=st.integers(1, 90),
        strategy=st.sampled_from(["auto", "scan", "walk", "two-level", "best-first", "lazy"]),
        effort=st.integers(1, 100),
        is_filtered=st.booleans(),
    )
    def search(self, k: int, strategy: str, effort: int, is_filtered: bool) -> None:
        if self.kind["graph"] is None and strategy not in ("auto", "scan"):
            return
        allowed = set(self.model)
        if is_filtered:
            allowed = {id for id in allowed if self.random.random() < 0.3}
        found = self.index.search(
            QUERIES,
            k,
            strategy=strategy,
            effort=Effort(rerank=effort, beam=effort, ratio=0.3),
            allow=np.array(sorted(allowed), np.int64) if is_filtered else None,
            vectors_of=self.library,
        )

        assert found.ids.shape == (5, min(k, len(allowed)))
        assert set(found.ids.ravel().tolist()) <= allowed
        assert all(len(set(row)) == len(row) for row in found.ids.tolist())

    @invariant()
    def holds_what_the_model_holds(self) -> None:
        assert len(self.index) == len(self.model)
        assert set(self.index.ids.tolist()) == set(self.model)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: "-".join(map(str, kind.values())))
def test_any_sequence_of_changes_leaves_what_a_dictionary_would_hold(kind):
    machine = type("Machine", (IndexMachine,), {"kind": kind})

    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=20,
            stateful_step_count=15,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )
