"""Links that somebody put into a folder: they do not lead `add` to other files of the disk."""

import sys
from pathlib import Path

import pytest
from tiny_embedder import TinyEmbedder

from gossamer.index import Index
from gossamer.sources.folder import WalkOptions

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")

OUT = "a link that leads out of the folders that were added"


@pytest.fixture
def index(embedder: TinyEmbedder, tmp_path: Path) -> Index:
    return Index.create(tmp_path / "index")


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    return write(tmp_path / "home/secret.txt", "the key is swordfish")


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A folder as somebody else made it."""
    write(tmp_path / "notes/real.txt", "the whale is a mammal")
    return tmp_path / "notes"


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def sources(index: Index) -> set[str]:
    return {Path(hit.source).name for hit in index.search("the", 100)}


def test_a_link_that_leads_out_of_the_folder_is_not_read_and_the_status_says_so(
    index: Index, notes: Path, secret: Path
):
    (notes / "x.txt").symlink_to(secret)
    (notes / "up.txt").symlink_to("../home/secret.txt")

    report = index.add_paths([notes])

    assert (report.added, report.skipped) == (1, 2)
    assert sources(index) == {"real.txt"}
    assert index.status().reasons == {OUT: 2}


def test_a_link_over_a_link_leads_out_too(index: Index, notes: Path, secret: Path, tmp_path: Path):
    (notes / "a.txt").symlink_to(notes / "b.txt")
    (notes / "b.txt").symlink_to(secret)
    (tmp_path / "home/way").symlink_to(tmp_path / "home")
    (notes / "c.txt").symlink_to(tmp_path / "home/way/secret.txt")

    assert index.add_paths([notes]).added == 1
    assert index.status().reasons == {OUT: 3}


def test_a_folder_whose_name_only_begins_alike_is_outside(
    index: Index, notes: Path, tmp_path: Path
):
    (notes / "x.txt").symlink_to(write(tmp_path / "notes-of-others/x.txt", "the secret"))

    assert index.add_paths([notes]).added == 1


def test_what_was_indexed_through_a_link_leaves_the_index(index: Index, notes: Path, secret: Path):
    (notes / "x.txt").symlink_to(secret)
    index.add_paths([notes], options=WalkOptions(follow_links=True))
    assert "x.txt" in sources(index)

    report = index.add_paths([notes], reset_options=True)

    assert report.lost == 1
    assert sources(index) == {"real.txt"}


def test_links_within_the_folders_that_were_added_are_followed(
    index: Index, notes: Path, tmp_path: Path
):
    write(notes / ".aside/far.txt", "the whale far away")
    (notes / "far.txt").symlink_to(notes / ".aside/far.txt")
    other = write(tmp_path / "other/.hidden.txt", "the whale of others").parent
    (notes / "others.txt").symlink_to(other / ".hidden.txt")

    index.add_paths([notes, other])
    assert sources(index) == {"real.txt", "far.txt", "others.txt"}

    # A root that is not walked this time was added too.
    assert index.add_paths([notes]).is_nothing


def test_a_root_that_is_a_link_is_what_it_leads_to(index: Index, notes: Path, tmp_path: Path):
    write(notes / ".aside/far.txt", "the whale far away")
    (notes / "far.txt").symlink_to(notes / ".aside/far.txt")
    (tmp_path / "link").symlink_to(notes)

    index.add_paths([tmp_path / "link"])

    assert sources(index) == {"real.txt", "far.txt"}


def test_a_link_that_is_named_itself_is_read(index: Index, notes: Path, secret: Path):
    (notes / "x.txt").symlink_to(secret)

    index.add_paths([notes / "x.txt"])

    assert sources(index) == {"x.txt"}


def test_who_asks_for_links_gets_what_they_lead_to(
    index: Index, notes: Path, secret: Path, tmp_path: Path
):
    (notes / "x.txt").symlink_to(secret)
    (notes / "far").symlink_to(write(tmp_path / "elsewhere/far.txt", "the whale").parent)

    index.add_paths([notes], options=WalkOptions(follow_links=True))

    assert sources(index) == {"real.txt", "x.txt", "far.txt"}
