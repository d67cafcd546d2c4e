"""How sure hits are, and what is said where none is."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

import gossamer
from gossamer.cli import cli
from gossamer.errors import InvalidArgument

ANSWER = "The rent of the apartment has to be paid by the tenant on the third of each month."
FILLER = "Nothing of interest happens in the month number {}, and nobody minds the weather."
QUESTION = "when does the tenant have to pay the rent of the apartment"
NONSENSE = "xqzzyv blorf"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> gossamer.Index:
    index = gossamer.Index.create(tmp_path_factory.mktemp("strength") / "index", model="pocket")
    texts = [{"id": f"filler{i}", "text": FILLER.format(i)} for i in range(40)]
    index.add_texts([*texts, {"id": "answer", "text": ANSWER}])
    return index


def test_what_answers_is_strong_and_the_rest_is_weak(index: gossamer.Index):
    found = index.search(QUESTION)

    assert (found[0].source, found[0].strength) == ("answer", "strong")
    assert {hit.strength for hit in found[1:]} == {"weak"}
    assert found.is_close
    assert all(0 <= (hit.probability or 0) <= 1 for hit in found)


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "lexical"])
@pytest.mark.parametrize("rerank", ["auto", "none"])
def test_nothing_is_close_to_nonsense(index: gossamer.Index, mode: str, rerank: str):
    found = index.search(NONSENSE, mode=mode, rerank=rerank)

    assert {hit.strength for hit in found} <= {"weak"}
    assert not found.is_close


def test_hits_below_the_least_probability_are_left_out(index: gossamer.Index):
    assert [hit.source for hit in index.search(QUESTION, min_score=0.5)] == ["answer"]
    assert not index.search(NONSENSE, min_score=0.5)
    for wrong in (-0.1, 1.1, float("nan")):
        with pytest.raises(InvalidArgument, match="min_score must be from 0 to 1"):
            index.search(QUESTION, min_score=wrong)


def test_of_what_is_alike_nothing_is_said(index: gossamer.Index):
    found = index.similar(index.search(QUESTION)[0].id)

    assert {(hit.probability, hit.strength) for hit in found} == {(None, "")}
    assert found.is_close


@pytest.fixture
def ask(tmp_path: Path) -> Callable[..., tuple[int, str]]:
    for number in range(40):
        (tmp_path / f"filler{number}.txt").write_text(FILLER.format(number), encoding="utf-8")
    (tmp_path / "rent.txt").write_text(ANSWER, encoding="utf-8")
    gossamer.Index.create(tmp_path / "index", model="pocket").add_paths([tmp_path])

    def ask(*arguments: str) -> tuple[int, str]:
        done = CliRunner().invoke(cli, ["-i", str(tmp_path / "index"), "search", *arguments])
        return done.exit_code, done.stdout

    return ask


def test_the_command_shows_weak_hits_apart_and_by_their_places(ask: Callable[..., tuple[int, str]]):
    code, said = ask(QUESTION)

    strong, weak = said.split("weak, and perhaps no answer:\n")
    assert code == 0
    assert "strong · text · id" in strong
    assert "filler" not in strong
    assert "score" not in said
    assert weak.count("filler") == 4
    assert "month" not in weak


def test_the_command_says_that_nothing_is_close(ask: Callable[..., tuple[int, str]]):
    code, said = ask(NONSENSE)

    assert code == 1
    assert said.startswith(("nothing close was found; nearest:", "no file contains"))
    assert "weak · text · id" in said
    assert ask(QUESTION, "--min-score", "0.5")[1].count(" · id ") == 1
    assert "probability 0." in ask(QUESTION, "--explain")[1]
