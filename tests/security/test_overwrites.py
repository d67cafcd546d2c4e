"""No command writes over what it did not write, follows a link, or leaves half of something."""

import errno
import json
import os
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tiny_embedder import use_tiny

from gossamer import Index, demo, errors
from gossamer.cli import cli
from gossamer.evaluate import Evaluation, save_plot
from gossamer.single import site as single_site
from gossamer.single.site import MARKER

PAGE = {"index.html": b"<!doctype html>", "base.css": b"b {}", "parts/gossamer.wasm": b"\0asm"}
MINE = {"index.html": b"<h1>My own page</h1>", "base.css": b"h1 { color: teal }"}


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Index:
    use_tiny(monkeypatch, with_codes=True)
    return make_index(tmp_path / "index")


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The built page, which stands in for the real one."""
    folder = tmp_path / "page"
    write(folder, PAGE)
    monkeypatch.setattr(single_site, "page_folder", lambda: folder)
    return folder


@pytest.fixture
def site(index: Index, page: Path, tmp_path: Path) -> Path:
    """A folder that the command wrote."""
    folder = tmp_path / "site"
    assert export(index, "--site", folder).exit_code == 0
    return folder


def make_index(folder: Path) -> Index:
    index = Index.create(folder)
    index.add_texts([{"id": "kelp", "text": "Kelp is no plant."}])
    return index


def export(index: Index, *arguments: object) -> Result:
    return run("export", index.folder, *arguments)


def run(*arguments: object) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments])


def said(result: Result) -> str:
    return " ".join(result.output.split())


def write(folder: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


def content(folder: Path) -> dict[str, object]:
    """All that is in a folder, links as what they lead to."""
    return {
        str(path.relative_to(folder)): os.readlink(path)
        if path.is_symlink()
        else path.read_bytes()
        if path.is_file()
        else stat.S_IFMT(path.stat().st_mode)
        for path in folder.rglob("*")
    }


@contextmanager
def unchanged(folder: Path) -> Iterator[None]:
    before = content(folder)
    yield
    assert content(folder) == before


@pytest.mark.usefixtures("page")
class TestSite:
    def test_a_persons_own_page_stays_and_is_named(self, index: Index, tmp_path: Path) -> None:
        write(tmp_path / "mine", MINE)

        with unchanged(tmp_path):
            refused = export(index, "--site", tmp_path / "mine")

        assert refused.exit_code != 0
        assert "base.css, index.html;" in said(refused)
        assert "--replace" in said(refused)

    def test_a_persons_own_page_goes_if_that_is_asked_for(
        self, index: Index, tmp_path: Path
    ) -> None:
        write(tmp_path / "mine", MINE)

        made = export(index, "--site", tmp_path / "mine", "--replace")

        assert made.exit_code == 0
        assert (tmp_path / "mine/index.html").read_bytes() == PAGE["index.html"]

    def test_files_of_other_names_stay_and_are_no_obstacle(
        self, index: Index, tmp_path: Path
    ) -> None:
        theirs = {"CNAME": b"example.org", "parts/logo.svg": b"<svg/>", ".git/HEAD": b"ref"}
        write(tmp_path / "mine", theirs)

        made = [export(index, "--site", tmp_path / "mine", *more) for more in ([], ["--replace"])]

        assert [one.exit_code for one in made] == [0, 0]
        assert content(tmp_path / "mine").items() >= theirs.items()

    def test_a_site_is_brought_up_to_date(self, index: Index, page: Path, site: Path) -> None:
        before = content(site)
        index.add_texts([{"id": "otter", "text": "Otters sleep in kelp."}])
        write(page, {"index.html": b"<!doctype html><title>A newer release</title>"})

        again = export(index, "--site", site)

        assert again.exit_code == 0, again.output
        changed = {name for name, data in content(site).items() if before[name] != data}
        assert changed == {"index.html", "index.gossamer", MARKER}

    def test_a_file_that_was_changed_since_is_the_persons(self, index: Index, site: Path) -> None:
        (site / "base.css").write_bytes(b"h1 { color: teal }")

        with unchanged(site):
            refused = export(index, "--site", site)

        assert refused.exit_code != 0
        assert "base.css;" in said(refused)
        assert "index.html" not in said(refused)

    def test_a_site_of_an_older_release_is_known_by_its_bytes(
        self, index: Index, page: Path, site: Path
    ) -> None:
        (site / MARKER).unlink()
        same = export(index, "--site", site)
        (site / MARKER).unlink()
        write(page, {"index.html": b"<!doctype html><title>A newer release</title>"})

        with unchanged(site):
            refused = export(index, "--site", site)
        replaced = export(index, "--site", site, "--replace")

        assert (same.exit_code, replaced.exit_code) == (0, 0)
        assert refused.exit_code != 0
        assert "index.html;" in said(refused)
        assert "--replace" in said(refused)

    @pytest.mark.parametrize(
        "marker",
        [b"", b"{}", b"[" * 100_000, b'{"format": "gossamer site", "sha256": [1]}', b" " * 2**21],
        ids=["empty", "other", "deep", "without digests", "large"],
    )
    def test_a_marker_of_someone_else_stays(
        self, index: Index, tmp_path: Path, marker: bytes
    ) -> None:
        write(tmp_path / "mine", {MARKER: marker})

        with unchanged(tmp_path):
            refused = export(index, "--site", tmp_path / "mine")

        assert refused.exit_code != 0
        assert MARKER in said(refused)

    def test_the_index_of_another_site_stays(self, site: Path, tmp_path: Path) -> None:
        other = make_index(tmp_path / "other")

        with unchanged(site):
            refused = export(other, "--site", site)
        replaced = export(other, "--site", site, "--replace")

        assert refused.exit_code != 0
        assert "index.gossamer (the export of another index)" in said(refused)
        assert replaced.exit_code == 0

    @pytest.mark.parametrize("more", [[], ["--replace"]], ids=["", "replace"])
    @pytest.mark.parametrize("is_dangling", [False, True], ids=["", "dangling"])
    @pytest.mark.parametrize(
        "name", ["index.html", "index.gossamer", "pocket.model.gossamer", MARKER, "parts"]
    )
    def test_no_link_leads_a_write_elsewhere(
        self,
        index: Index,
        tmp_path: Path,
        name: str,
        is_dangling: bool,
        more: list[str],
    ) -> None:
        outside = tmp_path / "outside" / name
        outside.parent.mkdir()
        if not is_dangling and name == "parts":
            write(outside, {"gossamer.wasm": b"precious"})
        elif not is_dangling:
            outside.write_bytes(b"precious")
        (tmp_path / "site").mkdir()
        (tmp_path / "site" / name).symlink_to(outside)

        with unchanged(tmp_path):
            refused = export(index, "--site", tmp_path / "site", *more)

        assert refused.exit_code != 0
        assert str(tmp_path / "site" / name) in refused.output.replace("\n", "")

    @pytest.mark.parametrize("name", ["index.html", "index.gossamer", MARKER])
    def test_a_folder_in_the_place_of_a_file_stays(
        self, index: Index, tmp_path: Path, name: str
    ) -> None:
        write(tmp_path / "site" / name, {"precious": b"1"})

        with unchanged(tmp_path):
            refused = export(index, "--site", tmp_path / "site", "--replace")

        assert refused.exit_code != 0

    def test_an_index_folder_becomes_no_site(self, index: Index) -> None:
        with unchanged(index.folder):
            refused = export(index, "--site", index.folder, "--replace")

        assert "choose another folder" in said(refused)

    def test_an_export_that_fails_leaves_no_site(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        use_tiny(monkeypatch, with_codes=True)
        write(tmp_path / "notes", {"kelp.txt": b"Kelp is no plant."})
        index = Index.create(tmp_path / "index")
        index.add_paths([tmp_path / "notes"])
        shutil.rmtree(tmp_path / "notes")
        write(tmp_path / "mine", {"CNAME": b"example.org"})

        with unchanged(tmp_path):
            failed = [
                export(index, "--site", tmp_path / folder) for folder in ("a/new/site", "mine")
            ]

        assert all("not one of" in said(one) for one in failed)

    def test_a_full_disk_leaves_the_site_as_it_was(
        self, index: Index, site: Path, page: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        index.add_texts([{"id": "otter", "text": "Otters sleep in kelp."}])
        write(page, {"index.html": b"<!doctype html><title>A newer release</title>"})

        def write_file(path: Path, *_: object, **__: object) -> None:
            raise OSError(errno.ENOSPC, "No space left on device", str(path))

        monkeypatch.setattr(single_site, "write_file", write_file)

        with unchanged(site):
            failed = export(index, "--site", site)

        assert "the disk is full" in said(failed)

    @pytest.mark.parametrize("moved", range(6))
    @pytest.mark.parametrize("is_first", [True, False])
    def test_a_site_that_was_cut_short_is_completed_by_the_next_export(
        self,
        index: Index,
        page: Path,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        moved: int,
        is_first: bool,
    ) -> None:
        site, left = tmp_path / "site", [moved]
        if not is_first:
            export(index, "--site", site)
            write(page, {name: data + b" " for name, data in PAGE.items()})
        site.mkdir(exist_ok=True)
        replace = os.replace

        def break_off(source: Path, target: Path) -> None:
            if Path(target).is_relative_to(site) and ".site-" not in str(target):
                left[0] -= 1
                if left[0] < 0:
                    raise KeyboardInterrupt
            replace(source, target)

        with monkeypatch.context() as patch:
            patch.setattr(single_site.os, "replace", break_off)
            broken = export(index, "--site", site)
        again = export(index, "--site", site)

        assert broken.exit_code != 0
        assert again.exit_code == 0, again.output
        assert {path.name for path in site.iterdir()} == {
            *("index.html", "base.css", "parts", "index.gossamer", "pocket.model.gossamer", MARKER)
        }

    def test_a_file_that_comes_while_the_index_is_written_stays(
        self, index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        site = tmp_path / "site"

        def put(self: Index, path: Path, **options: object) -> object:
            write(site, MINE)
            return export_index(self, path, **options)  # type: ignore[arg-type]

        export_index = Index.export
        monkeypatch.setattr(Index, "export", put)

        refused = export(index, "--site", site)

        assert "base.css, index.html;" in said(refused)
        assert content(site) == MINE

    def test_the_marker_names_what_was_written_and_no_place_of_this_machine(
        self, site: Path, tmp_path: Path
    ) -> None:
        marker = (site / MARKER).read_text(encoding="ascii")

        assert set(json.loads(marker)["sha256"]) == {*PAGE, "pocket.model.gossamer"}
        assert str(tmp_path) not in marker


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
class TestPermissions:
    @pytest.mark.parametrize("name", ["index.gossamer", "index.html", MARKER])
    def test_files_of_a_site_are_as_open_as_new_files(
        self, site: Path, tmp_path: Path, name: str
    ) -> None:
        (tmp_path / "new").touch()

        assert (site / name).stat().st_mode == (tmp_path / "new").stat().st_mode

    def test_a_file_that_is_replaced_keeps_its_permissions(self, index: Index, site: Path) -> None:
        (site / "index.gossamer").chmod(0o600)
        (site / "base.css").chmod(0o640)

        export(index, "--site", site)

        modes = [
            stat.S_IMODE((site / name).stat().st_mode) for name in ("index.gossamer", "base.css")
        ]
        assert modes == [0o600, 0o640]

    def test_it_is_said_if_others_may_read_what_was_written(self, index: Index, site: Path) -> None:
        told = []
        for mode in (0o600, 0o644):
            for path in site.rglob("*.*"):
                path.chmod(mode)
            told.append("may read" in said(export(index, "--site", site)))

        assert told == [False, True]


class TestFile:
    def test_an_export_of_the_same_index_is_replaced(self, index: Index, tmp_path: Path) -> None:
        index.export(tmp_path / "one.gossamer")
        before = (tmp_path / "one.gossamer").read_bytes()
        index.add_texts([{"id": "otter", "text": "Otters sleep in kelp."}])

        again = export(index, tmp_path / "one.gossamer")

        assert again.exit_code == 0
        assert (tmp_path / "one.gossamer").read_bytes() != before

    def test_an_export_of_another_index_stays(self, index: Index, tmp_path: Path) -> None:
        make_index(tmp_path / "other").export(tmp_path / "one.gossamer")

        with unchanged(tmp_path):
            refused = export(index, tmp_path / "one.gossamer")
            with pytest.raises(errors.InvalidArgument, match="another index"):
                index.export(tmp_path / "one.gossamer")
        replaced = export(index, tmp_path / "one.gossamer", "--replace")

        assert "the export of another index" in said(refused)
        assert "--replace" in said(refused)
        assert replaced.exit_code == 0

    @pytest.mark.parametrize(
        "spoil",
        [
            lambda path: next((path.parent / "index").glob("segment-*.gss")).read_bytes(),
            lambda path: path.read_bytes()[:-100],
            lambda path: path.read_bytes()[:40],
            lambda _: b"GOSSAMER as in spiders",
        ],
        ids=["of the engine", "cut", "cut in its header", "a text"],
    )
    def test_what_only_begins_like_an_export_stays(
        self, index: Index, tmp_path: Path, spoil: Callable[[Path], bytes]
    ) -> None:
        index.export(tmp_path / "one.gossamer")
        (tmp_path / "one.gossamer").write_bytes(spoil(tmp_path / "one.gossamer"))

        with unchanged(tmp_path):
            refused = export(index, tmp_path / "one.gossamer")

        assert refused.exit_code != 0

    @pytest.mark.parametrize("more", [[], ["--replace"]], ids=["", "replace"])
    def test_no_link_pipe_or_folder_is_replaced(
        self, index: Index, tmp_path: Path, more: list[str]
    ) -> None:
        index.export(tmp_path / "real.gossamer")
        (tmp_path / "link").symlink_to(tmp_path / "real.gossamer")
        (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
        os.mkfifo(tmp_path / "pipe")
        (tmp_path / "folder").mkdir()

        for name in ("link", "dangling", "pipe", "folder"):
            with unchanged_names(tmp_path):
                refused = export(index, tmp_path / name, *more)
            assert refused.exit_code != 0, name

    def test_a_file_that_comes_while_the_index_is_written_stays(
        self, index: Index, tmp_path: Path
    ) -> None:
        file = tmp_path / "one.gossamer"

        with pytest.raises(errors.InvalidArgument, match="no Gossamer file"):
            index.export(file, progress=lambda *_: write(tmp_path, {file.name: b"precious"}))

        assert file.read_bytes() == b"precious"


@contextmanager
def unchanged_names(folder: Path) -> Iterator[None]:
    """As `unchanged`, for a folder with a pipe, which cannot be read."""
    before = {path: path.lstat()[:8] for path in folder.iterdir()}
    yield
    assert {path: path.lstat()[:8] for path in folder.iterdir()} == before


class TestModelFile:
    @pytest.fixture
    def pocket(self, tmp_path: Path) -> Index:
        index = Index.create(tmp_path / "index", model="pocket")
        index.add_texts([{"id": "kelp", "text": "Kelp is no plant."}])
        return index

    def test_another_file_of_its_name_stays_and_nothing_is_written(
        self, pocket: Index, tmp_path: Path
    ) -> None:
        write(tmp_path, {"pocket.model.gossamer": b"my own model"})

        with unchanged(tmp_path):
            refused = export(pocket, tmp_path / "one.gossamer", "--model-file")
        replaced = export(pocket, tmp_path / "one.gossamer", "--model-file", "--replace")
        again = export(pocket, tmp_path / "one.gossamer", "--model-file")

        assert "pocket.model.gossamer is there already" in said(refused).replace("\n", "")
        assert (replaced.exit_code, again.exit_code) == (0, 0)
        assert (tmp_path / "pocket.model.gossamer").read_bytes().startswith(b"GOSSAMER")

    def test_a_link_of_its_name_is_not_followed(self, pocket: Index, tmp_path: Path) -> None:
        write(tmp_path, {"precious": b"1"})
        (tmp_path / "pocket.model.gossamer").symlink_to(tmp_path / "precious")

        with unchanged(tmp_path):
            refused = export(pocket, tmp_path / "one.gossamer", "--model-file", "--replace")

        assert "is a link" in said(refused)

    def test_the_model_does_not_take_the_place_of_the_index(
        self, pocket: Index, tmp_path: Path
    ) -> None:
        with unchanged(tmp_path):
            refused = export(pocket, tmp_path / "pocket.model.gossamer", "--model-file")

        assert "where the model goes" in said(refused)


class TestPlot:
    EMPTY = Evaluation("model", 3, 50, False, 100, 100, 1000, 10_000, (), (), ())

    def test_a_file_stays_and_nothing_is_measured(
        self, index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write(tmp_path, {"plot.svg": b"<svg>mine</svg>"})
        measured: list[object] = []
        monkeypatch.setattr(
            "gossamer.evaluate.evaluate", lambda *_, **__: measured.append(1) or self.EMPTY
        )

        with unchanged(tmp_path):
            refused = run("eval", "--index", index.folder, "--plot", tmp_path / "plot.svg")
            nowhere = run("eval", "--index", index.folder, "--plot", tmp_path / "no/plot.svg")
        was_measured = list(measured)
        replaced = run(
            *("eval", "--json", "--index", index.folder),
            *("--plot", tmp_path / "plot.svg", "--replace"),
        )

        assert "is there already" in said(refused)
        assert "--replace" in said(refused)
        assert "no folder" in said(nowhere)
        assert was_measured == []
        assert replaced.exit_code == 0, replaced.output
        assert b"Recall" in (tmp_path / "plot.svg").read_bytes()

    def test_no_link_is_followed(self, tmp_path: Path) -> None:
        write(tmp_path, {"precious.svg": b"<svg>mine</svg>"})
        (tmp_path / "plot.svg").symlink_to(tmp_path / "precious.svg")

        with unchanged(tmp_path), pytest.raises(errors.InvalidArgument, match="is a link"):
            save_plot(self.EMPTY, tmp_path / "plot.svg", replace=True)

    def test_a_program_that_draws_must_say_so_too(self, tmp_path: Path) -> None:
        write(tmp_path, {"plot.svg": b"<svg>mine</svg>"})

        with unchanged(tmp_path), pytest.raises(errors.InvalidArgument, match="replace=True"):
            save_plot(self.EMPTY, tmp_path / "plot.svg")

    def test_there_must_be_a_plot_to_replace_something_with(self, index: Index) -> None:
        assert "--plot" in said(run("eval", "--index", index.folder, "--replace"))


class TestFolders:
    @pytest.mark.parametrize(
        "arguments",
        [["add", "notes", "--index", "./mine"], ["import", "one.gossamer", "./mine", "--replace"]],
        ids=["add", "import"],
    )
    def test_a_folder_with_files_of_others_becomes_no_index(
        self,
        index: Index,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        arguments: list[str],
    ) -> None:
        monkeypatch.chdir(tmp_path)
        index.export("one.gossamer")
        write(tmp_path, {"notes/kelp.txt": b"Kelp is no plant.", "mine/diary.txt": b"Dear diary"})

        with unchanged(tmp_path):
            refused = run(*arguments)

        assert refused.exit_code != 0
        assert "diary.txt" in said(refused)

    def test_the_demo_writes_its_texts_into_a_new_folder_only(self, tmp_path: Path) -> None:
        write(tmp_path, {"reference/assert.txt": b"mine"})

        with unchanged(tmp_path), pytest.raises(FileExistsError):
            demo.write_reference(tmp_path / "reference")
