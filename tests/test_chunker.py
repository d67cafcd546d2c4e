"""A program's own way to cut texts: `chunker=`."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tiny_embedder import TinyEmbedder

from gossamer import ChunkSpan, Document, Index

TEXT = "Tea\nGreen tea is brewed at eighty degrees.\nBlack tea at a hundred: café.\n"


def by_line(document: Document, size: int) -> list[ChunkSpan]:
    """Cut at every line; the first one stands before all others."""
    assert size == 254
    lines, at = [], 0
    for line in document.text.splitlines(keepends=True):
        lines.append((at, at + len(line.rstrip())))
        at += len(line)
    title, *rest = lines
    return [ChunkSpan(start, end, (title,)) for start, end in rest]


@pytest.fixture
def index(tmp_path: Path, embedder: TinyEmbedder) -> Index:
    return Index.create(tmp_path / "index", model="tiny")


def texts_of(index: Index) -> list[str]:
    return sorted(hit.text for hit in index.search("tea", k=9).hits)


def test_texts_are_cut_as_the_program_says(index):
    report = index.add_texts([{"id": "a", "text": TEXT}], chunker=by_line)

    assert report.added == 1
    assert texts_of(index) == [
        "Black tea at a hundred: café.",
        "Green tea is brewed at eighty degrees.",
    ]
    assert index.check() == []


def test_files_are_cut_as_the_program_says_and_cited_by_line(index, tmp_path):
    (tmp_path / "tea.txt").write_text(TEXT, encoding="utf-8")

    index.add_paths([tmp_path / "tea.txt"], chunker=by_line)

    hits = index.search("brewed", k=9).hits
    assert {(hit.first, hit.last) for hit in hits} == {(2, 2), (3, 3)}


def test_chunks_may_overlap_and_come_in_any_order_and_of_any_whole_numbers(index):
    spans = [(8, 23), (0, 18), (18, 19)]  # the last has no tokens

    def cut(document: Document, size: int) -> Iterator[ChunkSpan]:
        for start, end in spans:
            yield ChunkSpan(np.uint32(start), np.uint32(end), [(np.uint8(0), np.uint8(3))])

    report = index.add_texts([{"id": "a", "text": "one two three four five six"}], chunker=cut)

    assert report.added == 1
    hits = index.search("four", k=9).hits
    assert sorted((hit.start, hit.end) for hit in hits) == [(0, 18), (8, 23)]
    assert index.check() == []


@pytest.mark.parametrize(
    ("span", "reason"),
    [
        (ChunkSpan(0, 999), "0 to 999 does not lie within"),
        (ChunkSpan(-1, 3), "-1 to 3 does not lie within"),
        (ChunkSpan(3, 3), "at 3 is empty"),
        (ChunkSpan(0, 3, ((9, 5),)), "9 to 5 does not lie within"),
        (ChunkSpan(0, 3, ((0, 1),) * 256), "255 headings at most"),
        (ChunkSpan(0.5, 3), "float"),
        ((0, 3), "gives ChunkSpans, not tuple"),
        (None, "gives ChunkSpans, not NoneType"),
        (ChunkSpan(0, TEXT.encode().index("é".encode()) + 1), "cuts through a character"),
    ],
)
def test_a_chunk_that_is_none_fails_its_text_alone(index, span, reason):
    def cut(document: Document, size: int) -> list[ChunkSpan]:
        return [span] if document.text == TEXT.encode() else [ChunkSpan(0, 3)]

    report = index.add_texts([{"id": "a", "text": TEXT}, {"id": "b", "text": "tea"}], chunker=cut)

    assert (report.added, report.failed) == (1, 1)
    ((id, said),) = report.problems
    assert id == "a"
    assert reason in said


def test_a_chunker_that_fails_or_gives_nothing_harms_its_text_alone(index):
    def cut(document: Document, size: int) -> list[ChunkSpan]:
        if document.text == TEXT.encode():
            raise ZeroDivisionError("no way")
        return None if document.text == b"none" else [ChunkSpan(0, 3)]

    texts = {"a": TEXT, "b": "none", "c": "tea"}
    report = index.add_texts([{"id": i, "text": text} for i, text in texts.items()], chunker=cut)

    assert (report.added, report.failed) == (1, 2)
    assert "no way" in dict(report.problems)["a"]


def test_a_chunk_that_the_model_does_not_take_is_refused(index):
    long = "word " * 400

    report = index.add_texts(
        [{"id": "a", "text": long}], chunker=lambda document, _: [ChunkSpan(0, len(document.text))]
    )

    assert report.failed == 1
    assert "254 are the most; cut it shorter" in report.problems[0][1]


def test_what_is_not_there_any_more_is_cut_as_usual_without_it(index):
    index.add_texts([{"id": "a", "text": TEXT}], chunker=by_line)

    index.add_texts([{"id": "a", "text": TEXT + "More.\n"}])

    assert len(texts_of(index)) == 1
