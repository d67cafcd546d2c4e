"""One question to several indexes."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gossamer.cli import cli
from gossamer.index import Index

TEXTS = {
    "home": {"lease.md": "The lease of the flat is due in March.\n", "cat.md": "The cat sleeps.\n"},
    "my work": {"rent.md": "The lease of the office is due in June.\n"},
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("several")
    for index, texts in TEXTS.items():
        (folder / index).mkdir()
        for name, text in texts.items():
            (folder / index / name).write_text(text, encoding="utf-8")
        added = run_at(folder, "-i", index, "add", folder / index, "--model", "pocket")
        assert added.exit_code == 0, added.output
    return folder


def run_at(folder: Path, *arguments: str | Path, index: str | None = None) -> Result:
    environment = {"GOSSAMER_HOME": str(folder / "state"), "GOSSAMER_INDEX": index}
    return CliRunner().invoke(cli, [str(one) for one in arguments], env=environment)


def hits_of(found: Result) -> list[tuple[int, str, str]]:
    hits = json.loads(found.stdout)["hits"]
    return [(hit["number"], hit["index"], Path(hit["path"]).name) for hit in hits]


def test_the_surest_hits_come_first_whichever_index_they_are_of(library: Path) -> None:
    def ask(*indexes: str, k: int) -> list[tuple[int, str, str]]:
        named = [part for index in indexes for part in ("-i", index)]
        return hits_of(run_at(library, "search", "lease due", "--json", "-k", str(k), *named))

    first = ask("home", "my work", k=5)
    assert {hit[1:] for hit in first[:2]} == {("home", "lease.md"), ("my work", "rent.md")}
    assert first[2] == (3, "home", "cat.md")
    assert ask("my work", "home", k=5) == first
    assert ask("my work", "my work", k=1) == [(1, "my work", "rent.md")]


def test_all_are_those_of_the_list(library: Path) -> None:
    every = hits_of(run_at(library, "search", "lease", "--all", "--json"))

    assert {index for _, index, _ in every} == set(TEXTS)


def test_text_says_which_index_a_hit_is_of_and_open_knows(
    library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", "vi")

    found = run_at(library, "-i", "home", "-i", "my work", "search", "lease due").stdout
    opened = run_at(library, "open", "2", "--print").stdout

    assert found.startswith(f"1. [home] {library / 'home' / 'lease.md'}:1\n")
    assert f"2. [my work] {library / 'my work' / 'rent.md'}:1\n" in found
    assert opened == f"vi +1 '{library / 'my work' / 'rent.md'}'\n"
    assert "[home]" not in run_at(library, "-i", "home", "search", "lease").stdout


def test_one_that_cannot_be_asked_is_a_note_unless_none_can(library: Path) -> None:
    some = run_at(library, "search", "lease", "-i", "gone", "-i", "home")
    none = run_at(library, "search", "lease", "-i", "gone", "-i", "lost")

    assert (some.exit_code, none.exit_code) == (0, 3)
    assert "gone: there is no index" in some.stderr
    assert "there is no index in" in none.stderr


def test_what_is_in_one_of_them_is_not_absent(library: Path) -> None:
    def absent(question: str) -> list[str]:
        return json.loads(run_at(library, "search", question, "--all", "--json").stdout)["absent"]

    assert absent('"the office" lease') == []
    assert absent('"the okapi" lease') == ["the okapi"]


def test_a_type_that_one_of_them_has_is_not_said_to_be_none(library: Path) -> None:
    (library / "my work" / "plan.txt").write_text("The lease is due.\n", encoding="utf-8")
    run_at(library, "-i", "my work", "add")

    some = run_at(library, "search", "lease", "--all", "--type", "text")
    none = run_at(library, "search", "lease", "--all", "--type", "bogus")
    (library / "my work" / "plan.txt").unlink()
    run_at(library, "-i", "my work", "add")

    assert "plan.txt:1" in some.stdout
    assert "no hit is of the type" not in some.stderr
    assert none.stderr.count("no hit is of the type bogus") == 2


def test_explanations_are_of_each(library: Path) -> None:
    found = run_at(library, "search", "lease", "--all", "--json")
    shown = run_at(library, "search", "lease", "--all", "--explain").stdout

    assert set(json.loads(found.stdout)["explanation"]) == set(TEXTS)
    assert shown.count("strategy") == 2


def test_a_command_that_takes_one_index_refuses_several(library: Path) -> None:
    for command in (["status"], ["show", "1"], ["add"], ["similar", "1"], ["trust"]):
        refused = run_at(library, "-i", "home", "-i", "my work", *command)

        assert refused.exit_code == 2
        assert "takes one index, and --index names 2: home, my work" in refused.stderr


def test_indexes_may_be_named_before_the_command_and_after_it(library: Path) -> None:
    both = run_at(library, "-i", "my work", "search", "-i", "home", "lease", "--json")
    refused = run_at(library, "-i", "home", "status", "-i", "my work")

    assert {index for _, index, _ in hits_of(both)} == set(TEXTS)
    assert "takes one index, and --index names 2: home, my work" in refused.stderr
    assert run_at(library, "-i", "home", "status", "-i", "home").exit_code == 0


def test_a_name_of_the_environment_may_have_spaces_and_gives_way_to_any_other(
    library: Path,
) -> None:
    named = run_at(library, "search", "lease", "--json", index="my work")
    after = run_at(library, "search", "-i", "home", "lease", "--json", index="my work")

    assert {index for _, index, _ in hits_of(named)} == {"my work"}
    assert {index for _, index, _ in hits_of(after)} == {"home"}


@pytest.fixture
def same(tmp_path: Path) -> Path:
    """Two indexes of one folder, with a file of many passages and a text of the same id in each."""
    part = "The harbour is busy on day {}, and the ferry leaves at nine.\n" + "The sea.\n" * 60
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/ferry.md").write_text("".join(map(part.format, range(9))), "utf-8")
    for name, text in (("one", "The ferry of Oslo."), ("two", "The ferry of Bergen.")):
        run_at(tmp_path, "-i", name, "add", tmp_path / "notes", "--model", "pocket")
        index = Index.open(tmp_path / "state" / "indexes" / name, trust=True)
        index.add_texts([{"id": "memo", "text": text}])
    return tmp_path


def test_a_line_that_two_indexes_have_is_shown_once(same: Path) -> None:
    search = ["search", "ferry harbour", "--json", "-k", "30", "--per-file", "0"]
    found = run_at(same, *search, "--all")
    hits = json.loads(found.stdout)["hits"]
    places = [(hit["path"], hit["line"]) for hit in hits if hit["path"] != "memo"]

    assert len(places) == len(set(places)) > 1
    assert {hit["text"] for hit in hits if hit["path"] == "memo"} == {
        "The ferry of Oslo.",
        "The ferry of Bergen.",
    }
    assert [hit["number"] for hit in hits] == list(range(1, len(hits) + 1))


def test_a_passage_that_two_indexes_hold_in_files_of_their_own_is_one_hit(tmp_path: Path) -> None:
    text = "The harbour is busy in May, and the ferry to the island leaves at nine o'clock then.\n"
    for name, files in (("one", ("a.md", "b.md")), ("two", ("c.md",))):
        (tmp_path / name).mkdir()
        for file in files:
            (tmp_path / name / file).write_text(text, "utf-8")
        run_at(tmp_path, "-i", name, "add", tmp_path / name, "--model", "pocket")
    search = ["search", "when does the ferry leave", "-i", "one", "-i", "two"]

    (hit,) = json.loads(run_at(tmp_path, *search, "--json").stdout)["hits"]
    each = json.loads(run_at(tmp_path, *search, "--json", "--copies").stdout)["hits"]

    files = [Path(place["path"]).name for place in (hit, *hit["also"])]
    assert sorted(files) == ["a.md", "b.md", "c.md"]
    assert hit["copies"] == 2
    assert all((place["id"] == 0) == (hit["index"] not in place["path"]) for place in hit["also"])
    assert len(each) == 3
    listed = run_at(tmp_path, *search, "-l").stdout.split()
    assert sorted(Path(path).name for path in listed) == ["a.md", "b.md", "c.md"]


@pytest.mark.parametrize("indexes", [["-i", "one"], ["--all"]])
def test_grouped_by_file_each_has_one_hit_though_nothing_else_fits(
    same: Path, indexes: list[str]
) -> None:
    found = run_at(same, "search", "ferry harbour", "--group", "file", "--json", *indexes)
    hits = json.loads(found.stdout)["hits"]
    (ferry,) = (hit for hit in hits if hit["path"] != "memo")

    assert ferry["more"]
    assert all(place["path"] == ferry["path"] for place in ferry["more"])
    assert len({place["id"] for place in ferry["more"]} | {ferry["id"]}) == len(ferry["more"]) + 1
    assert [hit["number"] for hit in hits] == list(range(1, len(hits) + 1))


def test_without_any_index_all_says_how_to_make_one(tmp_path: Path) -> None:
    assert "there are no indexes" in run_at(tmp_path, "search", "lease", "--all").stderr
