"""Links in a folder that somebody else made: nothing is read, written or deleted through them."""

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from offer_wire import TOKEN, URL, Server, filled_server, reachable
from served import serve
from tiny_embedder import TinyEmbedder

from gossamer.errors import Damaged, InvalidArgument
from gossamer.files import open_to_append, read_small
from gossamer.index import Index
from gossamer.server.ranges import OpenFile
from gossamer.sync.cache import PackageCache
from gossamer.sync.outbox import Outbox
from gossamer.sync.records import PushItem
from gossamer.sync.remote_chunks import ServerChunks, Speeds
from gossamer.sync.uploads import Uploads

ITEM = PushItem("op", "a", "", text={"id": "a", "text": "b"})
SECRET = "The safe opens with 4711."


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "outside" / "secret.txt"
    path.parent.mkdir()
    path.write_text(SECRET, encoding="utf-8")
    return path


@pytest.fixture
def server(tmp_path: Path, embedder: TinyEmbedder) -> "Server":
    with reachable() as servers:
        servers[URL] = filled_server(tmp_path / "server")
        yield servers[URL]


def test_a_folder_that_others_prepared_is_no_place_for_a_first_pull(
    server: Server, secret: Path, tmp_path: Path
):
    edge = tmp_path / "edge"
    edge.mkdir()
    (edge / "package.part").symlink_to(secret)
    asked = {"url": URL, "mode": "codes", "texts": "kept", "base": None}
    (edge / "package.json").write_text(json.dumps({"asked": asked, "etag": '"x"'}))

    with pytest.raises(InvalidArgument, match="not empty"):
        Index.follow(URL, edge, token=TOKEN)

    assert secret.read_text(encoding="utf-8") == SECRET


def test_nor_does_one_keep_a_model_or_changes_that_it_came_with(server: Server, tmp_path: Path):
    edge = tmp_path / "edge"
    edge.mkdir()
    follow = {"url": URL, "token": "", "model": "http://stranger.example/v1#m"}
    (edge / "follow.json").write_text(json.dumps(follow), encoding="utf-8")

    with pytest.raises(InvalidArgument, match="not empty"):
        Index.follow(URL, edge, token=TOKEN)


def test_nothing_is_appended_through_a_link(secret: Path, tmp_path: Path):
    (tmp_path / "part").symlink_to(secret)

    with pytest.raises(Damaged, match="is a link"):
        open_to_append(tmp_path / "part")


def test_a_file_that_waits_to_be_sent_is_no_other(server: Server, secret: Path, tmp_path: Path):
    edge = Index.follow(URL, tmp_path / "edge", token=TOKEN)
    outbox = edge.folder / "outbox"
    outbox.mkdir(exist_ok=True)
    (outbox / "0001.bin").symlink_to(secret)
    record = {"op": "a", "id": "loot.txt", "base": "", "text": None, "is_file": True}
    record |= {"file_bytes": len(SECRET), "after": []}
    (outbox / "0001.json").write_text(json.dumps(record), encoding="utf-8")

    with pytest.raises(Damaged, match="is a link"):
        edge.push()

    assert server.index.search("safe", mode="lexical").hits == ()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
@pytest.mark.parametrize("name", ["0001.json", "last"])
def test_a_pipe_is_not_waited_for(tmp_path: Path, name: str):
    (tmp_path / "outbox").mkdir()
    os.mkfifo(tmp_path / "outbox" / name)

    outbox = Outbox(tmp_path)
    use = outbox.waiting if name.endswith("json") else lambda: outbox.put([ITEM])
    with pytest.raises(Damaged):
        use()


def test_a_file_that_is_larger_than_it_may_be_is_not_read(tmp_path: Path):
    with open(tmp_path / "large", "wb") as file:
        file.truncate(1 << 33)

    with pytest.raises(Damaged, match="at most belong"):
        read_small(tmp_path / "large", 1 << 20)


class TestUploads:
    @pytest.fixture
    def uploads(self, tmp_path: Path, secret: Path) -> Uploads:
        (tmp_path / "uploads").mkdir()
        (tmp_path / "uploads" / "a").symlink_to(secret.parent)
        return Uploads(tmp_path / "uploads")

    def test_nothing_is_read_written_or_deleted_below_a_link(
        self, uploads: Uploads, secret: Path, tmp_path: Path
    ):
        path = tmp_path / "uploads" / "a" / "secret.txt"
        (tmp_path / "aside").write_text("theirs", encoding="utf-8")

        for use in (
            lambda: uploads.read(path),
            lambda: uploads.write(path, b"theirs"),
            lambda: uploads.put(tmp_path / "aside", "a/secret.txt"),
            lambda: uploads.remove(path),
            lambda: uploads.remove_all(tmp_path / "uploads" / "a"),
        ):
            with pytest.raises(Damaged, match="is a link"):
                use()

        assert secret.read_text(encoding="utf-8") == SECRET
        assert os.listdir(secret.parent) == ["secret.txt"]

    def test_nor_where_all_of_it_is_one(self, secret: Path, tmp_path: Path):
        (tmp_path / "uploads").symlink_to(secret.parent)

        with pytest.raises(Damaged, match="is a link"):
            Uploads(tmp_path / "uploads").remove_all(tmp_path)

        assert secret.exists()


def test_packages_that_were_made_before_are_no_links(secret: Path, tmp_path: Path):
    (tmp_path / "packages").mkdir()
    (tmp_path / "packages" / "k-1.gsp").symlink_to(secret)

    with pytest.raises(Damaged, match="is a link"):
        OpenFile.open(tmp_path / "packages" / "k-1.gsp")
    PackageCache(tmp_path / "packages")

    assert list((tmp_path / "packages").iterdir()) == []
    assert secret.exists()


def test_a_single_file_of_the_server_is_no_link(folder: Path, secret: Path):
    with serve(folder) as client:
        while client.get("/v1/sync/file").status_code == 202:
            pass
        (path,) = (folder / "index" / "sync").glob("single-*")
        path.unlink()
        path.symlink_to(secret)
        answer = client.get("/v1/sync/file")

    assert "4711" not in answer.text


def test_a_note_that_a_server_is_away_makes_no_file_elsewhere(secret: Path, tmp_path: Path):
    (tmp_path / "sync").mkdir()
    marker = tmp_path / "sync" / "unanswered"
    marker.symlink_to(secret.parent / "made")

    ServerChunks(None, Speeds(), 8, marker)._mark()  # type: ignore[arg-type]

    assert not (secret.parent / "made").exists()


def test_a_history_with_triggers_is_not_used(server: Server, tmp_path: Path):
    server.offer.close()
    path = tmp_path / "server" / "sync" / "history.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TRIGGER t AFTER INSERT ON meta BEGIN DELETE FROM meta; END")
        connection.commit()

    server.restart()
    server.offer.info()

    with closing(sqlite3.connect(path)) as connection:
        (count,) = connection.execute(
            "SELECT count(*) FROM sqlite_master WHERE type = 'trigger'"
        ).fetchone()
    assert count == 0
    assert list(path.parent.glob("history-damaged-*"))
