"""An edge in all that can happen to it: it is in a state of its server's, never between two."""

import json
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from offer_wire import (
    TOKEN,
    URL,
    Answers,
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
from tiny_embedder import DIM, TinyEmbedder, use_tiny

from gossamer.errors import (
    Damaged,
    GossamerError,
    InvalidArgument,
    Locked,
    MissingModel,
    ModelMismatch,
    UnknownVersion,
    Unreachable,
    WrongState,
)
from gossamer.files import map_file
from gossamer.index import Index
from gossamer.single.container import Container
from gossamer.store import Snapshot, begin, open_index
from gossamer.store.folder import read_manifest
from gossamer.store.records import AWAY, VERBATIM
from gossamer.sync.follow import Edge, Wish, follow
from gossamer.sync.outbox import Outbox
from gossamer.sync.records import PushItem
from gossamer.sync.send import Outgoing, _items_of, push


@pytest.fixture(scope="module", autouse=True)
def embedder() -> Iterator[TinyEmbedder]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        chosen = use_tiny(monkeypatch, with_codes=True)
        assert isinstance(chosen, TinyEmbedder)
        yield chosen


@pytest.fixture
def servers() -> Iterator[dict[str, Server]]:
    with reachable() as known:
        yield known


@pytest.fixture
def server(tmp_path: Path, servers: dict[str, Server]) -> Server:
    servers[URL] = filled_server(tmp_path / "server")
    return servers[URL]


@pytest.fixture
def edge(server: Server, tmp_path: Path) -> Index:
    return Index.follow(URL, tmp_path / "edge", token=TOKEN)


# Following


def test_an_edge_answers_as_its_server_does(server: Server, edge: Index):
    assert answers(edge) == answers(server.index)
    assert edge.check() == []
    assert edge.status().follows["version"] == server.index.status().generation


def test_only_what_changed_is_sent(server: Server, edge: Index):
    put(server, range(3), "harbour")
    server.index.remove(["t5"])

    report = pull(edge)

    assert (report.kind, report.fell_back) == ("delta", "")
    assert (report.documents_changed, report.documents_removed) == (3, 1)
    assert report.version == read_manifest(server.index.folder).generation
    assert report.bytes_received == len(server.wire.received[-1])
    assert answers(edge) == answers(server.index)
    assert pull(edge).kind == "current"


def test_a_server_emptied_and_filled_again_is_followed(server: Server, edge: Index, tmp_path: Path):
    server.index.remove([tmp_path / "files", *(f"t{n}" for n in range(12))])
    emptied = pull(edge)
    nothing = list(edge.search("whale"))
    put(server, range(3))
    filled = pull(edge)

    assert (emptied.kind, filled.kind) == ("delta", "delta")
    assert nothing == []
    assert answers(edge) == answers(server.index) != []


def test_an_edge_of_an_empty_server_is_empty(servers: dict[str, Server], tmp_path: Path):
    servers[URL] = Server(tmp_path / "server")

    edge = Index.follow(URL, tmp_path / "edge")
    put(servers[URL], range(2))

    assert list(edge.search("whale")) == []
    assert pull(edge).kind == "delta"
    assert len(edge.search("whale")) == 2


def test_vectors_come_where_there_are_no_codes_yet(
    servers: dict[str, Server], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    use_tiny(monkeypatch)
    servers[URL] = Server(tmp_path / "server")
    put(servers[URL], range(5))
    edge = Index.follow(URL, tmp_path / "edge")
    put(servers[URL], range(4, 9), "seal")

    assert pull(edge).kind == "delta"
    fresh = Index.follow(URL, tmp_path / "fresh")
    assert contents(edge.folder) == contents(fresh.folder)
    assert answers(edge) == answers(servers[URL].index)


def test_a_codebook_of_the_servers_own_comes_along(
    servers: dict[str, Server], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    use_tiny(monkeypatch)
    monkeypatch.setattr("gossamer.update.growing._LEAST_TO_TRAIN", 300)
    servers[URL] = Server(tmp_path / "server", code_bytes=8)
    put(servers[URL], range(5))
    edge = Index.follow(URL, tmp_path / "edge")
    put(servers[URL], range(400))
    trained = pull(edge)
    put(servers[URL], range(9), "seal")
    later = pull(edge)

    assert (trained.kind, later.kind) == ("snapshot", "delta")
    assert answers(edge) == answers(servers[URL].index)
    assert contents(edge.folder) == contents(Index.follow(URL, tmp_path / "fresh").folder)
    assert edge.check() == []


def test_texts_that_are_away_are_asked_for(server: Server, tmp_path: Path):
    edge = Index.follow(URL, tmp_path / "edge", token=TOKEN, texts="away")
    put(server, range(2), "seal")
    report = pull(edge)

    found, expected = (
        edge.search("seal", mode="semantic"),
        server.index.search("seal", mode="semantic"),
    )
    segments, _ = open_index(edge.folder).catalogue.text_places
    assert set(segments.tolist()) == {AWAY}
    assert "texts" not in report.bytes_by_section
    assert [(hit.id, hit.text, hit.distance) for hit in found] == [
        (hit.id, hit.text, hit.distance) for hit in expected
    ]
    assert found.explanation.chunks_asked > 0


def test_offline_an_edge_answers_from_what_it_has_and_says_so(server: Server, tmp_path: Path):
    kept = Index.follow(URL, tmp_path / "kept", token=TOKEN)
    away = Index.follow(URL, tmp_path / "away", token=TOKEN, texts="away")
    expected = answers(kept)
    server.wire.is_down = True

    found = away.search("whale", mode="semantic")

    assert answers(kept) == expected
    assert [hit.text for hit in found] == [""] * 5
    assert any("did not answer" in note for note in found.notes)


def test_a_text_that_the_server_cannot_read_any_more_is_away(server: Server, tmp_path: Path):
    (tmp_path / "files" / "b.txt").write_text("Something else by now.\n", encoding="utf-8")

    edge = Index.follow(URL, tmp_path / "edge", token=TOKEN)

    segments, _ = open_index(edge.folder).catalogue.text_places
    assert segments.tolist().count(AWAY) == 1
    assert VERBATIM not in segments
    assert edge.check() == []


def test_files_of_the_server_are_never_looked_for_on_the_edge(server: Server, tmp_path: Path):
    edge = Index.follow(URL, tmp_path / "edge", token=TOKEN)
    expected = answers(edge)

    shutil.rmtree(tmp_path / "files")

    assert answers(edge) == expected
    assert edge.status().missing_files == 0


def test_hot_vectors_come_along_and_save_embedding(
    server: Server, tmp_path: Path, embedder: TinyEmbedder
):
    hot_server = Index.open(server.index.folder)
    edge = Index.follow(URL, tmp_path / "edge", token=TOKEN, mode="hot:1MB")
    put(server, range(2), "seal")

    assert pull(edge).kind == "delta"
    assert read_manifest(edge.folder).settings.keep == "hot:1000000"
    assert answers(edge) == answers(hot_server)


def test_hot_vectors_of_another_epoch_are_not_used(tmp_path: Path, server: Server):
    edge = Index.follow(URL, tmp_path / "edge", token=TOKEN, mode="hot:1MB")
    snapshot = open_index(edge.folder)
    ids = snapshot.catalogue.chunk_ids
    hot = snapshot.open_hot()
    assert hot is not None
    hot.put(ids, np.ones((len(ids), DIM), np.float32))
    hot.save(ids)

    def count(epoch: str) -> int:
        manifest = snapshot.manifest
        changed = replace(manifest, origin={**manifest.origin, "epoch": epoch})
        known = Snapshot(edge.folder, changed).open_hot()
        return 0 if known is None else len(known)

    assert count(str(snapshot.manifest.origin["epoch"])) == len(ids)
    assert count("another") == 0


def test_another_mode_is_taken_by_a_snapshot(server: Server, edge: Index):
    follow(URL, edge.folder, Wish(texts="away")).pull()
    back = follow(URL, edge.folder, Wish(texts="kept")).pull()

    assert back.kind == "snapshot"
    assert back.version == back.from_version
    assert contents(edge.folder) == contents(
        Index.follow(URL, edge.folder.with_name("fresh"), token=TOKEN).folder
    )


def test_an_old_version_that_the_server_forgot_is_caught_up_by_a_snapshot(
    servers: dict[str, Server], tmp_path: Path
):
    servers[URL] = Server(tmp_path / "server", history_bytes=500)
    put(servers[URL], range(20))
    edge = Index.follow(URL, tmp_path / "edge")
    for n in range(20):
        servers[URL].index.remove([f"t{n}"])
        servers[URL].offer.info()
    put(servers[URL], range(3))

    report = pull(edge)

    assert (report.kind, report.fell_back) == ("snapshot", "")
    assert answers(edge) == answers(servers[URL].index)


def test_clocks_do_not_matter(server: Server, edge: Index, monkeypatch: pytest.MonkeyPatch):
    for years in (-30, 30):
        monkeypatch.setattr("time.time", lambda years=years: 1.7e9 + years * 3.2e7)
        for path in edge.folder.iterdir():
            os.utime(path, (1.7e9 - years * 3.2e7,) * 2)
        put(server, range(3), f"clock{years + 30}")

        assert pull(edge).kind == "delta"
        assert answers(edge) == answers(server.index)


def test_a_search_goes_on_in_the_old_state_until_the_new_one_is_committed(
    server: Server, edge: Index
):
    before = answers(edge)
    put(server, range(8), "seal")
    during: list[Answers] = []
    server.wire.before_package = lambda: during.append(answers(edge))

    pull(edge)

    assert during == [before]
    assert answers(edge) == answers(server.index) != before


def test_of_two_pulls_at_once_one_is_told(server: Server, edge: Index):
    put(server, range(3), "seal")
    refused: list[GossamerError] = []

    def pull_again() -> None:
        with pytest.raises(Locked) as caught:
            pull(edge)
        refused.append(caught.value)

    server.wire.before_package = pull_again

    pull(edge)

    assert len(refused) == 1
    assert answers(edge) == answers(server.index)


def test_an_edge_of_an_index_that_was_made_anew_takes_nothing_of_the_new_one(
    server: Server, tmp_path: Path
):
    kept = Index.follow(URL, tmp_path / "kept", token=TOKEN, mode="hot:1MB")
    away = Index.follow(URL, tmp_path / "away", token=TOKEN, texts="away")
    expected = answers(kept)
    server.offer.close()
    anew = Server(tmp_path / "anew", TOKEN)
    put(anew, range(40), "harbour")
    server.offer = server.wire.offer = anew.offer

    found = away.search("whale", mode="semantic")

    assert [hit.text for hit in found] == [""] * 5
    assert found.explanation.chunks_asked == 0
    assert "there is another index" in found.notes[0]
    assert answers(kept) == expected


def test_an_edge_of_a_server_that_lost_its_history_takes_no_vectors_until_it_pulls(
    server: Server, tmp_path: Path
):
    put(server, range(12, 14), "seal")
    away = Index.follow(URL, tmp_path / "away", token=TOKEN, texts="away")
    server.offer._history.database.close()
    shutil.rmtree(server.index.folder / "sync")
    server.restart()

    before = away.search("seal", mode="semantic")
    pull(away)
    after = away.search("seal", mode="semantic")

    assert (before.explanation.chunks_asked, len(before.notes) > 0) == (0, True)
    assert after.explanation.chunks_asked > 0
    assert after.notes == ()


# Where an edge is


def test_what_is_remembered_is_for_its_owner_alone(edge: Index):
    path = edge.folder / "follow.json"

    assert json.loads(path.read_text(encoding="utf-8"))["token"] == TOKEN
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert TOKEN not in (edge.folder / "MANIFEST.gossamer").read_text(encoding="utf-8")


def test_the_status_names_the_address_that_requests_go_to(edge: Index):
    path = edge.folder / "follow.json"
    said = {**json.loads(path.read_text(encoding="utf-8")), "url": "http://evil.example"}
    path.write_text(json.dumps(said), encoding="utf-8")

    assert edge.status().follows["url"] == "http://evil.example"


def test_a_token_of_the_environment_is_used_and_not_written_down(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("GOSSAMER_TOKEN", TOKEN)

    edge = Index.follow(URL, tmp_path / "edge")

    assert pull(edge).kind == "current"
    assert TOKEN not in (edge.folder / "follow.json").read_text(encoding="utf-8")


def test_a_new_token_takes_the_place_of_the_old_one(server: Server, edge: Index):
    server.token = "another-one"
    server.restart()

    Edge.open(edge.folder, "another-one").pull()

    assert pull(edge).kind == "current"


def test_a_token_that_the_server_does_not_take_replaces_none(server: Server, edge: Index):
    server.wire.refuses_token = True
    with pytest.raises(WrongState, match="GOSSAMER_TOKEN"):
        Edge.open(edge.folder, TOKEN + "-wrong").pull()
    with pytest.raises(WrongState, match="1 change waits"):
        push(Edge.open(edge.folder, TOKEN + "-wrong"), Outgoing([{"id": "a", "text": "Otter."}]))
    server.wire.refuses_token = False

    assert pull(edge).kind == "current"
    assert [result.outcome for result in edge.push().results] == ["stored"]


def test_where_server_and_model_are_is_said_at_once_though_nothing_changed(
    server: Server, servers: dict[str, Server], edge: Index
):
    servers["http://elsewhere.example:99"] = servers.pop(URL)
    before = contents(edge.folder)

    followed = Index.follow("http://elsewhere.example:99/", edge.folder, token=TOKEN, model="own")

    assert followed.status().model == "own"
    assert edge.status().follows["url"] == "http://elsewhere.example:99"
    assert contents(edge.folder) == before
    assert pull(edge).kind == "current"
    assert edge.check() == []


def test_a_model_that_is_not_here_is_named_before_anything_is_pulled(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def missing(_: str) -> None:
        raise MissingModel("there is no such model")

    monkeypatch.setattr("gossamer.embed.load_embedder", missing)

    with pytest.raises(MissingModel):
        Index.follow(URL, tmp_path / "edge", token=TOKEN, model="nowhere")

    assert not (tmp_path / "edge").exists()


def test_nothing_is_no_answer_to_a_first_pull(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(server.wire, "_package", lambda *_: Reply(204))

    with pytest.raises(Unreachable, match="nothing has changed"):
        Index.follow(URL, tmp_path / "edge", token=TOKEN)


def test_an_edge_that_outgrows_its_budget_says_so(server: Server, tmp_path: Path):
    edge = Index.follow(URL, tmp_path / "edge", token=TOKEN, budget=20_000)
    put(server, range(400), "seal")
    report = pull(edge)

    assert report.kind == "delta"
    assert report.over_budget == report.actual["total"] - 20_000 > 0


def test_a_pull_lets_searches_ask_the_server_again(server: Server, edge: Index):
    marker = edge.folder / "sync" / "unanswered"
    marker.touch()

    pull(edge)

    assert not marker.exists()


def test_a_server_that_moved_is_followed_at_its_new_address(
    server: Server, servers: dict[str, Server], edge: Index
):
    servers["http://elsewhere.example:99"] = servers.pop(URL)
    put(server, range(2), "seal")

    Index.follow("http://elsewhere.example:99/", edge.folder, token=TOKEN)

    assert pull(edge).kind == "current"
    assert edge.status().follows["url"] == "http://elsewhere.example:99"


def test_the_token_of_one_server_is_not_sent_to_another(
    server: Server, servers: dict[str, Server], edge: Index, tmp_path: Path
):
    servers["http://other.example"] = Server(tmp_path / "other")

    with pytest.raises(WrongState, match="follows another index"):
        Index.follow("http://other.example", edge.folder)


@pytest.mark.parametrize("what", ["an index", "something else", "a file"])
def test_a_folder_that_holds_something_else_is_refused(server: Server, tmp_path: Path, what: str):
    folder = tmp_path / "taken"
    if what == "an index":
        Index.create(folder, model="tiny")
    elif what == "a file":
        folder.write_text("not a folder", encoding="utf-8")
    else:
        folder.mkdir()
        (folder / "letter.txt").write_text("Dear Ada", encoding="utf-8")

    with pytest.raises((WrongState, InvalidArgument), match="new or empty"):
        Index.follow(URL, folder, token=TOKEN)


def test_an_edge_takes_no_changes_of_its_own(edge: Index):
    with pytest.raises(WrongState, match="gossamer push"):
        edge.add_texts([{"id": "x", "text": "mine"}])


def test_an_index_of_its_own_follows_nobody(tmp_path: Path):
    index = Index.create(tmp_path / "index", model="tiny")

    with pytest.raises(WrongState, match="follows no server"):
        index.pull()


def test_a_model_that_is_a_place_of_the_servers_must_be_named(
    server: Server, servers: dict[str, Server], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    place = "http://localhost:1234/v1#model"
    rewrite(server, lambda head: replace(head, model={**head.model, "name": place}))

    with pytest.raises(ModelMismatch, match="--model"):
        Index.follow(URL, tmp_path / "edge", token=TOKEN)
    edge = Index.follow(URL, tmp_path / "edge", token=TOKEN, model="tiny")

    assert read_manifest(edge.folder).model.name == "tiny"


# Connections that break


def test_a_connection_that_breaks_off_again_and_again_brings_it_all_in_the_end(
    server: Server, edge: Index
):
    put(server, range(4), "seal")
    server.wire.received.clear()
    server.wire.cut_after = 100
    failures = 0
    while True:
        try:
            report = pull(edge)
            break
        except Unreachable:
            failures += 1

    assert report.kind == "delta"
    assert failures == len(b"".join(server.wire.received)) // 100 // 5
    assert answers(edge) == answers(server.index)


def test_a_package_that_changed_meanwhile_is_taken_from_its_beginning(server: Server, edge: Index):
    put(server, range(4), "seal")
    server.wire.cut_after = 500
    with pytest.raises(Unreachable):
        Edge.open(edge.folder).pull(pause=lambda _: put(server, range(4, 6), "otter"))
    server.wire.cut_after = None
    put(server, range(4), "newer")

    assert pull(edge).kind == "delta"
    assert answers(edge) == answers(server.index)


def test_a_first_pull_that_broke_off_goes_on(server: Server, tmp_path: Path):
    server.wire.cut_after = 300
    with pytest.raises(Unreachable):
        follow(URL, tmp_path / "edge", Wish(token=TOKEN)).pull(pause=lambda _: None)
    server.wire.cut_after = None

    report = pull(tmp_path / "edge")

    assert report.kind == "snapshot"
    assert answers(tmp_path / "edge") == answers(server.index)
    sent = b"".join(server.wire.received)
    assert len(sent) == report.bytes_received


def test_a_part_that_is_whole_is_not_fetched_again(server: Server, edge: Index):
    put(server, range(4), "seal")
    part = edge.folder / "package.part"
    kept: list[bytes] = []

    def keep_part(folder: Path, *_: object, **__: object) -> object:
        kept.append(part.read_bytes())
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gossamer.sync.follow.apply_package", keep_part)
        with pytest.raises(KeyboardInterrupt):
            pull(edge)
    server.wire.received.clear()

    assert pull(edge).kind == "delta"
    assert server.wire.received == []
    assert len(kept[0]) > 0


def test_a_server_that_prepares_is_asked_again_when_it_says(
    server: Server, edge: Index, monkeypatch: pytest.MonkeyPatch
):
    put(server, range(2), "seal")
    real = server.wire._package
    replies = [as_json({"done": n, "total": 9}, 202, retry_after="7") for n in (1, 5)]
    monkeypatch.setattr(
        server.wire, "_package", lambda *args: replies.pop(0) if replies else real(*args)
    )
    pauses: list[float] = []
    seen: list[tuple[str, int, int]] = []

    Edge.open(edge.folder).pull(lambda *step: seen.append(step), pause=pauses.append)

    assert pauses == [7.0, 7.0]
    assert seen[:2] == [("the server prepares", 1, 9), ("the server prepares", 5, 9)]
    assert seen[-1][1] == seen[-1][2]


# Packages that are not what they should be


def test_a_damaged_delta_is_made_good_by_a_snapshot(server: Server, edge: Index):
    put(server, range(3), "seal")
    server.wire.change_package = once(lambda data: data[:-40] + bytes([data[-40] ^ 1]) + data[-39:])

    report = pull(edge)

    assert report.kind == "snapshot"
    assert "checksum" in report.fell_back
    assert answers(edge) == answers(server.index)


def test_a_delta_that_leads_elsewhere_is_not_committed(server: Server, edge: Index):
    put(server, range(3), "seal")
    before = contents(edge.folder)
    rewrite(server, change=lambda name, data: data[::-1] if name == "rows" else data)
    server.wire.asked.clear()

    with pytest.raises(Damaged, match="as it was"):
        pull(edge)

    asked = [target for _, target, _ in server.wire.asked if "package" in target]
    assert ["state" in target for target in asked] == [True, False]
    assert contents(edge.folder) == before
    assert edge.check() == []


def once(change: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    left = [change]
    return lambda data: left.pop()(data) if left else data


def test_an_edge_that_is_itself_damaged_says_so(server: Server, edge: Index):
    put(server, range(3), "seal")
    (entry,) = read_manifest(edge.folder).files_of("segment")
    (edge.folder / entry.name).write_bytes(bytes(entry.size))

    with pytest.raises(Damaged, match=r"section|segment-.*gossamer check"):
        pull(edge)


def test_codes_that_are_damaged_on_the_edge_are_made_good_by_a_snapshot(
    server: Server, edge: Index
):
    put(server, range(3), "seal")
    (entry,) = read_manifest(edge.folder).files_of("segment")
    path = edge.folder / entry.name
    codes = Container(map_file(path)).section(3).tobytes()
    damaged = bytes([codes[0] ^ 64]) + codes[1:]
    path.write_bytes(path.read_bytes().replace(codes, damaged))

    report = pull(edge)

    assert (report.kind, bool(report.fell_back)) == ("snapshot", True)
    assert answers(edge) == answers(server.index)


def test_codes_of_an_edge_are_in_its_segments_and_a_pull_writes_little(server: Server, edge: Index):
    kinds = {entry.kind for entry in read_manifest(edge.folder).files}
    put(server, range(1), "seal")
    before = set(os.listdir(edge.folder))

    pull(edge)

    assert kinds == {"segment"}
    assert answers(edge) == answers(server.index)
    assert len(set(os.listdir(edge.folder)) - before) <= 1


def test_an_edge_with_codes_in_a_file_of_vectors_has_them_in_segments_after_a_pull(
    server: Server, edge: Index
):
    move_codes_to_file(edge)
    assert {entry.kind for entry in read_manifest(edge.folder).files} == {"segment", "vectors"}
    put(server, range(2), "seal")

    report = pull(edge)

    assert (report.kind, report.fell_back) == ("delta", "")
    assert {entry.kind for entry in read_manifest(edge.folder).files} == {"segment"}
    assert answers(edge) == answers(server.index)
    assert edge.check() == []


def move_codes_to_file(edge: Index) -> None:
    """Keep the codes of an edge as earlier releases did."""
    snapshot = edge.snapshot
    vectors = snapshot.vectors
    catalogue, manifest = snapshot.catalogue.in_order(), snapshot.manifest
    segments, offsets = catalogue.text_places
    lengths = catalogue.text_lengths

    def text_of(row: int) -> bytes | None:
        if segments[row] == AWAY:
            return None
        start = int(offsets[row])
        return snapshot.texts.read(int(segments[row]), start, start + int(lengths[row]))

    with begin(edge.folder) as writer:
        changes = writer.changes(from_nothing=True, next_chunk_id=manifest.next_chunk_id)
        changes.take(catalogue, text_of)
        writer.commit(
            changes,
            save_vectors=lambda path: vectors.save(
                path, with_codebook=False, with_calibration=False
            ),
            model=manifest.model,
            settings=manifest.settings,
            roots=(),
        )


def test_a_gap_is_made_good_by_a_snapshot(server: Server, edge: Index):
    put(server, range(3), "seal")
    replayed: list[bytes] = []
    server.wire.change_package = lambda data: replayed.append(data) or data
    pull(copy(edge, "other"))
    put(server, range(3, 5), "otter")
    pull(copy_of := copy(edge, "another"))
    put(server, range(5), "newer")
    server.wire.change_package = once(lambda _: replayed[0])

    report = pull(copy_of)

    assert (report.kind, "begins from" in report.fell_back) == ("snapshot", True)
    assert answers(copy_of) == answers(server.index)


def test_a_package_that_was_seen_before_is_refused(server: Server, edge: Index):
    old_snapshot = server.wire.received[0]
    put(server, range(3), "seal")
    pull(edge)
    put(server, range(3), "newer")
    before = contents(edge.folder)
    server.wire.change_package = lambda _: old_snapshot

    with pytest.raises(Damaged, match=r"the edge is at version \d+ .*already"):
        pull(edge)

    assert contents(edge.folder) == before


def test_a_package_of_another_index_is_refused(
    server: Server, servers: dict[str, Server], edge: Index, tmp_path: Path
):
    other = Server(tmp_path / "other", TOKEN)
    servers["http://other.example"] = other
    put(other, range(9), "stranger")
    Index.follow("http://other.example", tmp_path / "stranger", token=TOKEN)
    put(server, range(3), "seal")
    before = contents(edge.folder)
    server.wire.change_package = lambda _: other.wire.received[0]

    with pytest.raises(WrongState, match="another index"):
        pull(edge)

    assert contents(edge.folder) == before


def test_another_index_at_the_same_address_is_refused(server: Server, edge: Index):
    server.wire.change_info = lambda info: {**info, "index": "another"}

    with pytest.raises(WrongState, match="another index at"):
        pull(edge)


@pytest.mark.parametrize(
    ("token", "said"), [("", "not signed"), ("another-token", "not signed with this token")]
)
def test_a_package_that_is_not_signed_with_the_token_is_refused(
    server: Server, edge: Index, token: str, said: str
):
    put(server, range(3), "seal")
    before = contents(edge.folder)
    rewrite(server, lambda head: replace(head, is_signed=bool(token)), token=token)

    with pytest.raises(Damaged, match=said):
        pull(edge)

    assert contents(edge.folder) == before


def test_a_server_of_a_later_protocol_is_refused_politely(server: Server, edge: Index):
    server.wire.change_info = lambda info: {**info, "protocol": 2}

    with pytest.raises(UnknownVersion, match="up to date"):
        pull(edge)


def test_a_package_of_a_later_protocol_is_refused_politely(server: Server, edge: Index):
    put(server, range(3), "seal")
    server.wire.change_package = lambda data: b"GSMPACK2" + data[8:]

    with pytest.raises(UnknownVersion, match="up to date"):
        pull(edge)

    assert edge.check() == []


def test_a_server_put_back_to_an_older_state_is_refused_and_taken_if_asked(
    server: Server, edge: Index, tmp_path: Path
):
    shutil.copytree(server.index.folder, tmp_path / "backup")
    older = answers(server.index)
    put(server, range(3), "seal")
    pull(edge)
    server.offer.close()
    shutil.rmtree(server.index.folder)
    shutil.copytree(tmp_path / "backup", server.index.folder)
    server.restart()

    with pytest.raises(WrongState, match="gossamer pull --again"):
        pull(edge)
    report = pull(edge, again=True)

    assert report.kind == "snapshot"
    assert report.version < report.from_version
    assert answers(edge) == older == answers(server.index)


@pytest.mark.parametrize("name", ["a verbatim place", "a segment of the edge's"])
def test_no_package_can_make_the_edge_read_its_own_disk(
    server: Server, edge: Index, tmp_path: Path, name: str
):
    """The catalogue of the server itself, with its places, in a package that is well signed."""
    put(server, range(3), "seal")
    own = open_index(server.index.folder).catalogue
    rows = [own.find_text("t1")] if "segment" in name else [own.find_path(tmp_path / "files/a.md")]
    part = own.part(np.array(rows)).to_bytes()
    rewrite(server, change=lambda name, data: part if name == "catalogue" else data)
    before = contents(edge.folder)

    with pytest.raises(Damaged):
        pull(edge)

    assert contents(edge.folder) == before


# Pushing


def test_a_pushed_text_comes_back_as_a_delta(server: Server, edge: Index):
    report = edge.push([{"id": "note", "text": "An otter of the edge."}], removed=["t1"])

    results = report.results
    assert [(result.id, result.outcome) for result in results] == [
        ("note", "stored"),
        ("t1", "removed"),
    ]
    assert edge.search("otter")[0].source == "note"
    assert answers(edge) == answers(server.index)


def test_a_pushed_file_is_indexed_on_the_server(server: Server, edge: Index, tmp_path: Path):
    path = tmp_path / "report.md"
    path.write_text("# Report\n\nThe otter is well.\n", encoding="utf-8")
    (first,) = edge.push(files=[path]).results
    path.write_text("# Report\n\nThe otter sleeps.\n", encoding="utf-8")
    (second,) = edge.push(files=[path]).results
    (third,) = edge.push(removed=["report.md"]).results

    assert [one.outcome for one in (first, second, third)] == ["stored", "stored", "removed"]
    assert [one.conflict for one in (first, second, third)] == [0, 0, 0]
    assert all("report.md" not in hit.source for hit in edge.search("otter"))


def test_of_two_edges_that_change_one_text_the_last_wins_and_nothing_is_lost(
    server: Server, edge: Index, tmp_path: Path
):
    other = Index.follow(URL, tmp_path / "other", token=TOKEN)
    edge.push([{"id": "t1", "text": "What Ada says of otters."}])
    (result,) = other.push([{"id": "t1", "text": "What Bob says of otters."}]).results
    report = pull(edge)

    (conflict,) = report.conflicts
    assert (result.outcome, result.conflict) == ("stored", conflict.number)
    assert "someone else" in result.note
    assert edge.search("otters")[0].text == other.search("otters")[0].text
    assert "Bob" in edge.search("otters")[0].text
    assert edge.conflict(conflict.number).lost == "What Ada says of otters."
    assert [one.number for one in other.conflicts()] == [conflict.number]


def test_a_conflict_that_comes_with_a_push_is_reported(server: Server, edge: Index, tmp_path: Path):
    other = Index.follow(URL, tmp_path / "other", token=TOKEN)
    edge.push([{"id": "t1", "text": "What Ada says of otters."}])
    other.push([{"id": "t1", "text": "What Bob says of otters."}])

    report = edge.push([{"id": "zz", "text": "Something else."}])

    assert report.pulled is not None
    assert [conflict.id for conflict in report.pulled.conflicts] == ["t1"]


def test_conflicts_of_others_before_its_time_are_no_news_to_a_new_edge(
    server: Server, edge: Index, tmp_path: Path
):
    other = Index.follow(URL, tmp_path / "other", token=TOKEN)
    edge.push([{"id": "t1", "text": "What Ada says of otters."}])
    other.push([{"id": "t1", "text": "What Bob says of otters."}])

    first = follow(URL, tmp_path / "new", Wish(token=TOKEN)).pull()
    again = pull(edge, again=True)

    assert first.conflicts == ()
    assert [conflict.id for conflict in again.conflicts] == ["t1"]


def test_a_text_changed_again_while_it_is_sent_is_in_conflict_with_nobody(
    server: Server, edge: Index, monkeypatch: pytest.MonkeyPatch
):
    real = server.wire.offer.push
    later = Outgoing([{"id": "t1", "text": "The otter, second thoughts."}])

    def push_meanwhile(items: list[PushItem]) -> object:
        monkeypatch.setattr(server.wire.offer, "push", real)
        Outbox(edge.folder).put(_items_of(Edge.open(edge.folder), later, Outbox(edge.folder)))
        return real(items)

    monkeypatch.setattr(server.wire.offer, "push", push_meanwhile)

    report = edge.push([{"id": "t1", "text": "The otter, first thoughts."}])

    assert [(one.outcome, one.conflict) for one in report.results] == [("stored", 0)] * 2
    assert edge.search("otter")[0].text == "The otter, second thoughts."
    assert edge.conflicts() == []


@pytest.mark.parametrize("error", [Locked("another pulls"), Damaged("nonsense")])
def test_what_was_sent_is_no_failure_though_it_cannot_be_pulled(
    server: Server, edge: Index, monkeypatch: pytest.MonkeyPatch, error: GossamerError
):
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(Edge, "pull", fail)

    report = edge.push([{"id": "a", "text": "An otter."}])

    assert [one.outcome for one in report.results] == ["stored"]
    assert (report.pulled, report.problem) == (None, str(error))


def test_changes_wait_while_the_server_is_away(server: Server, edge: Index):
    server.wire.is_down = True
    with pytest.raises(Unreachable, match="1 change waits"):
        edge.push([{"id": "a", "text": "An otter."}])
    with pytest.raises(Unreachable, match="2 changes wait"):
        edge.push([{"id": "b", "text": "A beaver."}])
    pending = edge.status().follows["pending"]
    server.wire.is_down = False

    results = edge.push().results

    assert pending == 2
    assert [(one.id, one.outcome) for one in results] == [("a", "stored"), ("b", "stored")]
    assert edge.status().follows["pending"] == 0
    assert {hit.source for hit in edge.search("otter beaver", 2)} == {"a", "b"}


def test_a_push_whose_answer_was_lost_is_done_once(server: Server, edge: Index):
    server.wire.drops_answers = True
    with pytest.raises(Unreachable):
        edge.push([{"id": "a", "text": "An otter."}])
    server.wire.drops_answers = False
    version = read_manifest(server.index.folder).generation

    (result,) = edge.push().results

    assert (result.outcome, result.conflict) == ("stored", 0)
    assert read_manifest(server.index.folder).generation == version
    assert edge.search("otter")[0].source == "a"


def test_what_the_server_refuses_holds_up_nothing_and_is_put_aside(
    server: Server, edge: Index, monkeypatch: pytest.MonkeyPatch
):
    real = server.wire.offer.push

    def picky(items: list[object]) -> object:
        if any("bad" in item.id for item in items):  # type: ignore[attr-defined]
            raise InvalidArgument("no bad ids here")
        return real(items)  # type: ignore[arg-type]

    monkeypatch.setattr(server.wire.offer, "push", picky)

    texts = [{"id": name, "text": "An otter."} for name in ("good", "bad", "better")]
    results = edge.push(texts).results

    assert [one.outcome for one in results] == ["stored", "refused", "stored"]
    assert "no bad ids" in results[1].note
    assert edge.push().results == ()
    (aside,) = (edge.folder / "outbox" / "refused").iterdir()
    assert json.loads(aside.read_text(encoding="utf-8"))["id"] == "bad"


def test_results_are_given_though_the_server_goes_before_the_pull(
    server: Server, edge: Index, monkeypatch: pytest.MonkeyPatch
):
    real = server.wire._pushed

    def last_words(*args: object) -> Reply:
        reply = real(*args)  # type: ignore[arg-type]
        server.wire.is_down = True
        return reply

    monkeypatch.setattr(server.wire, "_pushed", last_words)

    report = edge.push([{"id": "a", "text": "An otter."}])

    assert [result.outcome for result in report.results] == ["stored"]
    assert "did not answer" in report.problem
    server.wire.is_down = False
    assert pull(edge).kind == "delta"


def test_a_text_that_is_none_is_refused_before_anything_waits(server: Server, edge: Index):
    with pytest.raises(InvalidArgument):
        edge.push([{"id": "a", "text": "fine"}, {"id": "b"}])

    assert edge.status().follows["pending"] == 0
