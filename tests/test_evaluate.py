import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from xml.etree import ElementTree

import pytest
from tiny_embedder import TinyEmbedder, use_tiny

from gossamer.errors import InvalidArgument
from gossamer.evaluate import (
    Evaluation,
    Question,
    RecallRow,
    evaluate,
    read_questions,
    render_svg,
    save_plot,
)
from gossamer.index import Index

WORDS = [f"word{number}" for number in range(80)]


@pytest.fixture
def embedder(monkeypatch: pytest.MonkeyPatch) -> TinyEmbedder:
    chosen = use_tiny(monkeypatch, with_codes=True)
    assert isinstance(chosen, TinyEmbedder)
    return chosen


@pytest.fixture
def make_index(embedder: TinyEmbedder, tmp_path: Path) -> Callable[..., Index]:
    """Make an index of files that each say one thing nobody else does, among much noise."""

    def make(files: int = 150, **options: str) -> Index:
        random = Random(1)
        folder = tmp_path / "files"
        folder.mkdir()
        for number in range(files):
            noise = " ".join(random.choices(WORDS, k=18))
            text = f"The unique{number} thing stands here, {noise}. And {noise[::-1]}.\n"
            (folder / f"{number}.txt").write_text(text, encoding="utf-8")
        index = Index.create(tmp_path / "index", model="tiny", **options)
        index.add_paths([folder])
        return index

    return make


def test_recall_is_measured_against_exact_search_and_grows_with_what_is_asked(
    make_index: Callable[..., Index],
):
    evaluation = evaluate(make_index(), count=40, recalls=(0.5, 0.98))

    low, high = evaluation.rows
    assert (evaluation.questions, evaluation.chunks, evaluation.is_sample) == (40, 150, False)
    assert evaluation.is_made_from_text
    assert high.reached >= 0.9
    assert low.reached < high.reached
    assert 0 < low.embedded < high.embedded <= high.embedded_p95 <= 149
    assert low.low < low.reached < low.high
    assert 0 < low.codes_touched <= 150


def test_every_chunk_is_embedded_once_and_none_again_for_a_recall(
    make_index: Callable[..., Index], embedder: TinyEmbedder
):
    index = make_index(files=60)
    embedder.embedded.clear()

    evaluation = evaluate(index, count=5, recalls=(0.8, 0.9, 0.95))

    again = sum(round(row.embedded * row.searches) for row in evaluation.modes)
    assert len(embedder.embedded) == 60 + again


def test_a_large_index_is_measured_on_a_sample_and_says_so(
    make_index: Callable[..., Index], embedder: TinyEmbedder
):
    index = make_index()
    embedder.embedded.clear()

    evaluation = evaluate(index, count=5, recalls=(0.9,), max_chunks=50)

    assert (evaluation.compared_chunks, evaluation.chunks) == (50, 150)
    assert evaluation.is_sample
    again = sum(round(row.embedded * row.searches) for row in evaluation.modes)
    assert len(embedder.embedded) == 50 + again
    assert "50 of 150 chunks" in render_svg(evaluation)


def test_questions_with_paths_say_how_often_their_file_is_found(make_index: Callable[..., Index]):
    questions = [Question(f"unique{number} thing", f"files/{number}.txt") for number in range(8)]
    wrong = [Question("unique9 thing", "files/nowhere.txt"), Question("unique9", "9.tx")]

    evaluation = evaluate(make_index(), questions=[*questions, *wrong], recalls=(0.9,))

    found = {row.mode: row for row in evaluation.found}
    assert set(found) == {"hybrid", "semantic", "lexical"}
    assert found["lexical"].share == 0.8
    assert found["lexical"].questions == 10
    assert found["lexical"].low < 0.8 < found["lexical"].high
    assert not evaluation.is_made_from_text


def test_an_index_that_keeps_its_vectors_reaches_every_recall_and_embeds_nothing(
    make_index: Callable[..., Index], embedder: TinyEmbedder
):
    index = make_index(files=40, keep="all")
    embedder.embedded.clear()

    evaluation = evaluate(index, count=10, recalls=(0.8,))

    assert evaluation.rows[0].reached == 1.0
    assert evaluation.rows[0].embedded == 0
    assert embedder.embedded == []


def test_files_that_changed_count_neither_as_near_nor_as_found(
    make_index: Callable[..., Index], tmp_path: Path
):
    index = make_index(files=30)
    for number in range(10):
        (tmp_path / "files" / f"{number}.txt").write_text("changed", encoding="utf-8")

    evaluation = evaluate(index, questions=["unique3 thing"], recalls=(0.98,))

    assert evaluation.compared_chunks == 20
    assert evaluation.rows[0].reached == 1.0


def test_chunks_that_say_the_same_are_as_good_as_each_other(embedder: TinyEmbedder, tmp_path: Path):
    index = Index.create(tmp_path / "index", model="tiny")
    index.add_texts({"id": str(number), "text": "The same words again."} for number in range(20))

    evaluation = evaluate(index, questions=["same words"], k=3, recalls=(0.9,))

    assert evaluation.rows[0].reached == 1.0


def test_whole_searches_are_timed_by_mode_and_stage(make_index: Callable[..., Index]):
    evaluation = evaluate(make_index(files=20), count=3, recalls=(0.9,))

    modes = {row.mode: row for row in evaluation.modes}
    assert modes["hybrid"].searches == 3
    assert {"words", "codes", "embed chunks", "read"} <= set(modes["hybrid"].stages)
    assert modes["lexical"].embedded == 0 < modes["semantic"].embedded


def test_nothing_is_written_by_an_evaluation(make_index: Callable[..., Index], tmp_path: Path):
    index = make_index(files=20, keep="hot:1MB")
    before = {path.name: path.read_bytes() for path in (tmp_path / "index").iterdir()}

    evaluate(index, count=3, recalls=(0.9,))

    assert {path.name: path.read_bytes() for path in (tmp_path / "index").iterdir()} == before


def test_the_same_seed_gives_the_same_numbers_as_json_too(make_index: Callable[..., Index]):
    index = make_index(files=30)

    first, again = (evaluate(index, count=5, recalls=(0.8,), seed=7) for _ in range(2))

    assert first.rows == again.rows
    said = json.loads(json.dumps(first.to_json()))
    assert said["rows"][0]["reached"] == first.rows[0].reached
    assert said["bytes_per_chunk"] == first.index_bytes / 30
    assert said["share_of_text"] > 0


def test_an_empty_index_cannot_be_evaluated(embedder: TinyEmbedder, tmp_path: Path):
    index = Index.create(tmp_path / "index", model="tiny")

    with pytest.raises(InvalidArgument, match="empty"):
        evaluate(index)


def test_an_index_whose_files_are_gone_cannot_be_evaluated(
    make_index: Callable[..., Index], tmp_path: Path
):
    index = make_index(files=3)
    for number in range(3):
        (tmp_path / "files" / f"{number}.txt").unlink()

    with pytest.raises(InvalidArgument, match="no text"):
        evaluate(index, questions=["anything"])


@pytest.mark.parametrize("options", [{"k": 0}, {"count": 0}, {"max_chunks": -1}, {"questions": []}])
def test_numbers_that_make_no_sense_are_refused(make_index: Callable[..., Index], options: dict):
    index = make_index(files=3)

    with pytest.raises(InvalidArgument):
        evaluate(index, **options)


def test_questions_are_read_from_lines_and_from_json(tmp_path: Path):
    path = tmp_path / "questions.jsonl"
    path.write_text(
        '﻿when is the lease due?\n\n{"question": "who?", "path": "a/b.md", "n": 1}\n'
        '{"question": "why?"}\n',
        encoding="utf-8",
    )

    assert read_questions(path) == [
        Question("when is the lease due?"),
        Question("who?", "a/b.md"),
        Question("why?"),
    ]


@pytest.mark.parametrize("line", ["{", '{"path": "a"}', '{"question": 3}', '{"question": " "}', ""])
def test_a_file_of_questions_that_holds_none_is_refused(tmp_path: Path, line: str):
    path = tmp_path / "questions.jsonl"
    path.write_text(line, encoding="utf-8")

    with pytest.raises(InvalidArgument, match="questions"):
        read_questions(path)


def an_evaluation(*rows: RecallRow) -> Evaluation:
    return Evaluation("a <model>", 3, 50, False, 100, 100, 1000, 10_000, rows, (), ())


def test_the_plot_is_well_formed_and_marks_every_recall_inside_it(tmp_path: Path):
    row = RecallRow(0.9, 0.95, 0.85, 0.99, 12.0, 20.0, 100.0, 2.0)
    rows = (row, replace(row, asked=0.5, reached=0.4, low=0.3, high=0.5, embedded=3.0))

    save_plot(an_evaluation(*rows), tmp_path / "plot.svg")

    root = ElementTree.fromstring((tmp_path / "plot.svg").read_text(encoding="utf-8"))
    dots = root.findall(".//{*}circle")
    assert len(dots) == 2
    assert all(70 <= float(dot.get("cx", "")) <= 610 for dot in dots)
    assert all(64 <= float(dot.get("cy", "")) <= 340 for dot in dots)


@pytest.mark.parametrize("embedded", [0.0, 0.3, 7.0, 12345.0])
def test_the_plot_has_round_axes_whatever_the_cost(embedded: float):
    row = RecallRow(1.0, 1.0, 0.999, 1.0, embedded, embedded, 1.0, 1.0)

    root = ElementTree.fromstring(render_svg(an_evaluation(row)))

    assert 5 <= len(root.findall("{*}line")) <= 25
