"""Kept texts: any piece of any text, of version 1 and of segments."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from old_texts_format import write_old_texts

from gossamer import _core
from gossamer.errors import Damaged, GossamerError
from gossamer.files import map_file
from gossamer.store.codecs import BLOCK_BYTES, USUAL
from gossamer.store.segments import NO_CODES, SegmentTexts


def opened(path, number=1):
    return SegmentTexts([_core.OldTexts(number, map_file(path), USUAL)])


def prose(size, seed=0):
    random_ = random.Random(seed)
    words = [
        "".join(random_.choices("etaoinshrdlu", k=random_.randrange(2, 9))) for _ in range(900)
    ]
    return " ".join(random_.choices(words, k=size // 2)).encode()[:size]


@given(st.binary(max_size=3000), st.data())
@settings(max_examples=50, deadline=None)
def test_every_piece_of_every_text_is_read_as_it_was_given(tmp_path_factory, text, data):
    path = tmp_path_factory.mktemp("texts") / "texts-1.gst"
    path.write_bytes(write_old_texts(text, 100))

    texts = opened(path)

    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    assert texts.read(1, start, end) == text[start:end]
    assert texts.lengths == {1: len(text)}


def test_texts_across_blocks_come_whole_and_in_order(tmp_path):
    text = prose(450_000)
    (tmp_path / "t").write_bytes(write_old_texts(text, 1 << 17))

    texts = opened(tmp_path / "t", 3)

    assert texts.read(3, 90_000, 270_000) == text[90_000:270_000]
    assert texts.read(3, 0, 450_000) == text


def test_texts_that_were_packed_with_a_dictionary_are_read_with_it(tmp_path):
    text = prose(900_000)
    (tmp_path / "t").write_bytes(write_old_texts(text, has_dictionary=True))

    assert opened(tmp_path / "t").read(1, 100_000, 300_000) == text[100_000:300_000]


def merged(*texts):
    """Give the segment that segments of one text each become."""
    segments = []
    for number, text in enumerate(texts, 1):
        draft = _core.SegmentDraft(NO_CODES, BLOCK_BYTES, USUAL)
        name = f"{number}".encode()
        document = (b"text", b"line", b"", b"", b"", len(text), 1, draft.add_text(text), (0, 0))
        chunk = (0, 9, [], 0)
        draft.add((b"", name, b"text", b"", 0, 1, 9, 0, 0, [(*document, [], number, [chunk])]))
        data = np.concatenate(draft.finish().parts())
        segments.append(_core.Segment(number, data, True, USUAL))
    catalogue = _core.Catalogue(segments)
    every = list(range(len(segments)))
    parts = catalogue.merge(every, NO_CODES, None, False, BLOCK_BYTES, USUAL).parts()
    return _core.Segment(9, np.concatenate(parts), True, USUAL)


def test_texts_that_came_in_small_updates_are_packed_with_what_they_share():
    text = prose(700_000)
    one, several = merged(text), merged(text, text[1:], text[2:], text[3:])

    assert several.file.size < 1.1 * one.file.size
    whole = SegmentTexts([several]).read(9, 0, several.text_bytes)
    assert whole == text + text[1:] + text[2:] + text[3:]


def test_texts_far_beyond_a_base_are_read_from_anywhere():
    text = prose(1_200_000) * 9

    texts = SegmentTexts([merged(text, text[5:])])

    for start in (0, 8_300_000, 8_388_000, 10_799_990, 20_000_000):
        assert texts.read(9, start, start + 300_000) == (text + text[5:])[start : start + 300_000]


def test_what_is_not_there_is_an_error(tmp_path):
    (tmp_path / "t").write_bytes(write_old_texts(b"some text"))
    texts = opened(tmp_path / "t")

    for segment, start, end in [(1, 0, 10), (1, -1, 3), (1, 5, 4), (2, 0, 1)]:
        with pytest.raises(Damaged, match="no text"):
            texts.read(segment, start, end)


def test_every_flipped_byte_is_noticed(tmp_path):
    path = tmp_path / "t"
    data = write_old_texts(prose(900))

    for at in range(len(data)):
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x41]) + data[at + 1 :])
        with pytest.raises(GossamerError):
            opened(path).read(1, 0, 900)


def test_every_cut_is_noticed(tmp_path):
    path = tmp_path / "t"
    data = write_old_texts(prose(900))

    for length in range(len(data)):
        path.write_bytes(data[:length])
        with pytest.raises(GossamerError):
            opened(path)


def test_hostile_texts_give_errors_only(tmp_path):
    path = tmp_path / "t"
    data = write_old_texts(prose(300))
    random_ = random.Random(1)
    for _ in range(200):
        spoilt = bytearray(data)
        for _ in range(3):
            spoilt[random_.randrange(len(spoilt))] = random_.choice([0, 1, 127, 255])
        path.write_bytes(spoilt)
        with pytest.raises(GossamerError):
            opened(path).read(1, 0, 300)
