"""Texts that are read in place: only what was indexed, and only below what was added."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from column_format import read_catalogue, write_catalogue
from served import serve
from store_states import changes_to, finish
from tiny_embedder import TinyEmbedder

from gossamer.errors import Damaged, UnknownId
from gossamer.index import Index
from gossamer.records import ChunkSpan
from gossamer.store import Catalogue, SourceRecord, Status, check_of, hash_of_bytes, open_index
from gossamer.store.folder import read_manifest
from gossamer.store.hashes import digest_of
from gossamer.store.manifest import MANIFEST
from gossamer.store.records import ChunkedDocument, DocumentRecord
from gossamer.store.trust import accept

SECRET = "-----BEGIN OPENSSH PRIVATE KEY-----\nThe safe opens with 4711.\n"


@pytest.fixture
def notes(tmp_path: Path, embedder: TinyEmbedder) -> Path:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("The lease is due in May.", encoding="utf-8")
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "key").write_text(SECRET, encoding="utf-8")
    return tmp_path / "notes"


@pytest.fixture
def index(notes: Path) -> Index:
    index = Index.create(notes.with_name("index"))
    index.add_paths([notes])
    return index


def put_catalogue(folder: Path, catalogue: Catalogue) -> None:
    """Write another catalogue into an index that is trusted, checksums and all."""
    manifest = read_manifest(folder)
    ids = catalogue.chunk_ids
    stamp = open_index(folder).catalogue.core.stamp
    changes = changes_to(next_chunk_id=manifest.next_chunk_id, stamp=stamp)
    changes.merge(catalogue)
    changes.add_codes(ids, np.zeros((len(ids), stamp[0]), np.uint8))
    data = changes.finish()[0].file.tobytes()
    files = []
    for entry in manifest.files:
        if entry.kind == "segment":
            (folder / entry.name).write_bytes(data)
            entry = replace(entry, size=len(data), digest=digest_of(data))
        files.append(entry)
    changed = replace(manifest, files=tuple(files))
    (folder / MANIFEST).write_bytes(changed.to_bytes())
    accept(folder, changed)


def catalogue_of(root: str, name: str, size: int, span: ChunkSpan, text: str) -> Catalogue:
    """A catalogue of one file that a stranger has thought of."""
    source = SourceRecord(root, name, size, 1, 12345, kind="markdown", status=Status.INDEXED)
    document = ChunkedDocument(DocumentRecord(size, "markdown"), [span], [check_of(text)])
    changes = changes_to()
    changes.replace_source(source, [document])
    return finish(changes).in_order()


def test_what_stands_around_a_chunk_is_not_read_from_a_file_that_was_never_indexed(
    index: Index, notes: Path
):
    begin = SECRET[:35]
    text = f"a.md\n{begin}"
    key = notes / "a.md"
    key.write_text(SECRET, encoding="utf-8")
    put_catalogue(
        index.folder,
        catalogue_of(notes.as_posix(), "a.md", len(SECRET), ChunkSpan(0, 35), text),
    )
    opened = Index.open(index.folder)
    assert opened.is_trusted

    with pytest.raises(UnknownId):
        opened.context(1, 1000)
    with serve(index.folder.parent, read_only=True) as client:
        answer = client.get("/v1/chunks/1/context", params={"margin": 100_000})
    assert "4711" not in answer.text


def test_a_chunk_without_length_is_refused():
    catalogue = catalogue_of("/", "home/me/.ssh/id_rsa", 9, ChunkSpan(0, 1), "")
    words, tables = read_catalogue(catalogue.to_bytes())
    tables.children["documents"].children["chunks"]["length"][:] = 0

    with pytest.raises(Damaged, match="length of a chunk"):
        Catalogue.open(write_catalogue(words, tables))


@pytest.mark.parametrize("name", ["../private/key", "x/../../private/key", "/etc/passwd", "a\0b"])
def test_a_name_that_leads_out_of_its_folder_is_refused(notes: Path, name: str):
    catalogue = catalogue_of(notes.as_posix(), "x" * len(name), 9, ChunkSpan(0, 5), "x")
    words, tables = read_catalogue(catalogue.to_bytes())
    tables.children["name"].content = np.frombuffer(name.encode(), np.uint8)

    with pytest.raises(Damaged, match="no path"):
        Catalogue.open(write_catalogue(words, tables))


@pytest.mark.parametrize("name", ["..a", "a..b", "...", "a/..b", "a/b..", "..\\x"])
def test_names_with_dots_are_names(notes: Path, name: str):
    catalogue = catalogue_of(notes.as_posix(), name, 9, ChunkSpan(0, 5), "x")

    assert Catalogue.open(catalogue.to_bytes()).source(0).name == name


def test_a_file_that_is_below_no_root_is_not_read(index: Index, tmp_path: Path):
    root = (tmp_path / "private").as_posix()
    text = f"key\n{SECRET[:35]}"
    catalogue = catalogue_of(root, "key", len(SECRET), ChunkSpan(0, 35), text)
    words, tables = read_catalogue(catalogue.to_bytes())
    true_hash = np.array([hash_of_bytes(SECRET.encode())], np.uint64).view(np.int64)
    tables.columns["content_hash"] = true_hash
    put_catalogue(index.folder, Catalogue.open(write_catalogue(words, tables)))
    opened = Index.open(index.folder)

    with pytest.raises(UnknownId):
        opened.get(1)
    assert [hit.text for hit in opened.search("safe", mode="lexical")] == []


def test_a_file_that_grew_still_gives_what_was_indexed_of_it(index: Index, notes: Path):
    with open(notes / "a.md", "a", encoding="utf-8") as file:
        file.write("\n\nAnd this was added later.")

    (hit,) = index.search("lease")
    before, _, after = index.context(hit.id, 1000)

    assert (hit.text, before, after) == ("The lease is due in May.", "", "")


def test_a_file_changed_without_a_trace_in_size_and_time_is_not_shown(index: Index, notes: Path):
    path = notes / "a.md"
    (hit,) = index.search("lease")
    status = path.stat()
    path.write_text("The lease is due in Jun.", encoding="utf-8")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))

    with pytest.raises(UnknownId):
        index.context(hit.id, 1000)
