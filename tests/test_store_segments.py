"""Many small commits, large ones in parts: an index holds what was put in, however it is cut."""

import random

import pytest
from tiny_embedder import use_tiny

from gossamer import Index
from gossamer.errors import Damaged
from gossamer.store import changes as store_changes
from gossamer.store import open_index
from gossamer.update import given


@pytest.fixture
def index(monkeypatch, tmp_path):
    use_tiny(monkeypatch, with_codes=True)
    return Index.create(tmp_path / "index")


def texts_in(index):
    """Give all texts by id, each found by its own words too."""
    snapshot = open_index(index.folder)
    catalogue = snapshot.catalogue
    found = {}
    for row in range(catalogue.source_count):
        (document,) = map(catalogue.document, catalogue.documents_of(row))
        end = document.offset + document.text_length
        text = snapshot.texts.read(document.segment, document.offset, end)
        found[catalogue.source(row).name] = text.decode()
    counts = snapshot.manifest.counts
    assert counts["sources"] == counts["indexed"] == catalogue.source_count == len(found)
    assert counts["chunks"] == len(catalogue.chunk_ids) == catalogue.chunk_count
    assert counts["text_bytes"] == sum(len(text.encode()) for text in found.values())
    return found


def segments_of(index):
    return len(open_index(index.folder).manifest.files_of("segment"))


def given_of(texts):
    return [{"id": id, "text": text} for id, text in texts.items()]


def test_whatever_commits_there_were_the_index_holds_what_is_left(index):
    chance = random.Random(3)
    expected = {}
    most = 0
    for step in range(80):
        if chance.random() < 0.7:
            names = [f"n{chance.randrange(60)}" for _ in range(chance.choice((1, 1, 2, 9)))]
            new = {name: f"word{step} and {name} of step {step}" for name in names}
            index.add_texts(given_of(new))
            expected |= new
        else:
            gone = [f"n{chance.randrange(60)}" for _ in range(chance.choice((1, 4)))]
            index.remove(gone)
            expected = {name: text for name, text in expected.items() if name not in gone}
        most = max(most, segments_of(index))
        assert texts_in(index) == expected
        if step % 20 == 19:
            assert index.check() == []
            name, text = chance.choice(sorted(expected.items()))
            assert index.search(text, k=1)[0].source == name

    assert 1 < most <= 12
    index.compact()
    assert segments_of(index) == 1
    assert texts_in(index) == expected
    assert index.check() == []


def test_a_large_change_is_written_in_parts_and_is_one_state(index, monkeypatch):
    monkeypatch.setattr(store_changes, "_MOST_CHUNKS", 10)
    monkeypatch.setattr("gossamer.update.run._CHUNKS_AT_ONCE", 4)
    old = {f"n{number}": f"old words of {number}" for number in range(30)}
    new = {f"n{number}": f"new words of {number}" for number in range(20, 90)}

    index.add_texts(given_of(old))
    report = index.add_texts(given_of(new))

    assert (report.added, report.updated) == (60, 10)
    assert texts_in(index) == old | new
    assert open_index(index.folder).manifest.generation == 3
    assert index.check() == []


def test_texts_of_an_iterator_are_taken_in_batches_and_the_last_of_an_id_counts(index, monkeypatch):
    monkeypatch.setattr(given, "_MOST_TEXTS", 10)
    taken = []

    def stream():
        for number in range(35):
            taken.append((number, open_index(index.folder).catalogue.source_count))
            yield {"id": f"n{number % 30}", "text": f"the words of {number}"}

    report = index.add_texts(stream())

    assert texts_in(index) == {
        f"n{number % 30}": f"the words of {number}" for number in [*range(5, 30), *range(30, 35)]
    }
    assert (report.added, report.updated) == (30, 5)
    assert taken[9][1] == 0
    assert taken[34][1] == 30  # what came before is in the index already


def test_a_wrong_text_of_an_iterator_leaves_what_was_taken(index, monkeypatch):
    monkeypatch.setattr(given, "_MOST_TEXTS", 2)
    wrong = iter([{"id": "a", "text": "one"}, {"id": "b", "text": "two"}, {"id": "", "text": "x"}])

    with pytest.raises(ValueError, match="needs 'id'"):
        index.add_texts(wrong)

    assert texts_in(index) == {"a": "one", "b": "two"}
    assert index.check() == []


def test_a_damaged_text_is_never_copied_and_holds_up_nothing_else(index):
    index.add_texts([{"id": "old", "text": "random " + random.Random(1).randbytes(90_000).hex()}])
    (segment,) = index.folder.glob("segment-*")
    data = bytearray(segment.read_bytes())
    data[-9] ^= 1  # in the last block of text
    segment.write_bytes(data)

    for number in range(8):
        index.add_texts([{"id": f"n{number}", "text": f"the words of {number}"}])

    assert segment.exists()
    assert [finding.severity for finding in index.check()].count("error") == 2
    assert index.search("words", k=1, mode="semantic")[0].text.startswith("the words")
    with pytest.raises(Damaged, match="block of text is damaged"):
        index.compact()


@pytest.mark.parametrize("most", [1, 60, 1 << 20])
def test_an_import_in_parts_holds_what_one_in_one_piece_does(index, monkeypatch, tmp_path, most):
    texts = {f"n{number}": f"the words of {number} " * (number % 5 + 1) for number in range(25)}
    index.add_texts(given_of(texts))
    index.export(tmp_path / "one.gossamer")
    monkeypatch.setattr(store_changes, "_MOST_TEXT_BYTES", most)
    monkeypatch.setattr(store_changes, "_SOURCE_BYTES", 0)

    again = Index.import_file(tmp_path / "one.gossamer", tmp_path / "again")

    assert texts_in(again) == texts
    assert again.check() == []
    catalogues = [open_index(one.folder).catalogue for one in (index, again)]
    assert catalogues[0].digest() == catalogues[1].digest()


def test_codes_keep_their_own_codebook_though_the_model_ships_one_later(monkeypatch, tmp_path):
    use_tiny(monkeypatch, with_codes=False)
    monkeypatch.setattr("gossamer.update.growing._LEAST_TO_TRAIN", 100)
    index = Index.create(tmp_path / "index", code_bytes=8)
    index.add_texts([{"id": f"n{n}", "text": f"thing{n} and word{n % 7}"} for n in range(150)])
    kinds = {entry.kind for entry in open_index(index.folder).manifest.files}
    before = [hit.source for hit in index.search("thing7", k=5, mode="semantic")]
    assert kinds == {"segment", "codebook"}

    use_tiny(monkeypatch, with_codes=True)
    index = Index.open(index.folder)
    assert [hit.source for hit in index.search("thing7", k=5, mode="semantic")] == before
    index.add_texts([{"id": "new", "text": "a walrus"}])

    assert [hit.source for hit in index.search("thing7", k=5, mode="semantic")] == before
    assert index.search("walrus", k=1, mode="semantic")[0].source == "new"
    assert index.check() == []
