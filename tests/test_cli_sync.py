"""`gossamer pull`, `push` and `conflicts`, without a network and over a real one."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import uvicorn
from click.testing import CliRunner, Result
from copies import copy_index
from offer_wire import TOKEN, URL, Server, answers, contents, filled_server, put, reachable
from tiny_embedder import use_tiny

from gossamer.cli import cli
from gossamer.cli.docs import JSON_KEYS
from gossamer.errors import WrongState
from gossamer.index import Index
from gossamer.server.app import create_app
from gossamer.server.options import ServeOptions
from gossamer.store import open_index
from gossamer.store.folder import read_manifest
from gossamer.store.lock import hold_lock
from gossamer.store.trust import name_server
from gossamer.sync.follow import Edge

Run = Callable[..., Result]


@pytest.fixture(scope="module", autouse=True)
def _embedder() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        use_tiny(monkeypatch, with_codes=True)
        yield


@pytest.fixture
def servers() -> Iterator[dict[str, Server]]:
    with reachable() as known:
        yield known


@pytest.fixture
def server(tmp_path: Path, servers: dict[str, Server]) -> Server:
    servers[URL] = filled_server(tmp_path / "server")
    return servers[URL]


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOSSAMER_HOME", str(tmp_path / "home"))


@pytest.fixture
def run(tmp_path: Path) -> Run:
    environment = {
        "GOSSAMER_HOME": str(tmp_path / "home"),
        **dict.fromkeys(("GOSSAMER_INDEX", "GOSSAMER_DEBUG", "GOSSAMER_TOKEN")),
    }

    def run(*arguments: str | Path, input: str | bytes | None = None, **more: str) -> Result:
        words = [str(argument) for argument in arguments]
        return CliRunner().invoke(cli, words, input, env={**environment, **more})

    return run


@pytest.fixture
def edge(server: Server, run: Run, tmp_path: Path) -> Path:
    result = run("pull", URL, tmp_path / "edge", "--token", TOKEN)
    assert result.exit_code == 0, result.output
    return tmp_path / "edge"


def test_a_first_pull_says_what_came_and_where_it_is(server: Server, run: Run, tmp_path: Path):
    result = run("pull", URL, "--token", TOKEN)

    folder = tmp_path / "home" / "indexes" / "server.example"
    assert result.exit_code == 0, result.output
    assert f"the index is in {folder}" in result.stderr
    assert "https would hide it" in result.stderr
    assert "snapshot from version 0 to" in result.stdout
    assert "catalogue" in result.stdout
    assert run("search", "whale", "-i", "server.example").exit_code == 0
    assert run("pull", "-i", "server.example").stdout.startswith("version")


def test_an_index_may_have_another_name(server: Server, run: Run, tmp_path: Path):
    result = run("-i", "work", "pull", URL, GOSSAMER_TOKEN=TOKEN)

    assert result.exit_code == 0, result.output
    assert (tmp_path / "home" / "indexes" / "work" / "MANIFEST.gossamer").is_file()
    assert run("-i", "work", "pull", GOSSAMER_TOKEN=TOKEN).exit_code == 0


def test_pulling_again_says_what_changed(server: Server, run: Run, edge: Path):
    put(server, range(2), "seal")

    result = run("pull", edge)

    assert "delta from version" in result.stdout
    assert "2 documents changed, 0 removed" in result.stdout
    assert run("pull", "-i", edge).stdout == "version 4 is the newest\n"


def test_a_budget_is_held_against_what_came(server: Server, run: Run, tmp_path: Path):
    result = run("pull", URL, tmp_path / "slim", "--budget", "1MB", "--token", TOKEN)

    assert result.exit_code == 0, result.output
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["part", "estimate", "actual"] in lines
    assert {"vectors", "graph", "catalogue", "texts", "total"} <= {line[0] for line in lines}
    assert Index.open(tmp_path / "slim").status().follows["mode"] == "slim:f16:8"


def test_a_budget_that_nothing_fits_says_what_would(server: Server, run: Run, tmp_path: Path):
    result = run("pull", URL, tmp_path / "slim", "--budget", "100", "--token", TOKEN)

    assert result.exit_code == 2
    assert "do not fit into 100 bytes" in result.stderr
    assert not (tmp_path / "slim").exists()


def test_what_is_chosen_with_the_server_needs_the_server(server: Server, run: Run, edge: Path):
    result = run("pull", edge, "--mode", "slim")

    assert result.exit_code == 2
    assert "pull URL --mode" in result.stderr


def test_a_fallback_is_said(server: Server, run: Run, edge: Path):
    put(server, range(2), "seal")
    spoilt = [b"nonsense"]
    server.wire.change_package = lambda data: spoilt.pop() if spoilt else data

    result = run("pull", edge)

    assert "taken anew, because: this is not a package" in result.stderr
    assert "snapshot from version" in result.stdout


def test_a_server_that_does_not_answer_has_an_exit_code_of_its_own(
    server: Server, run: Run, edge: Path
):
    server.wire.is_down = True

    pulled = run("pull", edge)
    pushed = run("-i", edge, "push", "--text", "note", input="An otter.")
    found = run("-i", edge, "search", "whale")
    status = run("-i", edge, "status")

    assert (pulled.exit_code, pushed.exit_code, found.exit_code) == (5, 5, 0)
    assert "1 change waits" in pushed.stderr
    assert "1 change waits to be pushed" in " ".join(status.stdout.split())
    assert "those of the server" in status.stdout


def test_texts_and_files_are_pushed_and_found(server: Server, run: Run, edge: Path, tmp_path: Path):
    (tmp_path / "report.md").write_text("# Report\n\nThe beaver builds.\n", encoding="utf-8")

    pushed = run("-i", edge, "push", tmp_path / "report.md", "--text", "note", input="An otter.")
    removed = run("-i", edge, "push", "--remove", "note")
    again = run("-i", edge, "push")

    assert pushed.exit_code == 0, pushed.output
    assert [line.split()[:2] for line in pushed.stdout.splitlines()[1:]] == [
        ["stored", "note"],
        ["stored", "report.md"],
    ]
    assert "removed  note" in removed.stdout
    assert again.stdout == "nothing waited to be sent\n"
    assert "report.md" in run("-i", edge, "search", "beaver").stdout


def test_a_conflict_is_shown_and_what_lost_can_be_read(
    server: Server, run: Run, edge: Path, tmp_path: Path
):
    run("pull", URL, tmp_path / "other", "--token", TOKEN)
    run("-i", tmp_path / "other", "push", "--text", "t1", input="What Ada says.")

    pushed = run("-i", edge, "push", "--text", "t1", input="What Bob says.")
    pulled = run("pull", tmp_path / "other")
    listed = run("-i", edge, "conflicts")
    shown = run("-i", edge, "conflicts", "1")

    assert "someone else" in pushed.stdout
    assert "conflict 1:" in pulled.stderr
    assert listed.stdout.splitlines()[1].split()[0] == "1"
    assert shown.stdout == "What Ada says.\n"
    assert run("-i", edge, "conflicts", "7").exit_code == 3


def test_a_push_shows_what_became_of_earlier_ones(
    server: Server, run: Run, edge: Path, tmp_path: Path
):
    run("pull", URL, tmp_path / "other", "--token", TOKEN)
    run("-i", edge, "push", "--text", "t1", input="What Ada says.")
    own = run("-i", tmp_path / "other", "push", "--text", "t1", input="What Bob says.")

    pushed = run("-i", edge, "push", "--text", "zz", input="Something else.")

    assert "conflict 1:" in pushed.stderr
    assert "conflict 1:" not in own.stderr  # which its result says already
    assert "someone else" in own.stdout


def test_a_push_says_that_all_was_taken_anew(server: Server, run: Run, edge: Path):
    spoilt = [b"nonsense"]
    server.wire.change_package = lambda data: spoilt.pop() if spoilt else data

    pushed = run("-i", edge, "push", "--text", "zz", input="Something else.")

    assert "taken anew, because" in pushed.stderr


def test_a_push_that_the_pull_lock_holds_up_has_been_sent(
    server: Server, run: Run, edge: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("gossamer.sync.send._WAIT_S", 0.0)
    with hold_lock(edge / "sync", "pull --watch"):
        pushed = run("-i", edge, "push", "--text", "zz", input="Something else.")

    assert pushed.exit_code == 0, pushed.output
    assert "stored" in pushed.stdout
    assert "sent, but not pulled: process" in pushed.stderr


def test_an_index_that_outgrows_its_budget_is_named(server: Server, run: Run, tmp_path: Path):
    run("pull", URL, tmp_path / "slim", "--budget", "20000", "--token", TOKEN)
    put(server, range(400), "seal")

    pulled = run("pull", tmp_path / "slim")

    assert "--budget 20000" in " ".join(pulled.stderr.split())


def test_what_keeps_an_edge_up_to_date_is_another_command(server: Server, run: Run, edge: Path):
    result = run("-i", edge, "watch")

    assert result.exit_code == 2
    assert "gossamer pull --watch" in result.stderr


def test_without_texts_an_edge_cannot_be_evaluated(server: Server, run: Run, tmp_path: Path):
    run("pull", URL, tmp_path / "away", "--texts", "away", "--token", TOKEN)

    result = run("-i", tmp_path / "away", "eval")

    assert result.exit_code == 2
    assert "kept by its server alone" in result.stderr


def test_what_cannot_be_shown_offline_says_why_and_no_more(
    server: Server, run: Run, tmp_path: Path
):
    run("pull", URL, tmp_path / "away", "--texts", "away", "--token", TOKEN)
    server.wire.is_down = True

    shown = run("-i", tmp_path / "away", "show", "1")
    found = run("-i", tmp_path / "away", "search", "whale", "--mode", "semantic")

    assert "is not kept here, and the server" in " ".join(shown.stderr.split())
    assert "answered from what is here" not in shown.stderr
    assert " ".join(found.stderr.split()).count("answered from what is here") == 1


def test_there_may_be_no_conflicts(server: Server, run: Run, edge: Path):
    result = run("-i", edge, "conflicts")

    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "there are no conflicts\n")


def test_what_the_server_refuses_is_the_answer_no(
    server: Server, run: Run, edge: Path, tmp_path: Path
):
    result = run("-i", edge, "push", "--remove", tmp_path / "files" / "a.md")

    assert result.exit_code == 1
    assert "refused" in result.stdout


def test_what_is_no_text_is_not_pushed_as_one(server: Server, run: Run, edge: Path):
    result = run("-i", edge, "push", "--text", "note", input=b"\xff\xfe\x00")

    assert result.exit_code == 2
    assert "no UTF-8 text" in result.stderr


def test_json_holds_the_documented_keys(server: Server, run: Run, edge: Path):
    put(server, range(2), "seal")

    pulled = json.loads(run("pull", edge, "--json").stdout)
    pushed = json.loads(run("-i", edge, "push", "--text", "n", "--json", input="Otter.").stdout)
    conflicts = json.loads(run("-i", edge, "conflicts", "--json").stdout)

    assert set(pulled) == set(JSON_KEYS["pull"])
    assert set(pushed) == set(JSON_KEYS["push"])
    assert set(conflicts) == set(JSON_KEYS["conflicts"])
    assert pulled["kind"] == "delta"
    assert pushed["results"][0]["outcome"] == "stored"


def test_watching_pulls_what_changes_until_ctrl_c(
    server: Server, run: Run, edge: Path, monkeypatch: pytest.MonkeyPatch
):
    def change() -> None:
        put(server, range(2), "seal")

    def go() -> None:
        server.wire.is_down = True

    def come_back() -> None:
        server.wire.is_down = False
        put(server, range(3), "otter")

    steps = [change, go, lambda: None, come_back]

    def sleep(_: float) -> None:
        if not steps:
            raise KeyboardInterrupt
        steps.pop(0)()

    monkeypatch.setattr("gossamer.cli.pull.time.sleep", sleep)

    result = run("pull", edge, "--watch", "--every", "5")

    assert result.exit_code == 0, result.output
    assert "2 documents changed" in result.stdout
    assert "3 documents changed" in result.stdout
    assert result.stderr.count("did not answer") == 1
    assert result.stderr.endswith("stopped\n")


def test_watching_begins_without_the_server(
    server: Server, run: Run, edge: Path, monkeypatch: pytest.MonkeyPatch
):
    def stop(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("gossamer.cli.pull.time.sleep", stop)
    server.wire.is_down = True

    result = run("pull", edge, "--watch")

    assert result.exit_code == 0
    assert "it is tried again" in result.stderr


def test_an_index_that_follows_nobody_says_how_to_follow(run: Run, tmp_path: Path):
    Index.create(tmp_path / "own", model="tiny")

    assert run("-i", tmp_path / "own", "push").exit_code == 2
    assert "gossamer pull URL" in run("pull", tmp_path / "own").stderr
    assert run("pull", "-i", tmp_path / "nothing").exit_code == 3


# Over a real network


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """A server that speaks HTTP, with a token and files."""
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "a.md").write_text("# Whales\n\nA whale in the sea.\n", encoding="utf-8")
    index = Index.create(tmp_path / "served", model="tiny")
    index.add_paths([tmp_path / "files"])
    app = create_app(tmp_path / "served", ServeOptions(token=TOKEN))
    config = uvicorn.Config(
        app, log_level="error", ws="none", lifespan="on", timeout_graceful_shutdown=2
    )
    serving = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as bound:
        thread = threading.Thread(target=serving.run, args=([bound],), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{bound.getsockname()[1]}"
        serving.should_exit = True
        thread.join()


@pytest.mark.parametrize("mode", ["codes", "slim"])
def test_over_http_an_edge_follows_pushes_and_sees_conflicts(
    address: str, run: Run, tmp_path: Path, mode: str
):
    first = run("pull", address, tmp_path / "edge", "--mode", mode, "--token", TOKEN)
    other = run("pull", address, tmp_path / "other", "--texts", "away", GOSSAMER_TOKEN=TOKEN)
    run("-i", tmp_path / "edge", "push", "--text", "note", input="What Ada says of otters.")
    lost = run(
        "-i", tmp_path / "other", "push", "--text", "note", input="Bob too.", GOSSAMER_TOKEN=TOKEN
    )
    (tmp_path / "b ü.md").write_text("# Beavers\n\nA beaver builds.\n", encoding="utf-8")
    file = run("-i", tmp_path / "edge", "push", tmp_path / "b ü.md")
    pulled = run("pull", tmp_path / "edge", "--json")
    conflict = run("-i", tmp_path / "edge", "conflicts", "1")

    assert [one.exit_code for one in (first, other, lost, file)] == [0, 0, 0, 0], first.output
    assert "someone else" in lost.stdout
    assert json.loads(pulled.stdout)["kind"] == "current"
    assert conflict.stdout == "What Ada says of otters.\n"
    served, edge = Index.open(tmp_path / "served"), Index.open(tmp_path / "edge")
    assert {hit.text for hit in edge.search("beaver otters")} == {
        hit.text for hit in served.search("beaver otters")
    }
    away = Edge.open(tmp_path / "other", TOKEN)
    away.pull()
    found = Index.open(away.folder).search("beaver", 1, mode="semantic")
    assert "beaver" in found[0].text
    assert found.notes == ()
    assert Index.open(away.folder).context(found[0].id)[1].text == found[0].text


def test_over_http_a_download_goes_on_where_it_was_cut(address: str, tmp_path: Path):
    whole = Index.follow(address, tmp_path / "whole", token=TOKEN)
    cut = tmp_path / "cut"
    stopped = []

    def stop(what: str, done: int, total: int) -> None:
        if what == "receiving":
            stopped.append((done, total))
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gossamer.sync.download._BLOCK", 300)
        with pytest.raises(KeyboardInterrupt):
            Index.follow(address, cut, token=TOKEN, progress=stop)
    begun = (cut / "package.part").stat().st_size
    seen: list[tuple[int, int]] = []
    Edge.open(cut).pull(lambda _, done, total: seen.append((done, total)))

    assert (begun, stopped) == (300, [(300, seen[0][1])])
    assert seen[0][0] > 300
    assert contents(cut) == contents(whole.folder)


def test_over_http_chunks_of_another_index_are_not_given(address: str, tmp_path: Path):
    edge = Index.follow(address, tmp_path / "edge", token=TOKEN)
    origin = read_manifest(edge.folder).origin
    right = {name: str(origin[name]) for name in ("index", "epoch")}
    ids = open_index(edge.folder).catalogue.chunk_ids
    dim = read_manifest(edge.folder).model.dim
    with Edge.open(edge.folder).client() as client:
        assert client.vectors(ids, dim, right)[0].all()
        assert client.chunks(ids.tolist(), right)[0] is not None
        assert client.context(int(ids[0]), 10, right) is not None
        for name in right:
            wrong = {**right, name: "another"}
            for ask in (
                lambda wrong=wrong: client.vectors(ids, dim, wrong),
                lambda wrong=wrong: client.chunks(ids.tolist(), wrong),
                lambda wrong=wrong: client.context(int(ids[0]), 10, wrong),
            ):
                with pytest.raises(WrongState, match="another index"):
                    ask()


def test_over_http_a_wrong_token_is_refused(address: str, run: Run, tmp_path: Path):
    result = run("pull", address, tmp_path / "edge", "--token", "guessed")

    assert result.exit_code == 2
    assert "needs its token" in result.stderr
    assert not (tmp_path / "edge").exists()


def test_over_http_an_edge_that_goes_offline_answers_on(address: str, run: Run, tmp_path: Path):
    edge = Index.follow(address, tmp_path / "edge", token=TOKEN)
    expected = answers(edge)
    nowhere = json.loads((edge.folder / "follow.json").read_text(encoding="utf-8"))
    nowhere["url"] = "http://127.0.0.1:9"
    copy_index(edge.folder, tmp_path / "offline")
    name_server(tmp_path / "offline", nowhere["url"])
    (tmp_path / "offline" / "follow.json").write_text(json.dumps(nowhere), encoding="utf-8")

    assert answers(tmp_path / "offline") == expected
    assert run("pull", tmp_path / "offline").exit_code == 5
