"""Names that come from files or servers: never paths."""

import json
from pathlib import Path

import pytest
from offer_wire import TOKEN, URL, filled_server, reachable
from tiny_embedder import TinyEmbedder

from gossamer.errors import Damaged, InvalidArgument
from gossamer.files import check_plain_name
from gossamer.index import Index
from gossamer.sync.history import History
from gossamer.sync.outbox import Outbox
from gossamer.sync.records import PushItem

BAD = ["/home/me/.config/x/settings", "../settings", "a/b", "", ".", "..", "a\0", "a\n", "x" * 101]


@pytest.mark.parametrize("name", BAD)
def test_a_name_that_could_be_a_path_is_refused(name: str):
    with pytest.raises(Damaged, match="where a name of letters"):
        check_plain_name(name, "a change")


@pytest.mark.parametrize("name", ["a", "0f3", "slim-f16-8-3.gsm", "op-1", "_x"])
def test_a_plain_name_is_given_back(name: str):
    assert check_plain_name(name, "a change") == name


def test_a_change_that_waits_and_is_refused_overwrites_no_file(
    tmp_path: Path, embedder: TinyEmbedder
):
    (tmp_path / "settings.json").write_text("mine", encoding="utf-8")
    with reachable() as servers:
        servers[URL] = filled_server(tmp_path / "server")
        edge = Index.follow(URL, tmp_path / "edge", token=TOKEN)
        (tmp_path / "edge" / "outbox").mkdir(exist_ok=True)
        record = {
            "op": str(tmp_path / "settings"),
            "id": "",  # which the server refuses
            "base": "",
            "text": {"id": "", "text": "theirs"},
            "file_bytes": None,
        }
        path = tmp_path / "edge" / "outbox" / "0001.json"
        path.write_text(json.dumps(record), encoding="utf-8")

        with pytest.raises(Damaged):
            edge.push()

    assert (tmp_path / "settings.json").read_text(encoding="utf-8") == "mine"


def test_an_entry_is_read_only_under_a_plain_name(tmp_path: Path):
    outbox = Outbox(tmp_path)
    outbox.put([PushItem("op", "a", "", text={"id": "a", "text": "b"})])
    (path,) = (tmp_path / "outbox").glob("0*.json")
    record = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**record, "op": "../op"}), encoding="utf-8")

    with pytest.raises(Damaged, match="a change is called"):
        outbox.waiting()


def test_a_server_refuses_a_change_of_such_a_name(tmp_path: Path, embedder: TinyEmbedder):
    server = filled_server(tmp_path / "server")

    (result,) = server.offer.push([PushItem("../../op", "a", "", text={"id": "a", "text": "b"})])

    assert result.outcome == "refused"
    assert "such as a uuid" in result.note


def test_a_replica_is_not_looked_for_elsewhere(tmp_path: Path, embedder: TinyEmbedder):
    server = filled_server(tmp_path / "server")
    server.offer.close()
    history = History(tmp_path / "server", 1 << 20)
    with history.database.transaction() as connection:
        connection.execute("INSERT INTO replicas VALUES ('slim:f16:8', 1, '../../x.gsm', '', 0)")

    with pytest.raises(Damaged, match="a replica is called"):
        history.replicas()


def test_an_address_of_a_key_is_the_one_it_was_set_for(monkeypatch: pytest.MonkeyPatch):
    from gossamer.embed.service import _key_for

    monkeypatch.setenv("GOSSAMER_API_KEY", "secret")
    monkeypatch.setenv("GOSSAMER_API_HOST", "api.example")

    assert _key_for("https://api.example/v1/embeddings") == "secret"
    assert _key_for("https://API.example:443/v1/embeddings") == "secret"
    assert _key_for("https://stranger.example/v1/embeddings") == ""
    assert _key_for("https://api.example.stranger.example/v1") == ""
    assert _key_for("https://stranger.example/api.example") == ""
    with pytest.raises(InvalidArgument, match="plain http"):
        _key_for("http://api.example/v1/embeddings")
    monkeypatch.setenv("GOSSAMER_API_HOST", "http://api.example")
    assert _key_for("http://api.example/v1/embeddings") == "secret"


def test_a_key_for_nobody_in_particular_is_sent_to_nobody(monkeypatch: pytest.MonkeyPatch):
    from gossamer.embed import load_embedder

    monkeypatch.setenv("GOSSAMER_API_KEY", "secret")
    monkeypatch.delenv("GOSSAMER_API_HOST", raising=False)

    with pytest.raises(InvalidArgument, match=r"GOSSAMER_API_HOST=stranger\.example"):
        load_embedder("http://stranger.example/v1#m")
