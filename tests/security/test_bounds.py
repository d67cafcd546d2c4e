"""Files of others that unpack to much, and files of one's own that are very large."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from column_format import read_catalogue, write_catalogue
from numpy.typing import NDArray
from old_texts_format import join_old_texts
from store_states import changes_to, finish
from tiny_embedder import TinyEmbedder

from gossamer import _core
from gossamer.errors import Damaged, TooLarge
from gossamer.index import Index
from gossamer.records import ChunkSpan
from gossamer.single.container import Container, Section, container_parts
from gossamer.single.kinds import CATALOGUE, SEGMENT, TEXTS
from gossamer.store import Catalogue, SourceRecord, open_index
from gossamer.store.folder import read_manifest
from gossamer.store.hashes import digest_of
from gossamer.store.manifest import MANIFEST
from gossamer.store.ratio import least_packed, most_unpacked
from gossamer.store.records import AWAY, ChunkedDocument, DocumentRecord
from gossamer.store.segments import NO_CODES
from gossamer.sync.package import Package, write_package
from gossamer.sync.records import Head
from gossamer.text.zstd import compress

_GB = 1 << 30
# Opens a file as a command would, in a process of its own, and says what memory that took.
_MEASURE = """
import resource, sys
from pathlib import Path
from gossamer.errors import GossamerError
from gossamer.index import Index
from gossamer.store import Catalogue
from gossamer.sync.apply import apply_package
from gossamer.sync.download import Wanted
from gossamer.sync.following import Following
from gossamer.sync.package import Package

def package(path, folder):
    with Package.open(path, "") as found:
        wanted, following = Wanted("codes", "kept", None), Following("http://a")
        apply_package(folder, found, wanted, following, may_go_back=False)

def catalogue(path, folder):
    found = Catalogue.open(path.read_bytes())
    found.paths, found.metadata(), found.chunk_ids, found.find_path("x")

kind, path, folder = sys.argv[1:]
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
said = "done"
try:
    use = {"package": package, "catalogue": catalogue, "single": Index.import_file}[kind]
    use(Path(path), Path(folder))
except GossamerError as error:
    said = f"{type(error).__name__}: {error}"
print(1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before), said)
"""
HEAD = Head(
    kind="snapshot",
    index="0" * 32,
    mode="codes",
    texts="kept",
    base=None,
    epoch="e",
    version=1,
    state="s",
    next_chunk_id=10,
    is_signed=False,
    model={"name": "pocket", "fingerprint": "f", "dim": 64, "max_tokens": 9, "chunk_tokens": 9},
    settings={"code_bytes": 24},
)


def measure(kind: str, path: Path, tmp_path: Path) -> tuple[int, str]:
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", _MEASURE, kind, str(path), str(tmp_path / "made")]
    said = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    memory, _, words = said.stdout.partition(" ")
    return int(memory), words.strip()


def catalogue_of(lengths: list[int], segment: int = AWAY, **source: object) -> Catalogue:
    """A catalogue of texts of these lengths, verified as little as bytes are."""
    changes = changes_to()
    offset = 0
    for number, length in enumerate(lengths):
        record = DocumentRecord(length, "text", segment, offset=0 if segment == AWAY else offset)
        document = ChunkedDocument(record, [ChunkSpan(0, 5)], [number])
        changes.replace_source(
            replace(SourceRecord("", f"t{number}", length, 1, number), **source),  # type: ignore[arg-type]
            [document],
        )
        offset += length
    return finish(changes).in_order()


def zeros(count: int) -> "list[bytes]":
    return [bytes(1 << 20)] * (count >> 20)


def test_a_package_with_one_document_of_four_gigabytes_takes_little_and_is_refused(tmp_path: Path):
    sections = [("catalogue", [catalogue_of([4 * _GB]).to_bytes()]), ("texts", zeros(_GB))]
    write_package(tmp_path / "in", HEAD, sections, "")

    memory, said = measure("package", tmp_path / "in", tmp_path)

    assert said.startswith("Damaged")
    assert "length of a document" in said
    assert memory < most_unpacked((tmp_path / "in").stat().st_size)


def test_a_package_that_unpacks_to_more_than_its_size_allows_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with monkeypatch.context() as patch:
        patch.setattr("gossamer.sync.package.least_packed", lambda _: 0)
        patch.setattr("gossamer.sync.package._read_head", lambda *_: None)
        write_package(tmp_path / "in", HEAD, [("texts", zeros(_GB))], "")

    with pytest.raises(Damaged, match="unpack to"):
        Package.open(tmp_path / "in", "")


def test_an_honest_package_of_much_alike_is_padded_and_read(tmp_path: Path):
    write_package(tmp_path / "in", HEAD, [("texts", zeros(1 << 28))], "")

    with Package.open(tmp_path / "in", "") as package:
        assert package.size_of("texts") == 1 << 28
        assert package.has("padding")


def test_json_of_a_package_is_not_read_beyond_a_few_times_its_bytes(tmp_path: Path):
    write_package(tmp_path / "in", HEAD, [("removed", [b"[" + b" " * (8 << 20) + b"]"])], "")

    with Package.open(tmp_path / "in", "") as package, pytest.raises(TooLarge):
        package.read_json("removed")


def old_bomb() -> dict[int, NDArray[np.uint8]]:
    """A catalogue and texts of version 1, of 4 GB."""
    texts = join_old_texts([compress(bytes(1 << 20))] * 4096, 4 * _GB, 1 << 20)
    catalogue = catalogue_of([4 * _GB], segment=1).to_bytes()
    return {CATALOGUE: np.frombuffer(catalogue, np.uint8), TEXTS: np.frombuffer(texts, np.uint8)}


def bomb() -> dict[int, NDArray[np.uint8]]:
    """A segment of the same."""
    packed = {"pack_text": lambda *_: compress(bytes(1 << 20)), "unpack_text": lambda *_: None}
    after = {"pack_after": lambda *_: b"", "unpack_after": lambda *_: None, "base_bytes": 1 << 20}
    prepare = {"prepare": lambda _: None}
    codecs = _core.Codecs(lambda _: b"", lambda *_: None, **packed, **prepare, **after)
    draft = _core.SegmentDraft(NO_CODES, 1 << 20, codecs)
    for _ in range(4096):
        draft.add_text(bytes(1 << 20))
    one = catalogue_of([4 * _GB], segment=1)
    draft.add_all(one.listing, *one.text_places)
    made = Container(np.concatenate(draft.finish().parts()))
    return {kind: made.section(kind) for kind in SEGMENT if made.has(kind)}


BOMBS = {1: old_bomb, 2: bomb}


@pytest.mark.parametrize("version", BOMBS)
@pytest.mark.usefixtures("embedder")
def test_a_single_file_with_one_document_of_four_gigabytes_takes_little_and_is_refused(
    tmp_path: Path, version: int
):
    index = Index.create(tmp_path / "index")
    index.add_texts([{"id": "t0", "text": "A lease."}])
    index.export(tmp_path / "in.gossamer")
    container = Container(np.fromfile(tmp_path / "in.gossamer", np.uint8))
    sections = {kind: container.section(kind) for kind in container.lengths}
    sections |= BOMBS[version]()
    parts = container_parts([Section(kind, data) for kind, data in sections.items()])
    (tmp_path / "bomb").write_bytes(b"".join(bytes(part) for part in parts))

    memory, said = measure("single", tmp_path / "bomb", tmp_path)

    assert said.startswith("Damaged")
    assert memory < most_unpacked((tmp_path / "bomb").stat().st_size)
    assert not (tmp_path / "made").exists()


@pytest.mark.usefixtures("embedder")
def test_lines_are_counted_without_holding_them(tmp_path: Path):
    import tracemalloc

    index = Index.create(tmp_path / "index")
    index.add_texts([{"id": "t0", "text": "A lease.\n" + "\n" * (1 << 24) + "The end of it."}])
    tracemalloc.start()

    hits = index.similar("t0:16000000")
    (hit,) = index.search("end", mode="lexical", k=1)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert (len(hits), hit.first) == (0 if len(list(hits)) == 0 else 1, (1 << 24) + 2)
    assert peak < 1 << 26


@pytest.mark.usefixtures("embedder")
def test_documents_of_a_stranger_share_no_text(tmp_path: Path):
    index = Index.create(tmp_path / "index", store_text=True)
    index.add_texts([{"id": f"t{n}", "text": f"Lease {n}."} for n in range(3)])
    manifest = read_manifest(index.folder)
    (entry,) = manifest.files_of("segment")
    catalogue = open_index(index.folder).catalogue
    count = catalogue.document_count
    changes = changes_to(next_chunk_id=manifest.next_chunk_id)
    changes.add_text(b"Lease 0.")
    changes.merge(catalogue, (np.full(count, changes.number), np.zeros(count, np.int64)))
    data = changes.finish()[0].file.tobytes()
    (index.folder / entry.name).write_bytes(data)
    files = [
        replace(one, size=len(data), digest=digest_of(data)) if one == entry else one
        for one in manifest.files
    ]
    changed = replace(manifest, files=tuple(files), uuid="1" * 32)
    (index.folder / MANIFEST).write_bytes(changed.to_bytes())

    with pytest.raises(Damaged, match="text in common"):
        Index.open(index.folder)


def bomb(count: int, metadata: bytes = b"", name: bytes = b"") -> bytes:
    """A catalogue of many alike, which compresses to almost nothing, without any padding."""
    words, one = read_catalogue(catalogue_of([9]).to_bytes())
    tables = one.take(np.zeros(count, np.int64))
    documents = tables.children["documents"]
    documents.columns["first_chunk"] = np.arange(1, count + 1)
    if metadata:
        documents.columns["metadata"] = np.full(count, len(metadata))
        documents.children["metadata"].content = np.frombuffer(metadata * count, np.uint8)
    if name:
        tables.columns["name"] = np.full(count, len(name))
        tables.children["name"].content = np.frombuffer(name * count, np.uint8)
    return write_catalogue(words, tables, is_padded=False)


@pytest.mark.parametrize(
    "options",
    [
        {"count": 20_000},
        {"count": 50_000},
        {"count": 2_000_000},
        {"count": 10_000, "metadata": json.dumps({f"k{n}": n for n in range(20)}).encode()},
        {"count": 10_000, "name": b"x" * 500},
    ],
)
def test_a_catalogue_takes_no_more_than_its_size_allows(tmp_path: Path, options: dict[str, object]):
    (tmp_path / "in").write_bytes(bomb(**options))  # type: ignore[arg-type]

    memory, said = measure("catalogue", tmp_path / "in", tmp_path)

    assert said == "done" or said.startswith("Damaged")
    assert memory < most_unpacked((tmp_path / "in").stat().st_size)


def test_counts_whose_sum_wraps_around_are_refused():
    """Rows of a table of words say that they have 2^64 + 10 letters in all."""
    count = (1 << 24) + 64
    lengths = np.full(count, (1 << 40) - 1, np.int64)
    lengths[:2] = 0, 1 << 32
    excess = int((lengths >> 20).sum()) * (1 << 20) + int((lengths & ((1 << 20) - 1)).sum())
    excess -= (1 << 64) + 10
    place = count - 1
    while excess > 0:
        taken = min(excess, (1 << 40) - 1)
        lengths[place] -= taken
        excess -= taken
        place -= 1
    words = count.to_bytes(8, "little") + _column(lengths) + _plane(b"0123456789")
    words += bytes(8 * count // 16 + 1 - len(words))
    rest = write_catalogue(*read_catalogue(Catalogue.empty().to_bytes()))[20:]
    data = b"GSMCATAL" + (1).to_bytes(4, "little") + len(words).to_bytes(8, "little") + words + rest

    with pytest.raises(Damaged, match="more than its bytes can"):
        Catalogue.open(data)


def _column(values: np.ndarray) -> bytes:
    rows = values.view(np.uint8).reshape(-1, 8)
    return bytes([5]) + b"".join(_plane(rows[:, plane].tobytes()) for plane in range(5))


def _plane(data: bytes) -> bytes:
    packed = compress(data, 1)
    return b"\1" + len(packed).to_bytes(5, "little") + packed


def test_many_words_that_are_alike_are_no_reason_to_refuse():
    changes = changes_to()
    for number in range(6000):
        reason = f"{number:06d} " + "too large to be read " * 19
        changes.replace_source(SourceRecord("", f"t{number}", 1, 1, 1, reason=reason))

    words, tables = read_catalogue(finish(changes).to_bytes())
    opened = Catalogue.open(write_catalogue(words, tables))  # padded as earlier releases did

    row = opened.find_text("t5999")
    assert row is not None
    assert opened.source(row).reason.startswith("005999 too large")


def test_what_is_written_may_always_be_read():
    for unpacked in (0, 1 << 26, (1 << 26) + 1, 10**9, 10**12):
        assert unpacked <= most_unpacked(least_packed(unpacked))


@pytest.mark.parametrize("name", ["disk.img", "film.mkv", "notes.txt", "Docker.raw"])
def test_a_huge_file_is_left_out_and_the_rest_is_indexed(
    tmp_path: Path, embedder: TinyEmbedder, name: str
):
    files = tmp_path / "files"
    files.mkdir()
    (files / "good.md").write_text("The lease is due in May.", encoding="utf-8")
    with open(files / name, "wb") as file:
        try:
            file.truncate(1 << 40)
        except OSError:
            pytest.skip("this disk holds no sparse file of a terabyte")
    index = Index.create(tmp_path / "index")

    report = index.add_paths([files])

    assert (report.added, report.skipped + report.failed) == (1, 1)
    assert [Path(hit.source).name for hit in index.search("lease")] == ["good.md"]
    assert index.add_paths().is_nothing
    assert index.check() == []


def test_sizes_of_files_go_as_far_as_disks_do():
    words, tables = read_catalogue(catalogue_of([9]).to_bytes())
    tables.columns["size"] = np.array([(1 << 62) - 1])

    assert Catalogue.open(write_catalogue(words, tables)).stat_of(0)[0] == (1 << 62) - 1


_READ_SMALL = """
import resource, sys
from pathlib import Path
from gossamer.readers import Limits, load_bytes

status = Path("/proc/self/status").read_text()
size = int(next(line for line in status.splitlines() if line.startswith("VmSize")).split()[1])
resource.setrlimit(resource.RLIMIT_AS, ((size << 10) + (32 << 20),) * 2)
assert load_bytes(Path(sys.argv[1]), Limits()).data == b"x"
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc")
def test_memory_for_a_small_file_does_not_depend_on_the_largest_that_is_read(tmp_path: Path):
    (tmp_path / "a.md").write_text("x", encoding="utf-8")

    subprocess.run([sys.executable, "-c", _READ_SMALL, str(tmp_path / "a.md")], check=True)
