"""Does the cited unit hold the best line of the snippet? Fifteen kinds of files."""

import re
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.embedding_cache import cached_minilm
from benchmarks.indexes import create_index, scratch_folder
from benchmarks.places.files import KINDS, Kind
from benchmarks.places.held import Held
from benchmarks.places.questions import best_lines, questions
from benchmarks.places.texts import Texts
from benchmarks.report import Result, Row, Skipped
from benchmarks.scale import FULL, SCALE, scaled
from gossamer.index import Index
from gossamer.records import Hit

TITLE = "does the cited unit hold the best line of the snippet: 50 questions a kind of file"
QUESTIONS = scaled(50, smoke=4, small=12)
# More are made: some have words of menus, and find nothing, or are answered by no one line.
SPARE = 4
K = 10
BAR = 1.0
# The numbers at the end of a location: 12, or 77-78.
NUMBERS = re.compile(r"(\d+)(?:-(\d+))?$")


@dataclass(frozen=True)
class Miss:
    """A citation that is wrong."""

    question: str
    cited: str
    best: list[str]


def run() -> Result:
    """Ask about the files of every kind, each in an index of its own."""
    rows: list[Row] = []
    details: dict[str, Any] = {}
    for number, (name, kind) in enumerate(KINDS.items()):
        try:
            asked, misses = _ask(name, kind, number)
        except Skipped as reason:
            details[name] = {"skipped": str(reason)}
            continue
        share = (asked - len(misses)) / asked
        rows.append(Row(f"{name}: right of {asked}", share, bar=BAR, at_least=True))
        details[name] = {
            "asked": asked,
            "from real files": kind.is_real,
            "wrong": [asdict(miss) for miss in misses],
        }
    if not rows:
        raise Skipped("no file of any kind could be had")
    return Result(rows, details)


def _ask(name: str, kind: Kind, seed: int) -> tuple[int, list[Miss]]:
    """Give how many questions found something, and the misses among them."""
    files = kind.files(Texts(seed))
    folder = scratch_folder(f"places-{name}")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for file, data in files.items():
        (folder / file).write_bytes(data)
    index = _index(f"places-index-{name}", folder)
    asked, misses = 0, []
    for path in sorted(folder.iterdir()):
        share = -(-QUESTIONS // len(files))
        found, wrong = _ask_about(index, path, kind.read(path), min(share, QUESTIONS - asked))
        asked += found
        misses += wrong
    return asked, misses


def _ask_about(index: Index, path: Path, held: Held, count: int) -> tuple[int, list[Miss]]:
    asked, misses = 0, []
    for question in questions(held, SPARE * count):
        hits = (hit for hit in index.search(question, K) if hit.path == str(path))
        hit = next((one for one in hits if held.has(one.key)), None)
        if hit is None or not (best := best_lines(hit.snippet, question)):
            continue
        asked += 1
        if not _is_right(hit, best, held):
            misses.append(Miss(question, hit.location.removeprefix(f"{path.parent}/"), best))
        if asked == count:
            break
    return asked, misses


def _is_right(hit: Hit, best: Sequence[str], held: Held) -> bool:
    """Whether the cited unit holds the best line, or one of those that are as good."""
    numbers = NUMBERS.search(hit.location)
    assert numbers is not None, hit.location
    first = int(numbers[1])
    last = int(numbers[2] or first)
    return any(held.holds(line, hit.key, first, last) for line in best)


def _index(name: str, folder: Path) -> Index:
    """The default model; smaller runs take the smallest, to be done in seconds."""
    place = scratch_folder(name)
    if SCALE == FULL:
        index = create_index(place, cached_minilm())
    else:
        index = Index.create(place, model="pocket")
    index.add_paths([folder])
    return index
