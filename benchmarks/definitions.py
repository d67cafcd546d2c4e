"""Names of these sources, and where each is defined; the rules were tried on names like these."""

import random
import re
from dataclasses import dataclass
from pathlib import Path

from benchmarks.datasets import REPOSITORY
from benchmarks.scale import scaled

FOLDERS = ("core", "python/gossamer", "web/src")
SUFFIXES = (".h", ".cpp", ".py", ".ts")
NO_SOURCES = re.compile(r"core/(tests|fuzz|third_party)/|_tables\.h$|/built/")
DEFINITION = re.compile(r"\s*(?:export )?(class|struct|interface|def|function) (\w{4,})")
COUNT = scaled(80, smoke=5, small=20)
SEED = 7


@dataclass(frozen=True)
class Definition:
    """A name that is defined once, by which keyword, and where."""

    keyword: str
    name: str
    file: Path
    line: int


def sources() -> list[Path]:
    """Give the files that are searched."""
    files = (file for folder in FOLDERS for file in (REPOSITORY / folder).rglob("*"))
    return sorted(
        file for file in files if file.suffix in SUFFIXES and not NO_SOURCES.search(file.as_posix())
    )


def definitions() -> list[Definition]:
    """Choose names by chance among those with one definition."""
    found: dict[str, list[Definition]] = {}
    for file in sources():
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            match = DEFINITION.match(line)
            if match and not line.rstrip().endswith(";"):
                one = Definition(match[1], match[2], file, number)
                found.setdefault(one.name, []).append(one)
    once = [places[0] for places in found.values() if len(places) == 1]
    return random.Random(SEED).sample(once, min(COUNT, len(once)))
