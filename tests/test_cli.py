"""The `gossamer` command, from the first five minutes to what goes wrong."""

import io
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import example, given
from hypothesis import strategies as st
from snippets import choose_snippet, whole_snippet

from gossamer.cli import cli, output
from gossamer.cli.docs import JSON_KEYS, write_page
from gossamer.cli.output import Column, Output
from gossamer.cli.progress import BytesEstimate
from gossamer.cli.words import counted, duration, near_path, share, size, taken
from gossamer.lexical import find_terms
from gossamer.records import Hit
from gossamer.store import begin
from gossamer.store.manifest import MANIFEST
from gossamer.update.report import UpdateProgress

ROOT = Path(__file__).parent.parent

LEASE = """\
# Lease agreement

The flat was rented in 2019.

## Dates

The lease is due for renewal on the third of March each year.
The landlord must be told three months before, in writing.
"""
GARDEN = """\
Tomatoes want sun and much water.
Beans can be sown from the middle of May.
Roses are cut back in early spring.
"""

Run = Callable[..., Result]


def write_files(folder: Path) -> None:
    (folder / "garden").mkdir(parents=True)
    (folder / "lease.md").write_text(LEASE, encoding="utf-8")
    (folder / "garden" / "plants.txt").write_text(GARDEN, encoding="utf-8")
    (folder / "broken.pdf").write_bytes(b"no pages here")
    (folder / "photo.jpg").write_bytes(b"\xff\xd8\xff\xe0" + bytes(100))
    # What was written just now is read again, since it may have changed without a new time.
    for path in folder.rglob("*.*"):
        os.utime(path, (1_700_000_000, 1_700_000_000))


def runner(home: Path) -> Run:
    def run(*arguments: str | Path) -> Result:
        environment = {"GOSSAMER_HOME": str(home), "GOSSAMER_INDEX": None, "GOSSAMER_DEBUG": None}
        return CliRunner().invoke(cli, [str(a) for a in arguments], env=environment)

    return run


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with notes/ and home/, where notes/ is indexed."""
    folder = tmp_path_factory.mktemp("library")
    write_files(folder / "notes")
    result = runner(folder / "home")("add", folder / "notes")
    assert result.exit_code == 0, result.output
    return folder


@pytest.fixture
def run(library: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run commands on the library, which they must not change."""
    monkeypatch.chdir(library)
    monkeypatch.setenv("GOSSAMER_HOME", str(library / "home"))
    return runner(library / "home")


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    """Run commands on an index of one's own, in a folder of one's own."""
    write_files(tmp_path / "notes")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GOSSAMER_HOME", str(tmp_path / "home"))
    run = runner(tmp_path / "home")
    result = run("add", "notes")
    assert result.exit_code == 0, result.output
    return run


def test_the_first_five_minutes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(tmp_path / "notes")
    monkeypatch.chdir(tmp_path)
    run = runner(tmp_path / "home")

    added = run("add", "notes")
    found = run("search", "when is the lease due")
    status = run("status")

    assert "2 added; 2 chunks embedded" in added.stdout
    assert "broken.pdf" in added.stdout
    assert found.stdout.startswith("1. notes/lease.md:7  Lease agreement\n")
    assert "The lease is due for renewal" in found.stdout
    assert "2 indexed, 1 skipped, 1 failed" in status.stdout
    assert "yes, all files are as they were indexed" in status.stdout
    assert [result.exit_code for result in (added, found, status)] == [0, 0, 0]


def test_adding_again_changes_nothing(copy: Run) -> None:
    before = json.loads(copy("status", "--json").stdout)

    added = copy("add")

    assert "nothing changed among 4 files" in added.stdout
    assert json.loads(copy("status", "--json").stdout)["text_bytes"] == before["text_bytes"]


def test_a_changed_file_is_noticed_and_mended(copy: Run) -> None:
    Path("notes/lease.md").write_text("# Lease\n\nIt ended in June.\n", encoding="utf-8")

    stale = copy("search", "--update", "never", "lease")
    status = copy("status")
    added = copy("add", "--json")
    found = copy("search", "--mode", "lexical", "lease")

    assert "ended" not in stale.stdout
    assert "1 file changed since the last update; run `gossamer add`" in stale.stderr
    assert "no: 1 file changed" in status.stdout
    assert json.loads(added.stdout)["updated"] == 1
    assert "It ended in June." in found.stdout


def test_removing_takes_out_files_and_folders(copy: Run) -> None:
    shutil.rmtree("notes/garden")

    file = copy("remove", "notes/lease.md")
    folder = copy("remove", "notes/garden")
    unknown = copy("remove", "notes/lease.md")

    assert "1 file removed" in file.stderr
    assert ".gossamerignore" in file.stderr
    assert folder.exit_code == 0
    assert unknown.exit_code == 3
    assert json.loads(copy("status", "--json").stdout)["indexed"] == 0


def test_compact_says_what_there_was_and_is(copy: Run) -> None:
    assert "now" in copy("compact").stderr


def test_settings_of_an_index_cannot_be_changed_by_adding(run: Run) -> None:
    same = run("add", "--keep", "none", "--json")
    other = run("add", "--keep", "all")

    assert same.exit_code == 0
    assert other.exit_code == 2
    assert "made with --keep none, which cannot be changed to all" in other.stderr


def test_show_gives_a_chunk_with_what_is_around_it(run: Run) -> None:
    hit = json.loads(run("search", "--mode", "lexical", "tomatoes", "--json").stdout)["hits"][0]

    shown = run("show", hit["id"])

    assert shown.stdout.startswith("notes/garden/plants.txt:1-")
    assert "Roses are cut back" in shown.stdout


def test_similar_takes_a_place_or_an_id(run: Run) -> None:
    by_place = run("similar", "notes/lease.md:7", "--json")
    hit = json.loads(by_place.stdout)["hits"][0]
    by_id = run("similar", hit["id"], "-k", "1", "--json")

    assert hit["path"].endswith("plants.txt")
    assert json.loads(by_id.stdout)["hits"][0]["path"].endswith("lease.md")


def test_explain_says_what_the_search_did(run: Run) -> None:
    explained = run("search", "--explain", "lease", "date").stdout

    assert "strategy" in explained
    assert "leas (1)" in explained
    assert "time in all" in explained


def test_full_shows_whole_chunks(run: Run) -> None:
    found = run("search", "--full", "--mode", "lexical", "landlord")

    assert "The flat was rented in 2019." in found.stdout
    assert found.stdout.startswith("1. notes/lease.md:8")


def test_finding_nothing_is_exit_code_1(run: Run) -> None:
    found = run("search", "--mode", "lexical", "xylophone")

    assert (found.exit_code, found.stdout, found.stderr) == (
        1,
        "",
        'nothing found; no file contains "xylophone"\n',
    )


def test_filters_narrow_a_search(run: Run) -> None:
    found = run("search", "lease", "--type", "text", "--path", "**/garden/*", "--json")

    assert [Path(hit["path"]).name for hit in json.loads(found.stdout)["hits"]] == ["plants.txt"]


def test_a_type_that_is_not_there_is_answered_with_those_that_are(run: Run) -> None:
    found = run("search", "lease", "--type", "bogus")

    assert found.exit_code == 1
    assert "no hit is of the type bogus; the kinds in this index are markdown, text" in found.stderr


def test_an_extension_that_is_there_is_not_said_to_be_none(run: Run) -> None:
    found = run("search", "+xylophone", "--mode", "lexical", "--type", ".MD")

    assert found.exit_code == 1
    assert "no hit is of the type" not in found.stderr


def test_a_question_may_come_from_standard_input(library: Path) -> None:
    environment = {"GOSSAMER_HOME": str(library / "home"), "GOSSAMER_INDEX": None}

    def ask(given: bytes) -> Result:
        return CliRunner().invoke(
            cli, ["search", "-", "-l", "-k", "1"], input=given, env=environment
        )

    assert ask(b"when is the lease due\n").stdout.endswith("lease.md\n")
    assert ask(b"lease \xff").stdout.endswith("lease.md\n")
    assert "needs a word" in ask(b"").stderr
    assert "65,536 bytes at most" in ask(b"x" * 100_000).stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["serach", "lease"], "error: there is no command serach; did you mean search?"),
        (["zzz\x1b[2J"], "error: there is no command zzz\N{REPLACEMENT CHARACTER}[2J, see"),
        (["search"], "error: Missing argument"),
        (["models", "gte"], "error: No such command 'gte'."),
    ],
)
def test_a_mistyped_command_is_said_as_other_errors_are(
    run: Run, arguments: list[str], said: str
) -> None:
    found = run(*arguments)

    assert found.exit_code == 2
    assert said in found.stderr
    assert "Error" not in found.stderr


def test_check_tells_damage_from_good_order(copy: Run, tmp_path: Path) -> None:
    good = copy("check")
    quick = copy("check", "--quick", "--json")
    (segment,) = (tmp_path / "home/indexes/default").glob("segment-*")
    data = bytearray(segment.read_bytes())
    data[len(data) // 2] ^= 1
    segment.write_bytes(data)
    bad = copy("check")

    assert (good.exit_code, good.stdout) == (0, "all is well\n")
    assert json.loads(quick.stdout) == {"is_damaged": False, "findings": []}
    assert bad.exit_code == 1
    assert "does not fit" in bad.stdout
    assert "backup" in bad.stdout


def test_check_looks_at_an_index_that_cannot_be_opened(copy: Run, tmp_path: Path) -> None:
    (segment,) = (tmp_path / "home/indexes/default").glob("segment-*")
    segment.write_bytes(segment.read_bytes()[:-1])

    searched = copy("search", "--mode", "lexical", "lease")
    checked = copy("check", "--json")

    assert searched.exit_code == 2
    assert "gossamer check" in searched.stderr
    assert checked.exit_code == 1
    assert segment.name in json.loads(checked.stdout)["findings"][0]["what"]


def test_eval_measures_recall_and_draws_it(run: Run, tmp_path: Path) -> None:
    questions = tmp_path / "questions.txt"
    questions.write_text('{"question": "when is the lease due", "path": "lease.md"}\n')

    said = run("eval", "--questions", questions, "--recall", "0.9", "--plot", tmp_path / "p.svg")

    assert "1 question, the 3 nearest of 2 chunks, model minilm" in said.stdout
    assert re.search(r"0\.90 +1\.000", said.stdout)
    assert "the file was found" in said.stdout
    assert "<svg" in (tmp_path / "p.svg").read_text(encoding="utf-8")


def test_list_names_all_indexes(run: Run) -> None:
    assert [one["name"] for one in json.loads(run("list", "--json").stdout)["indexes"]] == [
        "default"
    ]
    assert "default" in run("list").stdout
    (listed,) = json.loads(run("list", "--json").stdout)["indexes"]
    assert listed["index_bytes"] == json.loads(run("status", "--json").stdout)["total_bytes"]


def test_models_are_listed_and_chosen(tmp_path: Path) -> None:
    run = runner(tmp_path)

    used = run("models", "use", "minilm")
    listed = run("models", "list", "--json")
    unknown = run("models", "use", "no-such-model")

    assert used.exit_code == 0
    assert [m["name"] for m in json.loads(listed.stdout)["models"] if m["is_default"]] == ["minilm"]
    assert unknown.exit_code == 3


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--index", "none", "search", "x"], 3, "there is no index in"),
        (["--index", "none", "add"], 3, "nothing to bring up to date"),
        (["search", "x", "--where", "year >="], 2, "error: "),
        (["search", "x", "--after", "yesterday-ish"], 2, "error: "),
        (["show", "999999"], 3, "error: "),
        (["similar", "notes/lease.md"], 2, "PATH:LINE"),
        (["similar", "notes/none.md:3"], 3, "not in the index"),
        (["add", "no-such-folder"], 2, "does not exist"),
        (["add", "notes", "--index", "n2", "--keep", "some"], 2, "keep must be"),
        (["add", "notes", "--index", "n2", "--model", "no-such-model"], 3, "no-such-model"),
        (["--index", "a*b", "status"], 2, "an index is named like a file"),
        (["search"], 2, "Missing argument"),
    ],
)
def test_errors_are_one_line_and_an_exit_code(
    run: Run, arguments: list[str], code: int, said: str
) -> None:
    result = run(*arguments)

    assert said in result.stderr
    assert result.exit_code == code
    assert "Traceback" not in result.output


def test_a_locked_index_is_exit_code_4_and_can_still_be_searched(run: Run, library: Path) -> None:
    with begin(library / "home/indexes/default", "test"):
        added = run("add", "notes", "--wait", "0")
        found = run("search", "--mode", "lexical", "lease")

    assert added.exit_code == 4
    assert "is changing" in added.stderr
    assert found.exit_code == 0


def test_add_waits_a_while_for_a_server_that_changes_the_index(run: Run, library: Path) -> None:
    may_go_on = threading.Event()
    has_begun = threading.Event()

    def change() -> None:
        with begin(library / "home/indexes/default", "serve"):
            has_begun.set()
            assert may_go_on.wait(10)

    changing = threading.Thread(target=change)
    changing.start()
    assert has_begun.wait(10)
    letting_go = threading.Timer(0.1, may_go_on.set)
    letting_go.start()

    added = run("add", "notes")

    changing.join()
    assert added.exit_code == 0, added.stderr


def test_a_fault_of_ours_is_no_traceback(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gossamer.status.IndexStatus.total_bytes", property(lambda _: 1 / 0))

    result = run("status", "--json")

    assert result.exit_code == 2
    assert "ZeroDivisionError" in result.stderr
    assert "Traceback" not in result.output


def test_an_interrupted_update_says_what_is_kept(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("gossamer.index.Index.add_paths", interrupt)

    result = run("add", "notes")

    assert result.exit_code == 130
    assert "run the same command again to go on where it stopped" in result.stderr


def test_watch_goes_on_when_an_update_fails(
    copy: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def changes(*_: object, **__: object) -> Iterator[set[object]]:
        (tmp_path / "notes").rename(tmp_path / "away")
        yield {"gone"}
        (tmp_path / "away").rename(tmp_path / "notes")
        Path("notes/new.txt").write_text("Carrots like sand.\n", encoding="utf-8")
        yield set()  # no change was seen: the failed update is tried again

    monkeypatch.setattr("watchfiles.watch", changes)

    result = copy("watch")

    assert "not updated" in result.stderr
    assert "1 added" in result.stdout
    assert result.exit_code == 0


def test_an_index_is_a_name_or_a_path(run: Run, library: Path) -> None:
    named = run("--index", "default", "status", "--json")
    by_path = run("status", "--index", library / "home/indexes/default", "--json")
    # Not the folder of notes: an index of this name would be in the usual place.
    other = run("status", "--index", "notes")

    assert json.loads(named.stdout)["folder"] == json.loads(by_path.stdout)["folder"]
    assert str(Path("indexes") / "notes") in other.stderr


def test_json_holds_the_documented_keys(run: Run) -> None:
    hits = json.loads(run("search", "lease", "--json").stdout)
    id = str(hits["hits"][0]["id"])
    answers = {
        "search, similar": hits,
        "each hit of search, similar": hits["hits"][0],
        "show": json.loads(run("show", id, "--json").stdout),
        "add": json.loads(run("add", "--json").stdout),
        "status": json.loads(run("status", "--json").stdout),
        "trust": json.loads(run("trust", "--json").stdout),
        "check": json.loads(run("check", "--json").stdout),
        "eval": json.loads(run("eval", "--count", "2", "--json").stdout),
        "list": json.loads(run("list", "--json").stdout),
        "models list": json.loads(run("models", "list", "--json").stdout),
    }

    with_a_server = {"pull", "push", "conflicts"}  # see test_cli_sync.py
    assert {name: set(answer) for name, answer in answers.items()} == {
        name: set(keys) for name, keys in JSON_KEYS.items() if name not in with_a_server
    }


def test_the_page_about_commands_is_what_the_commands_say() -> None:
    page = (ROOT / "docs/cli.md").read_text(encoding="utf-8")

    assert page.rstrip() == write_page().rstrip(), "python -m gossamer.cli.docs > docs/cli.md"


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from gossamer.cli import cli\n"
        "try: cli(['--help'])\n"
        "except SystemExit: pass\n"
        "print([name for name in ('numpy', 'onnxruntime', 'prompt_toolkit', 'rich')"
        " if name in sys.modules])"
    )

    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert said.stdout.splitlines()[-1] == "[]"


def test_a_closed_pipe_is_quiet(library: Path) -> None:
    environment = {**os.environ, "GOSSAMER_HOME": str(library / "home")}
    command = [sys.executable, "-m", "gossamer", "--help"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    process.wait()

    assert said == b""


def test_a_console_without_unicode_is_no_reason_to_stop(tmp_path: Path) -> None:
    environment = {**os.environ, "GOSSAMER_HOME": str(tmp_path), "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "gossamer", "status", "--index", "größe"]

    said = subprocess.run(command, capture_output=True, env=environment, check=False)

    assert said.returncode == 3
    assert b"gr??e" in said.stderr


class Terminal(io.StringIO):
    """Stands for a screen."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("width", [60, 100, 160])
def test_terminal_output_fits_the_width(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("NO_COLOR", "1")
    shown = Output()

    shown.line("word " * 100, indent=3)
    columns = [Column("name"), Column("number", is_number=True), Column("about", may_fold=True)]
    shown.table(columns, [("one", "1", "many words " * 30)])

    lines = re.sub(r"\x1b\[[0-9;]*m", "", screen.getvalue()).splitlines()
    assert max(map(len, lines)) <= width
    assert all(line.startswith("   word") for line in lines[:3])


def test_a_path_is_never_broken_by_a_line_end(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("TERM", "dumb")
    path = "a long path/" * 10

    Output().line("1. ", (path, "path"))

    assert path in screen.getvalue()


@given(st.text())
@example("\x1b[31mred\x1b[0m \x9b2J \u202eback\r\n")
def test_nothing_printed_moves_the_cursor(text: str) -> None:
    assert not set(output.printable(text)) & {*map(chr, range(9)), "\x1b", "\x9b", "\r", "\u202e"}


@given(
    st.lists(st.tuples(st.integers(0, 5000), st.integers(1, 40)), max_size=30),
)
def test_the_bar_never_goes_back_and_never_beyond_its_end(
    waves: list[tuple[int, int]],
) -> None:
    progress = UpdateProgress("embedding", bytes_total=sum(length for length, _ in waves))
    estimate = BytesEstimate()
    shown = [0.0]
    for length, chunks in waves:
        for _ in range(chunks):
            progress.chunks_embedded += 1
            shown.append(estimate.update(progress))
        progress.bytes_done += length
        progress.chunks_done += chunks
        shown.append(estimate.update(progress))

    assert shown == sorted(shown)
    assert shown[-1] <= progress.bytes_total


def test_numbers_are_said_as_people_say_them() -> None:
    assert [counted(1, "file"), counted(1234, "file")] == ["1 file", "1,234 files"]
    assert [size(999), size(12_345), size(999_999)] == ["999 B", "12.3 kB", "1 MB"]
    shares = [share(3100, 100_000), share(500_000, 100_000), share(1, 0), share(9000, 65_535)]
    assert shares == ["3.1 %", "500 %", "", ""]
    said = taken(2_690_000, 8_830_000, 36_000_000)
    assert said == "2.69 MB: 30 % of the text (8.83 MB), 7.5 % of the files on disk (36 MB)"
    assert taken(9000, 1000, 1200) == "9 kB for 1 kB of text"
    assert [duration(0.42), duration(192), duration(7500)] == ["0.4 s", "3 min 12 s", "2 h 05 min"]


def test_paths_below_the_current_folder_are_relative(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")

    assert near_path(str(tmp_path / "here" / "a" / "b.md")) == str(Path("a") / "b.md")
    assert near_path(str(tmp_path / "there.md")) == str(tmp_path / "there.md")
    assert near_path("an id") == "an id"


WORDS = [
    "lease",
    "leases",
    "due",
    "the",
    "rent",
    "Größe",
    "東京",
    "\n",
    "\n\n",
    "  ",
    ". ",
    "\t",
    "a",
]
TEXTS = st.one_of(st.text(), st.lists(st.sampled_from(WORDS), max_size=200).map(" ".join))


@given(TEXTS, st.sampled_from(["lease due", "Größe 東京", "", "rent a lease"]))
def test_a_snippet_is_a_small_part_of_its_text(text: str, question: str) -> None:
    snippet = choose_snippet(text, question, max_lines=3, max_characters=100)

    lines = snippet.text.split("\n")
    whole = " ".join(text.split())
    assert len(lines) <= 3
    assert len(snippet.text) <= 100 + len("… ") + len(" …")
    assert bool(snippet.text) == bool(text.strip())
    assert all(" ".join(line.strip("… ").split()) in whole for line in lines if "…" not in text)
    assert 0 <= snippet.first_line <= snippet.line < len(text.split("\n"))


@given(TEXTS, st.sampled_from(["lease due", "Größe 東京", "", "rent a lease"]))
def test_highlights_are_words_of_the_question(text: str, question: str) -> None:
    data = text.encode("utf-8", "replace")
    words = {data[a:b].decode("utf-8", "replace") for a, b in find_terms(data, question)}

    snippets = [choose_snippet(text, question, 3, 100), whole_snippet(text, question)]

    for snippet in snippets:
        ends = [0, *(place for span in snippet.highlights for place in span), len(snippet.text)]
        marked = {snippet.text[start:end] for start, end in snippet.highlights}
        assert ends == sorted(ends)
        # A word longer than the snippet is cut.
        assert all(any(part in word for word in words) for part in marked)
        assert bool(marked) == bool(words)


def test_the_snippet_is_where_the_words_of_the_question_are() -> None:
    text = "\n".join([*["Nothing to see here."] * 20, "The lease is due in March.", *["x"] * 5])

    snippet = choose_snippet(text, "when is the lease due")

    assert snippet.line == 20
    assert snippet.text == "Nothing to see here.\nThe lease is due in March.\nx"
    assert [snippet.text[start:end] for start, end in snippet.highlights] == ["lease", "due"]


def test_a_rare_word_draws_the_snippet_more_than_a_common_one() -> None:
    text = "\n\n".join(["The lease.", "A lease.", "This lease.", "And the deposit.", "Lease."])

    assert choose_snippet(text, "lease deposit", max_lines=1).text == "And the deposit."


def test_a_long_line_is_shown_in_part() -> None:
    text = "Filler goes here. " * 30 + "The lease is due in March. " + "More filler. " * 30

    snippet = choose_snippet(text, "lease due")

    before, found, after = snippet.text.partition("The lease is due in March.")
    assert found
    assert before.startswith("… Filler goes here.")
    assert after.endswith("More filler. …")
    assert abs(len(before) - len(after)) < 40


def test_code_keeps_its_shape_without_the_indentation_it_shares() -> None:
    text = "class A:\n    def pay(self):\n        self.rent += 1\n"

    assert (
        choose_snippet(text, "pay rent", max_lines=2).text == "def pay(self):\n    self.rent += 1"
    )


def test_records_of_hits_are_plain_data(run: Run) -> None:
    found = run("search", "--mode", "lexical", "lease", "due", "--json")
    hit = json.loads(found.stdout)["hits"][0]

    assert hit.pop("index") == "default"
    record = Hit(**hit)
    assert asdict(record) == hit
    assert (record.line, record.unit) == (7, "line")


def test_the_index_says_where_it_is_made(library: Path) -> None:
    assert (library / "home/indexes/default" / MANIFEST).is_file()
