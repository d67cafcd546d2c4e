"""The whole product killed, starved and raced: an index is in one of its states, never between."""

import errno
import os
import shutil
import signal
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from copies import copy_index
from faults import count_calls, failing_at, needs_fork, run_killed_at
from tiny_embedder import TinyEmbedder, use_tiny

from gossamer.errors import Locked, NoIndex, Unwritable
from gossamer.index import Index
from gossamer.records import Hit

# Kill points over all operations together; with more of them, such as a thousand by hand, there
# are rounds with other points and more files.
KILL_POINTS = int(os.environ.get("GOSSAMER_KILL_POINTS", "200"))
ROUNDS = 1 + KILL_POINTS // 250
MODES = ("hybrid", "semantic", "lexical")
QUESTIONS = ("whale in the sea", "when is the lease due")

Answers = list[tuple[str, str, float | None]]

PAGE = "<html><title>Page</title><body><h1>Harbour</h1><p>{}</p></body></html>"
FILES = {
    "a.md": "# Whales\n\nA whale swims in the sea.\n\n# Leases\n\nThe lease is due in May.\n",
    "b.txt": "The sea is deep and a lease is long.\n",
    "page.html": PAGE.format("Every whale in the harbour pays a lease."),
    "code.py": "def lease(due):\n    return due + 1\n",
    "data.csv": "animal,place\nwhale,sea\nseal,harbour\n",
}


@pytest.fixture(scope="module", autouse=True)
def embedder() -> Iterator[TinyEmbedder]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        # Many small steps, so that there are many moments between them.
        monkeypatch.setattr("gossamer.update.apply._JOURNALED_AT_ONCE", 1)
        chosen = use_tiny(monkeypatch, with_codes=True)
        assert isinstance(chosen, TinyEmbedder)
        yield chosen


@dataclass(frozen=True)
class Operation:
    """Something that changes an index, and the answers before and after it."""

    base: Path  # the index as it was
    run: Callable[[Path], object]
    before: Answers
    after: Answers

    def copy(self, name: str) -> Path:
        """Give another index in the same state as the base."""
        folder = self.base.with_name(name)
        shutil.rmtree(folder, ignore_errors=True)
        return copy_index(self.base, folder)


def answers(folder: Path) -> Answers:
    """Ask everything in every mode."""
    index = Index.open(folder)
    found: Answers = []
    for mode in MODES:
        for question in QUESTIONS:
            # An index of words that is made anew later gives places, texts that are read give
            # scores: what is ranked again by them may differ until then.
            hits = index.search(question, 20, mode=mode, rerank="none")
            found += [(hit.location, hit.text, hit.distance) for hit in hits]
    return found


def errors_in(folder: Path) -> list[str]:
    return [one.what for one in Index.open(folder).check() if one.severity == "error"]


def write_files(folder: Path, round: int) -> None:
    folder.mkdir(exist_ok=True)
    more = {f"more{n}.txt": f"Lease {n} of {round}.\n" for n in range(9 * round)}
    for name, text in (FILES | more).items():
        (folder / name).write_text(text, encoding="utf-8")


def make_index(tmp_path: Path, round: int = 0, **options: object) -> Path:
    write_files(tmp_path / "files", round)
    index = Index.create(tmp_path / "base", model="tiny", **options)  # type: ignore[arg-type]
    index.add_paths([tmp_path / "files"])
    index.add_texts([{"id": "note", "text": "A whale of a lease."}])
    return index.folder


def change_files(folder: Path) -> None:
    (folder / "a.md").write_text(FILES["a.md"].replace("May", "June"), encoding="utf-8")
    (folder / "page.html").write_text(PAGE.format("No whale pays."), encoding="utf-8")
    (folder / "new.md").write_text("# New\n\nA new whale, a new lease.\n", encoding="utf-8")
    (folder / "b.txt").unlink()
    (folder / "code.py").rename(folder / "moved.py")


Made = tuple[Path, Callable[[Path], object]]  # an index, and what is to be done to one like it


def first_add(tmp_path: Path, round: int) -> Made:
    write_files(tmp_path / "files", round)
    Index.create(tmp_path / "base", model="tiny")
    return tmp_path / "base", lambda folder: Index.open(folder).add_paths([tmp_path / "files"])


def update(tmp_path: Path, round: int) -> Made:
    base = make_index(tmp_path, round)
    change_files(tmp_path / "files")
    return base, lambda folder: Index.open(folder).add_paths()


def update_with_hot_vectors_and_texts(tmp_path: Path, round: int) -> Made:
    base = make_index(tmp_path, round, keep="hot:1MB", store_text=True)
    change_files(tmp_path / "files")
    return base, lambda folder: Index.open(folder).add_paths()


def update_with_word_index(tmp_path: Path, round: int) -> Made:
    base = make_index(tmp_path, round, lexical="fts5")
    change_files(tmp_path / "files")
    return base, lambda folder: Index.open(folder).add_paths()


def add_of_texts(tmp_path: Path, round: int) -> Made:
    texts = [{"id": "note", "text": "Another whale."}, {"id": "more", "text": "A due lease."}]
    return make_index(tmp_path, round), lambda folder: Index.open(folder).add_texts(texts)


def removal(tmp_path: Path, round: int) -> Made:
    names = [tmp_path / "files" / "a.md", tmp_path / "files" / "page.html"]
    return make_index(tmp_path, round), lambda folder: Index.open(folder).remove(names)


def removal_of_everything(tmp_path: Path, round: int) -> Made:
    names = [tmp_path / "files", "note"]
    return make_index(tmp_path, round), lambda folder: Index.open(folder).remove(names)


def compaction(tmp_path: Path, round: int) -> Made:
    base = make_index(tmp_path, round)
    Index.open(base).remove([tmp_path / "files" / "page.html"])
    return base, lambda folder: Index.open(folder).compact()


OPERATIONS = (
    first_add,
    update,
    update_with_hot_vectors_and_texts,
    update_with_word_index,
    add_of_texts,
    removal,
    removal_of_everything,
    compaction,
)


@pytest.fixture(params=OPERATIONS, ids=lambda make: make.__name__)
def make(request: pytest.FixtureRequest) -> Callable[[Path, int], Made]:
    return request.param


def prepare(make: Callable[[Path, int], Made], tmp_path: Path, round: int = 0) -> Operation:
    base, run = make(tmp_path, round)
    operation = Operation(base, run, [], [])
    before = answers(operation.copy("before"))
    run(operation.copy("after"))
    return Operation(base, run, before, answers(base.with_name("after")))


@needs_fork
@pytest.mark.parametrize("round", range(ROUNDS))
def test_killed_at_any_moment_an_index_answers_as_before_or_as_after(
    make: Callable[[Path, int], Made], round: int, tmp_path: Path
):
    operation = prepare(make, tmp_path, round)
    counted = operation.copy("counted")
    calls = count_calls(lambda: operation.run(counted))
    most = -(-KILL_POINTS // (ROUNDS * len(OPERATIONS)))

    for point in (1 + np.random.default_rng(round).permutation(calls)[:most]).tolist():
        folder = operation.copy("killed")
        assert run_killed_at(point, lambda: operation.run(folder))  # noqa: B023

        assert errors_in(folder) == []
        assert answers(folder) in (operation.before, operation.after), f"killed at call {point}"
        operation.run(folder)
        assert answers(folder) == operation.after, f"killed at call {point} and repeated"
        assert errors_in(folder) == []


@needs_fork
def test_an_index_killed_while_it_is_created_is_not_there_or_empty(tmp_path: Path):
    folder = tmp_path / "index"
    calls = count_calls(lambda: Index.create(tmp_path / "counted", model="tiny"))

    for point in range(1, calls + 1):
        shutil.rmtree(folder, ignore_errors=True)
        assert run_killed_at(point, lambda: Index.create(folder, model="tiny"))

        try:
            index = Index.open(folder)
        except NoIndex:
            index = Index.create(folder, model="tiny")
        assert index.check() == []
        assert list(index.search("whale")) == []


def test_a_full_disk_at_any_write_is_named_and_leaves_the_old_state(
    make: Callable[[Path, int], Made], tmp_path: Path
):
    operation = prepare(make, tmp_path)
    counted = operation.copy("counted")
    with failing_at(10**9) as calls:
        operation.run(counted)

    for point in range(1, calls[0] + 1):
        folder = operation.copy("full")
        with failing_at(point):
            error = error_of(operation, folder)

        is_made = error is None or "is made" in str(error)
        assert is_made or "disk is full" in str(error), f"full at call {point}"
        expected = operation.after if is_made else operation.before
        assert answers(folder) == expected, f"full at call {point}"
        assert errors_in(folder) == []
        operation.run(folder)
        assert answers(folder) == operation.after


def error_of(operation: Operation, folder: Path) -> Unwritable | None:
    """Give the error of an operation; None if it did without what failed."""
    try:
        operation.run(folder)
    except Unwritable as error:
        return error
    return None


def test_a_read_only_folder_is_named_and_can_still_be_searched(
    make: Callable[[Path, int], Made], tmp_path: Path
):
    operation = prepare(make, tmp_path)
    folder = operation.copy("read-only")

    with failing_at(1, errno.EROFS):
        found = answers(folder)
        with pytest.raises(Unwritable, match="read-only"):
            operation.run(folder)

    assert found == operation.before
    assert answers(folder) == operation.before
    assert Index.open(folder).check() == []


@needs_fork
def test_what_was_embedded_before_a_kill_is_not_embedded_again(
    tmp_path: Path, embedder: TinyEmbedder, monkeypatch: pytest.MonkeyPatch
):
    write_files(tmp_path / "files", round=2)
    index = Index.create(tmp_path / "index", model="tiny")
    whole = Index.create(tmp_path / "whole", model="tiny")
    total = whole.add_paths([tmp_path / "files"]).chunks_embedded
    dying = TinyEmbedder(before=KillAt(8))

    def add_and_die() -> None:
        use_tiny(monkeypatch, with_codes=True, embedder=dying)
        Index.open(index.folder).add_paths([tmp_path / "files"])

    assert run_killed_at(10**9, add_and_die)
    embedder.embedded.clear()
    report = index.add_paths([tmp_path / "files"])

    assert (report.chunks_resumed, report.chunks_embedded) == (7, total - 7)
    assert len(embedder.embedded) == total - 7
    assert answers(index.folder) == answers(whole.folder)
    assert index.check() == []


class KillAt:
    """Kills the process at the n-th batch of texts."""

    def __init__(self, batch: int) -> None:
        self._left = batch

    def __call__(self, _: Sequence[str]) -> None:
        self._left -= 1
        if not self._left:
            os.kill(os.getpid(), signal.SIGKILL)


@needs_fork
def test_of_two_writers_one_is_told_who_the_other_is_and_nothing_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    index = Index.create(tmp_path / "index", model="tiny")
    inside, has_entered = os.pipe()
    may_leave, leave = os.pipe()

    def wait(_: Sequence[str]) -> None:
        os.write(has_entered, b"1")
        os.read(may_leave, 1)

    def add_slowly() -> None:
        use_tiny(monkeypatch, with_codes=True, embedder=TinyEmbedder(before=wait))
        Index.open(index.folder).add_texts([{"id": "slow", "text": "A slow whale."}])

    child = start(add_slowly)
    os.read(inside, 1)
    with pytest.raises(Locked, match=f"process {child} .*add"):
        index.add_texts([{"id": "fast", "text": "A fast whale."}])
    with pytest.raises(Locked):
        index.remove(["slow"])
    os.write(leave, b"1")
    assert finish(child) == 0
    index.add_texts([{"id": "fast", "text": "A fast whale."}])

    assert {hit.source for hit in index.search("whale")} == {"slow", "fast"}
    assert index.check() == []


@needs_fork
def test_writers_that_wait_for_each_other_lose_nothing(tmp_path: Path):
    folder = Index.create(tmp_path / "index", model="tiny").folder

    def add(writer: int) -> None:
        for number in range(4):
            text = {"id": f"{writer}/{number}", "text": f"Whale {number} of {writer}."}
            Index.open(folder).add_texts([text], wait_s=60)

    children = [start(partial(add, writer)) for writer in range(3)]

    assert [finish(child) for child in children] == [0, 0, 0]
    hits = Index.open(folder).search("whale", 100)
    assert {hit.source for hit in hits} == {f"{w}/{n}" for w in range(3) for n in range(4)}
    assert Index.open(folder).check() == []


@needs_fork
@pytest.mark.parametrize("lexical", ["scan", "fts5"])
def test_a_reader_sees_whole_states_only_while_another_process_commits(
    tmp_path: Path, lexical: str
):
    index = Index.create(tmp_path / "index", model="tiny", lexical=lexical)

    def put(version: int) -> None:
        names = ("a", "b", "c")
        texts = [{"id": name, "text": f"Whale {name}, state{version}."} for name in names]
        writing = Index.open(index.folder)
        writing.add_texts(texts)
        if version % 5 == 0:
            writing.compact()

    put(0)
    child = start(lambda: [put(version) for version in range(1, 20)])
    versions: list[int] = []
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        for reader in (index, Index.open(index.folder)):
            versions += [version_of(reader.search("whale", mode=mode)) for mode in MODES]
    versions.append(version_of(index.search("whale")))

    assert versions == sorted(versions)
    assert versions[-1] == 19
    assert len(set(versions)) > 1
    assert index.check() == []


def version_of(hits: Sequence[Hit]) -> int:
    """Give the one state that all hits are of."""
    (version,) = {int(hit.text.rstrip(".").rpartition("state")[2]) for hit in hits}
    assert {hit.source for hit in hits} == {"a", "b", "c"}
    return version


def start(function: Callable[[], object]) -> int:
    """Run a function in a child process; give its number."""
    with warnings.catch_warnings():
        # Newer Pythons warn of forks beside threads; ours only wait.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child:
        return child
    try:
        function()
        os._exit(0)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)


def finish(child: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
