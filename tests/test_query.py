"""Questions to an index that stays open while files, folders and its own parts change."""

import os
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from store_states import changes_to, finish
from tiny_embedder import TinyEmbedder, use_tiny

from gossamer import _core
from gossamer import status as status_module
from gossamer.cli.output import Output
from gossamer.errors import Damaged, GossamerError, WrongState
from gossamer.filters import combine
from gossamer.index import Index
from gossamer.lexical import WORDS
from gossamer.lexical.fts5 import FtsIndex
from gossamer.query.passages import Passages
from gossamer.query.places import passage_at
from gossamer.query.texts import TextSource
from gossamer.records import ChunkSpan
from gossamer.store import (
    Catalogue,
    ChunkedDocument,
    DocumentRecord,
    HotVectors,
    SourceRecord,
    hash_of_text,
    hot,
)
from gossamer.update.hubs import HubVectors

# Columns as they are, so that a test may spoil them.
PLAIN = _core.Codecs(
    *(lambda _: b"", lambda *_: None, lambda *_: b"", lambda *_: None),
    *(lambda _: None, lambda *_: b"", lambda *_: None, 1 << 20),
)
PAGE = (
    "<html><head><title>Harbour</title></head><body><p>The ferry leaves at noon.</p></body></html>"
)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "bread.txt").write_text("The banana bread needs an hour.\n", encoding="utf-8")
    (folder / "ferry.html").write_text(PAGE, encoding="utf-8")
    (folder / "lease.md").write_text(
        "---\ntitle: Flat\nyear: 2024\n---\nThe lease is due in March.\n", encoding="utf-8"
    )
    return folder


def make(tmp_path: Path, notes: Path, **options: object) -> Index:
    index = Index.create(tmp_path / "index", **options)
    index.add_paths([notes])
    return index


@pytest.fixture
def index(embedder: TinyEmbedder, notes: Path, tmp_path: Path) -> Index:
    return make(tmp_path, notes)


@pytest.fixture
def with_words(embedder: TinyEmbedder, notes: Path, tmp_path: Path) -> Index:
    return make(tmp_path, notes, lexical="fts5")


def overwrite(path: Path, share: float) -> None:
    """Fill the part of a file behind this share of it with something else."""
    data = path.read_bytes()
    keep = int(len(data) * share)
    path.write_bytes(data[:keep] + b"\xa5" * (len(data) - keep))


# Files that change under an open index


def test_a_page_that_goes_after_it_was_cited_is_cited_no_more(index, notes):
    assert "ferry" in index.search("ferry at noon", k=1)[0].text

    (notes / "ferry.html").unlink()

    found = index.search("ferry at noon", k=3)
    assert all("ferry" not in hit.text for hit in found)
    assert found.gone == ((notes / "ferry.html").as_posix(),)


def test_a_file_that_was_away_for_one_question_is_fresh_when_it_is_back(index, notes):
    path = notes / "bread.txt"
    shutil.move(path, notes / "aside")
    assert index.search("banana bread", k=1).gone == (path.as_posix(),)

    shutil.move(notes / "aside", path)

    found = index.search("banana bread", k=1)
    assert (found.stale, found.gone) == ((), ())
    assert found[0].source == path.as_posix()


def test_another_index_in_the_same_folder_is_asked_with_its_own_model(
    index, notes, tmp_path, monkeypatch
):
    index.search("bread", k=1)
    shutil.rmtree(tmp_path / "index")
    other = TinyEmbedder()
    other.fingerprint = "4242" * 8
    asked: list[str] = []
    monkeypatch.setattr(other, "embed_question", lambda text: (asked.append(text), np.ones(32))[1])
    use_tiny(monkeypatch, with_codes=True, embedder=other)
    make(tmp_path, notes)

    index.search("bread", k=1, mode="semantic")

    assert asked == ["bread"]


# The lexical index


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_a_damaged_lexical_index_is_done_without_and_made_anew(with_words, notes, tmp_path, share):
    overwrite(tmp_path / "index" / WORDS, share)
    opened = Index.open(tmp_path / "index")

    assert "banana" in opened.search("banana", k=1, mode="lexical")[0].text
    assert [finding.severity for finding in opened.check()] == ["error"]
    (notes / "new.txt").write_text("Whales sing.\n", encoding="utf-8")
    opened.add_paths()
    (notes / "newer.txt").write_text("Owls do too.\n", encoding="utf-8")
    opened.add_paths()

    assert opened.check() == []
    found = opened.search("whales", k=1, mode="lexical")
    assert "Whales" in found[0].text
    assert found.explanation.lexical_bytes == 0


def test_a_check_notices_chunks_that_the_lexical_index_lacks(with_words, tmp_path):
    database = sqlite3.connect(tmp_path / "index" / WORDS)
    database.execute("DELETE FROM chunks WHERE rowid = 1")
    database.commit()
    database.close()

    (finding,) = with_words.check(deep=False)

    assert "chunks, where" in finding.what
    assert WORDS in finding.repair


def test_the_lexical_index_answers_every_thread(with_words):
    answers: list[str] = []

    def ask() -> None:
        found = with_words.search("banana", k=1, mode="lexical")
        answers.append(f"{found[0].text} {found.explanation.lexical_bytes}")

    ask()
    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()

    assert answers == ["The banana bread needs an hour. 0"] * 2


def test_a_search_never_writes_to_the_lexical_index(with_words, tmp_path):
    path = tmp_path / "index" / WORDS
    path.write_bytes(b"")  # an empty database: whoever may write begins one

    assert "banana" in Index.open(path.parent).search("banana", k=1, mode="lexical")[0].text
    assert path.read_bytes() == b""
    with pytest.raises(GossamerError):
        FtsIndex(tmp_path / "none.sqlite", 1, 1, is_read_only=True)
    assert not (tmp_path / "none.sqlite").exists()


def test_the_lexical_index_explains_its_terms(with_words):
    found = with_words.search("banana breads", k=1)

    assert set(found.explanation.lexical_terms.values()) == {1}
    assert len(found.explanation.lexical_terms) == 2


def test_compacting_gives_back_the_space_of_the_lexical_index(with_words, notes, tmp_path):
    words = " ".join(f"word{i}" for i in range(4000))
    (notes / "long.txt").write_text(words, encoding="utf-8")
    with_words.add_paths()
    large = (tmp_path / "index" / WORDS).stat().st_size
    (notes / "long.txt").unlink()
    with_words.add_paths()

    with_words.compact()

    assert (tmp_path / "index" / WORDS).stat().st_size < large / 2
    assert with_words.check() == []
    assert len(with_words.search("banana", k=1, mode="lexical")) == 1


def test_an_update_that_is_over_locks_no_words(with_words, notes, tmp_path, monkeypatch):
    begun: list[int] = []
    begin = FtsIndex.begin
    monkeypatch.setattr(FtsIndex, "begin", lambda self: (begun.append(1), begin(self))[1])
    (notes / "new.txt").write_text("Whales sing.\n", encoding="utf-8")

    with_words.add_paths()

    assert len(begun) == 1


def test_an_index_of_words_that_was_being_made_counts_for_nothing(tmp_path):
    with FtsIndex.create(tmp_path / WORDS) as made:
        made.begin()
        made.add([1, 2], [b"one", b"two"])
        made.flush()
        made.add([3], [b"three"])
    with FtsIndex(tmp_path / WORDS, 1, 4) as half:
        assert not half.is_complete

    with FtsIndex.create(tmp_path / WORDS) as made:
        made.begin()
        made.add([1, 2, 3], [b"one", b"two", b"three"])
        made.flush()
        made.commit(1, 4)
        made.begin()
        with pytest.raises(WrongState, match="commit"):
            made.flush()
    with FtsIndex(tmp_path / WORDS, 1, 4, is_read_only=True) as whole:
        assert whole.is_complete
        assert len(whole) == 3


# Places, filters, status


def test_a_place_is_found_by_reading_its_file_once(index, notes, monkeypatch):
    lines = [f"Line {i} speaks of topic{i}, " + "and more " * 40 for i in range(60)]
    (notes / "long.txt").write_text("\n\n".join(lines), encoding="utf-8")
    index.add_paths()
    snapshot = index.snapshot
    path = (notes / "long.txt").as_posix()
    catalogue = snapshot.catalogue
    ids = catalogue.chunks_of(catalogue.find_path(path))
    expected = Passages(snapshot).read(ids, with_places=True)

    for number in (1, 2, 41, 119, 10**6):
        found = passage_at(snapshot, Passages(snapshot), f"{path}:{number}")
        best = max((i for i, one in enumerate(expected) if one.first <= number), default=0)
        assert found.id == expected[best].id
    counted = count_reads(monkeypatch)
    passage_at(snapshot, Passages(snapshot), f"{path}:100")
    assert sum(counted) < 3 * (notes / "long.txt").stat().st_size


def count_reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    counted: list[int] = []
    read = TextSource.read

    def counting(self: TextSource, documents: list[dict]) -> list[bytes | None]:
        counted.extend(end - start for one in documents for start, end in one["spans"])
        return read(self, documents)

    monkeypatch.setattr(TextSource, "read", counting)
    return counted


def test_a_filter_over_files_looks_at_no_metadata():
    changes = changes_to()
    document = ChunkedDocument(
        DocumentRecord(1, "text", metadata={"year": 2024}), [ChunkSpan(0, 1)], [1]
    )
    changes.replace_source(SourceRecord("/r", "a.txt", 1, 1, 1, "text"), [document])
    collection = collection_of(finish(changes), spoils_metadata=True)

    allowed = collection.allow(filter_of(where='type == "text"', paths=["*.txt"]))

    assert allowed.tolist() == [True]
    with pytest.raises(Damaged, match="metadata"):
        collection.allow(filter_of(where="year == 2024"))


def collection_of(catalogue: Catalogue, spoils_metadata: bool = False) -> _core.Collection:
    data = catalogue.listing.pack(PLAIN)
    if spoils_metadata:
        data = data.replace(b'{"year"', b'["year"')
    return _core.Collection(_core.Catalogue.of_list(_core.SourceList.read(data, True, PLAIN)), [])


def filter_of(**options: object) -> bytes:
    condition = combine(**options)
    assert condition is not None
    return condition.key.encode()


def test_filters_of_other_values_are_not_taken_for_each_other(index):
    def count(**options: object) -> int:
        return len(index.search("the", k=9, **options))

    assert count(where={"year": {">=": 2024}}) == 1
    assert count(where={"year": {">=": 2025}}) == 0
    assert count(types=["text"]) == 1
    assert count(types=["html"]) == 1
    assert count(where='title == "Flat" and type == "markdown"') == 1


def test_a_file_of_an_impossible_time_can_be_filtered():
    changes = changes_to()
    document = ChunkedDocument(DocumentRecord(1, "text"), [ChunkSpan(0, 1)], [1])
    changes.replace_source(SourceRecord("/r", "a", 1, -(2**62) * 2, 1), [document])

    allowed = collection_of(finish(changes)).allow(filter_of(after="2020"))

    assert allowed.tolist() == [False]


def test_records_of_a_catalogue_are_read_without_counting_all_rows(index, monkeypatch):
    catalogue = index.snapshot.catalogue
    catalogue.source(0), catalogue.document(0)
    monkeypatch.setattr(
        "gossamer.store.columns.starts_of", lambda _: pytest.fail("counted already")
    )

    assert [catalogue.source(row).status for row in range(3)] == [0, 0, 0]
    assert catalogue.document(1).key == ""


def test_a_status_reads_columns_and_no_records(index, notes, monkeypatch):
    monkeypatch.setattr(Catalogue, "source", lambda *_: pytest.fail("not needed"))
    (notes / "bread.txt").unlink()

    status = index.status()

    assert (status.indexed, status.missing_files, status.changed_files) == (3, 1, 0)
    assert status.kinds == {"html": 1, "markdown": 1, "text": 1}


def test_files_that_go_while_they_are_counted_count_nothing(tmp_path, monkeypatch):
    (tmp_path / "vectors-1.gsm").write_bytes(b"12345")
    (tmp_path / "catalogue-1.gsc").write_bytes(b"123")
    listed = os.scandir(tmp_path)
    names = {entry.name: entry for entry in listed}
    listed.close()
    (tmp_path / "catalogue-1.gsc").unlink()

    @contextmanager
    def as_listed(_: Path) -> Iterator[list[os.DirEntry[str]]]:
        yield list(names.values())

    monkeypatch.setattr(os, "scandir", as_listed)

    assert status_module.bytes_by_part(tmp_path) == {"vectors": 5}


# What is said


def test_damage_that_a_search_finds_names_the_folder_and_what_to_do(index, notes, tmp_path):
    (segment,) = (tmp_path / "index").glob("segment-*.gss")
    data = bytearray(segment.read_bytes())
    data[-1] ^= 0xFF  # within the last block of text
    segment.write_bytes(data)
    opened = Index.open(tmp_path / "index")

    with pytest.raises(Damaged, match=r"index: .*gossamer check"):
        opened.search("ferry", k=3)
    with pytest.raises(Damaged, match=r"index: .*gossamer check"):
        opened.similar((notes / "ferry.html").as_posix() + ":1")


def test_a_check_of_a_folder_without_a_segment_does_not_advise_to_check(index, tmp_path):
    from gossamer.store.check import check

    (segment,) = (tmp_path / "index").glob("segment-*.gss")
    segment.unlink()

    (finding,) = check(tmp_path / "index")

    assert segment.name in finding.what
    assert "gossamer check" not in f"{finding.what} {finding.repair}"


def test_a_path_stays_on_one_line(capsys):
    Output().line("1. ", ("/notes/a\nb\x1b[2J.txt:3", "path"))

    assert capsys.readouterr().out == "1. /notes/a\\nb\\x1b[2J.txt:3\n"


# Vectors at hand


def test_hubs_are_the_same_however_the_vectors_come():
    random = np.random.default_rng(5)
    vectors = random.normal(size=(300, 8)).astype(np.float32)
    ids = np.arange(300)
    one_by_one, at_once = HubVectors(640, 8), HubVectors(10**6, 8)
    for id in ids:
        one_by_one.add(ids[id : id + 1], vectors[id : id + 1])
    at_once.add(ids, vectors)

    assert len(one_by_one.best()[0]) == 20
    assert at_once.best()[0].tolist() == ids.tolist()
    kept, rows = one_by_one.best()
    assert np.array_equal(rows, vectors[kept].astype(np.float16))


@pytest.fixture
def small_tail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hot, "_SMALL_BYTES", 2000)
    monkeypatch.setattr(hot, "_TAIL_SHARE", 0.5)


def open_hot(folder: Path, budget: int = 1 << 20) -> HotVectors:
    return HotVectors.open(folder, "u", "m", 8, budget)


def filled(folder: Path, count: int = 100) -> HotVectors:
    cache = open_hot(folder)
    cache.put(np.arange(count), np.arange(count * 8).reshape(count, 8))
    cache.save()
    return cache


def test_a_large_cache_is_appended_to_and_read_whole(tmp_path, small_tail):
    filled(tmp_path)
    before = (tmp_path / hot.HOT).read_bytes()
    for id in (100, 101):
        cache = open_hot(tmp_path)
        cache.get([3])
        cache.put([id], np.full((1, 8), id))
        cache.put_question(hash_of_text(f"{id}?"), np.ones(8))
        assert cache.save()

    after = (tmp_path / hot.HOT).read_bytes()
    assert after.startswith(before)
    assert len(after) - len(before) < len(before) / 4
    again = open_hot(tmp_path)
    assert len(again) == 102
    assert again.get([3, 100, 101, 102])[0].tolist() == [True, True, True, False]
    assert again.get([101])[1][0].tolist() == [101] * 8
    assert again.question(hash_of_text("100?")) is not None


def test_a_cache_is_written_anew_once_enough_was_appended(tmp_path, small_tail):
    cache = filled(tmp_path)
    sizes = []
    for id in range(100, 200):
        cache.put([id], np.full((1, 8), id))
        assert cache.save()
        sizes.append((tmp_path / hot.HOT).stat().st_size)

    assert any(later < earlier for earlier, later in pairwise(sizes))
    assert open_hot(tmp_path).get(np.arange(200))[0].all()


def test_a_torn_end_of_the_cache_is_passed_over_and_goes(tmp_path, small_tail):
    cache = filled(tmp_path)
    cache.put([100], np.ones((1, 8)))
    cache.save()
    whole = (tmp_path / hot.HOT).read_bytes()
    (tmp_path / hot.HOT).write_bytes(whole[:-3])

    cache = open_hot(tmp_path)
    assert cache.get([99, 100])[0].tolist() == [True, False]
    cache.put([101], np.ones((1, 8)))
    assert cache.save()

    assert open_hot(tmp_path).get([99, 100, 101])[0].tolist() == [True, False, True]


def test_a_full_cache_keeps_within_its_budget_and_is_appended_to(tmp_path, small_tail):
    for id in range(300):
        cache = open_hot(tmp_path, budget=6000)
        cache.question(hash_of_text(f"{id}?"))
        cache.put([id], np.full((1, 8), id))
        cache.save()
        assert (tmp_path / hot.HOT).stat().st_size <= 6000

    assert open_hot(tmp_path, budget=6000).get([298, 299])[0].all()


@pytest.mark.parametrize("store_text", [False, True])
@pytest.mark.parametrize("text", ["# Only zebra title", "zebra words\n\n# Last"])
def test_a_text_that_ends_with_its_title_has_a_context(embedder, tmp_path, text, store_text):
    folder = tmp_path / "pages"
    folder.mkdir()
    (folder / "page.md").write_text(text, encoding="utf-8")
    index = make(tmp_path, folder, store_text=store_text)
    hit = index.search("zebra", k=1)[0]

    before, same, after = index.context(hit.id)

    assert before + same.text + after == text


def test_words_are_not_built_while_a_text_cannot_be_read(embedder, notes, tmp_path):
    index = make(tmp_path, notes, lexical="fts5")
    (index.folder / WORDS).unlink()
    (notes / "bread.txt").rename(tmp_path / "bread.txt")
    index.add_texts([{"id": "a", "text": "whales"}])
    (tmp_path / "bread.txt").rename(notes / "bread.txt")

    assert index.search("banana", k=1, mode="lexical")[0].kind == "text"
    index.add_texts([{"id": "b", "text": "dolphins"}])
    assert (index.folder / WORDS).exists()
    assert index.search("banana", k=1, mode="lexical")[0].kind == "text"
    assert index.check() == []


def test_a_damaged_hot_vector_is_mended_by_the_next_one(tmp_path):
    def opened() -> HotVectors:
        return HotVectors.open(tmp_path, "uuid", "model", 4, 1 << 20)

    vector = np.ones((1, 4), np.float32)
    first = opened()
    first.put([7], vector)
    first.save()
    path = tmp_path / "hot.gsh"
    path.write_bytes(path.read_bytes()[:-1] + b"\x11")
    assert not opened().get([7])[0].any()

    again = opened()
    again.put([7], vector)
    again.save()

    assert opened().get([7])[0].all()


def test_globs_and_types_may_come_as_iterators(embedder, notes, tmp_path):
    index = make(tmp_path, notes)

    for kind in ("text", "html", "markdown"):
        hits = index.search("the", k=9, mode="semantic", types=(t for t in [kind]))
        assert {hit.kind for hit in hits} == {kind}


def test_threads_share_the_cache_of_an_index(embedder, notes, tmp_path):
    index = make(tmp_path, notes, keep="hot:1MB")

    def ask(number: int) -> int:
        return sum(len(index.search(f"bread ferry lease {number} {i}")) for i in range(20))

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(ask, range(4)))

    assert found == [found[0]] * 4
