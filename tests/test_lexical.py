import math
import os
import sqlite3
import threading
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer import _core
from gossamer.errors import (
    Damaged,
    DuplicateId,
    InvalidArgument,
    NotGossamer,
    UnknownVersion,
    WrongState,
)
from gossamer.lexical import (
    Buffer,
    Files,
    LexicalPass,
    LexicalResult,
    Spans,
    find_terms,
    rank,
    terms_of,
)
from gossamer.lexical.fts5 import FtsIndex

K1, B = 0.9, 0.75
TEXTS = [
    b"The lease is due in March.",
    b"Leases and leasing: who pays the rent?",
    b"def pay_rent(lease): return leaseHolder",
    "Le bail est d\u00fb; caf\u00e9 Straße".encode(),
    "家賃は三月に払います。日本語".encode(),
    "ค่าเช่าบ้าน".encode(),
    "🏠 rent \ud83c".encode("utf-8", "surrogatepass") + b"\xff lease",
    b"",
]
PIECES = [
    *["lease", "Leases", "leaseHolder", "pay_rent", "rent", "caf\u00e9", "e\u0301", "日本", "語"],
    *["ไทย", "🏠", " ", "\n", "_", "x1", "B", "a", "\u0130", "ﬁ", "한국어", "\u200d", "…", "ing"],
]
texts_strategy = st.lists(
    st.one_of(
        st.lists(st.sampled_from(PIECES), max_size=30).map(lambda parts: "".join(parts).encode()),
        st.text(max_size=40).map(lambda text: text.encode("utf-8", "surrogatepass")),
        st.binary(max_size=80),
    ),
    max_size=12,
)


def buffer_of(texts: Sequence[bytes]) -> Buffer:
    ends = np.cumsum([len(text) for text in texts], dtype=np.uint64)
    starts = np.concatenate([[0], ends[:-1]]) if len(texts) else ends
    return Buffer(b"".join(texts), Spans(starts, ends, np.arange(len(texts))))


def ask(question: str, texts: Sequence[bytes], n: int = 100, **options) -> LexicalResult:
    return rank(question, n, buffers=[lambda: buffer_of(texts)], **options)


def write_files(folder: Path, texts: Sequence[bytes]) -> Files:
    paths = [folder / f"{i}.txt" for i in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_bytes(text)
    sizes = [len(text) for text in texts]
    spans = Spans(np.zeros(len(texts)), np.array(sizes), np.arange(len(texts)))
    return Files(paths, np.arange(len(texts) + 1), spans)


def slow_bm25(question: str, texts: Sequence[bytes]) -> dict[int, float]:
    """BM25 as it is written down, over all terms of each text."""
    counts = [Counter(_core.spaced_terms(text).split(" ")) for text in texts]
    mean = max(1, sum(map(len, texts))) / max(1, len(texts))
    scores: dict[int, float] = {}
    for term in terms_of(question):
        having = [i for i, count in enumerate(counts) if count[term]]
        weight = math.log(1 + (len(texts) - len(having) + 0.5) / (len(having) + 0.5))
        for i in having:
            damping = K1 * (1 - B + B * len(texts[i]) / mean)
            part = weight * (K1 + 1) * counts[i][term] / (counts[i][term] + damping)
            scores[i] = scores.get(i, 0.0) + part
    return scores


def check_against_slow(question: str, texts: Sequence[bytes]) -> None:
    found = ask(question, texts)
    expected = slow_bm25(question, texts)
    assert sorted(found.numbers) == sorted(expected)
    assert found.scores == pytest.approx([expected[int(i)] for i in found.numbers], rel=1e-5)
    order = sorted(range(len(found.numbers)), key=lambda i: (-found.scores[i], found.numbers[i]))
    assert order == list(range(len(found.numbers)))


@pytest.mark.parametrize(
    "question",
    ["when is the lease due", "rent", "CAFE strasse", "日本語の家賃", "เช่า", "leaseholder 🏠"],
)
def test_scores_are_those_of_a_slow_bm25(question):
    check_against_slow(question, TEXTS)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=8).map("".join), texts_strategy)
def test_scores_are_those_of_a_slow_bm25_for_any_texts(question, texts):
    check_against_slow(question, texts)


def test_words_of_one_stem_and_parts_of_identifiers_are_found():
    assert set(ask("lease", TEXTS).numbers) == {0, 1, 2, 6}
    assert set(ask("holder", TEXTS).numbers) == {2}
    assert set(ask("payRent", TEXTS).numbers) == {1, 2, 6}


def test_accents_and_case_make_no_difference():
    assert list(ask("CAFÉ", TEXTS).numbers) == [3]
    assert list(ask("cafe\u0301", TEXTS).numbers) == [3]


def test_scripts_without_spaces_are_found_by_pairs_of_characters():
    assert list(ask("三月", TEXTS).numbers) == [4]
    assert list(ask("月", TEXTS).numbers) == [4]
    assert list(ask("เช่า", TEXTS).numbers) == [5]


@pytest.mark.parametrize("question", ["", "  ?!", "\ud800", "…"])
def test_a_question_without_words_reads_nothing_and_finds_nothing(question, tmp_path):
    files = write_files(tmp_path, TEXTS)

    found = rank(question, 10, files, [lambda: buffer_of(TEXTS)])

    assert found.numbers.size == 0
    assert (found.bytes_read, found.files_opened, found.terms) == (0, 0, ())


def test_document_frequencies_are_those_of_the_pass():
    found = ask("lease rent", TEXTS)

    assert found.terms == ("leas", "rent")
    assert found.chunks_with == (4, 3)
    assert found.chunks == len(TEXTS)


def test_only_allowed_chunks_take_part():
    allowed = np.array([True, False, True])  # nothing is said of the others

    found = ask("lease", TEXTS, allowed=allowed)

    assert set(found.numbers) == {0, 2}
    assert found.chunks == 2
    expected = slow_bm25("lease", [TEXTS[0], TEXTS[2]])
    assert sorted(found.scores) == pytest.approx(sorted(expected.values()), rel=1e-5)


def test_files_without_an_allowed_chunk_are_not_opened(tmp_path):
    files = write_files(tmp_path, TEXTS)

    found = rank("lease", 10, files, allowed=np.arange(len(TEXTS)) == 2)

    assert (found.files_opened, found.bytes_read) == (1, len(TEXTS[2]))
    assert list(found.numbers) == [2]


def test_files_and_buffers_give_the_same_answer(tmp_path):
    files = write_files(tmp_path, TEXTS)

    from_files = rank("when is the rent of the lease due", 10, files)
    from_buffer = ask("when is the rent of the lease due", TEXTS)

    assert from_files.numbers.tolist() == from_buffer.numbers.tolist()
    assert from_files.scores.tolist() == from_buffer.scores.tolist()
    assert from_files.bytes_read == sum(map(len, TEXTS))


def large_file(path: Path) -> Files:
    """Three megabytes in chunks of different lengths, so that it is read in several pieces."""
    random = np.random.default_rng(0)
    words = np.array(["lease", "rent", "due", "nothing", "whatever", "日本"])
    path.write_text(" ".join(random.choice(words, 500_000)), encoding="utf-8")
    cuts = np.unique(random.integers(0, path.stat().st_size, 3000))
    return Files([path], [0, len(cuts) - 1], Spans(cuts[:-1], cuts[1:], np.arange(len(cuts) - 1)))


def test_any_number_of_threads_gives_the_same_answer(tmp_path):
    files = large_file(tmp_path / "large.txt")

    one = rank("lease due 日本", 500, files, threads=1)
    many = rank("lease due 日本", 500, files, threads=5)

    assert one.numbers.tolist() == many.numbers.tolist()
    assert one.scores.tolist() == many.scores.tolist()
    assert one.files_opened == many.files_opened == 1


def test_a_large_file_read_in_pieces_gives_what_its_text_gives(tmp_path):
    files = large_file(tmp_path / "large.txt")
    text = (tmp_path / "large.txt").read_bytes()

    found = rank("rent 日本", 500, files)
    expected = rank("rent 日本", 500, buffers=[lambda: Buffer(text, files.spans)])

    assert found.numbers.tolist() == expected.numbers.tolist()
    assert found.scores.tolist() == expected.scores.tolist()


def test_missing_and_shortened_files_cost_their_chunks_only(tmp_path):
    files = write_files(tmp_path, [b"lease one", b"lease two", b"lease three", b"lease"])
    (tmp_path / "1.txt").unlink()
    (tmp_path / "2.txt").write_bytes(b"lease")
    (tmp_path / "3.txt").write_bytes(b"lease and more")

    found = rank("lease", 10, files)

    assert set(found.numbers) == {0, 3}
    assert found.files_failed == (1, 2)
    assert found.chunks_unreadable == 2


def test_a_shortened_file_keeps_the_chunks_that_are_still_there(tmp_path):
    (tmp_path / "a").write_bytes(b"lease lease")
    files = Files([tmp_path / "a"], [0, 2], Spans([0, 6], [5, 99], [0, 1]))

    found = rank("lease", 10, files)

    assert list(found.numbers) == [0]
    assert found.files_failed == (0,)


def test_folders_and_pipes_in_place_of_files_are_unreadable(tmp_path):
    (tmp_path / "folder").mkdir()
    paths = [tmp_path / "folder"]
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        paths.append(tmp_path / "pipe")
    spans = Spans([0] * len(paths), [4] * len(paths), range(len(paths)))

    found = rank("lease", 10, Files(paths, range(len(paths) + 1), spans))

    assert found.files_failed == tuple(range(len(paths)))


@pytest.mark.parametrize(
    ("start", "end"), [(0, 2**63), (2**63, 2**64 - 1), (9, 3), (2**64 - 2, 2**64 - 1)]
)
def test_impossible_spans_are_unreadable(tmp_path, start, end):
    (tmp_path / "a").write_bytes(b"lease lease lease")
    spans = Spans(
        np.array([0, start, 6], np.uint64), np.array([5, end, 11], np.uint64), np.arange(3)
    )

    from_file = rank("lease", 10, Files([tmp_path / "a"], [0, 3], spans))
    from_buffer = rank("lease", 10, buffers=[lambda: Buffer(b"lease lease lease", spans)])

    for found in (from_file, from_buffer):
        assert sorted(found.numbers) == [0, 2]
        assert found.chunks_unreadable == 1


def test_neighboring_spans_of_one_number_are_one_chunk(tmp_path):
    (tmp_path / "a").write_bytes(b"Lease. The rent is due. Other words.")
    spans = Spans([0, 7, 0, 24], [6, 23, 6, 36], [0, 0, 1, 1])

    found = rank("lease rent", 10, Files([tmp_path / "a"], [0, 4], spans))

    assert list(found.numbers) == [0, 1]
    assert found.chunks == 2
    assert found.chunks_with == (2, 1)


def test_spans_that_do_not_fit_the_files_are_refused(tmp_path):
    with pytest.raises(InvalidArgument, match="bounds"):
        rank("lease", 1, Files([tmp_path / "a"], [0, 2], Spans([0], [1], [0])))
    with pytest.raises(InvalidArgument, match="span"):
        rank("lease", 1, buffers=[lambda: Buffer(b"x", Spans([0], [1, 2], [0]))])
    with pytest.raises(InvalidArgument, match="negative"):
        LexicalPass("lease").result(-1)


def test_positions_of_failed_files_go_on_from_call_to_call(tmp_path):
    lexical = LexicalPass("lease")
    one = Files([tmp_path / "missing"], [0, 1], Spans([0], [5], [0]))

    lexical.add_files(one)
    lexical.add_files(one)

    assert lexical.result(1).files_failed == (0, 1)


def test_buffers_may_be_added_from_several_threads():
    lexical = LexicalPass("lease rent")
    buffers = [Buffer(text, Spans([0], [len(text)], [i])) for i, text in enumerate(TEXTS * 20)]

    def add(some: list[Buffer]) -> None:
        for buffer in some:
            lexical.add_buffer(buffer)

    threads = [threading.Thread(target=add, args=(buffers[i::4],)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    found, expected = lexical.result(50), ask("lease rent", TEXTS * 20, 50)
    assert found.numbers.tolist() == expected.numbers.tolist()
    assert found.scores.tolist() == expected.scores.tolist()


def test_an_error_in_one_of_the_buffers_is_raised():
    def broken() -> Buffer:
        raise Damaged("this block")

    with pytest.raises(Damaged, match="this block"):
        rank("lease", 1, buffers=[lambda: buffer_of(TEXTS), broken])


def test_an_interrupt_stops_the_pass(tmp_path):
    files = large_file(tmp_path / "large.txt")

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        LexicalPass("lease").add_files(files, interrupt)


def test_matched_words_are_found_for_showing():
    text = "Ein Café, caf\u00e9s: 日本語 myLease".encode()

    spans = find_terms(text, "cafe lease 日本")

    assert [text[a:b].decode() for a, b in spans] == ["Café", "cafés", "日本", "Lease"]


@given(st.binary(max_size=200))
def test_matched_words_of_any_bytes_are_rising_spans_inside_them(text):
    spans = find_terms(text, "a lease 日本語 1")

    edges = [edge for span in spans for edge in span]
    assert edges == sorted(edges)
    assert all(0 <= start < end <= len(text) for start, end in spans)


# The index in SQLite.


def fts_of(path: Path, texts: Sequence[bytes]) -> FtsIndex:
    index = FtsIndex(path, 0, 0)
    index.begin()
    index.add(range(len(texts)), texts)
    index.commit(1, len(texts))
    return index


@pytest.mark.parametrize("question", ["lease", "日本語", "CAFE", "payRent", "เช่า", "the", "x"])
def test_the_index_finds_what_the_pass_finds(tmp_path, question):
    with fts_of(tmp_path / "fts", TEXTS) as index:
        ids, scores = index.search(question, 100)

    assert sorted(ids) == sorted(ask(question, TEXTS).numbers)
    assert scores.tolist() == sorted(scores.tolist(), reverse=True)


def test_the_index_survives_being_opened_again(tmp_path):
    fts_of(tmp_path / "fts", TEXTS).close()

    with FtsIndex(tmp_path / "fts", 1, len(TEXTS)) as index:
        assert index.is_complete
        assert len(index) == len(TEXTS)
        assert index.search("holder", 5)[0].tolist() == [2]


def test_the_index_gives_n_allowed_chunks_if_there_are_so_many(tmp_path):
    with fts_of(tmp_path / "fts", [b"lease"] * 9000) as index:
        allowed = np.zeros(9001, np.bool_)
        allowed[[17, 8990, 8999, 9000]] = True

        assert index.search("lease", 2, allowed)[0].tolist() == [17, 8990]
        assert index.search("lease", 9, allowed)[0].tolist() == [17, 8990, 8999]
        assert index.search("lease", 9, allowed[:100])[0].tolist() == [17]


def test_the_index_finds_nothing_for_a_question_without_words(tmp_path):
    with fts_of(tmp_path / "fts", TEXTS) as index:
        assert index.search("?!", 5)[0].size == 0
        assert index.search("lease", 0)[0].size == 0
        assert index.search('" OR NEAR(', 5)[0].size == 0


def test_the_index_takes_a_question_of_very_many_words(tmp_path):
    with fts_of(tmp_path / "fts", TEXTS) as index:
        question = "lease " + " ".join(f"w{'abc'[i % 3]}{i}" for i in range(3000))

        assert 0 in index.search(question, 5)[0]


def test_removed_chunks_are_gone_and_stay_gone(tmp_path):
    with fts_of(tmp_path / "fts", TEXTS) as index:
        index.begin()
        index.remove([0, 1, 77])
        index.commit(2, len(TEXTS))
        after_commit = set(index.search("lease", 9)[0])
        index.begin()
        index.commit(3, len(TEXTS))

        assert after_commit == set(index.search("lease", 9)[0]) == {2, 6}
        assert len(index) == len(TEXTS) - 2


def test_a_change_the_manifest_never_saw_is_undone(tmp_path):
    with fts_of(tmp_path / "fts", TEXTS) as index:
        index.begin()
        index.remove([0])
        index.add([len(TEXTS)], [b"lease again"])
        index.commit(2, len(TEXTS) + 1)

    with FtsIndex(tmp_path / "fts", 1, len(TEXTS)) as index:
        seen_by_readers = set(index.search("lease", 9)[0])
        index.begin()
        index.add([len(TEXTS)], [b"another"])
        index.commit(2, len(TEXTS) + 1)

        assert seen_by_readers == set(index.search("lease", 9)[0]) == {0, 1, 2, 6}
        assert index.search("another", 9)[0].tolist() == [len(TEXTS)]
        assert index.search("again", 9)[0].size == 0


def test_a_change_that_was_not_committed_is_forgotten(tmp_path):
    with fts_of(tmp_path / "fts", TEXTS) as index:
        index.begin()
        index.add([99], [b"lease again"])
    with FtsIndex(tmp_path / "fts", 1, len(TEXTS)) as index:
        assert set(index.search("lease", 9)[0]) == {0, 1, 2, 6}


def test_readers_are_not_locked_out_by_a_long_change(tmp_path):
    words = [" ".join(f"w{i}x{j}" for j in range(200)).encode() for i in range(500)]
    with fts_of(tmp_path / "fts", TEXTS) as writer:
        writer.begin()
        writer.add(range(len(TEXTS), len(TEXTS) + len(words)), words)

        with FtsIndex(tmp_path / "fts", 1, len(TEXTS)) as reader:
            assert set(reader.search("lease", 9)[0]) == {0, 1, 2, 6}
            assert reader.search("w1x1", 9)[0].size == 0


def test_an_index_behind_the_manifest_is_built_anew(tmp_path):
    fts_of(tmp_path / "fts", TEXTS).close()

    with FtsIndex(tmp_path / "fts", 5, 20) as index:
        assert not index.is_complete
        with pytest.raises(WrongState, match="generation 1"):
            index.begin()
    with FtsIndex.create(tmp_path / "fts") as index:
        index.begin()
        index.add([19], [b"lease"])
        index.commit(5, 20)
    with FtsIndex(tmp_path / "fts", 5, 20) as index:
        assert index.is_complete
        assert index.search("lease", 9)[0].tolist() == [19]


def test_a_new_index_of_an_old_manifest_is_not_complete(tmp_path):
    with FtsIndex(tmp_path / "fts", 3, 7) as index:
        assert not index.is_complete


def test_misuse_of_the_index_is_refused(tmp_path):
    with fts_of(tmp_path / "fts", TEXTS) as index:
        with pytest.raises(WrongState):
            index.add([50], [b"x"])
        with pytest.raises(InvalidArgument):
            index.search("x", -1)
        index.begin()
        with pytest.raises(InvalidArgument, match="rise"):
            index.commit(1, len(TEXTS))
        with pytest.raises(InvalidArgument, match="next_id"):
            index.commit(2, len(TEXTS) - 1)
        with pytest.raises(DuplicateId):
            index.add([0], [b"x"])


def test_other_files_are_not_taken_for_an_index(tmp_path):
    (tmp_path / "text").write_bytes(b"not a database at all" * 100)
    with sqlite3.connect(tmp_path / "other") as database:
        database.execute("CREATE TABLE t(x)")
    database.close()
    fts_of(tmp_path / "newer", TEXTS).close()
    with sqlite3.connect(tmp_path / "newer") as database:
        database.execute("PRAGMA user_version = 99")
    database.close()

    for name, error in (("text", NotGossamer), ("other", NotGossamer), ("newer", UnknownVersion)):
        with pytest.raises(error):
            FtsIndex(tmp_path / name, 0, 0)
