"""The text store: any piece of any text, from segments that are never changed."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.errors import Damaged, GossamerError
from gossamer.store import texts as store_texts
from gossamer.store.texts import Texts, TextsWriter


def write(path, pieces):
    path.unlink(missing_ok=True)
    writer = TextsWriter(path)
    offsets = [writer.add(piece) for piece in pieces]
    writer.close()
    return offsets


def prose(size, seed=0):
    random_ = random.Random(seed)
    words = [
        "".join(random_.choices("etaoinshrdlu", k=random_.randrange(2, 9))) for _ in range(900)
    ]
    return " ".join(random_.choices(words, k=size // 2)).encode()[:size]


@given(st.lists(st.binary(max_size=300), max_size=20), st.data())
@settings(max_examples=50, deadline=None)
def test_every_piece_of_every_text_is_read_as_it_was_given(tmp_path_factory, pieces, data):
    path = tmp_path_factory.mktemp("texts") / "texts-1.gst"
    offsets = write(path, pieces)

    texts = Texts({1: path})

    for offset, piece in zip(offsets, pieces, strict=True):
        start = data.draw(st.integers(0, len(piece)))
        end = data.draw(st.integers(start, len(piece)))
        assert texts.read(1, offset + start, offset + end) == piece[start:end]
    assert texts.lengths == {1: sum(map(len, pieces))}


def test_texts_across_blocks_come_whole_and_in_order(tmp_path):
    pieces = [prose(90_000, seed) for seed in range(5)]
    offsets = write(tmp_path / "t", pieces)

    texts = Texts({3: tmp_path / "t"})

    assert [texts.read(3, o, o + 90_000) for o in offsets] == pieces
    assert texts.read(3, 0, 450_000) == b"".join(pieces)


def test_a_megabyte_of_text_learns_a_dictionary_and_is_read_with_it(tmp_path, monkeypatch):
    pieces = [prose(200_000, seed % 2) for seed in range(7)]
    offsets = write(tmp_path / "with", pieces)
    monkeypatch.setattr(store_texts, "_LEARN_LEAST", 1 << 40)
    write(tmp_path / "without", pieces)

    texts = Texts({1: tmp_path / "with"})

    assert texts.read(1, offsets[6], offsets[6] + 200_000) == pieces[6]
    assert (tmp_path / "with").stat().st_size < (tmp_path / "without").stat().st_size


def test_what_is_not_there_is_an_error(tmp_path):
    write(tmp_path / "t", [b"some text"])
    texts = Texts({1: tmp_path / "t"})

    for segment, start, end in [(1, 0, 10), (1, -1, 3), (1, 5, 4), (2, 0, 1)]:
        with pytest.raises(Damaged, match="no text"):
            texts.read(segment, start, end)


def test_every_flipped_byte_of_a_segment_is_noticed(tmp_path):
    path = tmp_path / "t"
    write(path, [prose(900)])
    data = path.read_bytes()

    for at in range(len(data)):
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x41]) + data[at + 1 :])
        with pytest.raises(GossamerError):
            Texts({1: path}).read(1, 0, 900)


def test_every_cut_of_a_segment_is_noticed(tmp_path):
    path = tmp_path / "t"
    write(path, [prose(900)])
    data = path.read_bytes()

    for length in range(len(data)):
        path.write_bytes(data[:length])
        with pytest.raises(GossamerError):
            Texts({1: path})


def test_hostile_segments_give_errors_only(tmp_path):
    path = tmp_path / "t"
    write(path, [prose(300)])
    data = path.read_bytes()
    random_ = random.Random(1)
    for _ in range(200):
        spoilt = bytearray(data)
        for _ in range(3):
            spoilt[random_.randrange(len(spoilt))] = random_.choice([0, 1, 127, 255])
        path.write_bytes(spoilt)
        with pytest.raises(GossamerError):
            Texts({1: path}).read(1, 0, 300)
