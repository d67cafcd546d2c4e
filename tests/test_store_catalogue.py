"""The catalogue: what goes in comes out, changes keep the rest, damage is refused."""

import random
from dataclasses import replace

import numpy as np
import pytest
from column_format import read_catalogue, write_catalogue
from hypothesis import given, settings
from hypothesis import strategies as st
from store_states import NOTHING, changes_to, finish

from gossamer.errors import Damaged, DuplicateId, GossamerError, InvalidArgument, UnknownId
from gossamer.records import ChunkSpan
from gossamer.store import (
    Catalogue,
    ChunkedDocument,
    DocumentRecord,
    SourceRecord,
    Status,
)
from gossamer.store.records import locate_title

TEXT = st.text(max_size=12)
SMALL = st.integers(1, 1000)
PARTS = st.text("abc.é\udc80", min_size=1, max_size=4).filter(lambda part: part != "..")
PATHS = st.lists(PARTS, min_size=1, max_size=3).map("/".join)


@st.composite
def spans_within(draw, length, least=0):
    start = draw(st.integers(0, length - least))
    end = draw(st.integers(start + least, length))
    return (start, end)


@st.composite
def chunked_documents(draw, size, is_file):
    is_verbatim = is_file and draw(st.booleans())
    length = size if is_verbatim else draw(SMALL)
    title = draw(spans_within(length))
    record = DocumentRecord(
        text_length=length,
        kind=draw(st.sampled_from(["markdown", "pdf", "mail"])),
        segment=0 if is_verbatim else draw(st.integers(1, 9)),
        offset=0 if is_verbatim else draw(st.integers(0, 2**40)),
        key=draw(TEXT),
        title=draw(TEXT),
        title_span=title if title[0] < title[1] else None,
        unit=draw(st.sampled_from(["line", "page"])),
        places=tuple(
            sorted((draw(st.integers(0, length)), i) for i in range(draw(st.integers(0, 3))))
        ),
        metadata=draw(
            st.dictionaries(TEXT, st.one_of(TEXT, st.booleans(), st.integers(-9, 9)), max_size=2)
        ),
    )
    spans = [
        ChunkSpan(
            *draw(spans_within(length, 1)), tuple(draw(st.lists(spans_within(length), max_size=3)))
        )
        for _ in range(draw(st.integers(1, 4)))
    ]
    checks = [draw(st.integers(0, 2**32 - 1)) for _ in spans]
    return ChunkedDocument(record, spans, checks)


@st.composite
def sources(draw):
    is_file = draw(st.booleans())
    record = SourceRecord(
        root=draw(st.sampled_from(["/home/a", "/b", "/"])) if is_file else "",
        name=draw(PATHS if is_file else st.text("abc/.é\udc80", min_size=1, max_size=6)),
        size=draw(SMALL),
        mtime_ns=draw(st.integers(-(2**60), 2**60)),
        content_hash=draw(st.integers(0, 2**64 - 1)),
        kind=draw(st.sampled_from(["", "markdown"])),
        status=draw(st.sampled_from(list(Status))),
        reason=draw(TEXT),
        reader_version=draw(st.integers(0, 300)),
    )
    return record, draw(st.lists(chunked_documents(record.size, is_file), max_size=3))


def key_of(record):
    return bool(record.root), record.path


def unique(pairs):
    return list({key_of(record): (record, documents) for record, documents in pairs}.values())


def content_of(catalogue):
    """Give everything that can be read out of a catalogue, ids aside, by source."""
    content = {}
    for row in range(catalogue.source_count):
        documents = []
        for document in catalogue.documents_of(row):
            ids = [
                i for i in catalogue.chunks_of(row) if catalogue.document_rows([i])[0] == document
            ]
            starts, ends = catalogue.spans(ids)
            contexts = catalogue.contexts(ids)
            spans = [
                ChunkSpan(int(a), int(b), c) for a, b, c in zip(starts, ends, contexts, strict=True)
            ]
            checks = catalogue.checks(ids).tolist()
            documents.append((placed(catalogue.document(document)), spans, checks))
        source = catalogue.source(row)
        content[key_of(source)] = (source, documents)
    return content


def placed(record):
    """Give a record whose text is in whatever segment there is."""
    return record if record.is_verbatim else replace(record, segment=1)


def expected_of(pairs):
    return {
        key_of(record): (
            record,
            [(placed(d.record), list(d.spans), list(d.checks)) for d in documents],
        )
        for record, documents in pairs
    }


def build(pairs, old=NOTHING, first=1):
    changes = changes_to(old, first)
    for record, documents in pairs:
        changes.replace_source(record, documents)
    return finish(changes)


def a_catalogue(seed=0, count=30):
    """Make a catalogue of everyday sources."""
    random_ = random.Random(seed)
    changes = changes_to()
    for number in range(count):
        size = random_.randrange(500, 5000)
        spans = [
            ChunkSpan(at, min(at + 400, size), ((0, 9), (at, at + 5)))
            for at in range(0, size - 5, 400)
        ]
        document = ChunkedDocument(
            DocumentRecord(
                size,
                "markdown",
                title_span=(2, 9),
                places=((0, 1), (100, 2)),
                metadata={"author": f"a{number % 3}", "year": 2000 + number},
            ),
            spans,
            [random_.randrange(2**32) for _ in spans],
        )
        source = SourceRecord(
            "/data",
            f"folder{number % 4}/file{number}.md",
            size,
            10**18 + number,
            number,
            "markdown",
        )
        changes.replace_source(source, [document])
    return finish(changes)


@given(st.lists(sources(), max_size=6))
@settings(max_examples=40, deadline=None)
def test_what_goes_into_a_catalogue_comes_out_of_its_bytes(pairs):
    pairs = unique(pairs)

    opened = Catalogue.open(build(pairs).to_bytes())

    assert content_of(opened) == expected_of(pairs)


@given(st.lists(sources(), max_size=5), st.lists(sources(), max_size=5), st.randoms())
@settings(max_examples=40, deadline=None)
def test_changes_replace_and_remove_and_keep_the_rest(before, after, random_):
    before, after = unique(before), unique(after)
    old = build(before)
    gone = random_.sample(range(old.source_count), old.source_count // 2)
    changes = changes_to(old, 10_000)

    changes.remove_sources(gone)
    new_ids = [changes.replace_source(record, documents) for record, documents in after]
    replaced = {r for r in range(old.source_count) if key_of(old.source(r)) in expected_of(after)}
    removed = [old.chunks_of(r) for r in replaced | set(gone)]
    new = finish(changes)

    kept = {key_of(old.source(r)): old.source(r) for r in range(old.source_count) if r not in gone}
    expected = expected_of(before)
    expected = {key: value for key, value in expected.items() if key in kept} | expected_of(after)
    assert content_of(new) == expected
    assert content_of(Catalogue.open(new.to_bytes())) == expected
    added = np.concatenate([np.zeros(0, np.int64), *new_ids])
    stayed = np.setdiff1d(old.chunk_ids, np.concatenate([np.zeros(0, np.int64), *removed]))
    assert np.array_equal(new.chunk_ids, np.sort(np.concatenate([stayed, added])))
    assert (np.diff(added) == 1).all()


def test_the_same_content_gives_the_same_bytes():
    assert a_catalogue().to_bytes() == a_catalogue().to_bytes()


def test_words_that_nothing_uses_any_more_are_forgotten():
    catalogue = build([(SourceRecord("/r", "a", 1, 1, 1, reason="x" * 50), [])])
    changes = changes_to(catalogue, 1)

    changes.remove_sources([0])

    assert finish(changes).in_order().words == [""]


def test_an_id_that_is_gone_is_an_error_and_not_another_chunk():
    catalogue = a_catalogue()
    changes = changes_to(catalogue, 1000)
    changes.remove_sources([3])
    new = finish(changes)

    for id in [*catalogue.chunks_of(3).tolist(), 0, -1, 10**9]:
        with pytest.raises(UnknownId, match=f"no chunk {id}"):
            new.spans([id])
    with pytest.raises(UnknownId):
        Catalogue.empty().spans([1])


def test_paths_and_given_ids_are_two_kinds_of_names():
    catalogue = build(
        [(SourceRecord("/r", "a", 1, 1, 1), []), (SourceRecord("", "/r/a", 2, 1, 1), [])]
    )

    assert catalogue.stat_of(catalogue.find_path("/r/a")) == (1, 1)
    assert catalogue.stat_of(catalogue.find_text("/r/a")) == (2, 1)
    assert catalogue.find_path("/r/b") is None
    assert catalogue.find_text("a") is None


def test_a_touched_source_has_another_time_and_the_same_chunks():
    catalogue = a_catalogue()
    changes = changes_to(catalogue, 1000)

    changes.touch_source(2, 77)
    new = finish(changes)

    path = catalogue.source(2).path
    assert new.stat_of(new.find_path(path)) == (catalogue.stat_of(2)[0], 77)
    assert np.array_equal(new.chunk_ids, catalogue.chunk_ids)
    assert catalogue.stat_of(2)[1] != 77


def test_a_touched_source_can_have_another_version_of_its_reader():
    old = a_catalogue()
    changes = changes_to(old, 1000)

    changes.touch_source(2, 77, reader_version=9)
    new = finish(changes)

    rows = [new.find_path(old.source(row).path) for row in (1, 2)]
    assert [new.source(row).reader_version for row in rows] == [0, 9]


def test_a_source_twice_in_one_step_is_refused():
    changes = changes_to()
    changes.replace_source(SourceRecord("/r", "a", 1, 1, 1))

    with pytest.raises(DuplicateId, match="given twice"):
        changes.replace_source(SourceRecord("/r", "a", 1, 1, 1))


@pytest.mark.parametrize(
    "document",
    [
        ChunkedDocument(DocumentRecord(11, "text"), [ChunkSpan(0, 5)], [1]),
        ChunkedDocument(DocumentRecord(10, "text"), [ChunkSpan(0, 11)], [1]),
        ChunkedDocument(DocumentRecord(10, "text"), [ChunkSpan(6, 5)], [1]),
        ChunkedDocument(DocumentRecord(10, "text"), [ChunkSpan(0, 5, ((9, 12),))], [1]),
        ChunkedDocument(DocumentRecord(10, "text"), [ChunkSpan(0, 5)], []),
        ChunkedDocument(
            DocumentRecord(10, "text", places=((5, 1), (4, 2))), [ChunkSpan(0, 5)], [1]
        ),
        ChunkedDocument(DocumentRecord(10, "t", places=((5, -1),)), [ChunkSpan(0, 5)], [1]),
        ChunkedDocument(DocumentRecord(10, "t", metadata={"a": []}), [ChunkSpan(0, 5)], [1]),
        ChunkedDocument(DocumentRecord(10, "text", title_span=(5, 11)), [ChunkSpan(0, 5)], [1]),
    ],
)
def test_a_document_that_does_not_fit_its_text_is_refused_and_changes_nothing(document):
    changes = changes_to()

    with pytest.raises(InvalidArgument, match="/r/a"):
        changes.replace_source(SourceRecord("/r", "a", 10, 1, 1), [document])

    assert finish(changes).source_count == 0


def test_a_title_that_the_text_holds_is_found_there():
    text = "# Über uns\n\nWir".encode()

    span = locate_title(text, "Über uns")

    assert span is not None
    assert text[slice(*span)].decode() == "Über uns"
    assert locate_title(text, "Impressum") is None
    assert locate_title(text, "") is None


def test_everyday_catalogues_take_few_bytes():
    catalogue = a_catalogue(count=1000)

    assert len(catalogue.to_bytes()) < 6.5 * catalogue.chunk_count + 30 * catalogue.source_count


def test_what_compresses_beyond_the_limit_is_padded_and_can_be_read():
    places = tuple((at, at) for at in range(2_000_000))
    document = ChunkedDocument(
        DocumentRecord(2_000_000, "t", places=places, metadata={"a": "x" * 50_000}),
        [ChunkSpan(0, 5)],
        [1],
    )
    pairs = [(SourceRecord("/r", "a", 2_000_000, 1, 1), [document])]

    padded = build(pairs).to_bytes()
    plain = write_catalogue(*read_catalogue(padded), is_padded=False)

    with pytest.raises(Damaged, match="more than its bytes can"):
        Catalogue.open(plain)
    assert len(padded) > 10 * len(plain)
    assert content_of(Catalogue.open(padded)) == expected_of(pairs)


def test_the_core_writes_what_the_format_says():
    words, tables = read_catalogue(a_catalogue().in_order().to_bytes())

    again = Catalogue.open(write_catalogue(words, tables))

    assert content_of(again) == content_of(a_catalogue())
    assert again.to_bytes() == a_catalogue().to_bytes()


def read_everything(catalogue):
    content_of(catalogue)
    catalogue.metadata()
    catalogue.to_bytes()


@pytest.mark.parametrize("seed", range(4))
def test_damaged_bytes_give_an_error_or_a_catalogue_that_can_be_read(seed):
    data = a_catalogue(seed, count=6).to_bytes()
    random_ = random.Random(seed)
    refused = 0
    for _ in range(300):
        spoilt = bytearray(data)
        for _ in range(random_.choice([1, 1, 2, 8])):
            spoilt[random_.randrange(len(spoilt))] = random_.randrange(256)
        if random_.random() < 0.2:
            at = random_.randrange(len(spoilt))
            del spoilt[at : at + random_.randrange(1, 9)]
        try:
            read_everything(Catalogue.open(bytes(spoilt)))
        except GossamerError:
            refused += 1

    assert refused > 100


def columns_of(table):
    yield from table.columns.values()
    for child in table.children.values():
        yield from columns_of(child)


@pytest.mark.parametrize("seed", range(2))
def test_numbers_that_cannot_be_are_refused_or_harmless(seed):
    words, tables = read_catalogue(a_catalogue(seed, count=6).to_bytes())
    random_ = random.Random(seed)
    refused = 0
    for _ in range(300):
        column = random_.choice([c for c in columns_of(tables) if len(c)])
        row, value = random_.randrange(len(column)), random_.getrandbits(random_.choice([3, 9, 62]))
        before, column[row] = column[row], random_.choice([value, -value])
        spoilt = write_catalogue(words, tables)
        column[row] = before
        try:
            read_everything(Catalogue.open(spoilt))
        except GossamerError:
            refused += 1

    assert refused > 100


def test_counts_that_no_file_can_hold_are_refused_before_memory_is_taken():
    data = bytearray(a_catalogue(count=3).to_bytes())
    words = int.from_bytes(data[12:20], "little")
    data[20 + words : 28 + words] = (2**40).to_bytes(8, "little")

    with pytest.raises(GossamerError, match="more than its bytes can"):
        Catalogue.open(bytes(data))
