"""Tokens: the same as those of the `tokenizers` package, for any text."""

import json
import sys
import zlib
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer as Library
from tokenizers import models, normalizers, pre_tokenizers, processors

from gossamer.errors import InvalidArgument, MissingModel, Unreadable
from gossamer.text.tokenizer import HubTokenizer, WordPiece, bert_uncased, load_tokenizer

SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
# Marks that stay when accents go, and are put in order.
MARKS = ["\u302e", "\u302f", "\U00016ff0", "\U0001d165", "\U0001d16d", "\U0001d16e"]
NASTY = [
    "",
    " \t\r\n\u00a0\u2028\u3000",
    "Hello, World! It's $3.50 (50%)...",
    "naïve Ångström café cafe\u0301 Đặng Łódź",
    "İstanbul ISPARTA ıI",
    "Straße STRASSE ẞ",
    "ΣΊΣΥΦΟΣ Σίσυφος ὈΔΥΣΣΕΎΣ",
    "北京大学2024年 東京とカタカナ がぎぐ",
    "한국어 각가 \u1100\u1161\u11a8",
    "ภาษาไทย ຄວາມ ភាសា မြန်မာ हिन्दी",
    "العَرَبِيَّة עִבְרִית",
    "😀👩‍👩‍👧‍👦❤️🇩🇪 1️⃣",
    "zero\u200bwidth\ufeffjoined soft\u00adhyphen \u200e\u202e",
    "bell\x07 nul\x00 vt\x0b ff\x0c nel\x85 del\x7f \ufffd private\ue000\U000f0000",
    "a" * 99 + " " + "a" * 100 + " " + "a" * 101 + " " + "é" * 100 + " " + "é" * 101,
    "un" + "believab" * 30,
    "[CLS] text [SEP][MASK] [cls] [ SEP ] [[PAD]] [UNK",
    "≠ ≮ ; ` \u1fef \u037e \u2126 \u212b ﬁ ² ½ Ⅷ",
    "\U0001d15f\U0001d160 a\u302f\u0941\u302e\u0334",
    "x" + "\u0301\u0323\u0334" * 50 + "y",
    "豈更 \U0002f800 \U00020000 \U0002b820 \U0002b920 \U000e0100",
    "_snake_case camelCase HTTPServer2 #hashtag ##piece http://a.b/c?d=e&f",
]


# Single characters, alone and within words, so that few texts are unknown.
LETTERS = [chr(point) for point in range(33, 1500) if chr(point).isprintable()]
LETTERS += [*MARKS, "\u1100", "\u1161", "\u11a8", "\u302a", "中", "か"]
SMALL = [*SPECIALS, *LETTERS, *(f"##{letter}" for letter in LETTERS), "hello", "##lieva", "##ab"]


def library(vocabulary: list[str], lowercase: bool = True) -> Library:
    """Give the reference."""
    ids = {piece: number for number, piece in enumerate(vocabulary)}
    reference = Library(
        models.WordPiece(vocab=ids, unk_token="[UNK]", max_input_chars_per_word=100)
    )
    reference.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    reference.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    reference.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        special_tokens=[("[CLS]", ids["[CLS]"]), ("[SEP]", ids["[SEP]"])],
    )
    reference.add_special_tokens([piece for piece in SPECIALS if piece in ids])
    return reference


def small(lowercase: bool) -> WordPiece:
    return WordPiece("\n".join(SMALL).encode(), lowercase)


LIBRARY = {lowercase: library(SMALL, lowercase) for lowercase in (True, False)}
PIECES = {lowercase: small(lowercase) for lowercase in (True, False)}
HUB = HubTokenizer(LIBRARY[True].to_str())
CHARACTERS = st.one_of(
    st.characters(exclude_categories=["Cs"]),
    st.sampled_from([*MARKS, *LETTERS[:100], *"\u0301\u0323\u0941\u200b [ ]é각中", "[SEP]"]),
)


@pytest.fixture(scope="module")
def bert() -> Library:
    """Give the reference with the vocabulary that ships."""
    pieces = bert_uncased()
    listed = resources.files("gossamer") / "models" / "data" / "bert-uncased.vocab.zz"
    vocabulary = zlib.decompress(listed.read_bytes()).decode("utf-8").splitlines()
    assert len(vocabulary) == pieces.size == 30522
    return library(vocabulary)


@pytest.mark.parametrize("text", NASTY)
def test_ids_are_those_of_the_reference(bert: Library, text: str):
    (ids,) = bert_uncased().encode([text])

    assert ids.dtype == np.int64
    assert ids.tolist() == bert.encode(text).ids


@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("text", NASTY)
def test_ids_are_those_of_the_reference_with_single_characters(text: str, lowercase: bool):
    (ids,) = PIECES[lowercase].encode([text])

    assert ids.tolist() == LIBRARY[lowercase].encode(text).ids


@settings(deadline=None)
@given(text=st.lists(CHARACTERS, max_size=30).map("".join), lowercase=st.booleans())
def test_ids_of_any_text_are_those_of_the_reference(text: str, lowercase: bool):
    (ids,) = PIECES[lowercase].encode([text])

    assert ids.tolist() == LIBRARY[lowercase].encode(text).ids


def test_every_character_is_treated_as_by_the_reference(bert: Library):
    characters = [chr(point) for point in range(0x110000) if not 0xD800 <= point < 0xE000]
    blocks = [characters[at : at + 4096] for at in range(0, len(characters), 4096)]
    texts = [" ".join(f"a{character}b" for character in block) for block in blocks]

    ids = bert_uncased().encode(texts)

    assert [row.tolist() for row in ids] == [bert.encode(text).ids for text in texts]


@pytest.mark.parametrize(
    "text", ["hello, wörld", "  a中b\t[SEP]x", "각 e\u0301a\u0301b", "", "x" * 101 + " y"]
)
def test_tokens_begin_where_those_of_the_reference_do(text: str):
    reference = LIBRARY[True].encode(text, add_special_tokens=False)
    expected = [len(text[:start].encode()) for start, _ in reference.offsets]

    starts = PIECES[True].token_starts(text.encode())

    assert starts.dtype == np.uint32
    assert starts.tolist() == expected


@settings(deadline=None)
@given(text=st.binary(max_size=60))
def test_any_bytes_are_tokenized_like_their_readable_part(text: bytes):
    readable = text.decode("utf-8", "replace")

    starts = PIECES[True].token_starts(text)

    assert len(starts) == len(LIBRARY[True].encode(readable, add_special_tokens=False).ids)
    assert (np.diff(starts.astype(np.int64)) >= 0).all()
    assert (starts < len(text)).all()


def test_half_a_surrogate_pair_is_left_out():
    (ids,) = bert_uncased().encode(["hel\ud800lo"])

    assert ids.tolist() == bert_uncased().encode(["hello"])[0].tolist()


def test_threads_change_nothing():
    texts = NASTY * 20

    together = bert_uncased().encode(texts, threads=4)
    starts = bert_uncased().token_starts_of([text.encode() for text in texts], threads=4)

    for text, ids, begins in zip(texts, together, starts, strict=True):
        assert ids.tolist() == bert_uncased().encode([text])[0].tolist()
        assert begins.tolist() == bert_uncased().token_starts(text.encode()).tolist()


def test_special_tokens_are_left_away_when_asked():
    (ids,) = bert_uncased().encode(["hello world"], special_tokens=False)

    assert ids.tolist() == [bert_uncased().id_of("hello"), bert_uncased().id_of("world")]
    assert bert_uncased().id_of("no such piece") is None


def test_a_vocabulary_without_the_tokens_around_a_text_is_refused():
    with pytest.raises(InvalidArgument, match=r"\[CLS\].*frame=\(\)"):
        WordPiece(b"[UNK]\nhello\n")

    (ids,) = WordPiece(b"[UNK]\nhello\n", frame=()).encode(["hello you"])

    assert ids.tolist() == [1, 0]


def test_a_bert_tokenizer_json_is_read_by_the_core(tmp_path: Path):
    path = tmp_path / "tokenizer.json"
    LIBRARY[False].save(str(path))

    loaded = load_tokenizer(path)

    assert isinstance(loaded, WordPiece)
    text = "Hello [SEP] wörld"
    assert loaded.encode([text])[0].tolist() == LIBRARY[False].encode(text).ids


@pytest.mark.parametrize(
    ("part", "key", "value"),
    [
        ("normalizer", "clean_text", False),
        ("normalizer", "strip_accents", False),
        ("model", "max_input_chars_per_word", 50),
        ("post_processor", "single", [{"Sequence": {"id": "A", "type_id": 0}}]),
    ],
)
def test_what_is_not_quite_berts_is_left_to_the_library(
    tmp_path: Path, part: str, key: str, value: object
):
    path = tmp_path / "tokenizer.json"
    definition = json.loads(LIBRARY[True].to_str())
    definition[part][key] = value
    path.write_text(json.dumps(definition), encoding="utf-8")

    loaded = load_tokenizer(path)

    assert isinstance(loaded, HubTokenizer)


def test_a_vocab_txt_is_in_lower_case_unless_the_file_beside_it_says_otherwise(tmp_path: Path):
    path = tmp_path / "vocab.txt"
    path.write_text("[UNK]\n[CLS]\n[SEP]\nhello\n", encoding="utf-8")

    lowered = load_tokenizer(path).encode(["Hello"])[0].tolist()
    (tmp_path / "tokenizer_config.json").write_text('{"do_lower_case": false}', encoding="utf-8")
    kept = load_tokenizer(path).encode(["Hello"])[0].tolist()

    assert lowered == [1, 3, 2]
    assert kept == [1, 0, 2]


def test_the_library_neither_cuts_nor_pads():
    reference = Library.from_str(LIBRARY[True].to_str())
    reference.enable_truncation(8)
    reference.enable_padding(length=8)

    ids = HubTokenizer(reference.to_str()).encode(["a", "a " * 50])

    assert [len(row) for row in ids] == [3, 52]


@settings(deadline=None)
@given(text=st.binary(max_size=40) | st.text(max_size=20).map(str.encode))
def test_the_library_gives_places_in_bytes_for_any_bytes(text: bytes):
    starts = HUB.token_starts(text)

    assert starts.dtype == np.uint32
    assert (np.diff(starts.astype(np.int64)) >= 0).all()
    assert (starts < len(text)).all()


def test_the_library_and_the_core_agree_on_places():
    text = "a é 中 \U0001f600 b".encode() + b" \xff\xe2\x82 c"

    assert HUB.token_starts(text).tolist() == PIECES[True].token_starts(text).tolist()


def test_without_the_library_the_message_names_the_extra(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "tokenizers", None)

    with pytest.raises(MissingModel, match=r"gossamer\[tokenizers\]"):
        HubTokenizer("{}")


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff", b"{}", b"[" * 100_000])
def test_a_file_that_is_no_tokenizer_is_unreadable(tmp_path: Path, content: bytes):
    path = tmp_path / "tokenizer.json"
    path.write_bytes(content)

    with pytest.raises(Unreadable):
        load_tokenizer(path)


def test_a_file_that_is_not_there_is_unreadable(tmp_path: Path):
    with pytest.raises(Unreadable, match=r"vocab\.txt"):
        load_tokenizer(tmp_path / "vocab.txt")


def test_a_list_of_words_is_no_vocabulary(tmp_path: Path):
    path = tmp_path / "vocab.txt"
    path.write_text("some\nwords\n", encoding="utf-8")

    with pytest.raises(Unreadable, match=r"vocab\.txt.*\[UNK\]"):
        load_tokenizer(path)
