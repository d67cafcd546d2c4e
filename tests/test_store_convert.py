"""Folders that earlier releases wrote: read as they are, and converted by the next change."""

import shutil
from pathlib import Path

import pytest

from gossamer import Index
from gossamer.store import open_index

OLD = Path(__file__).parent / "data" / "folder-v1"
KINDS = ["codes", "vectors"]
HITS = [
    (2, "/home/ada/notes/page.html", "# Harbour\n\nNo whale is here."),
    (
        1,
        "/home/ada/notes/lease.md",
        "# Lease\n\nThe lease is due in May.\n\n## Harbour\n\nA whale pays no lease.",
    ),
    (5, "seal", "Seals sleep on the ice."),
    (3, "note", "A note on the lease."),
]


@pytest.fixture(params=KINDS)
def folder(request, tmp_path):
    copy = Path(shutil.copytree(OLD / request.param, tmp_path / "index"))
    copy.chmod(0o700)  # as it was made; a checkout has its own
    return copy


def hits(index):
    return [(hit.id, hit.source, hit.text) for hit in index.search("whale", k=9)]


def kinds_of(folder):
    return {entry.kind for entry in open_index(folder, trust=True).manifest.files}


def test_an_old_folder_is_searched_as_it_is(folder):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    index = Index.open(folder, trust=True)

    assert hits(index) == HITS
    assert [finding for finding in index.check() if finding.severity == "error"] == []
    assert before == {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_change_converts_an_old_folder_and_embeds_nothing_of_it(folder):
    index = Index.open(folder, trust=True)
    index.accept()
    digest = open_index(folder).catalogue.digest()

    nothing = index.add_texts([])

    assert nothing.is_nothing
    assert kinds_of(folder) == {"segment", "vectors"}
    assert open_index(folder).catalogue.digest() == digest
    assert hits(index) == HITS
    assert index.check() == []

    report = index.add_texts([{"id": "new", "text": "A walrus is no seal."}])

    keeps_all = open_index(folder).manifest.settings.keep == "all"
    assert report.chunks_embedded == 1
    assert kinds_of(folder) == {"segment", "vectors"} if keeps_all else {"segment"}
    assert hits(index)[:2] == HITS[:2]
    assert index.search("walrus", k=1)[0].source == "new"
    assert index.remove(["seal"]).removed == 1
    assert index.compact()[1] > 0
    assert [hit for hit in hits(index) if hit[1] != "new"] == [HITS[0], HITS[1], HITS[3]]
    assert index.check() == []


def test_counts_of_a_converted_folder_are_those_it_had(folder):
    before = Index.open(folder, trust=True).status()
    index = Index.open(folder, trust=True)
    index.accept()

    index.add_texts([])

    after = index.status()
    for name in ("indexed", "skipped", "failed", "documents", "chunks", "text_bytes", "kinds"):
        assert getattr(after, name) == getattr(before, name)
