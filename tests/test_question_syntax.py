"""Questions that say what a hit must hold or be: by the pass over texts, FTS5 and over HTTP."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gossamer.index import Index
from gossamer.query.results import Results

FILES = {
    "notes/lease.md": "# The lease\n\nThe lease must be renewed in March.\n\nRent is monthly.\n",
    "notes/car.md": "# Jaguar\n\nThe jaguar is a fast car from England.\n",
    "notes/cat.md": "# Jaguar\n\nThe jaguar is a big cat of the jungle, and a cat that swims.\n",
    "notes/errors.txt": "E1102 not-callable: something was called that is no function.\n",
    "code/delta.py": "def take_delta(old, new):\n    return new - old\n",
    "code/use.py": "import delta\n\n\ndef main():\n    print(delta.take_delta(1, 2))\n",
    "notes/city.md": "# Verkehr\n\nDie Straßenbahn hält am Fluß; ﬁnance and ｆｕｌｌｗｉｄｔｈ.\n",
}
Ask = Callable[..., Results]


@pytest.fixture(scope="module", params=["scan", "fts5"])
def index(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Index:
    folder = tmp_path_factory.mktemp("syntax")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    index = Index.create(folder / "index", model="pocket", lexical=request.param)
    index.add_paths([folder / "notes", folder / "code"])
    return index


def names(results: Results) -> list[str]:
    return [Path(hit.path).name for hit in results]


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "lexical"])
def test_a_phrase_is_in_every_hit(index: Index, mode: str) -> None:
    found = index.search('"must be renewed"', mode=mode)

    assert names(found) == ["lease.md"]
    assert found.absent == ()
    assert found.explanation.allowed_chunks == 1


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "lexical"])
def test_what_must_not_be_there_is_in_no_hit(index: Index, mode: str) -> None:
    found = index.search("jaguar -car", mode=mode)

    assert "cat.md" in names(found)
    assert "car.md" not in names(found)


def test_what_must_be_there_is_in_every_hit(index: Index) -> None:
    assert names(index.search("animals +cats")) == ["cat.md"]
    assert names(index.search('animals -"big cat" +jaguar')) == ["car.md"]


def test_fields_say_where_hits_stand(index: Index) -> None:
    assert {Path(name).suffix for name in names(index.search("type:python delta"))} == {".py"}
    assert names(index.search("path:code/use.py delta")) == ["use.py"]
    assert names(index.search("path:ode/us delta")) == ["use.py"]
    assert "use.py" not in names(index.search("-path:use delta"))
    assert set(names(index.search("title:jaguar fast"))) == {"car.md", "cat.md"}
    assert names(index.search("path:nowhere delta")) == []


def test_what_no_file_contains_is_said_and_the_rest_answered(index: Index) -> None:
    phrase = index.search('jaguar "of the moon"')
    code = index.search("E1101")
    title = index.search("title:moon jaguar")

    assert phrase.absent == ("of the moon",)
    assert set(names(phrase)[:2]) == {"car.md", "cat.md"}
    assert code.absent == ("E1101",)
    assert title.absent == ("title:moon",)
    assert index.search("E1102").absent == ()
    assert index.search("E1102", types=["markdown"]).absent == ()  # a file left out has it
    assert index.search("what is the moon").absent == ()


def test_requirements_that_no_passage_meets_together_have_no_hit(index: Index) -> None:
    found = index.search("+lease +jaguar")

    assert (names(found), found.absent) == ([], ())


@pytest.mark.parametrize(
    "question",
    ['an "open quote', "C++ + jaguar", "tar -x jaguar", "-jaguar", "re: jaguar", '"" jaguar'],
)
def test_unknown_syntax_is_text(index: Index, question: str) -> None:
    assert len(index.search(question)) == 5


def test_plain_questions_are_text_to_the_letter(index: Index) -> None:
    assert "car.md" in names(index.search("jaguar -car", plain=True))
    assert len(index.search('"must be renewed"', plain=True)) == 5


def test_similar_chunks_are_found_whatever_signs_the_text_has(index: Index) -> None:
    (hit,) = index.search('"must be renewed"')

    assert len(index.similar(hit.id)) == 5


def test_a_definition_comes_before_a_use(index: Index) -> None:
    for mode in ("hybrid", "lexical"):
        assert names(index.search("take_delta", mode=mode))[:2] == ["delta.py", "use.py"]


@pytest.mark.parametrize("word", ["strassenbahn", "Fluss", "finance", "fullwidth"])
def test_forms_of_letters_make_no_difference_to_words(index: Index, word: str) -> None:
    (hit,) = index.search(f"+{word}", mode="lexical")

    assert Path(hit.path).name == "city.md"
    assert hit.highlights
    assert "Straßenbahn hält am Fluß; ﬁnance and ｆｕｌｌｗｉｄｔｈ" in hit.text


def test_a_changed_file_is_no_hit_for_its_phrase(tmp_path: Path) -> None:
    note = tmp_path / "a.md"
    note.write_text("The ferry leaves at nine.\n", encoding="utf-8")
    index = Index.create(tmp_path / "index", model="pocket")
    index.add_paths([note])
    note.write_text("The ferry leaves at ten!!\n", encoding="utf-8")

    found = index.search('"leaves at nine"')

    assert names(found) == []


def test_nothing_is_said_to_be_nowhere_where_files_could_not_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = tmp_path / "car.txt"
    note.write_text("The jaguar is a fast car.\n", encoding="utf-8")
    folder = tmp_path / "index"
    index = Index.create(folder, model="pocket")
    index.add_paths([note])
    index.add_texts([{"id": "cat", "text": "The big cat of the jungle."}])
    monkeypatch.setenv("GOSSAMER_HOME", str(tmp_path / "another"))

    untrusted = Index.open(folder)

    assert not untrusted.is_trusted
    assert untrusted.search("jaguar").absent == ()
    assert untrusted.search('"fast car"').absent == ()
    assert names(untrusted.search("jungle -car")) == ["cat"]


def test_json_says_what_is_absent(index: Index) -> None:
    from gossamer.query.results import record_results

    record = record_results("E1101", index.search("E1101"))

    assert json.loads(json.dumps(record.absent)) == ["E1101"]
