import math
import os
import re
import sqlite3
import unicodedata
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from text_collection import Ranking, Text, TextCollection, write_files

from gossamer import _core
from gossamer.errors import (
    Cancelled,
    Damaged,
    DuplicateId,
    InvalidArgument,
    NotGossamer,
    UnknownVersion,
    WrongState,
)
from gossamer.lexical import find_terms, terms_of
from gossamer.lexical.fts5 import FtsIndex
from gossamer.query.run import Query

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


# Of the questions whose scores are compared.
SIDE_BY_SIDE = ("cafe strass",)  # the others ask for more than is looked up


def ask(question: str, texts: Sequence[bytes], n: int = 100, **options) -> Ranking:
    return TextCollection(texts).rank(question, n, **options)


def count_terms(text: bytes) -> Counter[str]:
    """Count terms, and words side by side: "first second"."""
    words = [_core.spaced_terms(word) for word in re.findall(rb"[\w\x80-\xff]+", text)]
    pairs = [" ".join(pair) for pair in pairwise(words)]
    return Counter([*_core.spaced_terms(text).split(" "), *pairs])


def slow_bm25(question: str, texts: Sequence[bytes]) -> dict[int, float]:
    """BM25 as it is written down, over all terms; pairs count half where few words are asked."""
    counts = [count_terms(text) for text in texts]
    mean = max(1, sum(map(len, texts))) / max(1, len(texts))
    scores: dict[int, float] = {}

    def rarity(term: str) -> float:
        having = sum(bool(count[term]) for count in counts)
        return math.log(1 + (len(texts) - having + 0.5) / (having + 0.5))

    terms = terms_of(question)
    pairs = [pair for pair in pairwise(terms) if " ".join(pair) in SIDE_BY_SIDE]
    weights = {term: rarity(term) for term in terms}
    weights |= {" ".join(pair): 0.5 * (rarity(pair[0]) + rarity(pair[1])) / 2 for pair in pairs}
    for term, weight in weights.items():
        having = [i for i, count in enumerate(counts) if count[term]]
        for i in having:
            damping = K1 * (1 - B + B * len(texts[i]) / mean)
            part = weight * (K1 + 1) * counts[i][term] / (counts[i][term] + damping)
            scores[i] = scores.get(i, 0.0) + part
    return scores


def check_against_slow(question: str, texts: Sequence[bytes], *, has_formula: bool = True) -> None:
    texts = [text for text in texts if text]  # what is empty has no chunk
    found = ask(question, texts)
    expected = slow_bm25(question, texts)
    assert sorted(found.numbers) == sorted(expected)
    if has_formula:
        assert found.scores == pytest.approx([expected[i] for i in found.numbers], rel=1e-5)
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
def test_what_is_found_is_what_a_slow_bm25_finds_for_any_texts(question, texts):
    check_against_slow(question, texts, has_formula=False)


def test_words_of_one_stem_and_parts_of_identifiers_are_found():
    assert set(ask("lease", TEXTS).numbers) == {0, 1, 2, 6}
    assert set(ask("holder", TEXTS).numbers) == {2}
    assert set(ask("payRent", TEXTS).numbers) == {1, 2, 6}


def test_accents_and_case_make_no_difference():
    assert list(ask("CAFÉ", TEXTS).numbers) == [3]
    assert list(ask("cafe\u0301", TEXTS).numbers) == [3]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("strassenbahn", "Straßenbahn"),
        ("strassenbahn", "Straßen\u00adbahn"),
        ("Fluss", "Fluß"),
        ("finance", "ﬁnance"),
        ("fullwidth", "ｆｕｌｌｗｉｄｔｈ"),
        ("ガス", "ｶﾞｽ"),
    ],
)
def test_forms_of_one_letter_make_no_difference_and_all_of_the_word_is_marked(question, text):
    assert ask(question, [b"other", text.encode()]).numbers == [1]
    assert ask(text, [b"other", question.encode()]).numbers == [1]
    assert find_terms(f"x {text}.".encode(), question) == [(2, 2 + len(text.encode()))]


# What is not folded: make_compat_tables.py says why. First and last code points.
LEFT_OUT = [
    *[(0xBC, 0xBE), (0x13F, 0x140), (0x149, 0x149), (0x37A, 0x37A), (0x675, 0x678)],
    *[(0xE33, 0xE33), (0xEB3, 0xEB3), (0xEDC, 0xEDD), (0x10FC, 0x10FC), (0x1C80, 0x1C88)],
    *[(0x1D44, 0x1D78), (0x1D9B, 0x1DBF), (0x1E9A, 0x1E9A)],
    *[(0x1F80, 0x1FFC)],  # the iota below a letter is an accent
    *[(0x2150, 0x215F), (0x2189, 0x2189), (0x2C7C, 0x2C7D), (0x2D6F, 0x2D6F), (0x3038, 0x303A)],
    *[(0x309F, 0x309F), (0x30FF, 0x30FF), (0x3131, 0x3195), (0x3220, 0x3229), (0x3280, 0x3289)],
    *[(0xA69C, 0xA69D), (0xA770, 0xA770), (0xA7F2, 0xA7F9), (0xAB5C, 0xAB69), (0xFBDD, 0xFBDD)],
    *[(0xFBEA, 0xFBFB), (0xFC00, 0xFDFB), (0xFE70, 0xFE7F), (0xFF9E, 0xFFDC), (0x10781, 0x107BA)],
    *[(0x1EE00, 0x1EEBB), (0x1F100, 0x1F10A), (0x1FBF0, 0x1FBF9)],
]
DOTLESS = {"ı": "i", "ȷ": "j", "𝚤": "i", "𝚥": "j"}


def compatible(character: str) -> str:
    """NFKC with full case folding."""
    folded = unicodedata.normalize("NFKC", character).casefold()
    return DOTLESS.get(character, unicodedata.normalize("NFKC", folded))


def test_every_letter_has_the_terms_of_its_compatible_form():
    points = [*range(128, 0xD800), *range(0xE000, 0x110000)]
    left_out = {point for first, last in LEFT_OUT for point in range(first, last + 1)}

    differing = [
        hex(point)
        for point in points
        if point not in left_out
        and unicodedata.category(chr(point)) != "Cn"
        and (terms := _core.spaced_terms(chr(point).encode()))
        and terms != _core.spaced_terms(compatible(chr(point)).encode())
    ]

    assert differing == []


FORMS = [
    "a",
    "ß",
    "ﬁ",
    "é",
    "e\u0301",
    "_",
    "日",
    "\uf900",
    "ガ",
    "ｶﾞ",
    "ｶ",
    "カ\u3099",
    "ﾊﾟ",
    "ｳﾞ",
    "ﾜ",
]
FORMS += ["\u1112\u1161", "\u1112\u1161\u11ab", "한", "𝐚", "ｘ", "ﻼ", " "]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(FORMS), max_size=12).map("".join))
def test_a_text_has_the_terms_of_its_compatible_form(text):
    expected = _core.spaced_terms(unicodedata.normalize("NFKC", text).encode())

    assert _core.spaced_terms(text.encode()) == expected


def test_scripts_without_spaces_are_found_by_pairs_of_characters():
    assert list(ask("三月", TEXTS).numbers) == [4]
    assert list(ask("月", TEXTS).numbers) == [4]
    assert list(ask("เช่า", TEXTS).numbers) == [5]


@pytest.mark.parametrize("question", ["", "  ?!", "\ud800", "…"])
def test_a_question_without_words_reads_nothing_and_finds_nothing(question, tmp_path):
    found = TextCollection(write_files(tmp_path, TEXTS), TEXTS).rank(question)

    assert found.numbers == []
    assert (found.bytes_read, found.chunks, found.terms) == (0, 0, [])


def test_document_frequencies_are_those_of_the_pass():
    found = ask("lease rent", TEXTS)

    assert found.terms == ["leas", "rent"]
    assert found.chunks_with == [4, 3]
    assert found.chunks == len(TEXTS) - 1, "the empty one has no chunk"


def test_the_best_n_are_given():
    every = ask("lease rent", TEXTS)

    assert ask("lease rent", TEXTS, 2).numbers == every.numbers[:2]
    assert ask("lease rent", TEXTS, 0).numbers == []


def test_only_what_a_filter_lets_through_takes_part():
    found = ask("lease", TEXTS, where="number in [0, 2]")

    assert set(found.numbers) == {0, 2}
    assert found.chunks == 2
    expected = slow_bm25("lease", [TEXTS[0], TEXTS[2]])
    assert sorted(found.scores) == pytest.approx(sorted(expected.values()), rel=1e-5)


def test_files_that_a_filter_leaves_out_are_not_opened(tmp_path):
    collection = TextCollection(write_files(tmp_path, TEXTS))
    for path in tmp_path.iterdir():
        if path.name != "2.txt":
            path.unlink()

    found = collection.rank("lease", where="number == 2")

    assert (found.unreadable, found.bytes_read) == ([], len(TEXTS[2]))
    assert found.numbers == [2]


def test_long_texts_that_a_filter_leaves_out_are_not_read():
    collection = TextCollection([b"lease", b"lease " * 20_000, b"lease"])

    found = collection.rank("lease", where="number != 1")

    assert (found.numbers, found.bytes_read) == ([0, 2], 10)


def test_files_and_stored_texts_give_the_same_answer(tmp_path):
    question = "when is the rent of the lease due"
    files = write_files(tmp_path, TEXTS)

    stored = ask(question, TEXTS)
    from_files = TextCollection(files).rank(question)
    from_both = TextCollection(TEXTS[:3], [*files[3:5], *TEXTS[5:]]).rank(question)

    for found in (from_files, from_both):
        assert found.numbers == stored.numbers
        assert found.scores.tolist() == stored.scores.tolist()
        assert found.bytes_read == stored.bytes_read == sum(map(len, TEXTS))


def large_file(path: Path) -> Text:
    """Three megabytes in chunks of different lengths, so that it is read in several pieces."""
    random = np.random.default_rng(0)
    words = np.array(["lease", "rent", "due", "nothing", "whatever", "日本"])
    path.write_text(" ".join(random.choice(words, 500_000)), encoding="utf-8")
    cuts = np.unique(random.integers(0, path.stat().st_size, 3000)).tolist()
    return Text(path.read_bytes(), path, list(pairwise(cuts)))


def test_any_number_of_threads_gives_the_same_answer(tmp_path):
    collection = TextCollection([large_file(tmp_path / "large.txt")], *[TEXTS] * 20)

    one = collection.rank("lease due 日本", 500, threads=1)
    many = collection.rank("lease due 日本", 500, threads=5)

    assert one.numbers == many.numbers
    assert one.scores.tolist() == many.scores.tolist()
    assert one.chunks_with == many.chunks_with
    assert (one.chunks, one.bytes_read) == (many.chunks, many.bytes_read)


def test_a_large_file_read_in_pieces_gives_what_its_chunks_give(tmp_path):
    file = large_file(tmp_path / "large.txt")

    found = TextCollection([file]).rank("rent 日本", 500)
    expected = ask("rent 日本", [file.content[start:end] for start, end in file.spans], 500)

    assert found.numbers == expected.numbers
    assert found.scores.tolist() == expected.scores.tolist()


def test_missing_and_shortened_files_cost_their_chunks_only(tmp_path):
    files = write_files(tmp_path, [b"lease one", b"lease two", b"lease three", b"lease"])
    collection = TextCollection(files)
    (tmp_path / "1.txt").unlink()
    (tmp_path / "2.txt").write_bytes(b"lease")
    (tmp_path / "3.txt").write_bytes(b"lease and more")

    found = collection.rank("lease")

    assert set(found.numbers) == {0, 3}
    assert found.unreadable == [1, 2]
    assert found.chunks == 2


def test_a_shortened_file_keeps_the_chunks_that_are_still_there(tmp_path):
    (tmp_path / "a").write_bytes(b"lease lease")
    collection = TextCollection([Text(b"lease lease lease", tmp_path / "a", [(0, 5), (6, 17)])])

    found = collection.rank("lease")

    assert found.numbers == [0]
    assert found.unreadable == [0]


def test_a_large_file_that_is_gone_is_named_once(tmp_path):
    collection = TextCollection([large_file(tmp_path / "large.txt")])
    (tmp_path / "large.txt").unlink()

    assert collection.rank("lease").unreadable == [0]


def test_folders_and_pipes_in_place_of_files_are_unreadable(tmp_path):
    (tmp_path / "folder").mkdir()
    paths = [tmp_path / "folder"]
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        paths.append(tmp_path / "pipe")

    found = TextCollection([Text(b"lease", path) for path in paths]).rank("lease")

    assert found.unreadable == list(range(len(paths)))


@pytest.mark.parametrize(
    ("start", "end"), [(12, 2**31), (2**35, 2**35 + 5), (2**35, 2**35 + 2**31)]
)
def test_chunks_far_beyond_the_end_of_a_file_are_unreadable(tmp_path, start, end):
    (tmp_path / "a").write_bytes(b"lease lease lease")
    file = Text(b"", tmp_path / "a", [(0, 5), (6, 11), (start, end)])

    found = TextCollection([file]).rank("lease")

    assert sorted(found.numbers) == [0, 1]
    assert (found.unreadable, found.chunks) == ([0], 2)


@pytest.mark.parametrize("path", [None, "a"])
def test_a_title_counts_for_each_chunk(tmp_path, path):
    content = b"Lease. The rent is due. Other words."
    (tmp_path / "a").write_bytes(content)
    text = Text(content, path and tmp_path / path, [(7, 23), (24, 36)], title=(0, 6))

    found = TextCollection([text]).rank("lease rent")

    assert found.numbers == [0, 1]
    assert found.chunks == 2
    assert found.chunks_with == [2, 1]
    expected = slow_bm25("lease rent", [b"Lease.The rent is due.", b"Lease.Other words."])
    assert found.scores == pytest.approx([expected[0], expected[1]], rel=1e-5)


def test_a_title_far_off_does_not_count():
    content = b"Lease." + b" " * 100_000 + b"rent"

    found = TextCollection([Text(content, spans=[(100_006, 100_010)], title=(0, 6))]).rank("lease")

    assert (found.numbers, found.bytes_read) == ([], 4)


def test_stored_texts_that_are_not_there_are_an_error():
    collection = TextCollection(*[TEXTS] * 20)
    collection.texts = TextCollection(*[TEXTS] * 19).texts

    with pytest.raises(Damaged, match="segment 20"):
        collection.rank("lease")


def test_an_interrupt_stops_the_pass(tmp_path):
    collection = TextCollection([large_file(tmp_path / "large.txt")])
    query = Query("lease", 1, "lexical").to_bytes("texts")
    session = _core.QuerySession(collection.core, False, query)
    progress = _core.Progress()
    progress.cancel()  # as `run_with_progress` does

    with pytest.raises(Cancelled):
        session.count_words(collection.texts, 1, progress)
    assert (progress.done, progress.total > 2) == (0, True)


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
