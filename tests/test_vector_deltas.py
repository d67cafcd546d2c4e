"""Deltas: an index that follows another is the same as it, byte for byte."""

from pathlib import Path

import numpy as np
import pytest
from conftest import Library, clustered
from numpy.typing import NDArray

from gossamer import SlimOptions, VectorIndex
from gossamer.errors import Damaged, Empty, NotGossamer, Truncated, UnknownVersion, WrongState
from gossamer.vectors.deltas import delta_bytes, join_deltas, state_of_file

SLIM = {"keep": "all", "graph": "slim", "keep_source": True}
KINDS = {
    "slim-f16": {**SLIM, "scalar": "f16"},
    "slim-i8": {**SLIM, "scalar": "i8"},
    "slim-zero": {**SLIM, "slim": SlimOptions(by_in_degree=True)},
    "full": {"keep": "all", "graph": "full"},
    "hub-without-vectors": {"keep": "none", "graph": "hub"},
    "codes": {"keep": "none"},
}
COUNT = 300


class Server:
    """An index that changes, and the vectors of its documents."""

    def __init__(self, kind: str, codebook) -> None:
        rows = clustered(COUNT, seed=11)
        options = {"calibrate": False, "threads": 1, **KINDS[kind]}
        if KINDS[kind]["keep"] == "none":
            options["codebook"] = codebook
        self.library = Library(rows)
        self.index = VectorIndex.build(rows, **options)
        self.random = np.random.default_rng(1)
        self.next_id = COUNT

    def change(self) -> None:
        """Delete one in six, and add as many or fewer."""
        held = self.index.ids
        gone = self.random.choice(held, len(held) // 6, replace=False)
        self.index.delete(gone)
        self.library.remove(gone)
        count = int(self.random.integers(0, len(gone) + 1))
        ids = np.arange(self.next_id, self.next_id + count)
        rows = clustered(count, seed=self.next_id)
        self.index.add(rows, ids, vectors_of=self.library)
        self.library.add(ids, rows)
        self.next_id += count

    def edge(self, folder: Path) -> VectorIndex:
        """Make an index that begins as this one is now."""
        self.index.save(folder / "snapshot", with_source=False)
        return VectorIndex.open(folder / "snapshot")


@pytest.fixture(params=KINDS)
def server(request: pytest.FixtureRequest, codebook) -> Server:
    return Server(request.param, codebook)


@pytest.fixture
def slim(codebook) -> Server:
    return Server("slim-f16", codebook)


def saved(index: VectorIndex, folder: Path) -> bytes:
    index.save(folder / "compared", with_source=False)
    return (folder / "compared").read_bytes()


def answers(index: VectorIndex, server: Server) -> NDArray[np.int64]:
    found = index.search(clustered(8, seed=5), 5, effort=20, vectors_of=server.library)
    return found.ids


def test_an_edge_that_applies_each_delta_saves_the_same_bytes(server: Server, tmp_path: Path):
    edge = server.edge(tmp_path)
    server.index.track()
    for _ in range(8):
        server.change()

        edge.apply_delta(server.index.take_delta())

        assert saved(edge, tmp_path) == saved(server.index, tmp_path)
        assert (answers(edge, server) == answers(server.index, server)).all()


def test_joined_deltas_lead_to_the_same_bytes(server: Server, tmp_path: Path):
    edge = server.edge(tmp_path)
    server.index.track()
    deltas = []
    for _ in range(8):
        server.change()
        deltas.append(server.index.take_delta())

    edge.apply_delta(join_deltas([join_deltas(deltas[:3]), *deltas[3:]]))

    assert saved(edge, tmp_path) == saved(server.index, tmp_path)


def test_a_server_that_was_opened_anew_goes_on(slim: Server, tmp_path: Path):
    edge = slim.edge(tmp_path)
    slim.index.save(tmp_path / "server")
    slim.index = VectorIndex.open(tmp_path / "server")
    slim.index.track()
    slim.change()

    edge.apply_delta(slim.index.take_delta())

    assert saved(edge, tmp_path) == saved(slim.index, tmp_path)


def test_what_was_added_and_deleted_again_takes_no_edges_in_a_joined_delta(slim: Server):
    slim.index.track()
    empty = slim.index.take_delta()
    slim.index.add(clustered(20, seed=3), np.arange(900, 920))
    added = slim.index.take_delta()
    slim.index.delete(np.arange(900, 920))
    deleted = slim.index.take_delta()

    joined = delta_bytes(join_deltas([empty, added, deleted]))

    assert joined["vectors"] == delta_bytes(added)["vectors"]
    assert joined["nodes"] <= delta_bytes(added)["nodes"] + delta_bytes(deleted)["nodes"]


def test_the_parts_of_a_delta_add_up(server: Server):
    server.index.track()
    server.change()

    delta = server.index.take_delta()

    assert sum(delta_bytes(delta).values()) == len(delta)


def test_without_track_there_is_no_delta(slim: Server):
    with pytest.raises(WrongState, match="track"):
        slim.index.take_delta()


def test_a_compaction_ends_the_recording(slim: Server):
    slim.index.track()
    slim.change()
    slim.index.compact(threads=1)

    with pytest.raises(WrongState, match="compact"):
        slim.index.take_delta()


def test_hot_vectors_are_not_sent(codebook):
    index = VectorIndex.build(
        clustered(COUNT, seed=1), keep="hot:6KB", codebook=codebook, calibrate=False
    )

    with pytest.raises(WrongState, match="hot"):
        index.track()


def test_a_server_takes_no_delta(slim: Server):
    slim.index.track()

    with pytest.raises(WrongState, match="takes none"):
        slim.index.apply_delta(slim.index.take_delta())


def test_a_delta_does_not_fit_twice(slim: Server, tmp_path: Path):
    edge = slim.edge(tmp_path)
    slim.index.track()
    slim.change()
    delta = slim.index.take_delta()
    edge.apply_delta(delta)
    before = saved(edge, tmp_path)

    with pytest.raises(WrongState, match="does not fit"):
        edge.apply_delta(delta)
    assert saved(edge, tmp_path) == before


@pytest.mark.parametrize("damage", ["cut", "changed", "other"])
def test_bytes_that_are_no_delta_are_refused_and_change_nothing(
    slim: Server, tmp_path: Path, damage: str
):
    edge = slim.edge(tmp_path)
    before = saved(edge, tmp_path)
    slim.index.track()
    slim.change()
    delta = slim.index.take_delta()
    wrong = {
        "cut": delta[:-1],
        "changed": delta[:200] + bytes([delta[200] ^ 1]) + delta[201:],
        "other": b"PK\3\4" + bytes(100),
    }[damage]

    with pytest.raises(Damaged):
        edge.apply_delta(wrong)
    assert saved(edge, tmp_path) == before


def test_deltas_join_only_in_their_order(slim: Server):
    slim.index.track()
    slim.change()
    first = slim.index.take_delta()
    slim.change()
    second = slim.index.take_delta()

    with pytest.raises(WrongState, match="order"):
        join_deltas([second, first])
    with pytest.raises(Empty):
        join_deltas([])


def test_the_state_of_a_file_does_not_count_source_codebook_and_calibration(
    codebook, tmp_path: Path
):
    rows = clustered(COUNT, seed=2)
    index = VectorIndex.build(rows, codebook=codebook, threads=1, **SLIM)
    index.save(tmp_path / "whole")
    index.save(tmp_path / "less", with_source=False, with_codebook=False, with_calibration=False)

    assert state_of_file(tmp_path / "whole") == state_of_file(tmp_path / "less")


def test_another_content_has_another_state(slim: Server, tmp_path: Path):
    slim.index.save(tmp_path / "before")
    slim.index.delete([7])
    slim.index.save(tmp_path / "after")

    assert state_of_file(tmp_path / "before") != state_of_file(tmp_path / "after")


@pytest.mark.parametrize(
    ("damage", "error"),
    [
        (lambda file: file[:-1], Truncated),
        (lambda _: b"", Truncated),
        (lambda file: b"x" + file[1:], NotGossamer),
        (lambda file: file[:8] + b"\xff" + file[9:], UnknownVersion),
        (lambda file: file[:70] + bytes([file[70] ^ 1]) + file[71:], Damaged),
    ],
    ids=["cut", "empty", "other", "later", "changed"],
)
def test_a_file_with_a_damaged_header_has_no_state(slim: Server, tmp_path: Path, damage, error):
    slim.index.save(tmp_path / "file")
    (tmp_path / "wrong").write_bytes(damage((tmp_path / "file").read_bytes()))

    with pytest.raises(error, match="wrong"):
        state_of_file(tmp_path / "wrong")
