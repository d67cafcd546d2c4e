"""An index that follows a server: what the store keeps of it, and searches that ask elsewhere."""

import json
import shutil
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray
from store_states import NOTHING, changes_to, finish
from tiny_embedder import TinyEmbedder, use_tiny

from gossamer.cli import cli
from gossamer.errors import (
    Damaged,
    DuplicateId,
    InvalidArgument,
    UnknownId,
    Unreachable,
    WrongState,
)
from gossamer.index import Index
from gossamer.query import vectors
from gossamer.query.passages import Passages
from gossamer.query.remote import RemoteChunks
from gossamer.records import ChunkSpan, RemoteChunk
from gossamer.store import (
    Catalogue,
    ChunkedDocument,
    DocumentRecord,
    Snapshot,
    SourceRecord,
    begin,
    open_index,
)
from gossamer.store.hashes import digest_of
from gossamer.store.manifest import MANIFEST, Manifest
from gossamer.store.records import AWAY, VERBATIM
from gossamer.store.segments import SegmentCatalogue
from gossamer.vectors.vector_index import VectorIndex

URL = "http://server.test:7700"
NO_ANSWER = f"the server at {URL} did not answer: refused"
TOPICS = ["lease", "banana", "ferry", "boiler", "violin", "glacier", "compiler", "harvest"]


@pytest.fixture
def server(embedder: TinyEmbedder, tmp_path: Path) -> Index:
    folder = tmp_path / "files"
    folder.mkdir()
    for topic in TOPICS:
        text = f"# About the {topic}\n\nA {topic} of word{len(topic)}.\n\nMore on the {topic}.\n"
        (folder / f"{topic}.md").write_text(text, encoding="utf-8")
    index = Index.create(tmp_path / "server")
    index.add_paths([folder])
    page = "<html><head><title>Harbour</title></head><body><p>The tide turns.</p></body></html>"
    (folder / "tide.html").write_text(page, encoding="utf-8")
    index.add_paths([folder])
    index.add_texts([{"id": "note", "text": "Remember the lighthouse.\nAnd the keeper."}])
    embedder.embedded.clear()
    return index


class Server:
    """The other side, without a wire: what was asked, and answers that a test may spoil."""

    def __init__(self, index: Index, embedder: TinyEmbedder) -> None:
        self._snapshot = open_index(index.folder)
        self._embedder = embedder
        self.requests: list[tuple[str, list[int]]] = []
        self.is_down = False
        self.share_of: Callable[[int], int] = lambda _: 0
        self.before_vectors: Callable[[], object] = lambda: None
        self.spoil: Callable[[RemoteChunk], RemoteChunk | None] = lambda chunk: chunk
        self.spoil_rows: Callable[[NDArray[np.float32]], NDArray[np.float32]] = lambda rows: rows
        self.lacks: set[int] = set()
        self.learnt: list[tuple[int, float]] = []
        self.given_up: list[tuple[int, float]] = []

    @property
    def is_away(self) -> bool:
        return self.is_down and bool(self.requests)

    @property
    def notes(self) -> tuple[str, ...]:
        return (NO_ANSWER,) if self.is_away else ()

    def vectors(self, ids: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.float32]]:
        self.requests.append(("vectors", ids.tolist()))
        self.before_vectors()
        if self.is_down:
            return np.zeros(len(ids), bool), np.zeros((0, self._embedder.dim), np.float32)
        passages = Passages(self._snapshot).read(ids)
        is_had = np.array([one.id not in self.lacks for one in passages])
        rows = TinyEmbedder().embed([one.embedded for one in passages if one.id not in self.lacks])
        return is_had, self.spoil_rows(rows.astype(np.float16).astype(np.float32))

    def chunks(self, ids: NDArray[np.int64]) -> list[RemoteChunk | None]:
        self.requests.append(("chunks", ids.tolist()))
        if self.is_down:
            return [None] * len(ids)
        return [
            self.spoil(RemoteChunk(one.id, one.title, one.body, one.embedded, one.first, one.last))
            for one in Passages(self._snapshot).read(ids, with_places=True)
        ]

    def context(self, id: int, margin: int) -> tuple[str, str] | None:
        self.requests.append(("context", [id]))
        before, _, after = Passages(self._snapshot).context(id, margin)
        return None if self.is_down else (before, after)

    def share(self, count: int) -> int:
        return self.share_of(count)

    def embedded_here(self, count: int, seconds: float) -> None:
        self.learnt.append((count, seconds))

    def gave_up(self, count: int, seconds: float) -> None:
        self.given_up.append((count, seconds))

    def asked(self, what: str) -> list[list[int]]:
        return [ids for kind, ids in self.requests if kind == what]


@pytest.fixture
def elsewhere(server: Index, embedder: TinyEmbedder, monkeypatch: pytest.MonkeyPatch) -> Server:
    fake = Server(server, embedder)
    seam: RemoteChunks = fake  # it is one
    monkeypatch.setattr("gossamer.sync.remote_chunks.remote_chunks_of", lambda _: seam)
    return fake


def follow(
    server: Index, folder: Path, *, texts: str = "kept", keep: str = "none", lexical: str = "scan"
) -> Index:
    """Make an edge: the server's catalogue and codes, and its texts if they are to be kept."""
    snapshot = open_index(server.folder)
    old, catalogue = snapshot.manifest, snapshot.catalogue
    vectors = snapshot.vectors
    with begin(folder, "pull") as writer:
        changes = writer.changes(next_chunk_id=old.next_chunk_id)
        places = None
        if texts == "kept":
            rows = range(catalogue.document_count)
            stored = [changes.add_text(text_of(snapshot, row)) for row in rows]
            places = tuple(np.array(column, np.int64) for column in zip(*stored, strict=True))
        changes.merge(catalogue.with_away_texts(), places)
        codes = VectorIndex.create(vectors.codebook)
        codes.add_codes(catalogue.chunk_ids, vectors.codes_of(catalogue.chunk_ids))
        origin = {
            "index": old.uuid,
            "epoch": "e",
            "version": old.generation,
            "state": "00",
            "mode": "codes",
            "texts": texts,
            "url": URL,
        }
        writer.commit(
            changes,
            save_vectors=lambda path: codes.save(path, with_codebook=False, with_calibration=False),
            model=old.model,
            settings=replace(old.settings, keep=keep, lexical=lexical),
            roots=(),
            origin=origin,
        )
    return Index.open(folder)


def text_of(snapshot: Snapshot, row: int) -> bytes:
    document = snapshot.catalogue.document(row)
    if document.is_verbatim:
        return Path(snapshot.catalogue.paths[snapshot.catalogue.source_rows[row]]).read_bytes()
    end = document.offset + document.text_length
    return snapshot.texts.read(document.segment, document.offset, end)


def source(name: str, root: str = "/data", size: int = 100, **values: object) -> SourceRecord:
    return SourceRecord(root, name, size, 5, 7, **{"kind": "text", **values})


def document(
    chunks: int = 2, length: int = 100, segment: int = VERBATIM, **values: object
) -> ChunkedDocument:
    spans = [ChunkSpan(10 * n, 10 * n + 10, ((0, 4),)) for n in range(chunks)]
    record = DocumentRecord(length, "text", segment, **values)
    return ChunkedDocument(record, spans, list(range(chunks)))


def catalogue_of(
    *sources: tuple[SourceRecord, list[ChunkedDocument]], first: int = 1
) -> SegmentCatalogue:
    changes = changes_to(next_chunk_id=first)
    for record, documents in sources:
        changes.replace_source(record, documents)
    return finish(changes)


def merged(
    old: SegmentCatalogue, other: Catalogue, next_chunk_id: int = 1000, **options
) -> SegmentCatalogue:
    changes = changes_to(old, next_chunk_id)
    changes.merge(other, **options)
    new = finish(changes)
    new.core.verify()
    return new


# The manifest


def test_a_manifest_without_an_origin_is_read_as_before(server):
    manifest = open_index(server.folder).manifest
    body = json.loads(manifest.to_bytes().rpartition(b"\n")[0].rpartition(b"\n")[0])
    del body["origin"]
    data = json.dumps(body).encode() + b"\n"

    old = Manifest.from_bytes(data + digest_of(data).encode() + b"\n")

    assert old.origin == {}
    assert old == manifest


def test_a_commit_keeps_the_origin_unless_another_is_given(server, tmp_path):
    edge = follow(server, tmp_path / "edge")
    before = open_index(edge.folder).manifest

    with begin(edge.folder) as writer:
        kept = {"model": before.model, "settings": before.settings, "roots": ()}
        first = writer.commit(writer.changes(), save_vectors=None, **kept)
        origin = {**before.origin, "version": 99}
        second = writer.commit(writer.changes(), save_vectors=None, **kept, origin=origin)

    assert first.manifest.origin == before.origin
    assert second.manifest.origin["version"] == 99


def test_an_edge_never_has_documents_that_are_read_from_its_own_disk(server, tmp_path):
    snapshot = open_index(server.folder)

    with begin(tmp_path / "edge") as writer:
        changes = writer.changes()
        changes.next_chunk_id = snapshot.manifest.next_chunk_id
        changes.merge(snapshot.catalogue.part(np.array([0])))
        with pytest.raises(InvalidArgument, match="no files of this disk"):
            writer.commit(
                changes,
                save_vectors=lambda _: None,
                model=snapshot.manifest.model,
                settings=snapshot.manifest.settings,
                roots=(),
                origin={"url": URL},
            )

    assert not (tmp_path / "edge" / MANIFEST).exists()


# The catalogue


def test_the_digest_does_not_depend_on_where_texts_are_kept(server):
    catalogue = open_index(server.folder).catalogue
    away = catalogue.with_away_texts()
    count = catalogue.document_count
    places = (np.full(count, 1), np.arange(count) * 1000)
    kept = merged(NOTHING, away, places=places)

    assert catalogue.digest() == away.digest() == kept.digest()
    assert Catalogue.open(away.to_bytes()).digest() == catalogue.digest()
    assert len(catalogue.digest()) == 16


def test_the_digest_tells_apart_all_that_is_indexed():
    plain = catalogue_of((source("a"), [document()]), (source("b"), [document()]))
    others = [
        catalogue_of((source("a"), [document()])),
        catalogue_of((source("a"), [document()]), (source("c"), [document()])),
        catalogue_of((source("a"), [document()]), (source("b"), [document()]), first=2),
        catalogue_of((source("a"), [document(3)]), (source("b"), [document()])),
        catalogue_of((source("a", kind="markdown"), [document()]), (source("b"), [document()])),
        catalogue_of((source("a", reader_version=2), [document()]), (source("b"), [document()])),
        catalogue_of((source("a", root="/else"), [document()]), (source("b"), [document()])),
        catalogue_of((source("a", root=""), [document()]), (source("b"), [document()])),
        catalogue_of((source("a"), [document(title="T")]), (source("b"), [document()])),
        catalogue_of((source("a"), [document(key="T")]), (source("b"), [document()])),
        catalogue_of((source("a"), [document(metadata={"y": 1})]), (source("b"), [document()])),
        catalogue_of((source("a"), [document(places=((3, 4),))]), (source("b"), [document()])),
        catalogue_of((source("a"), [document(unit="page")]), (source("b"), [document()])),
        catalogue_of((source("a"), [document(length=90, segment=2)]), (source("b"), [document()])),
    ]
    touched = changes_to(plain, 100)
    touched.touch(True, "/data/a", 6, 0)

    digests = [each.digest() for each in (plain, *others, finish(touched))]
    assert len(set(digests)) == len(digests)


def test_equal_content_gives_equal_bytes_whatever_came_before():
    kinds = ["zebra", "alpha", "middle"]
    records = [(source(kind, kind=kind, reason=f"{kind}!"), [document()]) for kind in kinds]
    forward = catalogue_of(*records)

    backward = changes_to()
    backward.replace_source(source("gone", kind="aaaa"), [document()])
    changes = changes_to(finish(backward), 100)
    for row in (2, 0, 1):
        changes.merge(forward.part(np.array([row])))
    changes.remove_named(True, "/data/gone")
    again = finish(changes)

    assert again.to_bytes() == forward.to_bytes()
    words = again.in_order().words
    assert words == sorted(words)
    assert words[0] == ""


def test_a_text_named_like_a_file_has_its_fixed_place():
    file, text = source("a"), source("/data/a", root="")
    one = catalogue_of((file, []), (text, []))
    other = catalogue_of((text, []), (file, []))
    swapped = Catalogue(one.in_order().listing.take(np.array([1, 0], np.uint64)))

    assert one.to_bytes() == other.to_bytes()
    assert swapped.digest() == one.digest()


def test_a_part_has_these_sources_alone_and_their_words(server):
    catalogue = open_index(server.folder).catalogue
    rows = np.array([catalogue.find(False, "note"), 0])

    part = catalogue.part(rows)

    assert part.paths == sorted(catalogue.paths[row] for row in rows)
    assert part.source(part.find(False, "note")) == catalogue.source(int(rows[0]))
    assert np.array_equal(
        part.chunk_ids, np.sort(np.concatenate([catalogue.chunks_of(row) for row in rows]))
    )
    assert len(part.words) < len(catalogue.words)
    assert part.to_bytes() == catalogue.part(rows[::-1]).to_bytes()
    assert catalogue.part(np.zeros(0, np.int64)).to_bytes() == Catalogue.empty().to_bytes()


def test_away_texts_have_their_true_length(server):
    catalogue = open_index(server.folder).catalogue
    away = Catalogue.open(catalogue.with_away_texts().to_bytes())

    assert np.array_equal(away.text_lengths, catalogue.text_lengths)
    record = away.document(0)
    assert record.is_away
    assert not record.is_verbatim
    assert record.segment == AWAY
    assert record.text_length == catalogue.document(0).text_length > 0


def test_no_segment_of_texts_has_a_number_beyond_away(server):
    catalogue = open_index(server.folder).catalogue
    count = catalogue.document_count

    with pytest.raises(InvalidArgument, match="segments that are not there"):
        merged(NOTHING, catalogue, places=(np.full(count, AWAY + 1), np.zeros(count)))


# Merging


def test_merged_sources_take_the_place_of_their_names_and_keep_their_ids():
    old = catalogue_of((source("a"), [document()]), (source("b"), [document()]))
    other = catalogue_of((source("b"), [document(3, 100)]), (source("c"), []), first=50)

    new = merged(old, other)

    assert sorted(new.paths) == ["/data/a", "/data/b", "/data/c"]
    assert new.chunk_ids.tolist() == [1, 2, 50, 51, 52]
    assert new.chunks_of(new.find_path("/data/b")).tolist() == [50, 51, 52]
    assert new.contexts([51]) == [((0, 4),)]


def test_merged_documents_get_the_places_that_are_given():
    other = catalogue_of((source("b"), [document()]), (source("c"), [document()]))

    new = merged(NOTHING, other, places=(np.array([1, AWAY]), np.array([70, 0])))

    assert [column.tolist() for column in new.text_places] == [[1, AWAY], [70, 0]]
    assert new.text_lengths.tolist() == [100, 100]


def test_places_for_other_documents_are_refused():
    other = catalogue_of((source("b"), [document()]))

    with pytest.raises(InvalidArgument, match="each of 1 documents"):
        merged(NOTHING, other, places=(np.array([4, 4]), np.array([0, 0])))


def test_ids_of_chunks_that_stay_cannot_come_again():
    old = catalogue_of((source("a"), [document()]))

    with pytest.raises(Damaged, match="same id"):
        merged(old, catalogue_of((source("b"), [document()]), first=2))
    assert merged(old, catalogue_of((source("a"), [document()]), first=2)).chunk_count == 2


def test_ids_that_are_yet_to_come_are_refused():
    with pytest.raises(Damaged, match="chunk 51 is yet to come"):
        merged(NOTHING, catalogue_of((source("b"), [document()]), first=50), 51)


def test_names_that_come_twice_are_refused():
    other = catalogue_of((source("a"), [document()]))
    twice = Catalogue(other.listing.join(other.listing))

    with pytest.raises(DuplicateId, match="twice"):
        merged(NOTHING, twice)


def test_sources_are_touched_and_removed_by_name():
    old = catalogue_of((source("a"), []), (source("/data/a", root=""), []), (source("b"), []))
    changes = changes_to(old, 10)
    changes.touch(True, "/data/b", 99, 3)
    changes.remove_named(False, "/data/a")
    new = finish(changes)

    assert sorted(new.paths) == ["/data/a", "/data/b"]
    assert new.find(False, "/data/a") is None
    touched = new.source(new.find(True, "/data/b"))
    assert (touched.mtime_ns, touched.reader_version) == (99, 3)
    with pytest.raises(UnknownId, match="not in the index"):
        changes.touch(False, "/data/b", 1, 1)
    with pytest.raises(UnknownId, match="not in the index"):
        changes.remove_named(True, "/data/nothing")


# Searching: texts are kept


def answers(results) -> list[tuple[object, ...]]:
    return [(hit.id, hit.source, hit.first, hit.last, hit.title, hit.text) for hit in results]


def test_an_edge_with_texts_answers_like_its_server_without_asking_it(server, elsewhere, tmp_path):
    edge = follow(server, tmp_path / "edge")
    elsewhere.is_down = True

    for question in ("the lease", "word6", "harbour tide", "lighthouse keeper"):
        found, expected = edge.search(question, 4), server.search(question, 4)
        assert answers(found) == answers(expected)
        assert [hit.score for hit in found] == [hit.score for hit in expected]
        assert found.notes == ()
    assert elsewhere.requests == []
    assert elsewhere.learnt[0][0] > 0


def test_an_edge_with_texts_does_not_look_for_the_files_of_the_server(server, elsewhere, tmp_path):
    edge = follow(server, tmp_path / "edge")
    shutil.rmtree(tmp_path / "files")

    results = edge.search("harbour tide", 1)

    assert "tide turns" in results[0].text
    assert results.stale == ()
    assert edge.status().is_fresh
    assert edge.context(results[0].id)[1] == edge.get(results[0].id)


def test_a_share_is_asked_for_while_the_rest_is_embedded_here(
    server, elsewhere, tmp_path, monkeypatch
):
    edge = follow(server, tmp_path / "edge")
    has_embedded = threading.Event()
    local = use_tiny(
        monkeypatch, with_codes=True, embedder=TinyEmbedder(lambda _: has_embedded.set())
    )
    elsewhere.share_of = lambda count: count // 2
    elsewhere.before_vectors = lambda: has_embedded.wait(30) or pytest.fail("one after the other")

    results = edge.search("the lease", 3, mode="semantic")

    (asked, *_) = elsewhere.asked("vectors")
    said = results.explanation
    assert said.chunks_asked >= len(asked) > 0
    assert said.chunks_embedded == len(local.embedded) > 0
    assert sum(count for count, _ in elsewhere.learnt) == len(local.embedded)
    assert len(elsewhere.asked("vectors")) <= said.rounds
    assert answers(results) == answers(server.search("the lease", 3, mode="semantic"))


def test_a_server_that_hangs_is_not_waited_for_where_texts_are_here(
    server, elsewhere, embedder, tmp_path, monkeypatch
):
    edge = follow(server, tmp_path / "edge")
    is_over = threading.Event()
    elsewhere.share_of = lambda count: count
    elsewhere.before_vectors = lambda: is_over.wait(30)
    monkeypatch.setattr(vectors, "_PATIENCE_S", 0.01)

    results = edge.search("the lease", 3, mode="semantic")
    is_over.set()

    (asked,) = elsewhere.asked("vectors")
    assert [count for count, _ in elsewhere.given_up] == [len(asked)]
    assert results.explanation.chunks_asked == 0
    assert results.explanation.chunks_embedded == len(embedder.embedded) > 0
    assert answers(results) == answers(server.search("the lease", 3, mode="semantic"))


def test_a_server_that_hangs_is_asked_once_however_many_rounds_there_are(
    server, elsewhere, embedder, tmp_path, monkeypatch
):
    edge = follow(server, tmp_path / "edge")
    is_over = threading.Event()
    elsewhere.share_of = lambda count: count
    elsewhere.before_vectors = lambda: is_over.wait(30)
    monkeypatch.setattr(vectors, "_PATIENCE_S", 0.01)
    snapshot, model = edge.now()
    source = vectors.VectorSource(embedder.dim, model, None, elsewhere)
    ids = snapshot.catalogue.chunk_ids
    texts = [passage.embedded for passage in Passages(snapshot, elsewhere).read(ids)]

    rounds = [source.embed(ids[at : at + 3], texts[at : at + 3]) for at in (0, 3, 6)]
    is_over.set()

    assert len(elsewhere.asked("vectors")) == 1
    assert all(supplied.any(axis=1).all() for supplied in rounds)


def test_what_the_server_does_not_give_is_embedded_here(server, elsewhere, embedder, tmp_path):
    edge = follow(server, tmp_path / "edge")
    elsewhere.share_of = lambda count: count
    elsewhere.is_down = True

    results = edge.search("the lease", 3, mode="semantic")

    assert results.explanation.chunks_asked == 0
    assert results.explanation.chunks_embedded == len(embedder.embedded) > 0
    assert results.notes == (f"{NO_ANSWER}; answered from what is here",)
    assert answers(results) == answers(server.search("the lease", 3, mode="semantic"))


@pytest.mark.parametrize(
    "spoil", [lambda rows: rows * np.nan, lambda rows: rows[:-1], lambda rows: rows[:, :5]]
)
def test_rows_that_are_no_vectors_are_not_taken(server, elsewhere, tmp_path, spoil):
    edge = follow(server, tmp_path / "edge")
    elsewhere.share_of = lambda count: count
    elsewhere.spoil_rows = spoil

    results = edge.search("the lease", 3, mode="semantic")

    assert results.explanation.chunks_asked == 0
    assert answers(results) == answers(server.search("the lease", 3, mode="semantic"))


# Searching: texts are away


@pytest.mark.parametrize("mode", ["semantic", "hybrid"])
def test_an_edge_without_texts_asks_for_vectors_and_texts(
    server, elsewhere, embedder, tmp_path, mode
):
    edge = follow(server, tmp_path / "edge", texts="away")

    results = edge.search("the lease", 3, mode=mode)

    assert answers(results) == answers(server.search("the lease", 3, mode="semantic"))
    assert results.explanation.chunks_asked == sum(map(len, elsewhere.asked("vectors")))
    assert results.explanation.chunks_embedded == 0
    assert len(elsewhere.asked("vectors")) == results.explanation.rounds
    assert len(elsewhere.asked("chunks")) == 1
    words = "words were looked for only in the texts that are kept here"
    assert results.notes == ((words,) if mode == "hybrid" else ())


def test_vectors_that_came_once_are_kept_in_the_cache(server, elsewhere, tmp_path):
    edge = follow(server, tmp_path / "edge", texts="away", keep="hot:1MB")

    first = edge.search("the lease", 3, mode="semantic")
    asked = len(elsewhere.asked("vectors"))
    second = Index.open(edge.folder).search("the lease", 3, mode="semantic")

    assert second.explanation.chunks_cached == first.explanation.chunks_asked
    assert len(elsewhere.asked("vectors")) == asked
    assert answers(second) == answers(first)


@pytest.mark.parametrize("mode", ["semantic", "hybrid"])
def test_without_its_server_an_edge_answers_by_codes_and_says_so(server, elsewhere, tmp_path, mode):
    edge = follow(server, tmp_path / "edge", texts="away")
    elsewhere.is_down = True

    results = edge.search("the lease", 3, mode=mode)

    assert len(results) == 3
    assert results[0].source.endswith("lease.md")
    assert [(hit.text, hit.first, hit.last) for hit in results] == [("", 0, 0)] * 3
    assert results[0].location == results[0].source
    assert [hit.distance for hit in results] == [None] * 3
    assert results.notes[0] == f"{NO_ANSWER}; answered from what is here"
    assert any("codes alone" in note for note in results.notes)
    assert any("3 of the hits have no text" in note for note in results.notes)
    assert len(elsewhere.asked("vectors")) == 1
    assert results.stale == ()


def test_exact_hits_go_before_those_by_codes(server, elsewhere, tmp_path):
    edge = follow(server, tmp_path / "edge", texts="away", keep="hot:1MB")
    known = edge.search("the violin", 1, mode="semantic")[0]
    elsewhere.requests.clear()
    elsewhere.is_down = True

    results = edge.search("the violin", 5, mode="semantic")

    assert len(results) == 5
    assert results[0].id == known.id
    exact = [hit.distance is not None for hit in results]
    assert exact == sorted(exact, reverse=True)


def test_what_a_server_lacks_is_missing_and_others_take_its_place(server, elsewhere, tmp_path):
    edge = follow(server, tmp_path / "edge", texts="away")
    first = edge.search("the lease", 1, mode="semantic")[0]
    elsewhere.lacks = {first.id}

    results = edge.search("the lease", 3, mode="semantic")

    assert len(results) == 3
    assert first.id not in [hit.id for hit in results]


@pytest.mark.parametrize(
    "lie",
    [
        lambda chunk: replace(chunk, embedded=chunk.embedded.replace("lease", "goose")),
        lambda chunk: replace(chunk, body=chunk.body.replace("lease", "goose")),
        lambda chunk: replace(
            chunk,
            body=chunk.body.replace("lease", "goose"),
            embedded=chunk.embedded.replace("lease", "goose"),
        ),
        lambda chunk: replace(chunk, body=chunk.body[1:]),
        lambda chunk: replace(chunk, id=chunk.id + 1),
        lambda _: None,
    ],
)
def test_a_text_that_is_not_what_was_indexed_is_never_shown(server, elsewhere, tmp_path, lie):
    edge = follow(server, tmp_path / "edge", texts="away")
    first = edge.search("the lease", 1, mode="semantic")[0]
    elsewhere.spoil = lambda chunk: lie(chunk) if "lease" in chunk.body else chunk

    results = edge.search("the lease", 3, mode="semantic")

    assert len(results) == 3
    assert first.source not in [hit.source for hit in results]
    assert results.stale == ()
    assert results.notes == (
        "1 of the sources have changed on the server; `gossamer pull` brings them",
    )
    with pytest.raises(UnknownId, match="gossamer pull"):
        edge.get(first.id)


def test_chunks_that_are_away_are_got_compared_and_read_in_context(server, elsewhere, tmp_path):
    edge = follow(server, tmp_path / "edge", texts="away")
    hit = server.search("harbour tide", 1)[0]
    path = (tmp_path / "files/lease.md").as_posix()

    assert edge.get(hit.id) == server.get(hit.id)
    assert edge.context(hit.id) == server.context(hit.id)
    assert answers(edge.similar(hit.id, 3)) == answers(server.similar(hit.id, 3))
    for where in (f"{path}:1", f"{path}:5", f"{path}:99", "note:2"):
        assert answers(edge.similar(where, 2)) == answers(server.similar(where, 2))


def test_without_the_server_chunks_that_are_away_cannot_be_got(server, elsewhere, tmp_path):
    edge = follow(server, tmp_path / "edge", texts="away")
    id = server.search("the lease", 1)[0].id
    path = (tmp_path / "files/lease.md").as_posix()
    elsewhere.is_down = True

    for call in (
        lambda: edge.get(id),
        lambda: edge.context(id),
        lambda: edge.similar(id),
        lambda: edge.similar(f"{path}:1"),
    ):
        with pytest.raises(Unreachable, match="not kept here, and the server at"):
            call()
    with pytest.raises(UnknownId, match="no chunk"):
        edge.get(10**9)


# Looking after an edge


def test_an_edge_takes_no_changes_of_its_own(server, elsewhere, tmp_path):
    edge = follow(server, tmp_path / "edge")

    for change in (
        lambda: edge.add_texts([{"id": "x", "text": "y"}]),
        lambda: edge.add_paths([tmp_path / "files"]),
        lambda: edge.add_paths(),
        lambda: edge.remove(["note"]),
    ):
        with pytest.raises(WrongState, match=rf"follows {URL}; `gossamer push`"):
            change()


@pytest.mark.parametrize("texts", ["kept", "away"])
@pytest.mark.parametrize("lexical", ["scan", "fts5"])
def test_compacting_an_edge_keeps_its_origin_and_its_vectors(
    server, elsewhere, tmp_path, texts, lexical
):
    edge = follow(server, tmp_path / "edge", texts=texts, lexical=lexical)
    before = open_index(edge.folder)

    edge.compact()
    after = open_index(edge.folder)

    assert after.manifest.origin == before.manifest.origin
    assert after.manifest.files_of("vectors") == before.manifest.files_of("vectors")
    assert after.catalogue.digest() == before.catalogue.digest()
    assert [finding for finding in edge.check() if finding.severity == "error"] == []
    assert edge.search("the lease", 1)[0].source.endswith("lease.md")


def test_dead_texts_of_an_edge_are_given_back(server, elsewhere, tmp_path):
    edge = follow(server, tmp_path / "edge")
    snapshot = open_index(edge.folder)
    held = snapshot.part_bytes()["texts"]

    with begin(edge.folder, "pull") as writer:
        changes = writer.changes()
        kept = snapshot.catalogue.find(False, "note")
        rows = np.array([row for row in range(snapshot.catalogue.source_count) if row != kept])
        changes.merge(snapshot.catalogue.part(rows).with_away_texts())
        writer.commit(
            changes,
            save_vectors=None,
            model=snapshot.manifest.model,
            settings=snapshot.manifest.settings,
            roots=(),
        )

    after = open_index(edge.folder)
    assert after.part_bytes()["texts"] < held
    assert after.manifest.counts["text_bytes"] == snapshot.manifest.counts["text_bytes"]
    note = after.catalogue.find(False, "note")
    assert edge.get(int(after.catalogue.chunks_of(note)[0])).text.startswith("Remember")
    assert edge.check() == []


def test_the_status_of_an_edge_says_what_it_follows(server, elsewhere, tmp_path):
    edge = follow(server, tmp_path / "edge")
    shutil.rmtree(tmp_path / "files")
    (edge.folder / "sync/deep").mkdir(parents=True)
    (edge.folder / "sync/deep/file").write_bytes(b"12345")

    status = edge.status()

    assert (status.changed_files, status.missing_files) == (0, 0)
    assert status.follows["url"] == URL
    assert status.follows["pending"] == 0
    assert status.bytes_by_part["sync"] == 5
    assert server.status().follows == {}
    assert server.status().missing_files == len(TOPICS) + 1


def test_commands_show_notes_and_what_is_followed(server, elsewhere, tmp_path):
    edge = follow(server, tmp_path / "edge", texts="away")
    elsewhere.is_down = True
    at = ["--index", str(edge.folder)]

    shown = CliRunner().invoke(cli, ["search", "the lease", "--explain", *at])
    found = json.loads(CliRunner().invoke(cli, ["search", "the lease", "--json", *at]).stdout)
    status = CliRunner().invoke(cli, ["status", *at])

    assert shown.exit_code == 1, shown.output  # by their codes alone, no hit is called close
    assert NO_ANSWER in shown.stderr.replace("\n", " ")
    assert "chunks asked" in shown.stdout
    assert found["notes"][0].startswith(NO_ANSWER)
    assert found["explanation"]["chunks_asked"] == 0
    assert f"follows   {URL}, version" in status.stdout
