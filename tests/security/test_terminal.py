"""What others wrote never moves the cursor, colours the screen or turns the text in a terminal."""

import contextlib
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import example, given
from hypothesis import strategies as st

from gossamer import Index
from gossamer.cli import cli, output
from gossamer.cli.output import Column, Output
from gossamer.cli.progress import show_steps

pty = pytest.importorskip("pty", reason="there are no such terminals here")

# A title of the window, a colour, C1 controls, a bell, turned text, an isolate, a line end.
HOSTILE = "a\x1b]0;owned\x07\x1b[31m\x9b2J\x90q\x7f\u202egnp\u202c\u2066x\u2069\u2028b[/red]"
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
NAME = HOSTILE.replace("/", "") + ".txt"


class Terminal(io.StringIO):
    """Stands for a screen."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def open_screen(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Give what a person sees from now on of standard output and standard error."""
    found = Terminal()
    for stream in ("stdout", "stderr"):
        monkeypatch.setattr(sys, stream, found)
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("COLUMNS", "500")
    return found


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of a file and a text whose names and words are hostile."""
    folder = tmp_path_factory.mktemp("hostile")
    notes = os.fsencode(folder / "notes")
    os.mkdir(notes)
    for name in (os.fsencode(NAME), b"bad \xff\x9b name.txt"):
        with open(os.path.join(notes, name), "w", encoding="utf-8") as file:
            file.write(f"Kelp is no plant. {HOSTILE}\n")
    index = Index.create(folder / "index", model="pocket")
    index.add_paths([folder / "notes"])
    index.add_texts([{"id": HOSTILE, "text": f"Kelp {HOSTILE}", "metadata": {"by": HOSTILE}}])
    return folder / "index"


def run(index: Path, *arguments: str, is_terminal: bool) -> str:
    """Run a command of gossamer's; give all that it says on both streams, or on the first."""
    environment = {
        **os.environ,
        **{"GOSSAMER_INDEX": str(index), "GOSSAMER_HOME": str(index.parent / "home")},
        **{"TERM": "dumb", "COLUMNS": "300", "PYTHONIOENCODING": "utf-8"},
    }
    command = [sys.executable, "-m", "gossamer", *arguments]
    if not is_terminal:
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=False)
        return done.stdout.decode("utf-8")
    ours, theirs = pty.openpty()
    try:
        with subprocess.Popen(
            command, env=environment, stdin=theirs, stdout=theirs, stderr=theirs
        ) as process:
            os.close(theirs)
            said = bytearray()
            with contextlib.suppress(OSError):  # which is how a terminal says that it is closed
                while block := os.read(ours, 1 << 16):
                    said += block
            process.wait()
    finally:
        os.close(ours)
    return said.decode("utf-8").replace("\r\n", "\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ("search", "kelp", "-k", "5"),
        ("search", "kelp", "-k", "5", "--json"),
        ("search", "kelp", "-k", "5", "--format", "vimgrep"),
        ("search", "kelp", "-k", "5", "-l"),
        ("open", "--id", "1", "--print"),
        ("search", "kelp", "--where", HOSTILE),
        ("search", "kelp", "--where", HOSTILE, "--json"),
        ("similar", "1", "--json"),
        ("show", "1"),
        ("show", "1", "--json"),
        ("status",),
        ("status", "--json"),
        ("check", "--json"),
        ("add", NAME),
        ("add", f"-{NAME}"),
        ("remove", NAME),
        ("show", "1", NAME),
        ("export", "--site", NAME, NAME, NAME),
        (NAME,),
        ("models", "use", HOSTILE),
    ],
    ids=lambda arguments: " ".join(arguments).replace(HOSTILE, "X").replace(NAME, "N"),
)
def test_no_command_writes_what_a_terminal_obeys(index: Path, arguments: tuple[str, ...]) -> None:
    said = run(index, *arguments, is_terminal=True)

    assert said.strip()
    assert OBEYED.findall(said) == []


def test_json_in_a_terminal_is_the_json_of_a_pipe(index: Path) -> None:
    seen, piped = (
        json.loads(run(index, "search", "kelp", "--json", is_terminal=is_terminal))["hits"]
        for is_terminal in (True, False)
    )

    assert f"{HOSTILE}:1" in [hit["location"] for hit in seen]
    assert seen == piped


# As undecodable bytes of a file's name come to a program.
any_text = st.text(st.characters() | st.sampled_from("\x1b\x9b\u202e\u2066\u2028\x7f\udc80\udcff"))


@given(text=any_text)
@example(text=HOSTILE)
def test_json_keeps_its_content_and_obeys_nothing(text: str) -> None:
    record = {"text": text, text: [text, 1, None]}

    with pytest.MonkeyPatch.context() as patch:
        screen = Terminal()
        patch.setattr(sys, "stdout", screen)
        Output().json(record)

    assert json.loads(screen.getvalue()) == record
    assert OBEYED.findall(screen.getvalue()) == []


def test_json_in_a_pipe_stays_readable(monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    monkeypatch.setattr(sys, "stdout", pipe)

    Output().json({"name": "Größe \u202e \x9b"})

    pipe.seek(0)
    assert "Größe \u202e \x9b" in pipe.read()


def test_an_ascii_terminal_obeys_nothing_either(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = open_screen(monkeypatch)
    monkeypatch.setattr(Terminal, "encoding", "ascii")

    Output().json({"name": HOSTILE})

    assert screen.getvalue().isascii()
    assert OBEYED.findall(screen.getvalue()) == []


@given(text=any_text)
@example(text=HOSTILE)
def test_nothing_that_is_printed_is_obeyed(text: str) -> None:
    assert OBEYED.findall(output.printable(text)) == []


def test_errors_notes_lines_and_tables_are_harmless(monkeypatch: pytest.MonkeyPatch) -> None:
    screen, shown = open_screen(monkeypatch), Output()

    shown.error(HOSTILE)
    shown.note(HOSTILE, (HOSTILE, "path"))
    shown.line(HOSTILE, (HOSTILE, "path"), indent=2)
    shown.table([Column(HOSTILE), Column("b", may_fold=True)], [(HOSTILE, HOSTILE)])

    assert screen.getvalue().count("owned") == 8
    assert OBEYED.findall(screen.getvalue()) == []


def test_a_bar_shows_names_harmlessly_and_on_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = open_screen(monkeypatch)
    monkeypatch.setenv("TERM", "xterm")  # on others no bar is drawn
    monkeypatch.setenv("NO_COLOR", "1")
    with show_steps(Output()) as step:
        assert step is not None
        step(f"downloading {HOSTILE}\nsecond line", 1, 2)
        step("done [/red] [bold]", 2, 2)

    # Its own: hide the cursor, go up, clear the line.
    seen = re.sub(r"\x1b\[(\?25[lh]|1A|2K)|\r", "", screen.getvalue())
    assert "done [/red] [bold]" in seen
    assert OBEYED.findall(seen) == []


def test_wrong_usage_names_files_harmlessly() -> None:
    for arguments in (["show", "1", NAME], [NAME], ["add", f"-{NAME}"], [f"--{NAME}"]):
        said = CliRunner().invoke(cli, arguments)

        assert said.exit_code == 2
        assert OBEYED.findall(said.output) == []
