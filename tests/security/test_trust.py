"""Indexes that somebody else made: what they name is not followed until they are accepted."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result
from tiny_embedder import TinyEmbedder

from gossamer.cli import cli
from gossamer.errors import Damaged, MissingModel, ModelMismatch, Untrusted, Unwritable
from gossamer.files import write_file
from gossamer.index import Index
from gossamer.models import find
from gossamer.server.app import create_app
from gossamer.single.container import Container, Section, container_parts
from gossamer.single.kinds import MANIFEST as MANIFEST_SECTION
from gossamer.store.folder import read_manifest
from gossamer.store.manifest import MANIFEST, Manifest
from gossamer.store.trust import is_trusted, name_server
from gossamer.sync.follow import Edge

SECRET = "The safe opens with 4711."


@pytest.fixture
def folder(tmp_path: Path, embedder: TinyEmbedder) -> Path:
    """A folder of a person, with an index of it that reads texts in place."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("The lease is due in May.", encoding="utf-8")
    index = Index.create(tmp_path / "index")
    index.add_paths([tmp_path / "notes"])
    index.add_texts([{"id": "kept", "text": "A note on the lease."}])
    return tmp_path / "index"


@pytest.fixture
def copy(folder: Path) -> Path:
    """The same index as a stranger gets it."""
    return Path(shutil.copytree(folder, folder.with_name("copy")))


def change(folder: Path, **values: object) -> None:
    """Write another manifest, as whoever made the index can."""
    manifest = replace(read_manifest(folder), **values)  # type: ignore[arg-type]
    (folder / MANIFEST).write_bytes(manifest.to_bytes())


def with_model(manifest: Manifest, name: str) -> Manifest:
    return replace(manifest, model=replace(manifest.model, name=name))


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(cli, [str(word) for word in words])


@contextmanager
def unasked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Note every model that is loaded, and let none be."""
    asked: list[str] = []

    def load(spec: str, threads: int = 0) -> object:
        asked.append(spec)
        raise AssertionError(spec)

    monkeypatch.setattr("gossamer.model.load_embedder", load)
    yield asked


class TestReading:
    def test_an_index_made_here_is_trusted_and_a_copy_is_not(self, folder: Path, copy: Path):
        assert Index.open(folder).is_trusted
        assert not Index.open(copy).is_trusted

    def test_texts_that_it_holds_are_found_and_files_that_it_names_are_not_read(self, copy: Path):
        results = Index.open(copy).search("lease", 5)

        assert [hit.text for hit in results if hit.source == "kept"] == ["A note on the lease."]
        assert [hit.text for hit in results if hit.source != "kept"] == [""]
        assert any("gossamer trust" in note for note in results.notes)

    def test_a_chunk_in_a_file_is_refused_with_what_the_index_names(self, copy: Path):
        index = Index.open(copy)
        (id,) = (hit.id for hit in index.search("lease") if hit.source != "kept")

        with pytest.raises(Untrusted, match=r"folders: .*notes.*model: 'tiny'.*gossamer trust"):
            index.context(id)
        with pytest.raises(Untrusted):
            index.similar(id)

    def test_its_status_looks_at_no_file(self, copy: Path):
        (copy.parent / "notes" / "a.md").unlink()

        status = Index.open(copy).status()

        assert (status.is_trusted, status.missing_files, status.changed_files) == (False, 0, 0)

    def test_an_export_holds_what_the_index_holds(self, copy: Path, tmp_path: Path):
        report = Index.open(copy).export(tmp_path / "out.gossamer")

        assert report.sources == 1
        assert [Path(path).name for path in report.left_out] == ["a.md"]

    def test_searching_writes_nothing_into_it(self, copy: Path):
        change(copy, settings=replace(read_manifest(copy).settings, keep="hot:1MB"))
        before = {path.name: path.stat().st_mtime_ns for path in copy.iterdir()}

        Index.open(copy).search("lease")

        assert {path.name: path.stat().st_mtime_ns for path in copy.iterdir()} == before

    @pytest.mark.parametrize(
        "name", ["http://stranger.example/v1#m", "/srv/model", "./model", "sentence-transformers:x"]
    )
    def test_a_model_that_is_a_place_is_not_loaded(
        self, copy: Path, name: str, monkeypatch: pytest.MonkeyPatch
    ):
        change(copy, model=replace(read_manifest(copy).model, name=name))

        with unasked(monkeypatch) as asked:
            with pytest.raises(Untrusted, match="its model is not loaded"):
                Index.open(copy).search("lease")
            assert len(Index.open(copy).search("lease", mode="lexical")) == 1

        assert asked == []

    def test_a_model_that_somebody_here_names_is_loaded(self, copy: Path):
        change(copy, model=replace(read_manifest(copy).model, name="http://stranger.example#m"))

        assert len(Index.open(copy, model="tiny").search("lease")) == 2

    def test_a_plain_name_is_no_folder_of_the_place_where_one_works(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        (tmp_path / "some" / "model").mkdir(parents=True)
        monkeypatch.chdir(tmp_path)

        with pytest.raises(MissingModel):
            find("some/model")

    @pytest.mark.parametrize("name", ["words.sqlite", "hot.gsh", "texts-2.gst", MANIFEST])
    def test_links_in_it_lead_nowhere(self, copy: Path, tmp_path: Path, name: str):
        (tmp_path / "secret").write_text(SECRET, encoding="utf-8")
        (copy / name).unlink(missing_ok=True)
        (copy / name).symlink_to(tmp_path / "secret")

        said = run("search", "lease", "--index", copy)

        assert SECRET not in said.output
        assert (tmp_path / "secret").read_text(encoding="utf-8") == SECRET


class TestChanging:
    @pytest.mark.parametrize("words", [["add"], ["remove", "kept"], ["compact"], ["watch"]])
    def test_what_would_change_it_is_refused(self, copy: Path, words: list[str]):
        before = (copy / MANIFEST).read_bytes()

        result = run(*words, "--index", copy)

        assert result.exit_code == 6
        assert "gossamer trust" in result.output
        assert (copy / MANIFEST).read_bytes() == before

    def test_folders_that_it_names_are_not_read(self, copy: Path, tmp_path: Path):
        (tmp_path / "private").mkdir()
        (tmp_path / "private" / "safe.md").write_text(SECRET, encoding="utf-8")
        change(copy, roots=((tmp_path / "private").as_posix(),))

        with pytest.raises(Untrusted, match="private"):
            Index.open(copy).add_paths()

    def test_it_is_not_served(self, copy: Path):
        with pytest.raises(Untrusted, match="it is not served"):
            create_app(copy)

    def test_a_lock_that_is_a_link_has_no_file_cut(self, copy: Path, tmp_path: Path):
        (tmp_path / "settings").write_text("mine", encoding="utf-8")
        (copy / "lock").unlink(missing_ok=True)
        (copy / "lock").symlink_to(tmp_path / "settings")

        run("add", "--index", copy, "--trust", "--wait", "0")

        assert (tmp_path / "settings").read_text(encoding="utf-8") == "mine"

    def test_opened_with_trust_it_may_do_all_that_ours_may(self, copy: Path):
        index = Index.open(copy, trust=True)

        assert index.is_trusted
        assert {hit.text for hit in index.search("lease")} == {
            "The lease is due in May.",
            "A note on the lease.",
        }
        assert not Index.open(copy).is_trusted
        index.add_texts([{"id": "more", "text": "More."}])
        assert Index.open(copy).is_trusted


class TestAccepting:
    def test_trust_shows_what_it_names_and_is_remembered(self, copy: Path):
        shown = run("trust", copy, "--show")
        accepted = run("trust", copy)

        assert shown.exit_code == 1
        assert "notes" in shown.output
        assert "tiny" in shown.output
        assert accepted.exit_code == 0
        assert run("add", "--index", copy).exit_code == 0

    def test_it_can_be_forgotten(self, folder: Path):
        run("trust", folder, "--forget")

        assert not Index.open(folder).is_trusted

    def test_one_that_was_accepted_is_asked_of_again_when_it_names_something_else(self, copy: Path):
        run("trust", copy)
        change(copy, roots=("/",))

        assert not Index.open(copy).is_trusted

    def test_what_was_accepted_in_one_place_is_not_in_another(self, folder: Path, tmp_path: Path):
        folder.rename(tmp_path / "moved")

        with pytest.raises(Untrusted, match=rf"the index that was in {folder}"):
            Index.open(tmp_path / "moved").add_paths()

    @pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("n\n", 6), ("\n", 6)])
    def test_who_moved_an_own_index_is_asked_once(
        self,
        folder: Path,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        answer: str,
        code: int,
    ):
        folder.rename(tmp_path / "moved")
        monkeypatch.setattr("gossamer.cli.output._is_terminal", lambda _: True)
        arguments = ["add", "--index", str(tmp_path / "moved")]

        first = CliRunner().invoke(cli, arguments, answer)

        assert first.exit_code == code
        assert str(folder) in first.output.replace("\n", "")
        if not code:
            assert "[y/N]" not in CliRunner().invoke(cli, arguments, "").output

    def test_a_stranger_is_not_asked_for_by_a_question(
        self, copy: Path, monkeypatch: pytest.MonkeyPatch
    ):
        change(copy, uuid="0" * 32)
        monkeypatch.setattr("gossamer.cli.output._is_terminal", lambda _: True)

        assert "[y/N]" not in CliRunner().invoke(cli, ["add", "--index", str(copy)], "y\n").output

    @pytest.mark.usefixtures("embedder")
    def test_settings_that_cannot_be_written_say_so_before_anything_is_made(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        (tmp_path / "home").write_text("a file", encoding="utf-8")
        monkeypatch.setenv("GOSSAMER_HOME", str(tmp_path / "home"))

        with pytest.raises(Unwritable, match="remember whose index this is"):
            Index.create(tmp_path / "index")
        assert not (tmp_path / "index" / MANIFEST).exists()

    def test_a_record_that_is_damaged_trusts_nothing(self, folder: Path, home: Path):
        for path in (home / "config" / "trusted").glob("*.json"):
            path.write_text("[" * 100_000, encoding="utf-8")

        assert not is_trusted(folder, read_manifest(folder))

    def test_one_that_was_put_back_is_said_to_name_other_things(self, folder: Path):
        change(folder, roots=("/",))

        with pytest.raises(Untrusted, match="names other things than when it was accepted"):
            Index.open(folder).add_paths()

    def test_an_index_that_is_no_longer_trusted_is_not_used_as_if_it_were(self, folder: Path):
        index = Index.open(folder)
        change(folder, roots=("/",))

        with pytest.raises(Untrusted):
            index.search("lease")

    def test_with_settings_that_cannot_be_written_it_is_trusted_for_once(
        self, copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        (tmp_path / "home").write_text("a file", encoding="utf-8")
        monkeypatch.setenv("GOSSAMER_HOME", str(tmp_path / "home"))

        said = run("search", "lease", "--index", copy, "--trust")
        refused = run("trust", copy)

        assert said.exit_code == 0
        assert "due in May" in said.output
        assert "for this once" in said.output
        assert "GOSSAMER_HOME" in refused.output

    def test_caches_of_a_stranger_are_forgotten(self, copy: Path):
        change(copy, uuid="0" * 32)
        for name in ("hot.gsh", "words.sqlite", "journal.gsj"):
            (copy / name).write_text("theirs", encoding="utf-8")
        (copy / "sync" / "packages").mkdir(parents=True)
        (copy / "sync" / "packages" / "k-1.gsp").write_text("theirs", encoding="utf-8")

        run("trust", copy)

        left = [path for path in copy.rglob("*") if path.is_file()]
        assert [path.name for path in left if path.read_bytes() == b"theirs"] == []

    def test_more_folders_than_are_shown_are_not_accepted_on_the_way(self, copy: Path):
        change(copy, roots=tuple(f"/{n}" for n in range(20)))

        said = run("add", "--index", copy).output

        assert "10 more" in said
        assert "--trust" not in said

    @pytest.mark.parametrize("root", ["", ".", "x", "~", "/a/../b", "//a/../b", "/a\0", "/\ud800"])
    def test_a_root_that_is_no_place_is_refused(self, copy: Path, root: str):
        change(copy, roots=(root,))

        with pytest.raises(Damaged, match="no absolute path"):
            Index.open(copy)

    def test_where_a_folder_leads_is_shown(self, copy: Path, tmp_path: Path):
        (tmp_path / "link").symlink_to(tmp_path / "notes")
        change(copy, roots=((tmp_path / "link").as_posix(),))

        assert "leads to" in run("trust", copy, "--show").output

    def test_files_below_no_folder_of_it_are_not_looked_at(
        self, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        (tmp_path / "page.html").write_text("<p>The lease of the page.</p>", encoding="utf-8")
        Index.open(folder).add_paths([tmp_path / "page.html"])
        change(folder, roots=((tmp_path / "notes").as_posix(),))
        run("trust", folder)
        looked: list[str] = []
        monkeypatch.setattr(
            "gossamer.query.texts._is_same_file", lambda one: looked.append(one["path"])
        )

        index = Index.open(folder)
        assert any("page" in hit.text for hit in index.search("lease page"))
        assert (looked, index.status().missing_files) == ([], 0)


class TestImport:
    def export(self, folder: Path, target: Path, name: str) -> None:
        Index.open(folder).export(target)
        container = Container(np.fromfile(target, "u1"))
        sections = [Section(kind, container.section(kind).copy()) for kind in container.lengths]
        for at, section in enumerate(sections):
            if section.kind == MANIFEST_SECTION:
                values = json.loads(section.bytes.tobytes())
                values["model"]["name"] = name
                data = json.dumps(values).encode()
                sections[at] = Section(section.kind, np.frombuffer(data, "u1"))
        write_file(target, container_parts(sections))

    @pytest.mark.parametrize(
        "name", ["http://stranger.example/v1#m", "/srv/model", "./model", "sentence-transformers:x"]
    )
    def test_a_file_does_not_say_where_its_model_is(self, folder: Path, tmp_path: Path, name: str):
        self.export(folder, tmp_path / "in.gossamer", name)

        with pytest.raises(ModelMismatch, match="--model PLACE"):
            Index.import_file(tmp_path / "in.gossamer", tmp_path / "imported")
        assert not (tmp_path / "imported").exists()

        made = Index.import_file(tmp_path / "in.gossamer", tmp_path / "imported", model="tiny")
        assert made.status().model == "tiny"
        assert made.is_trusted

    def test_an_import_that_was_killed_leaves_its_texts_with_the_index_for_the_next(
        self, folder: Path, tmp_path: Path
    ):
        Index.open(folder).export(tmp_path / "in.gossamer")
        for use in (
            lambda: run("search", "x", "--index", tmp_path / "imported"),
            lambda: Index.import_file(tmp_path / "in.gossamer", tmp_path / "imported"),
            lambda: run("status", "--index", tmp_path / "imported"),
        ):
            left = tmp_path / "imported" / ".import-left"
            left.mkdir(parents=True)
            (left / "texts.gst").write_text(SECRET, encoding="utf-8")

            use()

            assert list((tmp_path / "imported").glob(".import-*")) == []


class TestFollowing:
    def test_a_server_that_a_folder_names_is_not_asked(self, copy: Path):
        origin = {"url": "http://stranger.example", "index": "x", "epoch": "e", "version": 1}
        change(copy, origin={**origin, "state": "s", "mode": "codes", "texts": "away"})

        with pytest.raises(Untrusted, match=r"stranger\.example"):
            Edge.open(copy)
        assert run("pull", copy).exit_code == 6
        assert run("search", "lease", "--index", copy).exit_code == 0

    def test_a_model_that_only_the_edge_names_is_not_taken(self, copy: Path):
        origin = {"url": "http://server.example", "index": "x", "epoch": "e", "version": 1}
        change(copy, origin={**origin, "state": "s", "mode": "codes", "texts": "kept"})
        follow = {"url": "http://server.example", "model": "http://stranger.example/v1#m"}
        (copy / "follow.json").write_text(json.dumps(follow), encoding="utf-8")
        run("trust", copy)

        assert Edge.open(copy).following.model == ""

    def test_a_token_of_the_environment_goes_to_servers_that_were_named_here(
        self, copy: Path, monkeypatch: pytest.MonkeyPatch
    ):
        origin = {"url": "http://stranger.example", "index": "x", "epoch": "e", "version": 1}
        change(copy, origin={**origin, "state": "s", "mode": "codes", "texts": "kept"})
        run("trust", copy)
        monkeypatch.setenv("GOSSAMER_TOKEN", "of-another-server")

        assert Edge.open(copy).following.token == ""
        name_server(copy, "http://stranger.example")
        assert Edge.open(copy).following.token == "of-another-server"

    def test_nor_one_of_a_folder_that_has_nothing_yet(self, tmp_path: Path):
        (tmp_path / "edge").mkdir()
        follow = {"url": "http://stranger.example", "token": "t", "mode": "codes", "texts": "kept"}
        (tmp_path / "edge" / "follow.json").write_text(json.dumps(follow), encoding="utf-8")

        with pytest.raises(Untrusted, match="nobody said on this machine"):
            Edge.open(tmp_path / "edge")
