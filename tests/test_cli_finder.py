"""`gossamer` alone in a terminal: type and see."""

import asyncio
import base64
import io
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from click.testing import CliRunner
from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.utils import get_cwidth

from gossamer.cli import cli
from gossamer.cli.answers import Asked
from gossamer.cli.finder.finder import Context, Finder, passage_of
from gossamer.cli.finder.latest import Latest
from gossamer.cli.finder.lines import context_lines, hit_lines
from gossamer.cli.finder.screen import Screen
from gossamer.errors import Damaged
from gossamer.index import Index
from gossamer.store import begin

FILES = {
    "lease.md": "# Lease\n\nThe flat.\n\nThe lease is due in March.\n" + "More of it.\n" * 40,
    "洗濯機の場所.md": "洗濯機は地下室にあります。\n",
    "evil\x1b[31m.md": "The ferry \x1b[31m leaves \u202eat nine.\n",
}
DEADLINE_S = 60

Step = str | Callable[[], object]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    folder = tmp_path_factory.mktemp("finder")
    (folder / "notes").mkdir()
    for name, text in FILES.items():
        (folder / "notes" / name).write_text(text, encoding="utf-8")
    index = Index.create(folder / "index", model="pocket")
    index.add_paths([folder / "notes"])
    return index


@pytest.fixture
def finder(index: Index) -> Iterator[Finder]:
    finder = Finder(Asked("notes", index))
    yield finder
    finder.close()


class Terminal:
    """The screen of a finder, without a terminal."""

    def __init__(self, finder: Finder, columns: int = 80, rows: int = 24) -> None:
        self.finder = finder
        self.size = Size(rows, columns)
        self.written = io.StringIO()

    def use(self, *steps: Step, leave: str = "\x03") -> None:
        """Type texts and wait for what must come to hold, one after the other; leave by a key."""
        asyncio.run(self._use((*steps, leave)))

    async def _use(self, steps: tuple[Step, ...]) -> None:
        output = Vt100_Output(self.written, lambda: self.size, term="xterm", enable_cpr=False)
        with create_pipe_input() as keys:
            self.screen = Screen(self.finder, input=keys, output=output)
            self.application = self.screen.application
            running = asyncio.create_task(
                self.application.run_async(pre_run=self.screen.begin, set_exception_handler=False)
            )
            for step in steps:
                if isinstance(step, str):
                    keys.send_text(step)
                else:
                    await self._until(step, running)
            await asyncio.wait_for(running, DEADLINE_S)

    async def _until(self, holds: Callable[[], object], running: asyncio.Task[None]) -> None:
        async with asyncio.timeout(DEADLINE_S):
            while not running.done() and not holds():
                await asyncio.sleep(0.005)

    @property
    def lines(self) -> list[str]:
        """What is drawn."""
        drawn = self.application.renderer.last_rendered_screen
        if drawn is None:
            return []
        return [
            "".join(drawn.data_buffer[y][x].char for x in range(self.size.columns)).rstrip()
            for y in range(self.size.rows)
        ]

    def shows(self, text: str) -> Callable[[], bool]:
        return lambda: any(text in line for line in self.lines)

    def is_done(self) -> bool:
        """Whether meaning was looked for too."""
        return bool(self.finder.hits) and not self.finder.is_searching


def test_words_are_found_as_one_types_and_meaning_follows(finder: Finder) -> None:
    terminal, modes = Terminal(finder), []
    index = finder.asked.index

    class Watched:
        def search(self, question: str, k: int, *, mode: str, update: str) -> object:
            modes.append((question, mode))
            return index.search(question, k, mode=mode, update=update)

        def __getattr__(self, name: str) -> object:
            return getattr(index, name)

    finder.asked = Asked("notes", Watched())  # type: ignore[arg-type]
    terminal.use("lease due", terminal.is_done, terminal.shows("The lease is due in March."))

    assert modes.index(("lease due", "lexical")) < modes.index(("lease due", "hybrid"))
    assert finder.hits[0].ranks.keys() == {"semantic", "lexical"}
    assert finder.chosen is None


@pytest.mark.parametrize(("columns", "rows"), [(40, 10), (80, 24), (100, 16), (200, 60)])
def test_it_fits_the_screen(finder: Finder, columns: int, rows: int) -> None:
    terminal = Terminal(finder, columns, rows)
    drawn: list[list[str]] = []

    terminal.use(
        "lease due",
        terminal.is_done,
        terminal.shows("lease.md:5"),
        *([terminal.shows("The flat.")] if rows >= 16 else []),
        lambda: drawn.append(terminal.lines) or True,
    )

    (lines,) = drawn
    assert lines[0] == "> lease due"
    assert lines[-1].startswith("Enter open")
    assert sum("lease.md:5" in line for line in lines) == 1
    assert ("│" in lines[3]) == (columns >= 100)


def test_it_follows_a_change_of_the_size(finder: Finder) -> None:
    terminal = Terminal(finder, 60, 24)

    def widen() -> bool:
        terminal.size = Size(24, 160)
        terminal.application._on_resize()
        return True

    terminal.use("lease due", terminal.is_done, widen, terminal.shows("│"))


def test_wide_characters_take_two_columns(finder: Finder) -> None:
    terminal = Terminal(finder, 44, 12)

    terminal.use("洗濯機", terminal.is_done, terminal.shows("> "), terminal.shows("所.md:1"))


def test_arrows_move_and_enter_chooses(finder: Finder) -> None:
    terminal = Terminal(finder)

    terminal.use("lease due", terminal.is_done, "\x1b[B", lambda: finder.place == 1, "\x0e")
    assert finder.place == 2
    terminal = Terminal(finder)
    terminal.use("\x10", lambda: finder.place == 1, "\r")

    assert finder.chosen == finder.hits[1]


def test_control_y_copies_the_place(finder: Finder, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal(finder)
    monkeypatch.chdir(Path(finder.asked.index.folder).parent)

    terminal.use("lease due", terminal.is_done, "\x19", lambda: finder.copied)

    coded = base64.b64encode(b"notes/lease.md:5").decode()
    assert finder.copied == "notes/lease.md:5"
    assert f"\x1b]52;c;{coded}\x07" in terminal.written.getvalue()


def test_escape_quits_at_once_and_question_mark_helps(finder: Finder) -> None:
    terminal = Terminal(finder)

    terminal.use(
        "?", terminal.shows("narrow a search"), "?", "a?", terminal.shows("> a?"), leave="\x1b"
    )


def test_no_text_of_a_file_moves_the_cursor(finder: Finder) -> None:
    terminal = Terminal(finder, 120, 30)

    terminal.use(
        "ferry leaves nine", terminal.is_done, terminal.shows("evil\\x1b[31m.md"), finder.copy
    )

    assert "\x1b[31m" not in terminal.written.getvalue()
    assert "\u202e" not in terminal.written.getvalue()
    assert finder.copied.endswith("evil\\x1b[31m.md:1")


def test_a_title_and_a_text_of_any_length_are_cut(finder: Finder) -> None:
    hit = replace(finder.asked.index.search("lease due")[0], title="洗" * 100_000)
    long = Context(passage_of(hit), "b" * 4000, hit.snippet + "c\n" * 500_000, "")

    first, _, _ = "".join(text for _, text in hit_lines(hit, True, 60)).split("\n")

    assert get_cwidth(first) == 60
    assert "…" in first
    shown = "".join(text for _, text in context_lines(long, hit))
    assert hit.snippet.splitlines()[0] in shown
    assert len(shown) == 10_000


def test_a_text_begins_with_a_whole_word(finder: Finder) -> None:
    hit = replace(finder.asked.index.search("lease due")[0], answer=(603, 610))

    shown = "".join(text for _, text in context_lines(Context((), "", "wonderful " * 90, ""), hit))

    assert shown == "wonderful " * 53


def test_a_text_without_spaces_begins_somewhere(finder: Finder) -> None:
    hit = replace(finder.asked.index.search("lease due")[0], answer=(600, 610))

    shown = "".join(text for _, text in context_lines(Context((), "", "洗" * 900, ""), hit))

    assert shown == "洗" * 540


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    path = tmp_path / "notes" / "tide.md"
    path.parent.mkdir()
    path.write_text("The tide turns at noon.\n", encoding="utf-8")
    return path


@pytest.fixture
def own(notes: Path) -> Iterator[Finder]:
    """A finder over notes that the test may change."""
    index = Index.create(notes.parent.parent / "index", model="pocket")
    index.add_paths([notes.parent])
    finder = Finder(Asked("own", index))
    yield finder
    finder.close()


def test_a_file_that_was_edited_is_found_with_what_it_says_now(own: Finder, notes: Path) -> None:
    terminal = Terminal(own)
    notes.write_text("The tide turns at noon.\n\nThe gannet dives.\n", encoding="utf-8")

    terminal.use("gannet dives", terminal.is_done, terminal.shows("tide.md:3"))

    assert own.hits[0].is_indexed
    assert "run `gossamer add`" not in own.status


def test_what_cannot_be_brought_up_to_date_is_shown_and_chosen_too(
    own: Finder, notes: Path
) -> None:
    terminal = Terminal(own)
    notes.write_text("The gannet dives.\n\n" + "It eats.\n" * 300, encoding="utf-8")
    with begin(Path(own.asked.index.folder), "add"):
        terminal.use("gannet dives", terminal.is_done, terminal.shows("It eats."), leave="\r")

    assert own.chosen is not None
    assert (own.chosen.id, own.chosen.line) == (0, 1)


def test_where_all_is_weak_it_is_said_that_nothing_is_close(finder: Finder) -> None:
    terminal = Terminal(finder, 100)

    terminal.use("quarterly dividend forecast", terminal.is_done, terminal.shows("nothing close"))
    terminal.use("\x15lease due March", lambda: finder.question == "lease due March")

    assert "nothing close" not in finder.status


def test_help_gives_way_to_what_is_typed(finder: Finder) -> None:
    terminal = Terminal(finder)

    terminal.use("?", terminal.shows("narrow a search"), "lease due", terminal.shows("lease.md:5"))


def test_what_is_pasted_becomes_one_line(finder: Finder) -> None:
    terminal = Terminal(finder)

    terminal.use("\x1b[200~lease\r\n\tdue\n\x1b[201~", terminal.shows("> lease due"))

    assert finder.question == "lease due"


def test_without_colours_none_are_written(finder: Finder, monkeypatch: pytest.MonkeyPatch) -> None:
    def colours() -> bool:
        terminal = Terminal(finder)
        terminal.use("\x15lease due", terminal.is_done, terminal.shows("lease.md"))
        return any(f";3{n}" in terminal.written.getvalue() for n in range(1, 8))

    monkeypatch.delenv("NO_COLOR", raising=False)
    assert colours()
    monkeypatch.setenv("NO_COLOR", "1")
    assert not colours()


def test_an_answer_that_comes_late_is_dropped(finder: Finder, index: Index) -> None:
    begun, may_go_on = Event(), Event()

    class Slow:
        def search(self, question: str, k: int, **options: Any) -> object:
            if question == "ferry":
                begun.set()
                assert may_go_on.wait(DEADLINE_S)
            return index.search(question, k, **options)

        def __getattr__(self, name: str) -> object:
            return getattr(index, name)

    finder.asked = Asked("notes", Slow())  # type: ignore[arg-type]
    seen: list[str] = []
    terminal = Terminal(finder)

    def note() -> bool:
        if finder.answer is not None:
            seen.append(finder.answer.found.question)
        return terminal.is_done() and finder.question == "lease"

    terminal.use("ferry", begun.is_set, "\x15lease", lambda: may_go_on.set() or True, note)

    assert set(seen) == {"lease"}


def test_what_fails_is_said_and_typing_goes_on(finder: Finder, index: Index) -> None:
    class Broken:
        def search(self, question: str, k: int, **options: Any) -> object:
            if question == "ferry":
                raise Damaged("the words are\ndamaged")
            return index.search(question, k, **options)

        def __getattr__(self, name: str) -> object:
            return getattr(index, name)

    finder.asked = Asked("notes", Broken())  # type: ignore[arg-type]
    terminal = Terminal(finder)

    terminal.use(
        "ferry",
        terminal.shows("the words are damaged"),
        "\x15lease due",
        terminal.shows("lease.md"),
    )

    assert finder.hits


@pytest.mark.parametrize("name", ["search", "context"])
def test_a_fault_of_ours_ends_it_with_the_terminal_as_it_was(
    finder: Finder, index: Index, name: str
) -> None:
    class Faulty:
        def __getattr__(self, asked: str) -> object:
            def fail(*_: object, **__: object) -> None:
                raise ZeroDivisionError("a fault")

            return fail if asked == name else getattr(index, asked)

    finder.asked = Asked("notes", Faulty())  # type: ignore[arg-type]
    terminal = Terminal(finder)

    with pytest.raises(ZeroDivisionError):
        terminal.use("lease due", lambda: False)

    assert terminal.written.getvalue().rindex("\x1b[?1049l") > 0


def test_the_last_thing_that_was_asked_is_done_once() -> None:
    done: list[int] = []
    begun, may_end = Event(), Event()

    def work(what: int) -> None:
        done.append(what)
        begun.set()
        may_end.wait(DEADLINE_S)

    latest = Latest(work, 0)
    latest.ask(1)
    assert begun.wait(DEADLINE_S)
    for what in range(2, 9):
        latest.ask(what)
    begun.clear()
    may_end.set()
    assert begun.wait(DEADLINE_S)
    latest.close()

    assert done == [1, 8]


def test_without_a_terminal_there_is_help() -> None:
    found = CliRunner().invoke(cli, [])

    assert found.exit_code == 2
    assert found.output.startswith("Usage: ")


@pytest.mark.skipif(os.name != "posix", reason="there are no such terminals")
class TestInATerminal:
    @pytest.fixture
    def terminal(self, tmp_path: Path) -> Iterator[dict[str, Any]]:
        import pty

        home, notes = tmp_path / "home", tmp_path / "notes"
        notes.mkdir()
        (notes / "lease.md").write_text(FILES["lease.md"], encoding="utf-8")
        environment = {
            **os.environ,
            "GOSSAMER_HOME": str(home),
            "TERM": "xterm",
            "EDITOR": "echo opened",
        }
        environment.pop("GOSSAMER_INDEX", None)
        environment.pop("VISUAL", None)
        gossamer = [sys.executable, "-m", "gossamer"]
        subprocess.run([*gossamer, "add", notes, "--model", "pocket"], env=environment, check=True)
        ours, theirs = pty.openpty()
        yield {"ours": ours, "theirs": theirs, "command": gossamer, "environment": environment}
        os.close(ours)
        os.close(theirs)

    def start(self, terminal: dict[str, Any]) -> subprocess.Popen[bytes]:
        theirs = terminal["theirs"]
        return subprocess.Popen(
            terminal["command"],
            env=terminal["environment"],
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )

    def read_until(self, terminal: dict[str, Any], text: bytes) -> bytes:
        """Read what is written until that was."""
        seen = b""
        while text not in seen:
            seen += os.read(terminal["ours"], 1 << 16)
        return seen

    def test_enter_opens_what_was_found(self, terminal: dict[str, Any]) -> None:
        process = self.start(terminal)
        self.read_until(terminal, b"type a question")
        os.write(terminal["ours"], b"lease due")
        self.read_until(terminal, b"lease.md:5")
        os.write(terminal["ours"], b"\r")

        said = self.read_until(terminal, b"opened /")

        assert process.wait(DEADLINE_S) == 0
        assert b"\x1b[?1049l" in said

    def test_it_ends_at_once_while_a_search_goes_on(self, terminal: dict[str, Any]) -> None:
        # As while a model is loaded: Python waits for such a thread when it ends.
        endless = (
            "import gossamer.cli, os\n"
            "from concurrent.futures import ThreadPoolExecutor\n"
            "from threading import Event\n"
            "from gossamer.index import Index\n"
            "def search_on(*given, **options):\n"
            "    os.write(1, b'has begun')\n"
            "    ThreadPoolExecutor(1).submit(Event().wait).result()\n"
            "Index.search = search_on\n"
            "gossamer.cli.main()\n"
        )
        terminal["command"] = [sys.executable, "-c", endless]
        process = self.start(terminal)
        self.read_until(terminal, b"type a question")
        os.write(terminal["ours"], b"lease due")
        self.read_until(terminal, b"has begun")
        os.write(terminal["ours"], b"\x03")
        self.read_until(terminal, b"\x1b[?1049l")

        assert process.wait(DEADLINE_S) == 0

    def test_a_signal_leaves_the_terminal_as_it_was(self, terminal: dict[str, Any]) -> None:
        import termios

        before = termios.tcgetattr(terminal["theirs"])
        process = self.start(terminal)
        self.read_until(terminal, b"type a question")
        assert termios.tcgetattr(terminal["theirs"]) != before
        process.send_signal(signal.SIGTERM)

        self.read_until(terminal, b"\x1b[?1049l")

        assert process.wait(DEADLINE_S) == 128 + signal.SIGTERM
        assert termios.tcgetattr(terminal["theirs"]) == before

    def test_without_an_index_it_says_how_to_make_one(
        self, terminal: dict[str, Any], tmp_path: Path
    ) -> None:
        terminal["environment"]["GOSSAMER_HOME"] = str(tmp_path / "new")
        process = self.start(terminal)

        said = self.read_until(terminal, b"--help")

        assert process.wait(DEADLINE_S) == 3
        assert b"`gossamer add FOLDER`" in said.replace(b"\r\n", b" ")
