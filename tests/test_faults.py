"""The whole product killed, starved and raced: an index is in one of its states, never between."""

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from faults import count_calls, failing_at, needs_fork, run_killed_at
from tiny_embedder import TinyEmbedder, use_tiny

from gossamer.errors import NoIndex, Unwritable
from gossamer.index import Index

# Kill points over all operations together. Beyond what the operations have calls for, as by hand
# with a thousand, there are further rounds with more files.
KILL_POINTS = int(os.environ.get("GOSSAMER_KILL_POINTS", "200"))
ROUNDS = 1 + KILL_POINTS // 400
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
        shutil.copytree(self.base, folder)
        return folder


def answers(folder: Path) -> Answers:
    """Ask everything in every mode."""
    index = Index.open(folder)
    found: Answers = []
    for mode in MODES:
        for question in QUESTIONS:
            hits = index.search(question, 20, mode=mode)
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
    calls = count_calls(lambda: operation.run(operation.copy("counted")))
    most = -(-KILL_POINTS // (ROUNDS * len(OPERATIONS)))

    for point in np.unique(np.linspace(1, calls, most).astype(int)).tolist():
        folder = operation.copy("killed")
        assert run_killed_at(point, lambda: operation.run(folder))  # noqa: B023

        assert errors_in(folder) == []
        assert answers(folder) in (operation.before, operation.after), f"killed at call {point}"
        operation.run(folder)
        assert answers(folder) == operation.after, f"killed at call {point} and repeated"
        assert Index.open(folder).check() == []


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
    with failing_at(10**9) as calls:
        operation.run(operation.copy("counted"))

    for point in range(1, calls[0] + 1):
        folder = operation.copy("full")
        with failing_at(point):
            error = error_of(operation, folder)

        assert error is None or "disk is full" in str(error), f"full at call {point}"
        expected = operation.after if error is None else operation.before
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
