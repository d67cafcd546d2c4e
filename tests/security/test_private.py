"""Who else on this machine can read an index, its parts and its exports."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from offer_wire import TOKEN, URL, filled_server, reachable
from tiny_embedder import TinyEmbedder

from gossamer.index import Index

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs POSIX permissions")


@pytest.fixture(autouse=True)
def _umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def modes(folder: Path) -> dict[str, int]:
    found = {".": stat.S_IMODE(folder.stat().st_mode)}
    for path in folder.rglob("*"):
        found[path.relative_to(folder).as_posix()] = stat.S_IMODE(path.stat().st_mode)
    return found


def open_to_others(folder: Path) -> dict[str, str]:
    return {name: oct(mode) for name, mode in modes(folder).items() if mode & 0o077}


@pytest.mark.usefixtures("embedder")
@pytest.mark.parametrize(
    "options", [{"keep": "hot:1MB"}, {"lexical": "fts5"}, {"store_text": True}]
)
@pytest.mark.parametrize("is_there", [False, True])
def test_an_index_is_its_owners_alone(tmp_path: Path, options: dict[str, str], is_there: bool):
    if is_there:
        (tmp_path / "index").mkdir(mode=0o755)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.html").write_text("<p>The lease is due.</p>", encoding="utf-8")
    index = Index.create(tmp_path / "index", **options)  # type: ignore[arg-type]
    index.add_paths([tmp_path / "notes"])
    index.search("lease")
    index.compact()

    assert open_to_others(tmp_path / "index") == {}


def test_so_are_server_and_edge_with_all_that_waits_and_was_lost(
    tmp_path: Path, embedder: TinyEmbedder
):
    with reachable() as servers:
        servers[URL] = filled_server(tmp_path / "server")
        edge = Index.follow(URL, tmp_path / "edge", token=TOKEN)
        edge.push([{"id": "mine", "text": "A secret."}])
        assert open_to_others(tmp_path / "edge") == {}
        assert open_to_others(tmp_path / "server") == {}


@pytest.mark.usefixtures("embedder")
def test_who_shares_the_folder_shares_what_comes_later(tmp_path: Path):
    index = Index.create(tmp_path / "index")
    (tmp_path / "index").chmod(0o750)

    index.add_texts([{"id": "a", "text": "A lease."}])

    assert stat.S_IMODE((tmp_path / "index" / "MANIFEST.gossamer").stat().st_mode) == 0o640
    assert any(finding.what.startswith("other users") for finding in index.check())


@pytest.mark.usefixtures("embedder")
def test_an_export_follows_the_umask(tmp_path: Path):
    index = Index.create(tmp_path / "index")
    index.add_texts([{"id": "a", "text": "A lease."}])

    index.export(tmp_path / "out.gossamer")
    os.umask(0o077)
    index.export(tmp_path / "private.gossamer")

    assert stat.S_IMODE((tmp_path / "out.gossamer").stat().st_mode) == 0o644
    assert stat.S_IMODE((tmp_path / "private.gossamer").stat().st_mode) == 0o600


def test_what_was_accepted_is_remembered_in_private(tmp_path: Path, home: Path, embedder: object):
    Index.create(tmp_path / "index")

    assert open_to_others(home / "config" / "trusted") == {}
