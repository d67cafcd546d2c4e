"""The labels of the case `documentation`, and how a hit is judged by them."""

from collections import Counter
from pathlib import Path

import pytest

from benchmarks.cases.documentation import OURS, ask
from benchmarks.documentation import (
    PACKAGES,
    SOURCES,
    Corpus,
    Label,
    absent_places,
    corpus,
    documentation_folder,
    labels,
    lines_with,
    spaced_words,
)
from gossamer.index import Index

COUNTS = {"python": 30, "policy": 30, "exact": 40}
EVERY_LABEL = [label for name in COUNTS for label in labels(name)]
PAGE = "<html><body><h1>Bread</h1><p>Let the <b>dough</b> rest for an hour.</p></body></html>"
OTHER = "<html><body><h1>Soup</h1><p>Boil the carrots until they are soft.</p></body></html>"
RIGHT = {"bread.html": ["the dough rest for an hour"]}


def of_corpus(name: str) -> list[Label]:
    return [label for label in EVERY_LABEL if label.corpus == name]


@pytest.mark.parametrize("name", COUNTS)
def test_there_are_as_many_labels_as_the_case_says(name: str) -> None:
    assert len(labels(name)) == COUNTS[name]
    assert {label.corpus for label in labels(name)} <= {*PACKAGES, SOURCES}
    assert all(places for label in labels(name) for places in label.places.values())


def test_no_question_stands_twice_nor_says_what_its_place_says() -> None:
    assert Counter(label.question for label in EVERY_LABEL).most_common(1)[0][1] == 1
    for label in (one for name in PACKAGES for one in labels(name)):
        for phrase in (one for phrases in label.places.values() for one in phrases):
            assert spaced_words(label.question) not in spaced_words(phrase)
            assert spaced_words(phrase) not in spaced_words(label.question)


@pytest.mark.parametrize("name", [*PACKAGES, SOURCES])
def test_every_labelled_place_is_in_its_file(name: str) -> None:
    if name != SOURCES and not documentation_folder(name).is_dir():
        pytest.skip(f"{PACKAGES[name][0]} was not fetched (python -m benchmarks.run documentation)")

    whole = corpus(name)

    assert absent_places(of_corpus(name), whole) == []
    named = {file for label in of_corpus(name) for file in label.places}
    assert named <= {whole.name_of(file) for file in whole.files}


def test_a_place_that_is_not_in_its_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "bread.html").write_text(PAGE, encoding="utf-8")
    wrong = {"bread.html": ["a pinch of salt"], "soup.html": ["boil"]}
    texts = Corpus("tiny", tmp_path, ())

    assert absent_places([Label("?", "tiny", RIGHT)], texts) == []
    assert absent_places([Label("?", "tiny", wrong)], texts) == [
        f"{tmp_path / 'bread.html'}: a pinch of salt",
        f"{tmp_path / 'soup.html'}: boil",
    ]


@pytest.mark.parametrize(
    ("places", "place"),
    [(RIGHT, 1), ({"bread.html": ["a pinch of salt"]}, None), ({"soup.html": ["dough"]}, None)],
)
def test_a_hit_is_right_by_file_and_phrase(
    places: dict[str, list[str]], place: int | None, tmp_path: Path
) -> None:
    for name, page in {"bread.html": PAGE, "soup.html": OTHER}.items():
        (tmp_path / name).write_text(page, encoding="utf-8")
    texts = Corpus("tiny", tmp_path, tuple(sorted(tmp_path.glob("*.html"))))
    index = Index.create(tmp_path / "index", model="pocket")
    index.add_paths(texts.files)

    found, first, _ = ask(index, Label("how long does dough rest", "tiny", places), texts)

    assert found[OURS] == place
    assert first["came first"].startswith("bread.html")


def test_a_hit_of_a_source_is_right_by_its_lines(tmp_path: Path) -> None:
    file = tmp_path / "kettle.py"
    file.write_text("class Kettles:\n    pass\n\n\nclass Kettle:\n    full = 1\n", encoding="utf-8")
    index = Index.create(tmp_path / "index", model="pocket")
    index.add_paths([file])
    label = Label("class Kettle", SOURCES, {"kettle.py": ["class Kettle"]})

    found, _, _ = ask(index, label, Corpus(SOURCES, tmp_path, (file,)))

    assert lines_with(file, "class Kettle") == [5]
    assert found[OURS] == 1


def test_a_part_has_the_named_files_and_some_others() -> None:
    files = tuple(Path(f"/pages/{number}.html") for number in range(9))

    part = Corpus("tiny", Path("/pages"), files).part({"4.html"}, every=4)

    assert [file.name for file in part.files] == ["0.html", "4.html", "5.html"]
