"""An edge cut off, killed, starved and lied to: old or new, never between."""

import random
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from faults import count_calls, failing_at, needs_fork, run_killed_at
from offer_wire import (
    FILES,
    TOKEN,
    URL,
    Reply,
    Server,
    answers,
    as_json,
    contents,
    copy,
    filled_server,
    pull,
    put,
    reachable,
    rewrite,
)
from tiny_embedder import use_tiny

from gossamer.errors import Damaged, GossamerError, Unreachable, Unwritable
from gossamer.index import Index
from gossamer.store import open_index
from gossamer.store.folder import read_manifest
from gossamer.sync.client import Client
from gossamer.sync.download import Wanted, download, forget_download
from gossamer.sync.follow import Edge
from gossamer.sync.following import base_of
from gossamer.sync.signing import NONCE, Asked
from gossamer.vectors.vector_index import VectorIndex
from gossamer.web import Answer

State = tuple[bytes, bytes, list[bytes]]


@pytest.fixture(scope="module", autouse=True)
def _embedder() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        use_tiny(monkeypatch, with_codes=True)
        yield


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with reachable() as servers:
        servers[URL] = filled_server(tmp_path / "server")
        yield servers[URL]


@pytest.fixture
def edge(server: Server, tmp_path: Path) -> Index:
    return Index.follow(URL, tmp_path / "edge", token=TOKEN)


def test_fifty_batches_pulled_at_random_leave_what_a_fresh_edge_holds(
    server: Server, edge: Index, tmp_path: Path
):
    random_ = random.Random(4)
    kinds = []
    for batch in range(50):
        if batch % 9 == 4:
            name = random_.choice(list(FILES))
            path = tmp_path / "files" / name
            path.write_text(FILES[name].replace("whale", f"seal{batch}"), encoding="utf-8")
            server.index.add_paths()
        elif random_.random() < 0.4:
            server.index.remove([f"t{random_.randrange(60)}" for _ in range(6)])
        else:
            put(server, random_.sample(range(60), random_.randint(1, 9)), f"whale{batch}")
        if random_.random() < 0.4:
            kinds.append(pull(edge).kind)
            assert list(edge.search("whale")) == list(server.index.search("whale"))

    kinds.append(pull(edge).kind)
    fresh = Index.follow(URL, tmp_path / "fresh", token=TOKEN)
    assert set(kinds) <= {"delta", "current"}
    assert contents(edge.folder) == contents(fresh.folder)
    assert answers(edge) == answers(fresh) == answers(server.index)
    assert edge.check() == []


@pytest.mark.parametrize(("mode", "batches"), [("slim", 50), ("slim:int8:4", 15)])
def test_after_many_batches_a_slim_edge_is_the_servers_replica_byte_by_byte(
    server: Server, tmp_path: Path, mode: str, batches: int
):
    random_ = random.Random(5)
    put(server, range(80))
    edge = Index.follow(URL, tmp_path / "edge", token=TOKEN, mode=mode)
    kinds = set()
    for batch in range(batches):
        if random_.random() < 0.4:
            server.index.remove([f"t{random_.randrange(120)}" for _ in range(9)])
        else:
            put(server, random_.sample(range(120), random_.randint(1, 12)), f"whale{batch}")
        if random_.random() < 0.3 or batch == batches - 1:
            kinds.add(pull(edge).kind)

    (engine,) = open_index(edge.folder).manifest.files_of("vectors")
    (replica,) = (server.index.folder / "sync").glob("slim-*.gsm")
    VectorIndex.open(replica).save(tmp_path / "replica", with_source=False)
    fresh = Index.follow(URL, tmp_path / "fresh", token=TOKEN, mode=mode)
    assert "delta" in kinds
    assert (edge.folder / engine.name).read_bytes() == (tmp_path / "replica").read_bytes()
    assert contents(edge.folder) == contents(fresh.folder)
    assert answers(edge) == answers(fresh)
    assert edge.check() == []


def test_a_delta_cut_at_every_tenth_byte_goes_on_where_it_was_cut(
    server: Server, edge: Index, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("gossamer.sync.download._ATTEMPTS", 1)
    before = read_manifest(edge.folder).origin
    put(server, range(4), "seal")
    pull(copy(edge, "whole"))
    (package,) = server.wire.received[-1:]
    after = read_manifest(edge.folder.with_name("whole")).origin

    for cut in range(10, len(package), 10):
        folder = copy(edge, "cut") if cut % 50 == 0 else edge.folder
        server.wire.received.clear()
        server.wire.cut_after = cut
        with pytest.raises(Unreachable, match=f"after the {cut:,} bytes that came"):
            pull(folder)
        assert read_manifest(folder).origin == before
        server.wire.cut_after = None

        if folder == edge.folder:
            assert fetch(edge).read_bytes() == package
            forget_download(folder)
        else:
            assert pull(folder).kind == "delta"
            assert read_manifest(folder).origin == after
        assert b"".join(server.wire.received) == package
    assert not (folder / "package.part").exists()


def fetch(edge: Index) -> Path:
    """Fetch what an edge would pull, and go no further."""
    following, base = Edge.open(edge.folder).following, base_of(read_manifest(edge.folder))
    with Client(following.url, following.token) as client:
        path = download(client, edge.folder, Wanted(following.mode, following.texts, base))
    assert path is not None
    return path


def test_nonsense_leads_to_no_state_but_the_servers_whoever_signed_it(
    server: Server, edge: Index, tmp_path: Path
):
    put(server, range(3), "seal")
    server.index.remove(["t9"])
    states = {contents(edge.folder)[:2]}
    states.add(contents(Index.follow(URL, tmp_path / "fresh", token=TOKEN).folder)[:2])
    random_ = random.Random(1)

    def spoil(name: str, data: bytes) -> bytes:
        changed = bytearray(data)
        for _ in range(random_.randint(1, 4)):
            changed[random_.randrange(len(changed))] ^= 1 << random_.randrange(8)
        if random_.random() < 0.3:
            del changed[random_.randrange(len(changed)) :]
        return bytes(changed) if name == chosen[0] else data

    rewrite(server, change=spoil)
    for _ in range(30):
        chosen = [random_.choice(["catalogue", "removed", "rows", "texts"])]
        folder = copy(edge, "spoilt")
        with suppress(Damaged):
            pull(folder)

        assert contents(folder)[:2] in states
        assert Index.open(folder).check() == []


HEADS = [
    {"dim": 0},
    {"dim": -5},
    {"dim": "x"},
    {"dim": None},
    {"dim": 10**18},
    {"name": ["x"]},
    {"name": 5},
    {"chunk_tokens": "x"},
    {"fingerprint": 5},
    {"probe": ["nan"]},
    {"probe": 5},
    {"pooling": [1]},
]


@pytest.mark.parametrize("mode", ["codes", "hot:1MB"])
@pytest.mark.parametrize("change", HEADS, ids=str)
def test_a_head_of_no_model_is_made_good_by_a_snapshot(
    server: Server, tmp_path: Path, mode: str, change: dict[str, object]
):
    edge = Index.follow(URL, tmp_path / "edge", token=TOKEN, mode=mode)
    put(server, range(2), "seal")
    rewrite(server, lambda head: replace(head, model={**head.model, **change}))
    rewritten, left = server.wire.change_package, [1]
    server.wire.change_package = lambda data: rewritten(data) if left and left.pop() else data

    report = pull(edge)

    assert report.kind == "snapshot"
    assert "which model" in report.fell_back
    assert answers(edge) == answers(server.index)


@pytest.mark.parametrize(
    "change",
    [
        {"settings": {"code_bytes": 0}},
        {"settings": {"rows_kind": ["codes"]}},
        {"settings": {"codebook": 7, "rows_kind": "vectors", "code_bytes": 1 << 16}},
        {"next_chunk_id": 0},
        {"mode": "hot:0"},
        {"mode": "slim:xx"},
    ],
    ids=str,
)
def test_a_head_that_says_anything_else_changes_nothing(
    server: Server, edge: Index, change: dict[str, object]
):
    put(server, range(2), "seal")
    before = contents(edge.folder)
    settings = change.get("settings", {})
    rewrite(
        server, lambda head: replace(head, **{**change, "settings": {**head.settings, **settings}})
    )

    with pytest.raises(GossamerError):
        pull(edge)

    assert contents(edge.folder) == before


# Kills and full disks


class CannedWire:
    """One package for everybody: nothing of the server's is touched."""

    def __init__(self, info: dict[str, object], package: bytes) -> None:
        self._info = info
        self._package = package

    def send(
        self, method: str, target: str, body: bytes | None, headers: Mapping[str, str]
    ) -> "CannedWire":
        is_file = "package" in target
        self._reply = Reply(200, self._package, etag='"1"') if is_file else as_json(self._info)
        asked = Asked.of(headers[NONCE], method, target, body)
        self._reply.sign(TOKEN, asked, is_file=is_file)
        return self

    def __enter__(self) -> Answer:
        return Answer(self._reply, float("inf"))

    def __exit__(self, *_: object) -> None:
        pass

    def close(self) -> None:
        pass


@pytest.fixture(params=["delta", "snapshot"])
def step(
    request: pytest.FixtureRequest, server: Server, edge: Index, monkeypatch: pytest.MonkeyPatch
) -> tuple[State, State]:
    """What an edge holds before and after a pull that needs no server any more."""
    before = contents(edge.folder)
    put(server, range(4), "seal")
    server.index.remove(["t7"])
    if request.param == "snapshot":
        server.offer._history.database.close()
        shutil.rmtree(server.index.folder / "sync")
        server.restart()
    assert pull(copy(edge, "after")).kind == request.param
    wire = CannedWire(server.offer.info(), server.wire.received[-1])
    monkeypatch.setattr("gossamer.sync.client.connect", lambda *_: wire)
    return before, contents(edge.folder.with_name("after"))


@needs_fork
def test_killed_at_any_moment_of_a_pull_an_edge_answers_as_before_or_as_after(
    step: tuple[State, State], edge: Index
):
    counted = copy(edge, "counted")
    calls = count_calls(lambda: pull(counted))

    for point in (1 + np.random.default_rng(0).permutation(calls)[:12]).tolist():
        folder = copy(edge, "killed")
        assert run_killed_at(point, lambda: pull(folder))  # noqa: B023

        assert contents(folder) in step, f"killed at call {point}"
        assert [one.what for one in Index.open(folder).check() if one.severity == "error"] == []
        if read_manifest(folder).origin == read_manifest(edge.folder).origin:
            pull(folder)
        assert contents(folder) == step[1], f"killed at call {point} and repeated"


@needs_fork
@pytest.mark.parametrize("step", ["snapshot"], indirect=True)
def test_killed_at_any_moment_of_its_first_pull_an_edge_is_not_there_or_whole(
    step: tuple[State, State], tmp_path: Path
):
    def begin(folder: Path) -> None:
        Index.follow(URL, folder, token=TOKEN)

    calls = count_calls(lambda: begin(tmp_path / "counted"))

    for point in (1 + np.random.default_rng(2).permutation(calls)[:12]).tolist():
        folder = tmp_path / f"killed{point}"
        assert run_killed_at(point, lambda: begin(folder))  # noqa: B023

        if (folder / "MANIFEST.gossamer").exists():
            assert contents(folder) == step[1], f"killed at call {point}"
        else:
            begin(folder)
        assert contents(folder) == step[1], f"killed at call {point} and repeated"
        assert Index.open(folder).check() == []


def test_a_full_disk_at_any_write_of_a_pull_leaves_the_old_state(
    step: tuple[State, State], edge: Index
):
    counted = copy(edge, "counted")
    with failing_at(10**9) as calls:
        pull(counted)

    for point in (1 + np.random.default_rng(1).permutation(calls[0])[:16]).tolist():
        folder = copy(edge, "full")
        error = None
        with failing_at(point):
            try:
                pull(folder)
            except Unwritable as caught:
                error = caught

        is_made = error is None or "is made" in str(error)
        assert is_made or "disk is full" in str(error), f"full at call {point}"
        assert contents(folder) == step[is_made], f"full at call {point}"
        if not is_made:
            assert pull(folder).kind in ("delta", "snapshot")
        assert contents(folder) == step[1]


def test_a_package_that_does_not_fit_the_disk_is_not_begun(
    step: tuple[State, State], edge: Index, monkeypatch: pytest.MonkeyPatch
):
    full = shutil.disk_usage(edge.folder)._replace(free=10)
    monkeypatch.setattr("shutil.disk_usage", lambda _: full)

    with pytest.raises(Unwritable, match="make room"):
        pull(edge)

    assert contents(edge.folder) == step[0]
    assert not (edge.folder / "package.part").exists()
